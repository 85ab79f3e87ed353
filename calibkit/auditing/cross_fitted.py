"""The temperature of an audit: every row is divided by one that its own label had no part in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing.intervals import normal
from calibkit.auditing.labels_and_groups import Units, units_of
from calibkit.auditing.scores import Scores
from calibkit.metrics.top import kept

NOT_FAVOURED = (
    "the scores do not clearly favour the labels over other classes. See whether the labels stand "
    "in the order of the rows, and the columns in that of the classes"
)
TOO_SELDOM_RIGHT = (
    "rows that say more than one half are right in about one half of cases or fewer, which no "
    "temperature can say, as it moves a confidence no further than to one half. A map with a "
    "shift, Platt scaling, can"
)


@dataclass(frozen=True)
class Cooling:
    """One temperature a row, and how it came about.

    misfit: why no temperature fits, or "". Rows are then left as they are, at a temperature of 1.
    """

    of_row: Tensor  # (n,)
    fitted: tuple[float, ...]  # one a half, or the one of the calibration data
    low: float  # of the interval of one temperature
    high: float
    crossed: bool  # whether it was fitted on the halves of the test set
    warnings: tuple[str, ...]  # of the fit
    misfit: str = ""

    @property
    def value(self) -> float:
        """The temperature, of two halves the geometric mean; NaN where none fits."""
        return math.nan if self.misfit else math.exp(float(np.mean(np.log(self.fitted))))


class Fit(NamedTuple):
    """A temperature, the standard error of its logarithm, what is said of it, and why none fits."""

    value: float
    error: float
    warnings: list[str]
    misfit: str = ""


def cross_fitted(
    scores: Scores, labels: Tensor, *, level: float, seed: int, units: Units | None = None
) -> Cooling:
    """Each half of the units, drawn at random, is cooled by the temperature of the other half."""
    units = units_of(len(scores)) if units is None else units
    both = halves(units, len(scores), seed)
    fits = [_fit(scores, labels, other, units) for other in both[::-1]]
    of_row = torch.ones(len(scores), dtype=torch.float64)
    for mine, fit in zip(both, fits, strict=True):
        of_row[torch.from_numpy(mine)] = fit.value
    # two independent halves: their mean is known better than either by the root of 2
    error = float(np.mean([fit.error for fit in fits])) / math.sqrt(2)
    return _cooling(of_row, fits, error, level, crossed=True, unfit=_unfit(scores))


def halves(units: Units, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of two halves of the units, drawn at random; those of weight 0 go to the second."""
    weights = units.sums(torch.ones(n, dtype=torch.float64)).numpy()
    order = np.random.default_rng(seed).permutation(np.flatnonzero(weights > 0))
    of_row = np.arange(n) if units.of is None else units.of.numpy()
    first = np.isin(of_row, order[::2])
    return np.flatnonzero(first), np.flatnonzero(~first)


class Apart(NamedTuple):
    """Calibration data that the test set has no part in."""

    scores: Scores
    labels: Tensor
    units: Units


def fitted_apart(n: int, apart: Apart, *, level: float) -> Cooling:
    """All n rows are cooled by the temperature of the calibration data given."""
    fit = _fit(apart.scores, apart.labels, np.arange(len(apart.scores)), apart.units)
    of_row = torch.full((n,), fit.value).double()
    unfit = _unfit(apart.scores)
    return _cooling(of_row, [fit], fit.error, level, crossed=False, unfit=unfit)


def _unfit(scores: Scores) -> str:
    """Why the likelihood may be best where nothing is left of the scores."""
    return TOO_SELDOM_RIGHT if scores.event else NOT_FAVOURED


def _cooling(
    of_row: Tensor, fits: list[Fit], error: float, level: float, *, crossed: bool, unfit: str
) -> Cooling:
    fitted = tuple(fit.value for fit in fits)
    heard = tuple(dict.fromkeys(text for fit in fits for text in fit.warnings))
    misfit = next((fit.misfit for fit in fits if fit.misfit), "")
    if misfit and not all(fit.misfit for fit in fits):
        misfit = f"in one half of the rows {misfit}"
    middle = float(np.mean(np.log(fitted)))
    if not misfit and middle > 0 and error * normal(0.95) >= 1:  # 1 / T may as well be 0
        misfit = unfit
    if misfit:
        ones = torch.ones_like(of_row)
        return Cooling(ones, fitted, math.nan, math.nan, crossed, heard, misfit)
    half = normal(level) * error
    low, high = math.exp(middle - half), math.exp(min(middle + half, 700))
    return Cooling(of_row, fitted, low, high, crossed, heard)


def _fit(scores: Scores, labels: Tensor, rows: np.ndarray, units: Units) -> Fit:
    from calibkit.recalibration.temperature import LIMITS, best_temperature  # loads scikit-learn

    place = torch.from_numpy(rows)
    logits, target = scores.logits(rows), labels[place]
    part = units.part(place)
    weighed: Any = (logits, target) if part.even else kept(part.weight, logits, target)
    value, why = best_temperature(*weighed[:2], *LIMITS, *weighed[2:])  # type: ignore[call-arg]
    if value in LIMITS or math.isclose(value, LIMITS[1]):
        return Fit(value, math.nan, [], _misfit(value, logits, target, _unfit(scores)))
    return Fit(value, _error(value, logits, target, part), [why] if why else [])


def _misfit(value: float, logits: Tensor, labels: Tensor, unfit: str) -> str:
    """Why a temperature ran into its limits."""
    if value < 1:
        if bool((logits.argmax(1) == labels).all()):
            return "every label has the highest score of its row, so that all certain is likeliest"
        return "the likelihood is best where the logits are multiplied by more than 1,000"
    return unfit


def _error(value: float, logits: Tensor, labels: Tensor, units: Units) -> float:
    """The standard error of log T: that of `temperature_interval`, from the units, or the larger.

    Few samples hold few mistakes, and then the residuals' own spread is too small now and then.
    Rows that follow the model at this temperature would have a sum of residuals of variance
    mean Var z; the larger of the two errors is taken.
    """
    from calibkit.recalibration.temperature import residuals

    off, variance = residuals(value, logits, labels)
    spread = float((units.weight * variance).sum())
    promised = float((units.weight.square() * variance).sum())
    squares = float(units.sums(off).square().sum())
    return math.sqrt(max(squares, promised)) / spread if spread > 0 else 0.0
