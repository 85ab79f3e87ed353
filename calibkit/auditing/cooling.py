"""The temperature of an audit: every row is divided by one that its own label had no part in."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing.scores import Scores
from calibkit.recalibration import TemperatureScaler, interval_around


@dataclass(frozen=True)
class Cooling:
    """One temperature a row, and how it came about."""

    of_row: Tensor  # (n,)
    fitted: tuple[float, ...]  # one a half, or the one of the calibration data
    low: float  # of the interval of one temperature
    high: float
    crossed: bool  # whether it was fitted on the halves of the test set
    said: tuple[str, ...]  # warnings of the fit

    @property
    def value(self) -> float:
        """The temperature, of two halves the geometric mean."""
        return math.exp(float(np.mean(np.log(self.fitted))))


def cross_fitted(scores: Scores, labels: Tensor, *, level: float, seed: int) -> Cooling:
    """Each half of the rows, drawn at random, is cooled by the temperature of the other half."""
    order = np.random.default_rng(seed).permutation(len(scores))
    halves = np.sort(order[::2]), np.sort(order[1::2])
    of_row, found = torch.ones(len(scores), dtype=torch.float64), []
    for mine, other in (halves, halves[::-1]):
        found.append(_fit(scores, labels, other, level))
        of_row[torch.from_numpy(mine)] = found[-1][0]
    ends = np.log([f[1:3] for f in found])
    # two independent halves: their mean is known better than either by the root of 2
    middle, half = ends.mean(), (ends[:, 1] - ends[:, 0]).mean() / 2 / math.sqrt(2)
    low, high = math.exp(middle - half), math.exp(min(middle + half, 700))
    said = tuple(dict.fromkeys(text for f in found for text in f[3]))
    return Cooling(of_row, tuple(f[0] for f in found), low, high, True, said)


def fitted_apart(n: int, scores: Scores, labels: Tensor, *, level: float) -> Cooling:
    """All n rows are cooled by the temperature of the calibration data given."""
    value, low, high, said = _fit(scores, labels, np.arange(len(scores)), level)
    return Cooling(torch.full((n,), value).double(), (value,), low, high, False, said)


def _fit(scores: Scores, labels: Tensor, rows: np.ndarray, level: float):
    """Temperature, the ends of its interval, and what the fit warns of."""
    logits, own = scores.logits(rows), labels[torch.from_numpy(rows)]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        value = TemperatureScaler().fit(logits, own).temperature
        low, high = interval_around(value, logits, own, level)
    said = tuple(dict.fromkeys(str(w.message) for w in heard))
    if not (low > 0 and math.isfinite(high)):
        low, high = 1e-300, 1e300
    return value, low, high, said
