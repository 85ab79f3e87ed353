"""Every measure on a sample and on the same resamples: intervals, and paired differences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing.rows import Rows
from calibkit.metrics import Reliability, resampling, risk_coverage, smooth_ece
from calibkit.metrics import bins as _bins
from calibkit.metrics.errors import FROM_BINS
from calibkit.metrics.smooth import smoothed, spectrum_of

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
SHARES = set(NAMES) - {"nll", "brier"}  # shown in per cent
FROM_WIDE = ("accuracy", "confidence", "ece", "mce", "overconfidence_error")
FROM_EVEN = ("ada_ece", "debiased_ece")


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
        self.level, self.bins = level, bins
        self.groups = resampling.Groups(n, resamples + 1, random, with_sample=True)
        units, fewer = min(self.groups.groups, 256), max(2, resamples // 2)
        self.of_classes = resampling.weights(units, fewer, random)

    def values(self, rows: Rows) -> dict[str, np.ndarray]:
        """By measure its value on the sample, then on each resample."""
        wide = self._bins(rows, _bins.width_edges(self.bins))
        even = self._bins(rows, _bins.mass_edges(rows.confidence, self.bins))
        tensors = {name: FROM_BINS[name](wide) for name in FROM_WIDE}
        tensors |= {name: FROM_BINS[name](even) for name in FROM_EVEN}
        tensors |= {"gap": FROM_BINS["signed_gap"](wide), "aurc": self._aurc(rows)}
        tensors |= {"nll": self.groups.means(rows.nll), "brier": self.groups.means(rows.brier)}
        arrays = {name: values.numpy() for name, values in tensors.items()}
        arrays |= {"smooth_ece": self._smooth(rows), "classwise_ece": self._classwise(rows)}
        return {name: arrays[name] for name in NAMES}

    def _bins(self, rows: Rows, edges: Tensor) -> Reliability:
        """The bins of every resample."""
        index = _bins.bin_index(rows.confidence, edges)
        each = (torch.ones_like(rows.confidence), rows.correct.double(), rows.confidence)
        counts, hits, confidence = (self.groups.sums(part, index, self.bins) for part in each)
        return Reliability(edges, counts, hits, confidence / counts)

    def _aurc(self, rows: Rows) -> Tensor:
        """Exact for the sample; of resamples the risks at the ends of at most 1,000 shelves."""
        n, order = len(rows), rows.confidence.argsort(descending=True, stable=True)
        count = min(n, SHELVES)
        shelf = torch.empty_like(order)
        shelf[order] = torch.arange(n) * count // n
        wrong = self.groups.sums((~rows.correct).double(), shelf, count)
        many = self.groups.sums(torch.ones_like(rows.nll), shelf, count)
        risk = wrong.cumsum(1) / many.cumsum(1)
        means = (risk.nan_to_num() * many).sum(1) / many.sum(1)
        return means - means[0] + risk_coverage(rows.top)[1].mean()

    def _smooth(self, rows: Rows) -> np.ndarray:
        """The sample exactly; resamples on a coarse grid, less what that grid is off the sample."""
        place = (rows.confidence * GRID).round().long()
        residual = rows.confidence - rows.correct.double()
        mass = self.groups.sums(residual, place, GRID + 1) / self.groups.drawn[:, None]
        coarse = smooth_errors(mass.numpy())
        return coarse - coarse[0] + smooth_ece(rows.top)

    def _classwise(self, rows: Rows) -> np.ndarray:
        """(1 + resamples,) from the table of groups; half as many resamples, for their cost."""
        groups, _, classes = rows.residual.shape
        table = rows.residual.view(groups, -1)
        weights = torch.cat([torch.ones(1, groups).double(), self.of_classes[:, :groups]])
        scale = weights.sum(1) * len(rows) / groups * classes
        return ((weights @ table).abs().sum(1) / scale).numpy()

    def estimates(self, values: Mapping[str, np.ndarray]) -> dict[str, Estimate]:
        """The sample's value of each measure and its reflected interval."""
        return {name: self._estimate(drawn) for name, drawn in values.items()}

    def _estimate(self, values: np.ndarray) -> Estimate:
        here = float(values[0])
        if not np.isfinite(values).all():
            return Estimate(here, math.nan, math.nan)
        return Estimate(here, *resampling.bounds(values[1:], here, self.level, "reflected"))

    def differences(self, a: Mapping, b: Mapping) -> dict[str, Estimate]:
        """Measure by measure a - b, on the same resamples."""
        with np.errstate(invalid="ignore"):
            return self.estimates({name: a[name] - b[name] for name in NAMES})


def smooth_errors(mass: np.ndarray) -> np.ndarray:
    """(R,) smooth errors of rows of residuals (R, GRID + 1) at equal steps over [0, 1].

    As `metrics.smooth_ece`, all rows at once: the bandwidth is halved in on, 20 times.
    """
    spectrum = spectrum_of(mass)
    low, high = np.full(len(mass), 1 / GRID), np.full(len(mass), 2.0)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        wide = smoothed(spectrum, middle) <= middle
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    return np.minimum(smoothed(spectrum, high), 1.0)
