"""Verdicts: a statement about models, measured over seeds, with its interval.

Here stand all words, the one rule that gives them and the interval that it judges; the register of
claims calls it, too.
"""

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
WORDS = ("HOLDS", "NOT SPECIFIC", "NOT MET", "REVERSED", "INCONCLUSIVE")  # of a lesson's line
REGISTERED = ("HOLDS", "WITHIN", "OPEN", "REVERSED")  # of the register
# How close is close, and how much is much: one margin for each kind of claim, to be named in place
# of a number. Fractions, but for the temperature and the NLL (nats). Lessons name that of the
# temperature so far; their other margins are numbers that were chosen claim by claim.
MARGINS = dict.fromkeys(("ECE", "gap", "accuracy", "Brier", "NLL", "AUROC"), 0.01)
MARGINS |= {"temperature": 0.1, "kappa": 0.1, "coverage": 0.05}
UNITS = ("seeds", "cases")
MOST_DIGITS = 6
LINE = re.compile(
    rf"(?P<claim>\w+) (?P<word>{'|'.join(WORDS)})"
    r"(?P<as_trained> \(as trained\))?(?P<post_hoc> \(post hoc\))?: "
    r"(?P<statement>.+) \| "
    r"(?P<mean>[-+.\d]+) \[(?P<low>[-+.\d]+), (?P<high>[-+.\d]+)\] "
    r"(?:against (?P<than>[-+.\de]+), )?(?P<level>[.\d]+)% over (?P<seeds>\d+) "
    rf"(?P<unit>{'|'.join(UNITS)})"
)
CONCLUDED = re.compile(
    rf"(?P<claim>\w+), \d+ verdicts? \((\d+ ({'|'.join(WORDS)})(, )?)+\): (?P<words>.+)"
)


@dataclass(frozen=True)
class Verdict:
    """What the values over seeds say about a claim.

    `str` gives one stable line: id, word, statement, mean with its interval, the level that the
    mean was compared with if there was one, seeds (or cases, of a share). `parse` reads it again.
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
    unit: str = "seeds"
    as_trained: bool = False
    digits: int = 3  # at least so many decimals are printed

    @property
    def measured(self) -> str:
        """The mean and its interval as the line has them: of three decimals or more, with a width.

        >>> judge("M6", "a bias", [0.01401, 0.01402, 0.01403]).measured
        '+0.01402 [+0.01400, +0.01404]'
        """
        digits = self.digits
        while f"{self.low:.{digits}f}" == f"{self.high:.{digits}f}" and digits < MOST_DIGITS:
            digits += 1
        mean, low, high = (f"{end:+.{digits}f}" for end in (self.mean, self.low, self.high))
        return f"{mean} [{low}, {high}]"

    def __str__(self) -> str:
        mark = " (as trained)" * self.as_trained + " (post hoc)" * self.post_hoc
        against = "" if self.than is None else f"against {self.than:g}, "
        return (
            f"{self.claim} {self.word}{mark}: {self.statement} | {self.measured} "
            f"{against}{100 * self.level:g}% over {self.seeds} {self.unit}"
        )


def parse(line: str) -> Verdict | None:
    """The verdict that a printed line tells, to its three decimals; None for any other line.

    >>> parse("X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds").low
    -0.135
    """
    found = LINE.fullmatch(line)
    if found is None:
        return None
    parts: dict = {name: found[name] for name in ("claim", "statement", "word", "unit")}
    parts |= {name: float(found[name]) for name in ("mean", "low", "high")}
    parts |= {name: found[name] is not None for name in ("post_hoc", "as_trained")}
    than = None if found["than"] is None else float(found["than"])
    return Verdict(**parts, seeds=int(found["seeds"]), level=float(found["level"]) / 100, than=than)


@dataclass(frozen=True)
class Conclusion:
    """All verdicts on one claim, for and against, and what they say together.

    `str` gives the verdicts, a line each, and below them the conclusion with their count.
    """

    claim: str
    given: tuple[Verdict, ...]
    words: str

    @property
    def line(self) -> str:
        many = f"{len(self.given)} verdict" + "s" * (len(self.given) > 1)
        return f"{self.claim}, {many} ({counted(self.given)}): {self.words}"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.given), self.line])


def conclude(claim: str, given: Sequence[Verdict], words: str) -> Conclusion:
    """Every verdict on a claim under one line that says what follows: "holds on digits alone".

    Raises ValueError without a verdict, for one on another claim, and for words of several lines.

    >>> one = judge("X1", "mixup lowers ECE", [-0.10, -0.12, -0.11], expect="below")
    >>> print(conclude("X1", [one], "mixup lowers the ECE of digits"))
    X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds
    X1, 1 verdict (1 HOLDS): mixup lowers the ECE of digits
    """
    other = [verdict.claim for verdict in given if verdict.claim != claim]
    if not given or other:
        raise ValueError(f"given must be verdicts on {claim}, got {other or 'none'}")
    if not words or "\n" in words:
        raise ValueError(f"words must be one line, got {words!r}")
    return Conclusion(claim, tuple(given), words)


def counted(given: Sequence[Verdict]) -> str:
    """How often each word was given: "3 HOLDS, 1 REVERSED"."""
    words = [verdict.word for verdict in given]
    return ", ".join(f"{words.count(word)} {word}" for word in WORDS if word in words)


def conclusion(line: str) -> tuple[str, str] | None:
    """(claim, whole line) of a line that `conclude` printed; None for any other.

    >>> conclusion("X1, 1 verdict (1 HOLDS): mixup lowers the ECE of digits")[0]
    'X1'
    """
    found = CONCLUDED.fullmatch(line)
    return None if found is None else (found["claim"], line)


def judge(
    claim: str,
    statement: str,
    differences: Sequence[float],
    *,
    expect: Direction = "above",
    margin: float | str = 0.0,
    than: float | None = None,
    step: float = 0.0,
    control: Sequence[float] | None = None,
    level: float = 0.95,
    post_hoc: bool = False,
    as_trained: bool = False,
    digits: int = 3,
) -> Verdict:
    """Judge one number per seed by the Student t interval [low, high] of its mean.

    A claim on an effect gives paired differences, whose sign is the direction, and its stated size
    as `margin`: a number, or the kind of claim, whose one margin `MARGINS` has. A claim on a level
    ("a share of at least .9") gives the values themselves and the level as `than`; where it is a
    share of cases that were counted, `judge_share` has the exact interval.

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
    the table of all verdicts, a claim that was made after these numbers were seen;
    `as_trained=True` a comparison of calibration before both sides have a temperature of their own.

    step: distance of the grid on which the values were found, such as .1 for a temperature of the
        grid 0.1, 0.2 ...; the interval is half a step wider at both ends.
    control: the same numbers of what should *not* have the property; where the claim would hold of
        it too, the word is NOT SPECIFIC.
    digits: more decimals of the line, where the rounding of three would decide a word.

    Values that are all equal, and on no grid, are INCONCLUSIVE: an interval of zero width decides
    nothing. Raises ValueError for fewer than 2 values, NaN, "within" without a margin, and both a
    margin and `than` with "above" or "below".

    >>> print(judge("X1", "mixup lowers ECE", [-0.10, -0.12, -0.11], expect="below"))
    X1 HOLDS: mixup lowers ECE | -0.110 [-0.135, -0.085] 95% over 3 seeds
    >>> print(judge("F4", "sure of nine mistakes in ten", [0.36, 0.37, 0.38], than=0.9))
    F4 NOT MET: sure of nine mistakes in ten | +0.370 [+0.345, +0.395] against 0.9, 95% over 3 seeds
    >>> near = {"expect": "within", "than": 1.0, "margin": "temperature", "step": 0.1}
    >>> print(judge("F7", "T of focal loss is near 1", [1.0, 1.0, 1.0], control=[1.0] * 3, **near))
    F7 NOT SPECIFIC: T of focal loss is near 1 | +1.000 [+0.950, +1.050] against 1, 95% over 3 seeds
    """
    rule, level = _rule(expect, margin, than, level)
    step = validate.number("step", step, 0, math.inf, open_high=True)
    mean, low, high = _on_grid(differences, step, level)
    word = rule.word(low, high, None if control is None else _on_grid(control, step, level)[1:])
    than = None if than is None else rule.than
    marks: dict = {"post_hoc": bool(post_hoc), "as_trained": bool(as_trained), "digits": digits}
    said = _of_a_line(word, than)
    return Verdict(claim, statement, said, mean, low, high, len(differences), level, than, **marks)


def judge_share(
    claim: str,
    statement: str,
    hits: int,
    cases: int,
    *,
    than: float,
    expect: Direction = "above",
) -> Verdict:
    """Judge a share of counted cases by its exact binomial interval (Clopper and Pearson 1934).

    hits: of so many independent `cases` those in which it was so. Words as of `judge`, level 95 %.

    Raises ValueError as `judge` does, and for hits outside 0 ... cases.

    >>> print(judge_share("17a", "at least 7 in 10 are named", 30, 30, than=0.7))
    17a HOLDS: at least 7 in 10 are named | +1.000 [+0.884, +1.000] against 0.7, 95% over 30 cases
    """
    rule, level = _rule(expect, 0.0, than, 0.95)
    cases = validate.integer("cases", cases, 1)
    hits = validate.integer("hits", hits, 0, cases)
    low, high = stats.binomtest(hits, cases).proportion_ci(level)
    word = _of_a_line(rule.word(low, high), rule.than)
    ends = (hits / cases, float(low), float(high))
    return Verdict(claim, statement, word, *ends, cases, level, rule.than, unit="cases")


@dataclass(frozen=True)
class Rule:
    """What a claim draws on the axis of its effect, and the word for an interval that lies there.

    expect: the direction of the effect that is claimed, from `than`. size: how far beyond `than`
    the claim wants it, by default the margin. opposite: an effect below it is one the other way.
    Between opposite and margin it is WITHIN: too small to matter.
    """

    expect: Direction
    margin: float
    than: float = 0.0
    size: float | None = None
    opposite: float = 0.0

    def word(self, low: float, high: float, control: Sequence[float] | None = None) -> str:
        """HOLDS, REVERSED, WITHIN, OPEN, or NOT SPECIFIC where it holds of the control's interval.

        >>> rule = Rule("above", 0.01, opposite=-0.01)
        >>> rule.word(0.02, 0.03), rule.word(-0.005, 0.005), rule.word(0.0, 0.03)
        ('HOLDS', 'WITHIN', 'OPEN')
        """
        word = self._word(low, high)
        both = word == "HOLDS" and control is not None and self._word(*control) == word
        return "NOT SPECIFIC" if both else word

    def _word(self, low: float, high: float) -> str:
        low, high = (round(end - self.than, 12) for end in (low, high))  # 1.4 - 1 is .3999...
        size = self.margin if self.size is None else self.size
        if low == high:  # an interval without a width decides nothing
            return "OPEN"
        if self.expect == "within":
            if -size < low and high < size:
                return "HOLDS"
            return "REVERSED" if low > size or high < -size else "OPEN"
        if self.expect == "below":
            low, high = -high, -low
        if low > size:
            return "HOLDS"
        if high < self.opposite:
            return "REVERSED"
        return "WITHIN" if self.opposite < low and high < self.margin else "OPEN"


def _of_a_line(word: str, than: float | None) -> str:
    """The word in a lesson's line, whose table stands in `judge`."""
    if word == "REVERSED" and than is not None:
        return "NOT MET"
    return {"WITHIN": "NOT MET", "OPEN": "INCONCLUSIVE"}.get(word, word)


def _rule(
    expect: Direction, margin: float | str, than: float | None, level: float
) -> tuple[Rule, float]:
    """The line that a claim draws, and the level of its interval; both checked."""
    validate.choice("expect", expect, DIRECTIONS)
    if isinstance(margin, str):
        margin = MARGINS[validate.choice("margin", margin, tuple(MARGINS))]
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
    return Rule(expect, margin, than or 0.0), validate.level(level)


def _on_grid(values: Sequence[float], step: float, level: float) -> tuple[float, float, float]:
    """`interval`, wider by half a step of the grid on which the values were found."""
    mean, low, high = interval(values, level=level)
    return mean, low - step / 2, high + step / 2


def interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float, float]:
    """Mean of `values` with its Student t interval: mean -+ t * s / sqrt(n).

    >>> tuple(round(v, 3) for v in interval([1.0, 2.0, 3.0]))
    (2.0, -0.484, 4.484)
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or len(given) < 2:
        raise ValueError(
            f"differences must be at least 2 numbers, one per seed, got shape {given.shape}"
        )
    if not np.isfinite(given).all():
        raise ValueError(f"differences must be finite, got {given.tolist()}; drop no seed unseen")
    mean, error = given.mean(), given.std(ddof=1) / math.sqrt(len(given))
    half = stats.t.ppf((1 + level) / 2, len(given) - 1) * error
    return float(mean), float(mean - half), float(mean + half)
