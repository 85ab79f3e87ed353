"""Structured vector and matrix scaling: by hand, against its authors' library and scipy."""

import numpy as np
import pytest
import torch
from probmetrics.calibrators import SMSCalibrator, SVSCalibrator
from scipy.optimize import minimize

from calibkit.recalibration import (
    StructuredMatrixScaler,
    StructuredVectorScaler,
    TemperatureScaler,
    affine,
)
from tests.recalibration.samples import nll, scored

BOTH = [(StructuredVectorScaler, SVSCalibrator), (StructuredMatrixScaler, SMSCalibrator)]
SHAPES = [(60, 3), (1000, 3), (400, 10)]


@pytest.mark.parametrize(("n", "classes"), SHAPES)
@pytest.mark.parametrize(("ours", "theirs"), BOTH)
def test_agrees_with_the_authors_library(ours, theirs, n, classes):
    logits, labels = scored(n, classes, temperature=2.5)
    fresh = scored(500, classes, temperature=2.5, seed=1)[0]
    peer = theirs().fit(logits.softmax(1).numpy(), labels.numpy())
    expected = torch.as_tensor(peer.predict_proba(fresh.softmax(1).numpy()))
    probs = ours().fit(logits, labels).probs(fresh)
    assert torch.allclose(probs, expected.double(), atol=2e-3)  # theirs stops a little earlier


@pytest.mark.parametrize(("n", "classes"), SHAPES)
def test_the_authors_matrix_has_our_loss_and_no_less(n, classes):
    logits, labels = scored(n, classes, temperature=2.5)
    ours = StructuredMatrixScaler().fit(logits, labels)
    theirs = SMSCalibrator().fit(logits.softmax(1).numpy(), labels.numpy()).W_
    u = affine.smoothed(logits, ours.temperature, ours.smoothing)

    def loss(weight, bias):
        away = (weight - torch.eye(classes)).square()
        diagonal = away.diagonal().sum()
        paid = diagonal + bias.square().sum() + (classes - 1) * (away.sum() - diagonal)
        return nll(u @ weight.T + bias, labels) + classes / n * paid.item()

    theirs = torch.as_tensor(theirs).double()
    least, other = loss(ours.weight, ours.bias), loss(theirs[:, :-1], theirs[:, -1])
    assert least <= other < least + 1e-5


@pytest.mark.parametrize("penalty", [0.3, 3.0])
def test_the_matrix_is_that_of_plain_scipy(penalty):
    n, k = 200, 3
    logits, labels = scored(n, k)
    fitted = StructuredMatrixScaler(penalty=penalty).fit(logits, labels)
    temperature = TemperatureScaler().fit(logits, labels).temperature
    cooled = torch.softmax(logits / temperature, 1).numpy()
    u = np.log(n / (n + 1) * cooled + 1 / (n + 1) / k)

    def loss(x):
        w, b = x[: k * k].reshape(k, k), x[k * k :]
        z = u @ w.T + b
        log_sum = np.log(np.exp(z).sum(1))
        off = w - np.diag(np.diag(w))
        paid = k / n * (((np.diag(w) - 1) ** 2).sum() + (b**2).sum())
        paid += k * (k - 1) / n * (off**2).sum()
        return (log_sum - z[np.arange(n), labels.numpy()]).mean() + penalty * paid

    best = minimize(loss, np.append(np.eye(k), np.zeros(k)), options={"gtol": 1e-8}).x
    assert np.allclose(fitted.weight, best[: k * k].reshape(k, k), atol=1e-5)
    assert np.allclose(fitted.bias, best[k * k :], atol=1e-5)


def test_smoothing_by_hand():
    # four labels: s = 1 / 5; softmax(2 log 3 / 2, 0) = (3/4, 1/4) -> .8 * 3/4 + .1, .8 * 1/4 + .1
    z = torch.tensor([[2 * np.log(3.0), 0.0]])
    assert affine.smoothed(z, 2.0, 0.2).exp()[0].tolist() == pytest.approx([0.7, 0.3])


@pytest.mark.parametrize("calibrator", [StructuredVectorScaler, StructuredMatrixScaler])
def test_a_heavy_penalty_leaves_a_temperature(calibrator):
    logits, labels = scored(500, 4)
    fitted = calibrator(penalty=1e8).fit(logits, labels)
    cooled = TemperatureScaler().fit(logits, labels).probs(logits, allow_fitted=True)
    expected = 500 / 501 * cooled + 1 / 501 / 4
    assert torch.allclose(fitted.probs(logits, allow_fitted=True), expected, atol=1e-6)


def test_many_labels_find_the_map_that_made_them():
    g = torch.Generator().manual_seed(0)
    z = 2 * torch.randn(20_000, 3, generator=g, dtype=torch.float64)
    true = torch.tensor([[0.6, 0.4, -0.2], [0.0, 0.8, 0.0], [-0.1, 0.0, 0.9]]).double()
    labels = torch.multinomial((z @ true.T).softmax(1), 1, generator=g)[:, 0]
    fresh = 2 * torch.randn(5000, 3, generator=g, dtype=torch.float64)
    wanted = (fresh @ true.T).softmax(1)

    def away(calibrator):
        probs = calibrator.fit(z, labels).probs(fresh)
        return (wanted * (wanted / probs).log()).sum(1).mean().item()

    assert away(StructuredMatrixScaler()) < 0.002
    assert away(StructuredMatrixScaler()) < away(StructuredVectorScaler()) / 5
    assert away(StructuredVectorScaler()) < away(TemperatureScaler())


def test_the_matrix_has_the_least_nll_on_its_own_data_and_the_vector_beats_a_temperature():
    logits, labels = scored(3000, 4)
    logits = logits * torch.tensor([1.0, 2.0, 0.5, 1.0]) + torch.tensor([0.0, 1.0, 0.0, -1.0])
    lost = [
        nll(c.fit(logits, labels).transform(logits, allow_fitted=True), labels)
        for c in (StructuredMatrixScaler(), StructuredVectorScaler(), TemperatureScaler())
    ]
    assert lost == sorted(lost)


@pytest.mark.parametrize("calibrator", [StructuredVectorScaler, StructuredMatrixScaler])
def test_a_constant_added_to_every_logit_of_a_row_changes_nothing(calibrator):
    logits, labels = scored(200, 3)
    shift = torch.arange(200.0).double()[:, None] / 10
    fresh = scored(50, 3, seed=1)[0]
    once = calibrator().fit(logits, labels).probs(fresh)
    assert torch.allclose(calibrator().fit(logits + shift, labels).probs(fresh + 5), once)


@pytest.mark.parametrize("calibrator", [StructuredVectorScaler, StructuredMatrixScaler])
def test_a_class_without_a_label_stays_possible(calibrator):
    logits, labels = scored(60, 4)
    fitted = calibrator().fit(logits[labels != 3], labels[labels != 3])
    probs = fitted.probs(scored(50, 4, seed=1)[0])
    assert (probs > 0).all()
    assert torch.isfinite(fitted.bias).all()
