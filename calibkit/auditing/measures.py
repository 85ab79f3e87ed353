"""What is taken of every row in one walk, every measure with its interval, and differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing import intervals
from calibkit.auditing.intervals import NONE, Ends, Spread
from calibkit.auditing.labels_and_groups import Units, units_of
from calibkit.auditing.scores import Scores
from calibkit.metrics import Reliability, TopLabel
from calibkit.metrics import bins as _bins
from calibkit.metrics.diagram import diagram
from calibkit.metrics.errors import FROM_BINS
from calibkit.metrics.smooth import smooth_error
from calibkit.metrics.top import of_label


@dataclass(frozen=True)
class Rows:
    """(n,) float64 numbers a row, and one table for the classes."""

    labels: Tensor
    predicted: Tensor
    confidence: Tensor
    nll: Tensor
    brier: Tensor
    excess: Tensor  # sum_k p_k^2 - p_label, the terms of Spiegelhalter's z
    variance: Tensor  # and their variances, if the row is right about itself
    residual: Tensor  # (bins, K): weighted sums of p_k - [label = k]

    @cached_property
    def correct(self) -> Tensor:
        return self.predicted == self.labels

    @cached_property
    def top(self) -> TopLabel:
        return TopLabel(self.confidence, self.correct)

    @property
    def classes(self) -> int:
        return self.residual.shape[-1]

    def __len__(self) -> int:
        return len(self.labels)


def rows_of(
    scores: Scores,
    labels: Tensor,
    *,
    bins: int,
    temperature: Tensor | None = None,
    units: Units | None = None,
) -> Rows:
    """Walk over the blocks once.

    temperature: (n,) what the logits of each row are divided by; None leaves rows as they are.
    units: what is resampled and weighed; by default every row alike.
    """
    units = units_of(len(scores)) if units is None else units
    residual = torch.zeros(bins, scores.classes, dtype=torch.float64)
    each = torch.empty(6, len(scores), dtype=torch.float64)  # small pieces would split the memory
    for rows, block in scores.blocks():
        cooling = None if temperature is None else temperature[rows, None]
        probs, log_of_label = _probs(block, labels[rows], scores, cooling)
        _add(residual, probs, labels[rows], units.weight[rows])
        for column, values in zip(each, _of_rows(probs, log_of_label, scores.event), strict=True):
            column[rows] = values
    predicted, confidence, nll, brier, excess, variance = each
    return Rows(labels, predicted.long(), confidence, nll, brier, excess, variance, residual)


def _probs(block: Tensor, labels: Tensor, scores: Scores, cooling) -> tuple[Tensor, Tensor]:
    """(m, K) probabilities and the (m,) logarithm of the label's."""
    if scores.kind == "probs" and cooling is None:
        return block, of_label(block, labels).clamp(min=0).log()  # -1e-17 is rounding
    z = scores.log(block) if scores.kind == "probs" else block
    log_probs = (z if cooling is None else z / cooling).log_softmax(1)
    log_of_label = log_probs.gather(1, labels[:, None])[:, 0]
    return log_probs.exp_(), log_of_label


def _of_rows(probs: Tensor, log_of_label: Tensor, event: bool) -> tuple[Tensor, ...]:
    """predicted, confidence, nll, brier, excess and variance of each row."""
    confidence, predicted = probs.max(1)
    if event:  # every row says column 1
        confidence, predicted = probs[:, 1], torch.ones_like(predicted)
    square = probs.square()
    second, third = square.sum(1), (square * probs).sum(1)
    given = log_of_label.exp()
    brier, excess = second - 2 * given + 1, second - given
    return predicted, confidence, -log_of_label, brier, excess, third - second.square()


def _add(residual: Tensor, probs: Tensor, labels: Tensor, weight: Tensor) -> None:
    """Add the weighted sums of p_k - [label = k] by bin of p_k and class.

    With many classes nearly all entries lie low in the first bin. Only the others are looked up.
    """
    bins, classes = residual.shape
    edges, flat = _bins.width_edges(bins), residual.view(-1)
    row, column = (probs > 0.5 / bins).nonzero(as_tuple=True)
    high = probs[row, column]
    mass = high * weight[row]
    residual[0] += weight @ probs
    residual[0].index_add_(0, column, mass, alpha=-1)
    flat.index_add_(0, _bins.bin_index(high, edges) * classes + column, mass)
    cell = _bins.bin_index(of_label(probs, labels), edges) * classes + labels
    flat.index_add_(0, cell, weight, alpha=-1)


NAMES = {
    "accuracy": "accuracy",
    "confidence": "mean confidence",
    "gap": "signed gap",
    "ece": "ECE",
    "ada_ece": "adaptive ECE",
    "debiased_ece": "debiased ECE",
    "smooth_ece": "smooth ECE",
    "mce": "MCE",
    "overconfidence_error": "over-confidence error",
    "classwise_ece": "classwise ECE",
    "nll": "NLL, nats",
    "brier": "Brier score",
    "aurc": "AURC",
}
SHARES = set(NAMES) - {"nll", "brier"}  # shown in per cent
MEANS = ("confidence", "gap", "nll", "brier")
FROM_WIDE = ("accuracy", "confidence", "ece", "mce", "overconfidence_error")
LOWEST = {"gap": -1.0}  # of a measure, where it is not 0
HIGHEST = {"nll": math.inf, "brier": 2.0}  # where it is not 1


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval; NaN where no interval can be trusted."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out; False without an interval."""
        return self.low > 0 or self.high < 0

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))


@dataclass(frozen=True)
class Measured:
    """The measures of the rows of one model.

    level: of the intervals. draws: of what chance adds to the bins, from `seed` on.
    """

    rows: Rows
    units: Units
    bins: int
    level: float
    draws: int
    seed: int

    @cached_property
    def event(self) -> Measured:
        """Of a binary model, the forecasts of class 1: how probable it is, and whether it came.

        Their Brier score is (p - y)^2, half of the sum over both classes.
        """
        rows = self.rows
        chance = torch.where(rows.predicted == 1, rows.confidence, 1 - rows.confidence)
        ones, brier = torch.ones_like(rows.labels), rows.brier / 2
        return replace(self, rows=replace(rows, predicted=ones, confidence=chance, brier=brier))

    @cached_property
    def each(self) -> dict[str, Tensor]:
        """(n,) what every row adds to a mean."""
        rows = self.rows
        right = rows.correct.double()
        means = {"accuracy": right, "confidence": rows.confidence, "nll": rows.nll}
        return means | {"gap": rows.confidence - right, "brier": rows.brier}

    @cached_property
    def wide(self) -> Reliability:
        return self._counted("width")

    @cached_property
    def even(self) -> Reliability:
        return self._counted("mass")

    def _counted(self, binning: _bins.Binning) -> Reliability:
        """The bins, of weights and clusters with what their units count for."""
        rows, units = self.rows, self.units
        if units.plain:
            return diagram(rows.confidence, rows.correct, self.bins, binning, "right")
        mine = units.weight > 0  # others have no say in the edges
        parts = (rows.confidence[mine], rows.correct[mine])
        counted = diagram(*parts, self.bins, binning, "right", units.weight[mine])
        if units.of is None:
            return counted
        cell = units.of[mine] * self.bins + _bins.bin_index(parts[0], counted.edges)
        of_unit = torch.bincount(cell, units.weight[mine])
        place = torch.arange(len(of_unit)) % self.bins
        return replace(counted, squares=torch.bincount(place, of_unit.square(), self.bins))

    @cached_property
    def values(self) -> dict[str, float]:
        """By measure its value."""
        found = {name: float(FROM_BINS[name](self.wide)) for name in FROM_WIDE}
        found |= {name: self.units.mean(self.each[name]) for name in MEANS}
        found |= {"ada_ece": float(FROM_BINS["ada_ece"](self.even)), "aurc": self._aurc[0]}
        weight = None if self.units.even else self.units.weight
        smooth = smooth_error(self.rows.confidence, self.rows.correct, weight)
        found |= {"debiased_ece": self._debiased(), "smooth_ece": smooth}
        residual = self.rows.residual.abs().sum() / (self.units.total * self.rows.classes)
        found["classwise_ece"] = float(residual)
        return {name: found[name] for name in NAMES}

    def _debiased(self) -> float:
        """Of weights and clusters the bias is that of as many equal rows as say as much."""
        if self.units.plain:
            return float(FROM_BINS["debiased_ece"](self.even))
        square, right, count = self.even.gap.square(), self.even.accuracy, self.even.effective
        noise = (right * (1 - right) / (count - 1)).where(count >= 2, square)
        return float((self.even.share * (square - noise)).nansum().clamp(min=0).sqrt())

    @cached_property
    def _aurc(self) -> tuple[float, Tensor]:
        return area_under_risk(self.rows.confidence, self.rows.correct, self.units.weight)

    # --- intervals ---

    def spread(self, name: str) -> Spread:
        """How the gaps of the bins of a measure would differ in other samples."""
        edges = self.wide.edges if name in FROM_WIDE else self.even.edges
        index = _bins.bin_index(self.rows.confidence, edges)
        random = np.random.default_rng(self.seed)
        return intervals.spread_of(
            self.units, [(self.each["gap"], index)], self.bins, random, self.draws
        )

    def ends(self, name: str) -> Ends:
        """The interval of a measure, whether it is to be trusted or not."""
        if name == "accuracy":
            return intervals.of_share(self.units, self.each[name], self.level)
        if name in MEANS or name == "aurc":
            each = self.each[name] if name in MEANS else self._aurc[0] + self._aurc[1]
            return intervals.of_mean(self.units, each, self.level)
        if name in ("ece", "ada_ece", "overconfidence_error"):
            spread = self.spread(name)
            norm, slope = self._norm(name, spread.sums)
            return intervals.of_norm(spread, norm, slope, self.level)
        return NONE  # of a largest gap, a bandwidth or rare classes there is none that covers

    def _norm(self, name: str, sums: np.ndarray) -> tuple[intervals.Norm, np.ndarray]:
        """The measure as a function of the sums over bins, and its slope there."""
        if name != "overconfidence_error":
            return sizes, np.sign(sums)
        said = self.wide.confidence.nan_to_num().numpy()
        return lambda part: np.maximum(part, 0) @ said, said * (sums > 0)

    def estimates(self) -> dict[str, Estimate]:
        """Every measure, with its interval where that is to be trusted."""
        return {name: self.estimate(name) for name in NAMES}

    def estimate(self, name: str, *, as_known: str | None = None) -> Estimate:
        """One measure; as_known: the name of its interval in the table of coverages."""
        value = self.values[name]
        if not self._trusted(as_known or name) or not math.isfinite(value):
            return Estimate(value, *NONE)
        low, high = self.ends(name)
        low = max(min(low, value), LOWEST.get(name, 0.0))
        return Estimate(value, low, min(max(high, value), HIGHEST.get(name, 1.0)))

    def _trusted(self, name: str, paired: bool = False) -> bool:
        return intervals.covers(
            name, self.rows.classes, self.units.worth, self.level, paired=paired
        )

    # --- two models on the same rows ---

    def less(self, other: Measured) -> dict[str, Estimate]:
        """Measure by measure this one less the other, paired, with the intervals to be trusted."""
        return {name: self._difference(other, name) for name in NAMES}

    def _difference(self, other: Measured, name: str) -> Estimate:
        with np.errstate(invalid="ignore"):
            value = float(np.float64(self.values[name]) - other.values[name])
        if not self._trusted(name, paired=True) or not math.isfinite(value):
            return Estimate(value, *NONE)
        if name == "ece":
            return Estimate(value, *self.rise(other))
        if name == "aurc":
            each = self._aurc[1] - other._aurc[1] + value
        else:
            each = self.each[name] - other.each[name]
        low, high = intervals.of_mean(self.units, each, self.level)
        return Estimate(value, min(low, value), max(high, value))

    def rise(self, other: Measured) -> Ends:
        """A wide interval of the ECE less that of `other`.

        Chance makes both errors too large, by what the scales of their gaps say. How much of that
        cancels is not known, so each end allows for one of the two in full: a rise, or a fall, is
        clear only where no such allowance can undo it.
        """
        pair = [
            (model.each["gap"], _bins.bin_index(model.rows.confidence, model.wide.edges))
            for model in (self, other)
        ]
        random = np.random.default_rng(self.seed)
        both = intervals.spread_of(self.units, pair, self.bins, random, self.draws)
        mine, theirs = np.split(both.sums, 2)
        slope = np.concatenate([np.sign(mine), -np.sign(theirs)])
        half = intervals.normal(self.level) * both.error(slope)
        first, second = (model.by_chance() for model in (self, other))
        value = self.values["ece"] - other.values["ece"]
        return value - first - half, value + second + half

    def by_chance(self) -> float:
        """By how much chance makes the ECE too large, by the median of its draws."""
        spread, value = self.spread("ece"), self.values["ece"]
        return value * (1 - intervals.scale_of(spread, sizes, value, 0.5))


def sizes(sums: np.ndarray) -> np.ndarray:
    """The sum of the sizes of (..., dims) sums."""
    return np.abs(sums).sum(-1)


def missing(found: Mapping[str, Estimate]) -> list[str]:
    """The words of the measures that have no interval."""
    return [NAMES[name] for name, estimate in found.items() if not estimate.known]


def area_under_risk(confidence: Tensor, correct: Tensor, weight: Tensor) -> tuple[float, Tensor]:
    """The AURC and (n,) what each row adds to it beyond the mean, to first order.

    With G the share of rows down to a confidence and R the risk among them, the AURC is the mean
    of R over rows; a row adds R there, and moves R at every lower confidence by (wrong - R) / G.
    """
    order, share, wrong, risk = risks(confidence, correct, weight)
    within = share.cumsum(0).clamp(min=1e-300)
    area = (share * risk).sum()

    def onwards(values: Tensor) -> Tensor:
        return values.flip(0).cumsum(0).flip(0)

    moved = wrong * onwards(share / within) - onwards(share * risk / within)
    influence = torch.empty_like(moved)
    influence[order] = risk - area + moved
    return float(area), influence


def risks(confidence: Tensor, correct: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    """The order of rows from the surest on, and in it their shares, errors and risks, all (n,).

    As in `metrics.risk_coverage`, rows of one confidence share their errors.
    """
    order = confidence.argsort(descending=True, stable=True)
    share = weight[order].double() / weight.sum().double()
    _, level = confidence[order].unique_consecutive(return_inverse=True)
    of_level = torch.bincount(level, share).clamp(min=1e-300)
    wrong = (torch.bincount(level, share * ~correct[order]) / of_level)[level]
    risk = (share * wrong).cumsum(0) / share.cumsum(0).clamp(min=1e-300)
    return order, share, wrong, risk


def p_words(p: float) -> str:
    """A p-value in words."""
    return f"p = {p:.3f}" if p > 0.001 else "p <= 0.001"
