"""Verdicts: a statement about models, measured over seeds, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from calibkit import validate

DIRECTIONS = ("above", "below", "within")


@dataclass(frozen=True)
class Verdict:
    """What the differences over seeds say about a claim.

    `str` gives one stable line: id, verdict, statement, mean difference with its interval, seeds.
    """

    claim: str
    statement: str
    word: str
    mean: float
    low: float
    high: float
    seeds: int
    level: float

    def __str__(self) -> str:
        return (
            f"{self.claim} {self.word}: {self.statement} | {self.mean:+.3f} "
            f"[{self.low:+.3f}, {self.high:+.3f}] {self.level:.0%} over {self.seeds} seeds"
        )


def verdict(
    claim: str,
    statement: str,
    differences: Sequence[float],
    *,
    expect: str = "above",
    margin: float = 0.0,
    level: float = 0.95,
) -> Verdict:
    """Judge one number per seed, mostly a paired difference, by the Student t interval of the mean.

    expect: "above" claims mean > margin, "below" claims mean < -margin, "within" claims
        -margin < mean < margin.
    The word is HOLDS when the whole interval lies where the claim wants it, REVERSED when the
    whole interval has the opposite sign (for "within": lies outside), else INCONCLUSIVE; that
    covers seeds that disagree as well as an effect of the right sign that is smaller than claimed.

    Raises ValueError for fewer than 2 differences, NaN, or "within" without a margin.

    >>> print(verdict("X1", "mixup lowers ECE", [-0.10, -0.12, -0.11], expect="below"))
    X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds
    """
    validate.choice("expect", expect, DIRECTIONS)
    level = validate.number("level", level, 0, 1, open_low=True, open_high=True)
    margin = validate.number("margin", margin, 0, float("inf"), open_high=True)
    if expect == "within" and margin == 0:
        raise ValueError(
            "margin must be above 0 for expect='within', got 0; say how close is close"
        )
    mean, low, high = interval(differences, level=level)
    word = _word(low, high, expect, margin)
    return Verdict(claim, statement, word, mean, low, high, len(differences), level)


def interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of `values` with its Student t interval: mean -+ t * s / sqrt(n).

    >>> tuple(round(v, 3) for v in interval([1.0, 2.0, 3.0]))
    (2.0, -0.484, 4.484)
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(
            f"differences must be at least 2 numbers, one per seed, got shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"differences must be finite, got {values.tolist()}; drop no seed unseen")
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(len(values))
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * error
    return float(mean), float(mean - half), float(mean + half)


def _word(low: float, high: float, expect: str, margin: float) -> str:
    if expect == "within":
        holds, reversed_ = -margin < low and high < margin, low > margin or high < -margin
    elif expect == "above":
        holds, reversed_ = low > margin, high < 0
    else:
        holds, reversed_ = high < -margin, low > 0
    return "HOLDS" if holds else "REVERSED" if reversed_ else "INCONCLUSIVE"
