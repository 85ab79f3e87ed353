"""The register of claims, notebooks/register.toml: what is compared, and what word it gets.

A comparison is written there before it is judged. `judge` gives the words of
`verdicts.REGISTERED`, by size and not by whether a difference is zero:

| word     | the interval lies                                                             |
|----------|-------------------------------------------------------------------------------|
| HOLDS    | beyond the margin, as claimed (beyond the source's size, where it claims one) |
| REVERSED | beyond the margin, the other way                                              |
| WITHIN   | within the margin: no difference that matters                                 |
| OPEN     | elsewhere; `more` says how many seeds would decide                            |
"""

from __future__ import annotations

import bisect
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scipy import stats

from calibkit import validate
from calibkit.course import checkout
from calibkit.course.verdicts import DIRECTIONS, Direction, Rule, interval

NAME = "register.toml"
STATES = ("as trained", "after T", "")  # of calibration; "" where no temperature matters
TESTED = ("as claimed", "narrower", "checked", "built", "prepared", "advice")
MOST_SEEDS = 1000  # beyond which a comparison is not worth deciding


@dataclass(frozen=True)
class Comparison:
    """A row of the register.

    way, rival: ways of training; of each side the best setting is compared. lesson and was: in
    their place a statement of an older experiment. stored: where its numbers lie, as `stored_runs`
    has it. before: the older statement that it replaces. size: None where the source claims none.
    about: its name beside others of the claim. step: of the grid on which its values were found.
    also: by name what changes for a word beside it that is shown and not counted, `judged.beside`.
    """

    claim: str
    data: str
    measure: str
    margin: float
    state: str = ""
    expect: Direction = "above"
    than: float = 0.0
    size: float | None = None
    way: tuple[str, ...] = ()
    rival: tuple[str, ...] = ("cross-entropy",)
    lesson: str = ""
    was: str = ""
    stored: Mapping[str, Any] = field(default_factory=dict)
    before: str = ""
    about: str = ""
    step: float = 0.0
    also: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate.choice("state", self.state, STATES)
        validate.choice("expect", self.expect, DIRECTIONS)
        if bool(self.way) == bool(self.was):
            raise ValueError(f"{self.claim}: a comparison has either way or was, got {self}")

    def __str__(self) -> str:
        """In words, unique in a claim: the older statement, or ways, data, state and measure."""
        sides = f"{' or '.join(self.way)} against {' or '.join(self.rival)}"
        return self.was or ", ".join(filter(None, (self.data, self.state, sides, self.measure)))


@dataclass(frozen=True)
class Claim:
    """What a source says; tested: of `TESTED`; left: what of it was not tested, in few words."""

    id: str
    says: str
    tested: str
    left: str
    source: str
    figure: str
    compare: tuple[Comparison, ...]


@dataclass(frozen=True)
class Register:
    """The whole list, and the rules that all its rows share."""

    level: float
    criterion: Mapping[str, str]
    margins: Mapping[str, float]
    data: Mapping[str, Mapping[str, Any]]
    ways: Mapping[str, Sequence[float]]
    photographs: Mapping[str, Sequence[str]]
    claims: tuple[Claim, ...]

    def ways_of(self, data: str) -> Mapping[str, Sequence[Any]]:
        """The ways of training that can be compared on these data, and their strengths."""
        ways = self.photographs if data == "photographs" else self.ways
        return self.data[data].get("ways", ways)

    @property
    def comparisons(self) -> list[Comparison]:
        return [row for claim in self.claims for row in claim.compare]


def read(path: Path | None = None) -> Register:
    """The register of a file, by default that beside the notebooks.

    Raises ValueError, naming the claim, for a measure without a margin, more comparisons than the
    rules allow, two alike, a way or data that the register does not have, an id that comes twice.
    """
    path = checkout.root() / "notebooks" / NAME if path is None else path
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    rules, margins = held["rules"], held["margins"]
    claims = tuple(_claim(dict(one), margins, rules["most"]) for one in held["claim"])
    register = Register(
        rules["level"], rules["criterion"], margins, held["data"], held["ways"],
        held["photographs"], claims,
    )  # fmt: skip
    ids = [claim.id for claim in claims]
    if twice := {name for name in ids if ids.count(name) > 1}:
        raise ValueError(f"claims that stand twice: {', '.join(sorted(twice))}")
    for row in register.comparisons:
        if row.way:
            validate.choice(f"data of {row.claim}", row.data, tuple(register.data))
            for way in (*row.way, *row.rival):
                known = register.ways_of(row.data)
                validate.choice(f"way of {row.claim}", way, tuple(known))
    return register


def _claim(held: dict[str, Any], margins: Mapping[str, float], most: int) -> Claim:
    rows = held.pop("compare", [])
    told = {"left": "", "figure": "", **held}
    validate.choice("tested", told["tested"], TESTED)
    if len(rows) > most:
        raise ValueError(f"{held['id']} has {len(rows)} comparisons; leave at most {most}")
    made = []
    for row in rows:
        measure = validate.choice(f"measure of {held['id']}", row["measure"], tuple(margins))
        sides = {side: tuple(row[side]) for side in ("way", "rival") if side in row}
        made.append(Comparison(**{**row, **sides}, claim=held["id"], margin=margins[measure]))
    if len({str(row) for row in made}) < len(made):
        raise ValueError(f"two comparisons of {held['id']} are alike")
    if len({(row.state, row.about or row.data) for row in made}) < len(made):
        raise ValueError(f"two comparisons of {held['id']} have one name; give each its `about`")
    return Claim(**told, compare=tuple(made))


@dataclass(frozen=True)
class Judged:
    """A word with its numbers: the estimate, its interval, how many seeds, how many would decide.

    more: None where the word is not OPEN, or no number of seeds up to `MOST_SEEDS` would do.
    excluded: whether it is OPEN and yet its interval leaves no effect as large as is claimed.
    """

    word: str
    estimate: float
    low: float
    high: float
    seeds: int
    more: int | None
    excluded: bool

    def __str__(self) -> str:
        return f"{self.word}, not as claimed" if self.excluded else self.word


def judge(
    values: Sequence[float],
    margin: float,
    *,
    expect: Direction = "above",
    than: float = 0.0,
    size: float | None = None,
    level: float = 0.9875,
) -> Judged:
    """The word for one number a seed, by the Student t interval of its mean; see the module.

    values: paired differences, or levels where `than` names one. margin: above 0. Raises ValueError
    for fewer than 2 values.

    >>> judge([0.031, 0.033, 0.032, 0.031], 0.01).word, judge([0.001, -0.001, 0.0], 0.01).word
    ('HOLDS', 'WITHIN')
    >>> judge([0.01, 0.03, 0.0], 0.01).word, judge([0.031, 0.033, 0.032], 0.01, size=0.1).word
    ('OPEN', 'OPEN')
    """
    ends = interval(values, level=validate.level(level))
    rule = _rule(margin, expect, than, size)
    return _judged(rule, ends, len(values), level)


def judge_again(
    mean: float, low: float, high: float, seeds: int, old_level: float, margin: float, **how: Any
) -> Judged:
    """The same of a mean whose interval at another level is known, as a line has it.

    step, of `how`: of the grid of the values; half of it stands once in either interval.

    >>> judge_again(1.0, 0.95, 1.05, 3, 0.95, 0.1, expect="within", than=1.0, step=0.1).word
    'HOLDS'
    """
    level, than, step = how.get("level", 0.9875), how.get("than", 0.0), how.get("step", 0.0)
    wide, old = (stats.t.ppf((1 + one) / 2, seeds - 1) for one in (level, old_level))
    half = max((high - low - step) / 2, 0.0) * (wide / old) + step / 2
    rule = _rule(margin, how.get("expect", "above"), than, how.get("size"))
    return _judged(rule, (mean, mean - half, mean + half), seeds, level, step)


def _rule(margin: float, expect: Direction, than: float, size: float | None) -> Rule:
    margin = validate.number("margin", margin, 0, math.inf, open_low=True, open_high=True)
    validate.choice("expect", expect, DIRECTIONS)
    return Rule(expect, margin, than, size, opposite=-margin)


def _judged(rule: Rule, ends, seeds: int, level: float, step: float = 0.0) -> Judged:
    mean, low, high = ends
    word = rule.word(low, high)
    size = rule.margin if rule.size is None else rule.size
    beyond = low > rule.than - size if rule.expect == "below" else high < rule.than + size
    excluded, more = bool(word == "OPEN" and rule.expect != "within" and beyond), None
    if word == "OPEN":  # the least number that would give a word, were mean and spread as they are
        half = max(high - mean - step / 2, 0.0)
        spread = half / stats.t.ppf((1 + level) / 2, seeds - 1) * math.sqrt(seeds)

        def decides(n: int) -> bool:  # and so does every larger one, whose interval lies within
            half = stats.t.ppf((1 + level) / 2, n - 1) * spread / math.sqrt(n) + step / 2
            return rule.word(mean - half, mean + half) != "OPEN"

        numbers = range(seeds + 1, MOST_SEEDS + 1)
        place = bisect.bisect_left(numbers, True, key=decides)
        more = numbers[place] if place < len(numbers) else None
    return Judged(word, *ends, seeds, more, excluded)
