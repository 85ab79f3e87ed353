"""Tests of calibration: could labels drawn from the predictions themselves look like this?"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from scipy.special import ndtr
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.diagram import confidence_hits
from calibkit.metrics.smooth import smooth_error
from calibkit.metrics.top import top

Tested = Literal["ece", "smooth_ece"]


class CalibrationTest(NamedTuple):
    """What `calibration_test` found."""

    error: float  # the ECE or smECE of the sample
    expected: float  # its mean over label sets drawn from the predictions
    p_value: float  # share of such sets with as large an error
    z: float  # Spiegelhalter's z
    p_value_z: float  # two-sided


def calibration_test(
    probs, labels, *, metric: Tested = "ece", bins: int = 15, resamples: int = 1000, seed: int = 0
) -> CalibrationTest:
    """Two tests of the hypothesis that the predictions are calibrated.

    Consistency resampling: if confidence is the chance to be right, then hits drawn with that
    chance give errors like the one observed. The p-value is (1 + those at least as large) /
    (1 + resamples), so that it is below a with probability a at most under the hypothesis, and no
    smaller than 1 / (1 + resamples). `expected` is the error that a calibrated model of these
    confidences shows on so many samples by luck alone.

    Spiegelhalter's z needs neither bins nor draws. The Brier score of a row has, under the labels
    that the row itself predicts, a known mean and variance:

        z = sum_i (sum_k p_ik^2 - p_i,label) / sqrt(sum_i (sum_k p_ik^3 - (sum_k p_ik^2)^2))

    is standard normal for calibrated rows and many samples; for two classes it is Spiegelhalter's
    own. z > 0 is a Brier score worse than promised, as over-confidence gives. It looks at whole
    rows, the first test at the predicted class alone; and it can miss errors of both signs that
    cancel.

    Parameters
    ----------
    probs : (n, K) probabilities; labels : (n,) integers in [0, K).
    metric : "ece" or "smooth_ece"; bins : number of bins for "ece".
    resamples : number of label sets; seed : integer seed of the draws.

    Raises as `ece` does. Rows that are all one-hot leave nothing to chance: z is then 0, or
    infinite where one of them is wrong.

    Source: Broecker & Smith (2007), Weather and Forecasting 22; Spiegelhalter (1986), Statistics in
    Medicine 5; Widmann, Lindsten & Zachariah (2019) for p-values of calibration.

    >>> found = calibration_test([[0.75, 0.25]] * 4, [0, 0, 0, 1])  # 3 of 4 right: no gap
    >>> found.error, found.p_value, found.z
    (0.0, 1.0, 0.0)
    """
    options = _options(metric, bins, resamples, seed)
    confidence, correct = top(probs, labels)
    z = spiegelhalter(*validate.predictions(probs, labels))
    return _found(confidence, correct, z, *options)


def calibration_test_of(
    confidence,
    correct,
    *,
    metric: Tested = "ece",
    bins: int = 15,
    resamples: int = 1000,
    seed: int = 0,
) -> CalibrationTest:
    """`calibration_test` from (n,) confidences in [0, 1] and hits alone, as `ece_of`.

    z is that of the two classes "hit" and "miss": sum_i (c_i - h_i)(2 c_i - 1) over the root of
    sum_i (2 c_i - 1)^2 c_i (1 - c_i), Spiegelhalter's own. Options as there.

    >>> found = calibration_test_of([0.75] * 4, [True, True, True, False])
    >>> found.error, found.p_value, found.z
    (0.0, 1.0, 0.0)
    """
    options = _options(metric, bins, resamples, seed)
    confidence, correct = confidence_hits(confidence, correct)
    said = confidence.double()
    z = spiegelhalter(torch.stack([1 - said, said], dim=1), correct.long())
    return _found(confidence, correct, z, *options)


def _options(metric, bins, resamples, seed) -> tuple:
    """The options of a test, checked; the seed as a generator."""
    return (
        validate.choice("metric", metric, get_args(Tested)),
        _bins.check_options(bins),
        validate.integer("resamples", resamples, 1),
        np.random.default_rng(validate.integer("seed", seed, 0)),
    )


def _found(
    confidence: Tensor, correct: Tensor, z: float, metric: str, bins: int, resamples: int, random
) -> CalibrationTest:
    """Both tests of checked confidences and hits."""
    confidence, correct = (x.cpu().double().numpy() for x in (confidence, correct))
    error = _smooth if metric == "smooth_ece" else _binned(confidence, bins)
    observed = error(confidence, correct)
    drawn = [
        error(confidence, random.random(len(confidence)) < confidence) for _ in range(resamples)
    ]
    as_large = sum(value >= observed - 1e-12 for value in drawn)  # equal but for rounding is equal
    p_value = (1 + as_large) / (1 + resamples)
    return CalibrationTest(observed, float(np.mean(drawn)), p_value, z, float(2 * ndtr(-abs(z))))


def _binned(confidence: np.ndarray, bins: int):
    """ECE as a function of confidence and hits, whose bins are looked up once."""
    index = _bins.bin_index(torch.from_numpy(confidence), _bins.width_edges(bins)).numpy()

    def error(confidence: np.ndarray, hits: np.ndarray) -> float:
        return float(np.abs(np.bincount(index, confidence - hits)).sum() / len(index))

    return error


def errors_by_chance(
    confidence: np.ndarray, chance: np.ndarray, bins: int, resamples: int, random
) -> np.ndarray:
    """(resamples,) ECEs of (n,) confidences whose hits are drawn with (n,) chances."""
    error, n = _binned(confidence, bins), len(confidence)
    return np.array([error(confidence, random.random(n) < chance) for _ in range(resamples)])


def _smooth(confidence: np.ndarray, hits: np.ndarray) -> float:
    return smooth_error(torch.from_numpy(confidence), torch.from_numpy(hits))


def spiegelhalter(probs: Tensor, labels: Tensor) -> float:
    """Spiegelhalter's z of checked predictions; see `calibration_test`.

    >>> z = spiegelhalter(torch.tensor([[0.75, 0.25]]), torch.tensor([1]))
    >>> round(z, 4)  # (.625 - .25) / sqrt(.4375 - .390625)
    1.7321
    """
    probs = probs.detach().double()
    square = probs.square().sum(1)
    excess = float((square - probs.gather(1, labels[:, None])[:, 0]).sum())
    variance = float((probs.pow(3).sum(1) - square.square()).sum())
    if variance > 0:
        return excess / math.sqrt(variance)
    return math.inf if excess > 0 else 0.0
