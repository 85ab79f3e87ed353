"""Structured vector and matrix scaling: by hand, against its authors' library and scipy."""

import numpy as np
import pytest
import torch
from probmetrics.calibrators import SMSCalibrator, SVSCalibrator
from scipy.optimize import minimize

from calibkit.recalibration import StructuredMatrixScaler, StructuredVectorScaler, TemperatureScaler
from tests.recalibration.samples import scored

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
