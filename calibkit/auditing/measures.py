"""Every measure on a sample and on the same resamples: intervals, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.fft import dct
from torch import Tensor

from calibkit.auditing.rows import Rows
from calibkit.metrics import bins as _bins
from calibkit.metrics.bins import weighted_gap
from calibkit.metrics.bootstrap import Groups, bounds
from calibkit.metrics.errors import over_error
from calibkit.metrics.scores import risks
from calibkit.metrics.smooth import smooth_error

SHELVES = 1000  # parts of equal size, from the surest on, of which a resample takes its risks
GRID = 1 << 10  # steps of the grid over confidence for resampled smooth errors
HALVINGS = 20
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
SHARES = ("accuracy", "confidence", "gap", "ece", "ada_ece", "debiased_ece", "smooth_ece", "mce")
SHARES += ("overconfidence_error", "classwise_ece", "aurc")  # shown in per cent


@dataclass(frozen=True)
class Estimate:
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


class Resampling:
    """The same random groups of samples for every measure and for both models of a pair."""

    def __init__(self, n: int, *, resamples: int, level: float, seed: int, bins: int):
        random = np.random.default_rng(seed)
        self.groups, self.level, self.bins = Groups(n, resamples + 1, random), level, bins
        self.groups.weights[0], self.groups.drawn[0] = 1, n  # the sample itself
        units = min(self.groups.groups, 256)
        share = np.full(units, 1 / units)
        drawn = random.multinomial(units, share, size=max(2, resamples // 2))
        self.of_classes = torch.from_numpy(drawn).double()

    def values(self, rows: Rows) -> dict[str, np.ndarray]:
        """By measure its value on the sample, then on each resample."""
        drawn, whole = self.groups.drawn, torch.zeros_like(rows.labels)
        found = self._binned(rows)
        for name, each in (("nll", rows.nll), ("brier", rows.brier)):
            found[name] = self.groups.sums(each, whole, 1)[:, 0] / drawn
        found["aurc"] = self._aurc(rows)
        found = {name: values.numpy() for name, values in found.items()}
        found["smooth_ece"] = self._smooth(rows)
        found["classwise_ece"] = self._classwise(rows)
        return {name: found[name] for name in NAMES}

    def _binned(self, rows: Rows) -> dict[str, Tensor]:
        wide = self._bins(rows, _bins.width_edges(self.bins))
        counts, hits, confidence = wide
        total, share = counts.sum(1), counts / counts.sum(1, keepdim=True)
        gap = (confidence - hits) / counts
        even = _bins.mass_edges(rows.confidence, self.bins)
        many, right, said = self._bins(rows, even)
        apart, weight, accuracy = (said - right) / many, many / total[:, None], right / many
        noise = (accuracy * (1 - accuracy) / (many - 1)).where(many >= 2, apart.square())
        return {
            "accuracy": hits.sum(1) / total,
            "confidence": confidence.sum(1) / total,
            "gap": (confidence - hits).sum(1) / total,
            "ece": weighted_gap(gap, share, "l1"),
            "mce": weighted_gap(gap, share, "max"),
            "overconfidence_error": over_error(confidence / counts, gap, share),
            "ada_ece": weighted_gap(apart, weight, "l1"),
            "debiased_ece": (weight * (apart.square() - noise)).nansum(1).clamp(min=0).sqrt(),
        }

    def _bins(self, rows: Rows, edges: Tensor) -> list[Tensor]:
        index = _bins.bin_index(rows.confidence, edges)
        each = (torch.ones_like(rows.confidence), rows.correct.double(), rows.confidence)
        return [self.groups.sums(values, index, self.bins) for values in each]

    def _aurc(self, rows: Rows) -> Tensor:
        """Exact for the sample; of resamples the risks at the ends of at most 1,000 shelves."""
        n, order = len(rows), rows.confidence.argsort(descending=True, stable=True)
        count = min(n, SHELVES)
        shelf = torch.empty_like(order)
        shelf[order] = torch.arange(n) * count // n
        wrong = self.groups.sums((~rows.correct).double(), shelf, count)
        many = self.groups.sums(torch.ones_like(rows.nll), shelf, count)
        risk = wrong.cumsum(1) / many.cumsum(1)
        found = (risk.nan_to_num() * many).sum(1) / many.sum(1)
        exact = risks(rows.confidence, rows.correct)[1].mean()
        return found - found[0] + exact

    def _smooth(self, rows: Rows) -> np.ndarray:
        """The sample exactly; resamples on a coarse grid, less what that grid is off the sample."""
        place = (rows.confidence * GRID).round().long()
        residual = rows.confidence - rows.correct.double()
        mass = self.groups.sums(residual, place, GRID + 1) / self.groups.drawn[:, None]
        found = smooth_errors(mass.numpy())
        return found - found[0] + smooth_error(rows.confidence, rows.correct)

    def _classwise(self, rows: Rows) -> np.ndarray:
        """(1 + resamples,) from the table of groups; half as many resamples, for their cost."""
        groups, _, classes = rows.residual.shape
        table = rows.residual.view(groups, -1)
        weights = torch.cat([torch.ones(1, groups).double(), self.of_classes[:, :groups]])
        scale = weights.sum(1) * len(rows) / groups * classes
        return ((weights @ table).abs().sum(1) / scale).numpy()

    def estimates(self, values: Mapping[str, np.ndarray]) -> dict[str, Estimate]:
        """The sample's value of each measure and its reflected interval."""
        return {name: self.estimate(drawn) for name, drawn in values.items()}

    def estimate(self, values: np.ndarray) -> Estimate:
        here = float(values[0])
        if not np.isfinite(values).all():
            return Estimate(here, math.nan, math.nan)
        return Estimate(here, *bounds(values[1:], here, self.level, "reflected"))

    def differences(self, a: Mapping, b: Mapping) -> dict[str, Estimate]:
        """Measure by measure a - b, on the same resamples."""
        with np.errstate(invalid="ignore"):
            return self.estimates({name: a[name] - b[name] for name in NAMES})


def smooth_errors(mass: np.ndarray) -> np.ndarray:
    """(R,) smooth errors of rows of residuals (R, GRID + 1) at equal steps over [0, 1].

    As `metrics.smooth_ece`, all rows at once: the bandwidth is halved in on, 20 times.
    """
    mass = mass.copy()
    mass[:, [0, -1]] *= 2  # an end point is its own mirror image
    spectrum, frequency = dct(mass, type=1) / 2, np.pi * np.arange(GRID + 1)
    low, high = np.full(len(mass), 1 / GRID), np.full(len(mass), 2.0)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        wide = _smoothed(spectrum, frequency, middle) <= middle
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    return np.minimum(_smoothed(spectrum, frequency, high), 1.0)


def _smoothed(spectrum: np.ndarray, frequency: np.ndarray, width: np.ndarray) -> np.ndarray:
    size = np.abs(dct(spectrum * np.exp(-0.5 * (width[:, None] * frequency) ** 2), type=1))
    return (size.sum(1) - (size[:, 0] + size[:, -1]) / 2) / GRID
