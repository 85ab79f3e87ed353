"""Histogram binning and isotonic regression: loops, scikit-learn, and shares of zero."""

import numpy as np
import pytest
import torch
from sklearn.isotonic import IsotonicRegression

from calibkit.recalibration import HistogramBinning, IsotonicCalibrator
from tests.recalibration.samples import scored


def test_histogram_bins_are_closed_on_the_right():
    p = torch.tensor([0.2, 0.4, 0.4, 0.6, 0.6, 0.6, 1.0], dtype=torch.float64)
    logits = torch.stack([1 - p, p], 1).clamp(1e-300).log()
    binning = HistogramBinning(bins=5).fit(logits, [0, 0, 1, 1, 1, 0, 1])
    expected = [0, 1 / 2, 2 / 3, 0.7, 1]  # one bin each; the fourth was empty
    assert binning.edges.shape == (1, 6)
    assert binning.values[0].tolist() == pytest.approx(expected)
    judged = binning.probs(logits[:6], allow_fitted=True)[:, 1]
    assert judged.tolist() == pytest.approx([0, 1 / 2, 1 / 2, 2 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("classes", [2, 4])
def test_isotonic_agrees_with_scikit_learn(classes):
    logits, labels = scored(1000, classes)
    fresh, _ = scored(300, classes, seed=8)
    p, q = logits.softmax(1).numpy(), fresh.softmax(1).numpy()
    columns = []
    for k in range(classes):
        oracle = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        columns.append(oracle.fit(p[:, k], labels.numpy() == k).predict(q[:, k]))
    expected = np.stack(columns, 1)
    if classes == 2:
        expected[:, 0] = 1 - expected[:, 1]
    else:
        expected /= expected.sum(1, keepdims=True)
    ours = IsotonicCalibrator().fit(logits, labels).probs(fresh)
    np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("calibrator", [HistogramBinning, IsotonicCalibrator])
def test_shares_of_zero_give_finite_logits(calibrator):
    logits = torch.tensor([[3.0, 0, 0], [0, 3, 0], [0, 0, 3]]).repeat(5, 1)
    fitted = calibrator().fit(logits, torch.arange(3).repeat(5))
    fresh = torch.tensor([[3.0, 0, 0], [0, 0, 0.1]])
    transformed = fitted.transform(fresh)
    assert bool(torch.isfinite(transformed).all())
    assert fitted.probs(fresh)[0].tolist() == pytest.approx([1, 0, 0])


@pytest.mark.parametrize("calibrator", [HistogramBinning, IsotonicCalibrator])
def test_a_class_without_calibration_samples_gets_no_probability(calibrator):
    logits, labels = scored(500, 4)
    kept = labels != 3
    probs = calibrator().fit(logits[kept], labels[kept]).probs(scored(50, 4, seed=1)[0])
    assert probs.shape == (50, 4)
    sure = probs[:, 3] if calibrator is IsotonicCalibrator else probs[probs[:, 3] < 0.3, 3]
    assert bool((sure < 1e-30).all())
