"""Intervals of an audit: of means, of shares, of errors that are sums over bins; and which hold.

`covers` says which of them may be printed. The simulation (`tests/auditing/coverage.py`) knows the
truth: models of 2 and 10 classes, sure and unsure, with errors of 0 to 12 % to either side, 100 to
150 samples of 200 to 20,000 rows each. An interval of 95 % may be printed from so many rows on as
it covers within 5 points of that in every case, one standard error of the simulation granted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy.special import ndtri, stdtrit
from torch import Tensor

from calibkit.auditing.labels_and_groups import Units
from calibkit.metrics import wilson_interval

Ends = tuple[float, float]
NONE: Ends = (math.nan, math.nan)
HALVINGS = 20
LEVEL = 0.95
ALWAYS = ("accuracy", "confidence", "gap", "nll", "brier", "temperature")
LEAST = {  # rows from which on an interval covers, of two classes and of more; None: never
    "ece": (200, 200),
    "ece paired": (200, 200),
    "overconfidence_error": (200, 200),
    "aurc": (200, 200),
    "aurc paired": (200, 200),
    "ada_ece": (500, 200),
    "event_ece": (200, None),
    "auc": (200, None),
}
MOST_CLASSES = 2  # of the first column


def normal(level: float) -> float:
    """The quantile of the standard normal with which an interval of this level is drawn."""
    return float(ndtri((1 + level) / 2))


def of_share(units: Units, values: Tensor, level: float) -> Ends:
    """Wilson's interval of the mean of (n,) 0s and 1s, with the effective number of rows."""
    p = units.mean(values)
    n = units.effective(p, values)
    low, high = wilson_interval([p * n], [n], level=level)
    return float(low), float(high)


def of_mean(units: Units, values: Tensor, level: float) -> Ends:
    """Student's interval of the mean of (n,) values, moved and widened by their skewness.

    Losses are skewed: of few rows the mean lies below the truth more often than above it, and then
    its error is small, too. Johnson's terms in the third moment take that off. The interval always
    holds the mean itself.

    Source: Johnson (1978), Journal of the American Statistical Association 73.
    """
    mean, error = units.mean(values), units.error(values)
    if not math.isfinite(mean) or units.count < 2:
        return NONE
    if error == 0:
        return mean, mean
    off = units.sums(values.double() - mean)
    third = float(off.pow(3).sum()) / units.total**3  # of the mean itself
    t = float(stdtrit(units.count - 1, (1 + level) / 2))
    moved = third / error**2 * (1 / 6 + t * t / 3)
    low, high = mean - t * error + moved, mean + t * error + moved
    return min(low, mean), max(high, mean)


class Spread:
    """How the sums over bins of some samples would differ in other samples.

    sums: (dims,) what is summed, divided by all weights. root: (m, dims) whose square is their
    covariance. draws: (resamples, dims) what chance adds to them.
    """

    def __init__(self, sums: np.ndarray, root: np.ndarray, random: np.random.Generator, draws: int):
        self.sums, self.root = sums, root
        self.draws = random.standard_normal((draws, len(root))) @ root

    def error(self, slope: np.ndarray) -> float:
        """The standard error of a sum of the parts times their slopes."""
        return float(np.linalg.norm(self.root @ slope))


def spread_of(
    units: Units,
    fields: list[tuple[Tensor, Tensor]],
    bins: int,
    random: np.random.Generator,
    draws: int,
) -> Spread:
    """The `Spread` of one or more fields: (n,) values and the (n,) bin of each.

    The dimensions are the bins of the first field, then those of the next.
    """
    moved = [(values, index + place * bins) for place, (values, index) in enumerate(fields)]
    dims = bins * len(fields)
    parts = [torch.bincount(index, units.weight * v, dims) for v, index in moved]
    total = torch.stack(parts).sum(0) / units.total
    if units.of is None:
        covariance = _of_rows(units, moved, total, dims)
    else:
        covariance = _of_clusters(units, moved, total, dims)
    values, vectors = np.linalg.eigh((covariance / units.total**2).numpy())
    return Spread(total.numpy(), np.sqrt(values.clip(0))[:, None] * vectors.T, random, draws)


def _of_rows(units: Units, fields, total: Tensor, dims: int) -> Tensor:
    """Sum over rows of w^2 (v - total)(v - total)', v the values of a row in their bins."""
    squared = units.weight.square()
    products, mean = torch.zeros(dims * dims, dtype=torch.float64), torch.zeros_like(total)
    for values, index in fields:
        mean += torch.bincount(index, squared * values, dims)
        for others, place in fields:
            products += torch.bincount(index * dims + place, squared * values * others, dims * dims)
    cross = torch.outer(mean, total)
    whole = squared.sum() * torch.outer(total, total)
    return products.view(dims, dims) - cross - cross.T + whole


def _of_clusters(units: Units, fields, total: Tensor, dims: int) -> Tensor:
    assert units.of is not None
    count = int(units.of.max()) + 1
    table = torch.zeros(count * dims, dtype=torch.float64)
    for values, index in fields:
        cell = units.of * dims + index
        table += torch.bincount(cell, units.weight * values, count * dims)
    weights = units.sums(torch.ones_like(units.weight))
    off = table.view(count, dims) - weights[:, None] * total
    return off.T @ off * (units.count / max(units.count - 1, 1))


Norm = Callable[[np.ndarray], np.ndarray]  # of (..., dims) sums, such as the sum of their sizes


def of_norm(spread: Spread, norm: Norm, slope: np.ndarray, level: float) -> Ends:
    """The interval of an error that is a norm of the gaps of bins, such as the ECE.

    Chance makes such an error too large: it adds gaps where there are none. The lower end is that
    of the largest scale of the observed gaps for which chance would show so much as is seen in at
    most (1 - level) / 2 of all samples, 0 where chance alone shows it more often. The upper end is
    the normal one: where the error is too large, it is high enough. So the interval holds its own
    value, and stays at or above 0.
    """
    value = float(norm(spread.sums))
    low = value * scale_of(spread, norm, value, (1 - level) / 2)
    return low, value + normal(level) * spread.error(slope)


def scale_of(spread: Spread, norm: Norm, value: float, share: float) -> float:
    """The scale of the gaps at which this share of samples has at least this value; at most 1."""

    def reached(scale: float) -> float:
        return float((norm(scale * spread.sums + spread.draws) >= value - 1e-15).mean())

    if reached(0.0) >= share:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < share else (low, middle)
    return high


def covers(measure: str, classes: int, n: int, level: float, *, paired: bool = False) -> bool:
    """Whether the interval of a measure may be printed for n independent rows.

    Accuracy, mean confidence, gap, NLL, Brier score and temperature always have one; others at the
    level of 95 % alone. paired: of the difference between two models on the same rows.
    """
    if measure in ALWAYS:
        return True
    least = LEAST.get(f"{measure} paired" if paired else measure, (None, None))
    rows = least[classes > MOST_CLASSES]
    return rows is not None and n >= rows and abs(level - LEVEL) < 1e-6
