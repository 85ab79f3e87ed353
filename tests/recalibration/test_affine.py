"""Vector, matrix and beta maps: known maps, scikit-learn, penalties, and how long a fit takes."""

import itertools
import time
import warnings

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from calibkit.recalibration import (
    BetaCalibrator,
    BiasCorrectedTemperature,
    MatrixScaler,
    ShrunkMatrixScaler,
    TemperatureScaler,
    VectorScaler,
)
from tests.recalibration.samples import nll, scored

# --- vector and matrix scaling ---


def biased(n=4000, classes=4, seed=0):
    """Logits whose right map is a known w * z + b."""
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, classes, generator=g, dtype=torch.float64) * 2
    weight = torch.linspace(0.5, 1.5, classes, dtype=torch.float64)
    bias = torch.linspace(-1, 1, classes, dtype=torch.float64)
    labels = torch.multinomial((z * weight + bias).softmax(1), 1, generator=g)[:, 0]
    return z, labels, weight, bias


def test_a_bias_corrected_temperature_recovers_a_known_map():
    z, _, _, bias = biased(20_000)
    g = torch.Generator().manual_seed(1)
    labels = torch.multinomial((z / 1.6 + bias).softmax(1), 1, generator=g)[:, 0]
    scaler = BiasCorrectedTemperature().fit(z, labels)
    assert scaler.temperature == pytest.approx(1.6, abs=0.08)
    assert torch.allclose(scaler.bias, bias, atol=0.08)
    assert scaler.bias.mean().abs() < 1e-12


@pytest.mark.parametrize("scaler", [
    VectorScaler(), MatrixScaler(), MatrixScaler(off_diagonal=1), MatrixScaler(intercept=0.2),
    MatrixScaler(off_diagonal=0.3, intercept=0.2),
])  # fmt: skip
def test_linear_scalers_are_stationary_and_beat_one_temperature(scaler):
    z, labels, *_ = biased()
    z = z * 20  # poorly scaled logits must not stop the search early
    scaler.fit(z, labels)
    single = TemperatureScaler().fit(z, labels)
    ours = nll(scaler.transform(z, allow_fitted=True), labels)
    assert ours < nll(single.transform(z, allow_fitted=True), labels) - 0.01
    weight, bias = scaler.weight.clone().requires_grad_(), scaler.bias.clone().requires_grad_()
    mapped = z * weight + bias if weight.ndim == 1 else z @ weight.T + bias
    loss = cross_entropy(mapped, labels)
    if isinstance(scaler, MatrixScaler):  # penalties are means over their entries
        off = (weight - weight.diag().diag()).square().sum() / 12
        loss = loss + scaler.off_diagonal * off + scaler.intercept * bias.square().mean()
    assert weight.ndim == 2 or scaler.bias.mean().abs() < 1e-12
    gradients = torch.autograd.grad(loss, [weight, bias])
    assert max(g.abs().max().item() for g in gradients) < 1e-5


@pytest.mark.parametrize("scaler", [BiasCorrectedTemperature, VectorScaler, MatrixScaler])
def test_linear_scalers_warn_of_separable_data_and_absent_classes(scaler):
    logits = torch.eye(3).repeat(4, 1)
    with pytest.warns(
        UserWarning, match="^the logits separate .* infinitely steep; stopped early$"
    ):
        scaler().fit(logits, torch.arange(3).repeat(4))
    logits, labels = scored(300, 3)
    for absent in (1, 2):
        kept = labels != absent
        with pytest.warns(UserWarning, match=rf"^labels hold no sample of class \[{absent}\]"):
            scaler().fit(logits[kept], labels[kept])


@pytest.mark.parametrize("penalty", [0.01, 0.3])
def test_the_shrunk_matrix_is_stationary(penalty):
    z, labels, *_ = biased(1500, 3)
    scaler = ShrunkMatrixScaler(penalties=[penalty]).fit(z, labels)
    extra, bias = scaler.weight - torch.eye(3), scaler.bias.clone().requires_grad_()
    extra = extra.requires_grad_()
    u = z / scaler.temperature
    loss = cross_entropy(u + u @ extra.T + bias, labels)
    loss = loss + penalty * (extra.square().sum() + bias.square().sum())
    gradients = torch.autograd.grad(loss, [extra, bias])
    assert max(g.abs().max().item() for g in gradients) < 1e-5


@pytest.mark.parametrize("light", [1.0, 0.02])
def test_the_penalty_is_that_of_the_least_loss_on_parts_left_out(light):
    z, labels, *_ = biased(200, 3)  # in the fits, and in the judgement, the weights have their say
    labels[60:] = torch.randint(3, (140,), generator=torch.Generator().manual_seed(1))
    weights = torch.tensor([1.0] * 60 + [light] * 140, dtype=torch.float64)
    lost = dict.fromkeys((0.003, 0.03, 0.3, 3.0), 0.0)
    for part in torch.randperm(200, generator=torch.Generator().manual_seed(7)).tensor_split(3):
        rest = torch.ones(200, dtype=torch.bool)
        rest[part] = False
        for penalty in lost:
            one = ShrunkMatrixScaler(penalties=[penalty])
            mapped = one.fit(z[rest], labels[rest], weights=weights[rest]).transform(z[part])
            each = cross_entropy(mapped, labels[part], reduction="none")
            lost[penalty] += (weights[part] @ each).item()
    found = ShrunkMatrixScaler(penalties=list(lost), folds=3, seed=7)
    found.fit(z, labels, weights=None if light == 1 else weights)
    assert found.penalty == min(lost, key=lost.get) == (0.3 if light == 1 else 0.03)


@pytest.mark.parametrize("seconds", [1, 100])  # from one look at the clock to the next
def test_a_fit_says_where_it_stopped_for_lack_of_patience(seconds, monkeypatch):
    clock = itertools.count(1000, seconds)
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    with warnings.catch_warnings(record=True) as told:
        MatrixScaler().fit(*biased(300, 3)[:2])
    stopped = ["stopped after 60 s of computing and 1 steps"] if seconds > 60 else []
    assert [str(one.message).partition(",")[0] for one in told] == stopped


def beta_oracle(score, hit):
    """The betacal package's rule: a negative weight is left out, and the others fitted again."""
    used = np.stack([np.log(score), -np.log1p(-score)], 1)
    kept = [0, 1]
    while kept:
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
        weights = model.fit(used[:, kept], hit).coef_[0]
        if (weights >= 0).all():
            break
        kept.remove(kept[int(weights.argmin())])
    found = np.zeros(3)
    found[kept], found[2] = weights, model.intercept_[0]
    return found


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("flip", [1.0, 0.3])
def test_beta_calibration_agrees_with_logistic_regression(classes, flip):
    logits, labels = scored(1500, classes, temperature=3.0)
    logits[:, 0] *= flip  # a column that is too weak
    ours = BetaCalibrator().fit(logits, labels).weights
    columns = [1] if classes == 2 else range(classes)
    for k, row in zip(columns, ours.numpy(), strict=True):
        expected = beta_oracle(logits.softmax(1)[:, k].numpy(), (labels == k).numpy())
        np.testing.assert_allclose(row, expected, atol=2e-3)
