"""Which convention does a calibration error follow? Golden cases, and whoever agrees with them.

`golden_cases.json` beside this file holds predictions whose errors are known exactly, by named
convention, for 10 and for 15 bins. Any test suite may read it:

    for case in json.load(open("golden_cases.json"))["cases"]:
        probs, labels = np.array(case["probs"], case["dtype"]), np.array(case["labels"])
        expected = float(Fraction(case["answers"]["15"]["ECE, (lo, hi]"]))  # or "inf", of log loss
        assert abs(my_ece(probs, labels) - expected) < 1e-6
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from calibkit import validate

CASES = Path(__file__).with_name("golden_cases.json")
BINS = (10, 15)


@dataclass(frozen=True)
class Followed:
    """What a measure gave on the golden cases; printed, it says which convention that is.

    bins: how many it uses, as was told or found.
    names: the conventions that it follows on every case on which it gave a number; more than one
        where they do not differ for so many bins, or only where it gave none.
    nearest: the convention that it follows on most cases; "" where it follows none on any.
    departures: of every case in which it leaves `nearest`, (its value, that of `nearest` or NaN).
    answered: on how many cases it gave a number.
    failures: of every other case, what it raised.
    order: the cases on which another order of the rows gives another number.
    """

    bins: int
    names: tuple[str, ...]
    nearest: str
    departures: dict[str, tuple[float, float]]
    answered: int
    failures: dict[str, str]
    order: tuple[str, ...]

    def __str__(self) -> str:
        named = " | ".join(self.names) or "no convention throughout"
        lines = [f"follows {named} ({self.bins} bins)"]
        if self.departures and self.nearest:
            count = f"{self.answered - len(self.departures)} of {self.answered} cases"
            lines.append(f"  nearest {self.nearest}, on {count}, but")
            for case, (value, other) in self.departures.items():
                lines.append(f"    {case}: {value:.6f}, not {other:.6f}")
        for why in dict.fromkeys(self.failures.values()):
            cases = ", ".join(case for case, told in self.failures.items() if told == why)
            lines.append(f"  no number on {cases}: {why}")
        if self.order:
            lines.append(f"  depends on the order of the rows: {', '.join(self.order)}")
        return "\n".join(lines)


def follows(measure: Callable, *, bins: int | None = None) -> Followed:
    """Put `measure` through the golden cases, and say which convention it follows.

    measure: called with (n, K) probabilities of float16, float32 or float64 and (n,) labels as
        arrays; gives a fraction. For a measure of the event alone pass
        `lambda probs, labels: measure(probs[:, 1], labels)`.
    bins: how many it uses, 10 or 15; None finds out.

    Equal is what differs by less than 1e-6, or a rounding of the case's own precision. Raises
    ValueError for other bins.

    >>> from calibkit.metrics import ece
    >>> print(follows(ece))
    follows ECE, (lo, hi] (15 bins)
    """
    if bins is None:
        tried = [follows(measure, bins=one) for one in reversed(BINS)]
        return max(tried, key=lambda one: (bool(one.names), -len(one.departures)))
    validate.choice("bins", bins, BINS)
    given, failures, order = {}, {}, []
    for case in golden_cases():
        name, dtype = case["name"], np.dtype(case["dtype"])
        probs, labels = np.array(case["probs"], dtype), np.array(case["labels"])
        try:
            value = float(measure(probs, labels))
            if not _equal(value, float(measure(probs[::-1].copy(), labels[::-1].copy())), dtype):
                order.append(name)
        except Exception as error:  # a measure may refuse a case, and say why
            failures[name] = f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            given[name] = value, case["answers"][str(bins)], dtype
    agreed = {
        name: [c for c, (value, answers, d) in given.items() if _equal(value, answers[name], d)]
        for name in conventions()
    }
    nearest = max(agreed, key=lambda name: len(agreed[name]))
    nearest = nearest if agreed[nearest] else ""
    names = tuple(name for name in agreed if given and len(agreed[name]) == len(given))
    departures = {
        c: (value, answers.get(nearest, math.nan))
        for c, (value, answers, _) in given.items()
        if c not in agreed.get(nearest, ())
    }
    return Followed(bins, names, nearest, departures, len(given), failures, tuple(order))


def _equal(value: float, other: float, dtype: np.dtype) -> bool:
    """NaN is equal to NaN alone, an infinity to itself."""
    near = abs(value - other) <= max(1e-6, float(np.finfo(dtype).eps))
    return near or value == other or (math.isnan(value) and math.isnan(other))


@cache
def golden_cases() -> list[dict]:
    """The cases: name, what, dtype, probs, labels, and answers as floats by bins and convention."""
    cases = json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        for by_name in case["answers"].values():
            by_name.update(
                {k: math.inf if v == "inf" else float(Fraction(v)) for k, v in by_name.items()}
            )
    return cases


def conventions() -> list[str]:
    """The names of all conventions, such as "ECE, (lo, hi]"."""
    return list(golden_cases()[0]["answers"]["15"])
