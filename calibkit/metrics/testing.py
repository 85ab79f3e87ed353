"""Tests of calibration: could labels drawn from the predictions themselves look like this?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from scipy.special import ndtr
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.smooth import smooth_error
from calibkit.metrics.top import Labels, Scored, Weights, of_label, rows_of, weighed

Tested = Literal["ece", "smooth_ece"]


class CalibrationTest(NamedTuple):
    """What `calibration_test` found."""

    error: float  # the ECE or smECE of the sample
    expected: float  # its mean over label sets drawn from the predictions
    p_value: float  # share of such sets with as large an error
    z: float  # Spiegelhalter's z
    p_value_z: float  # two-sided


def calibration_test(
    probs: Scored,
    labels: Labels = None,
    *,
    metric: Tested = "ece",
    bins: int = 15,
    resamples: int = 1000,
    seed: int = 0,
    weights: Weights = None,
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

    Of weighted rows the first test compares weighted errors, and z is sum w a / sqrt(sum w^2 b) of
    the same terms. Either draws one label a row, so that weights of 2 for all leave both p-values.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K). A `TopLabel` stands for both; z
        is then that of the two classes "hit" and "miss", Spiegelhalter's own.
    metric: "ece" or "smooth_ece"; bins: number of bins for "ece".
    resamples: number of label sets; seed: integer seed of the draws.
    weights: (n,) of the rows, as in `ece`.

    Raises as `ece` does. Rows that are all one-hot leave nothing to chance: z is then 0, or
    infinite where one of them is wrong. Source: Broecker & Smith (2007), Weather and Forecasting
    22; Spiegelhalter (1986), Statistics in Medicine 5; Widmann, Lindsten & Zachariah (2019) for
    p-values of calibration.

    >>> test = calibration_test([[0.75, 0.25]] * 4, [0, 0, 0, 1])  # 3 of 4 right: no gap
    >>> test.error, test.p_value, test.z
    (0.0, 1.0, 0.0)
    """
    validate.choice("metric", metric, get_args(Tested))
    bins = _bins.check_options(bins)
    resamples = validate.integer("resamples", resamples, 1)
    random = np.random.default_rng(validate.integer("seed", seed, 0))
    parts = weighed(probs, labels, weights)
    confidence, correct = (part.cpu().double().numpy() for part in parts[:2])
    of_rows = None if parts[2] is None else parts[2].cpu().numpy()
    make = _smooth_error if metric == "smooth_ece" else binned_error
    error = make(confidence, bins, of_rows)
    drawn = drawn_errors(error, confidence, confidence, resamples, random)
    rows, target, checked = rows_of(probs, labels, weights)
    z = spiegelhalter(*spiegelhalter_terms(rows, target, checked))
    return judged(error(confidence, correct), drawn, z)


def judged(observed: float, drawn: np.ndarray, z: float) -> CalibrationTest:
    """Both tests, from the sample's error, (resamples,) drawn ones, and Spiegelhalter's z."""
    as_large = int((drawn >= observed - 1e-12).sum())  # equal but for rounding is equal
    p_value = (1 + as_large) / (1 + len(drawn))
    return CalibrationTest(observed, float(drawn.mean()), p_value, z, float(2 * ndtr(-abs(z))))


def binned_error(
    confidence: np.ndarray, bins: int, weights: np.ndarray | None = None
) -> Callable[..., float]:
    """ECE as a function of confidence and hits, whose bins are looked up once."""
    index = _bins.bin_index(torch.from_numpy(confidence), _bins.width_edges(bins)).numpy()
    total = len(index) if weights is None else weights.sum()

    def error(confidence: np.ndarray, hits: np.ndarray) -> float:
        off = confidence - hits if weights is None else weights * (confidence - hits)
        return float(np.abs(np.bincount(index, off)).sum() / total)

    return error


def drawn_errors(
    error: Callable[..., float],
    confidence: np.ndarray,
    chance: np.ndarray,
    resamples: int,
    random: np.random.Generator,
) -> np.ndarray:
    """(resamples,) errors of (n,) confidences whose hits are drawn with (n,) chances."""
    n = len(confidence)
    return np.array([error(confidence, random.random(n) < chance) for _ in range(resamples)])


def _smooth_error(
    confidence: np.ndarray, bins: int, weights: np.ndarray | None
) -> Callable[..., float]:
    """smECE as a function of confidence and hits; it has no bins."""
    of_rows = None if weights is None else torch.from_numpy(weights)
    return lambda confidence, hits: smooth_error(
        torch.from_numpy(confidence), torch.from_numpy(hits), of_rows
    )


def spiegelhalter_terms(
    probs: Tensor, labels: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """(n,) excess of each Brier score over what its row promises, and (n,) its variance.

    Each excess counts with its weight, and its variance with the square of it.
    """
    probs = probs.detach().double()
    square = probs.square().sum(1)
    excess, variance = square - of_label(probs, labels), probs.pow(3).sum(1) - square.square()
    return (excess, variance) if weights is None else (weights * excess, weights**2 * variance)


def spiegelhalter(excess: Tensor, variance: Tensor) -> float:
    """Spiegelhalter's z from its terms; see `calibration_test`.

    >>> z = spiegelhalter(*spiegelhalter_terms(torch.tensor([[0.75, 0.25]]), torch.tensor([1])))
    >>> round(z, 4)  # (.625 - .25) / sqrt(.4375 - .390625)
    1.7321
    """
    total, spread = float(excess.sum()), float(variance.sum())
    if spread > 0:
        return total / math.sqrt(spread)
    return math.inf if total > 0 else 0.0
