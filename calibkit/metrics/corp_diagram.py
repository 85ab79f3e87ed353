"""The reliability diagram without bins: isotonic regression chooses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from calibkit import validate
from calibkit.metrics.top import Labels, Scored, top


@dataclass(frozen=True)
class Corp:
    """Hit frequencies by isotonic regression; see `corp`.

    All arrays have one entry per distinct confidence, in rising order.
    """

    confidence: np.ndarray
    counts: np.ndarray  # samples of that confidence
    hits: np.ndarray
    frequency: np.ndarray  # of hits, as the regression has it: it never falls

    @property
    def miscalibration(self) -> float:
        """What recalibration would take off the Brier score of "is the prediction right?"."""
        return self._score(self.confidence) - self._score(self.frequency)

    @property
    def discrimination(self) -> float:
        """What the recalibrated confidences are better than the same one for every sample."""
        return self.uncertainty - self._score(self.frequency)

    @property
    def uncertainty(self) -> float:
        """The Brier score of the accuracy as everybody's confidence, a (1 - a)."""
        accuracy = self.hits.sum() / self.counts.sum()
        return float(accuracy * (1 - accuracy))

    def band(
        self, *, level: float = 0.9, resamples: int = 200, seed: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the curve of a calibrated model lies: pointwise quantiles, a consistency band.

        Hits are drawn with the confidence as their chance, `resamples` times, and regressed again.
        """
        level = validate.level(level)
        resamples = validate.integer("resamples", resamples, 1)
        random = np.random.default_rng(validate.integer("seed", seed, 0))
        hits = random.binomial(self.counts, self.confidence, size=(resamples, len(self.counts)))
        curves = [_frequency(drawn, self.counts) for drawn in hits]
        low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    def _score(self, chance: np.ndarray) -> float:
        """Mean squared distance between `chance` and the hits."""
        squares = self.hits * (1 - chance) ** 2 + (self.counts - self.hits) * chance**2
        return float(squares.sum() / self.counts.sum())


def corp(probs: Scored, labels: Labels = None) -> Corp:
    """Reliability of the predicted class without bins to choose.

    Of all functions that never fall, the frequency is the one nearest to the hits in squares; it is
    constant on pieces, which are the bins. The mean squared distance between confidence and hit is

        miscalibration - discrimination + uncertainty

    exactly, and neither of the first two is ever negative.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K). A `TopLabel` stands for both.

    Raises as `ece` does. Source: Dimitriadis, Gneiting & Jordan (2021), PNAS 118 (consistent,
    optimally binned, reproducible, pool-adjacent-violators).

    >>> curve = corp([[0.6, 0.4], [0.7, 0.3], [0.9, 0.1]], [0, 1, 0])  # right, wrong, right
    >>> curve.frequency.tolist()  # the first two would fall: they are pooled
    [0.5, 0.5, 1.0]
    """
    each, correct = (part.double().cpu().numpy() for part in top(probs, labels))
    confidence, which, counts = np.unique(each.clip(0, 1), return_inverse=True, return_counts=True)
    hits = np.bincount(which, correct)
    return Corp(confidence, counts, hits, _frequency(hits, counts))


def _frequency(hits: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return isotonic_regression(hits / counts, weights=counts).x
