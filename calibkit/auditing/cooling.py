"""The temperature of an audit: every row is divided by one that its own label had no part in."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing.scores import Scores


@dataclass(frozen=True)
class Cooling:
    """One temperature a row, and how it came about."""

    of_row: Tensor  # (n,)
    fitted: tuple[float, ...]  # one a half, or the one of the calibration data
    low: float  # of the interval of one temperature
    high: float
    crossed: bool  # whether it was fitted on the halves of the test set
    warnings: tuple[str, ...]  # of the fit

    @property
    def value(self) -> float:
        """The temperature, of two halves the geometric mean."""
        return math.exp(float(np.mean(np.log(self.fitted))))


class Fit(NamedTuple):
    """A temperature, the ends of its interval, and what the fit warns of."""

    value: float
    low: float
    high: float
    warnings: list[str]


def cross_fitted(scores: Scores, labels: Tensor, *, level: float, seed: int) -> Cooling:
    """Each half of the rows, drawn at random, is cooled by the temperature of the other half."""
    order = np.random.default_rng(seed).permutation(len(scores))
    halves = np.sort(order[::2]), np.sort(order[1::2])
    fits = [_fit(scores, labels, other, level) for other in halves[::-1]]
    of_row = torch.ones(len(scores), dtype=torch.float64)
    for mine, fit in zip(halves, fits, strict=True):
        of_row[torch.from_numpy(mine)] = fit.value
    ends = np.log([(fit.low, fit.high) for fit in fits])
    # two independent halves: their mean is known better than either by the root of 2
    middle, half = ends.mean(), (ends[:, 1] - ends[:, 0]).mean() / 2 / math.sqrt(2)
    low, high = math.exp(middle - half), math.exp(min(middle + half, 700))
    heard = tuple(dict.fromkeys(text for fit in fits for text in fit.warnings))
    return Cooling(of_row, tuple(fit.value for fit in fits), low, high, True, heard)


def fitted_apart(n: int, scores: Scores, labels: Tensor, *, level: float) -> Cooling:
    """All n rows are cooled by the temperature of the calibration data given."""
    fit = _fit(scores, labels, np.arange(len(scores)), level)
    of_row = torch.full((n,), fit.value).double()
    return Cooling(of_row, (fit.value,), fit.low, fit.high, False, tuple(fit.warnings))


def _fit(scores: Scores, labels: Tensor, rows: np.ndarray, level: float) -> Fit:
    from calibkit.recalibration import TemperatureScaler, interval_around  # loads scikit-learn

    logits, target = scores.logits(rows), labels[torch.from_numpy(rows)]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        value = TemperatureScaler().fit(logits, target).temperature
        low, high = interval_around(value, logits, target, level)
    if not (low > 0 and math.isfinite(high)):
        low, high = 1e-300, 1e300
    return Fit(value, low, high, list(dict.fromkeys(str(w.message) for w in heard)))
