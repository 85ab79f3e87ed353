"""Verdicts: a statement about models, measured over seeds, with its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import stats

from calibkit import validate

Direction = Literal["above", "below", "within"]
DIRECTIONS = get_args(Direction)
WORDS = ("HOLDS", "NOT MET", "REVERSED", "INCONCLUSIVE")
LINE = re.compile(
    rf"(?P<claim>\w+) (?P<word>{'|'.join(WORDS)})(?P<post_hoc> \(post hoc\))?: "
    r"(?P<statement>.+) \| "
    r"(?P<mean>[-+.\d]+) \[(?P<low>[-+.\d]+), (?P<high>[-+.\d]+)\] "
    r"(?:against (?P<than>[-+.\de]+), )?(?P<level>[.\d]+)% over (?P<seeds>\d+) seeds"
)


@dataclass(frozen=True)
class Verdict:
    """What the values over seeds say about a claim.

    `str` gives one stable line: id, word, statement, mean with its interval, the level that the
    mean was compared with if there was one, seeds. `parse` reads it again.
    """

    claim: str
    statement: str
    word: str
    mean: float
    low: float
    high: float
    seeds: int
    level: float
    than: float | None = None
    post_hoc: bool = False

    @property
    def measured(self) -> str:
        """The mean and its interval as the line has them."""
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"

    def __str__(self) -> str:
        mark = " (post hoc)" if self.post_hoc else ""
        against = "" if self.than is None else f"against {self.than:g}, "
        return (
            f"{self.claim} {self.word}{mark}: {self.statement} | {self.measured} "
            f"{against}{100 * self.level:g}% over {self.seeds} seeds"
        )


def parse(line: str) -> Verdict | None:
    """The verdict that a printed line tells, to its three decimals; None for any other line.

    >>> parse("X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds").low
    -0.135
    """
    found = LINE.fullmatch(line)
    if found is None:
        return None
    number = {name: float(found[name]) for name in ("mean", "low", "high")}
    return Verdict(
        found["claim"],
        found["statement"],
        found["word"],
        **number,
        seeds=int(found["seeds"]),
        level=float(found["level"]) / 100,
        than=None if found["than"] is None else float(found["than"]),
        post_hoc=found["post_hoc"] is not None,
    )


def judge(
    claim: str,
    statement: str,
    differences: Sequence[float],
    *,
    expect: Direction = "above",
    margin: float = 0.0,
    than: float | None = None,
    level: float = 0.95,
    post_hoc: bool = False,
) -> Verdict:
    """Judge one number per seed by the Student t interval [low, high] of its mean.

    A claim on an effect gives paired differences, whose sign is the direction, and its stated size
    as `margin`. A claim on a level ("a share of at least .9") gives the values themselves and the
    level as `than`.

    | claim                     | HOLDS          | NOT MET                 | REVERSED           |
    |---------------------------|----------------|-------------------------|--------------------|
    | above, margin m           | low > m        | low > 0 and high < m    | high < 0           |
    | below, margin m           | high < -m      | high < 0 and low > -m   | low > 0            |
    | within, margin m          | all in (-m, m) | never                   | all beyond m or -m |
    | above, than c             | low > c        | high < c                | never              |
    | below, than c             | high < c       | low > c                 | never              |
    | within m of c             | all in c -+ m  | all beyond c + m or - m | never              |

    NOT MET is an effect of the claimed direction that is surely smaller than stated, or a level
    that is surely missed: it has no opposite. All else is INCONCLUSIVE: seeds that disagree, or
    an interval across the line that the claim draws. `post_hoc=True` marks, in the line and in
    the table of all verdicts, a claim that was made after these numbers were seen.

    Raises ValueError for fewer than 2 values, NaN, "within" without a margin, or both a margin and
    `than` with "above" or "below".

    >>> print(judge("X1", "mixup lowers ECE", [-0.10, -0.12, -0.11], expect="below"))
    X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds
    >>> print(judge("F4", "sure of nine mistakes in ten", [0.36, 0.37, 0.38], than=0.9))
    F4 NOT MET: sure of nine mistakes in ten | +0.370 [+0.345, +0.395] against 0.9, 95% over 3 seeds
    """
    validate.choice("expect", expect, DIRECTIONS)
    level = validate.level(level)
    margin = validate.number("margin", margin, 0, math.inf, open_high=True)
    if expect == "within" and margin == 0:
        raise ValueError(
            "margin must be above 0 for expect='within', got 0; say how close is close"
        )
    if than is not None:
        than = validate.number("than", than, -math.inf, math.inf, open_low=True, open_high=True)
        if margin and expect != "within":
            raise ValueError(
                f"margin must be 0 beside than for expect={expect!r}, got {margin:g}; "
                f"add it to than"
            )
    mean, low, high = interval(differences, level=level)
    word = _word(low, high, expect, margin, than)
    return Verdict(
        claim, statement, word, mean, low, high, len(differences), level, than, bool(post_hoc)
    )


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


def _word(low: float, high: float, expect: str, margin: float, than: float | None) -> str:
    """The word of the table in `judge`."""
    low, high = low - (than or 0.0), high - (than or 0.0)
    if expect == "below":
        low, high = -high, -low
    if expect == "within":
        holds, refuted = -margin < low and high < margin, low > margin or high < -margin
    else:
        holds, refuted = low > margin, high < 0
    if holds:
        return "HOLDS"
    if refuted:
        return "REVERSED" if than is None else "NOT MET"
    return "NOT MET" if expect != "within" and low > 0 and high < margin else "INCONCLUSIVE"
