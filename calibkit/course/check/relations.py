"""How wrong numbers and right ones go together: facts, whatever the cause.

All of them hold for each case, also for those that are right: a relation that is seen in one case
and not in the next is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from calibkit.course.check.attempt import Attempt

NEAR = 0.02
LARGEST = 1000  # of the whole numbers that are taken for a size that somebody fixed
MANY = 4  # cases with different answers, of which two results tell something
CONSTANTS = {
    "ln 10, as if a logarithm had base 10": math.log(10),
    "1 / ln 10, as if a logarithm had base 10": 1 / math.log(10),
    "ln 2, as if a logarithm had base 2": math.log(2),
    "1 / ln 2, as if a logarithm had base 2": 1 / math.log(2),
}
Reduction = Callable[..., np.ndarray]
REDUCTIONS: dict[str, Reduction] = {
    "mean": np.mean,
    "sum": np.sum,
    "largest": np.max,
    "smallest": np.min,
    "median": np.median,
    "first": lambda e, axis: np.moveaxis(e, axis, range(len(axis)))[(0,) * len(axis)],
    "last": lambda e, axis: np.moveaxis(e, axis, range(len(axis)))[(-1,) * len(axis)],
}
COUNTED = {
    "was multiplied by": 1.0,
    "was divided by": -1.0,
    "was multiplied by the square root of": 0.5,
    "was divided by the square root of": -0.5,
}
# What wrong entries may be, where the others are right.
ELSEWHERE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "0": np.zeros_like,
    "1": np.ones_like,
    "minus the answer": np.negative,
    "1 minus the answer": lambda e: 1 - e,
    "1 divided by the answer": lambda e: 1 / e,
    "the answer plus 1": lambda e: e + 1,
    "the answer minus 1": lambda e: e - 1,
}


def of_axes(attempt: Attempt) -> str | None:
    """An axis that is left, or lost: what there is to do is then known."""
    return _mask(attempt) or _axis_too_many(attempt) or _axis_too_few(attempt)


def _mask(attempt: Attempt) -> str | None:
    """Zeros and ones of which the places of the ones are the answer."""
    pairs = _pairs(attempt)
    if all(attempt.same(expected, given) for expected, given in pairs) or not all(
        np.isin(given, (0, 1)).all()
        and given.ndim == 1
        and np.array_equal(np.flatnonzero(given), np.sort(expected.ravel()))
        for expected, given in pairs
    ):
        return None
    return (
        "this is a mask, 1 for what is chosen and 0 for the rest. Asked are the indices of what is "
        "chosen: mask.nonzero()[:, 0]."
    )


def whole(attempt: Attempt) -> str | None:
    """Whole numbers where fractions were asked."""
    fractions = sum((expected % 1 != 0).any() for expected, _ in _pairs(attempt))
    if fractions < 3 or any((given % 1 != 0).any() for _, given in _pairs(attempt)):
        return None
    return (
        "all your numbers are whole numbers, though fractions were asked: is something rounded, "
        "divided with //, or compared, so that only True or False is left?"
    )


def strong(attempt: Attempt) -> str | None:
    """One relation for all numbers."""
    return _factor(attempt) or _order(attempt) or _few(attempt)


def weak(attempt: Attempt) -> str | None:
    """Relations that tell where to look."""
    return (
        _cut(attempt)
        or _cut_on_both_sides(attempt)
        or _where_wrong(attempt)
        or _factor_by_counts(attempt)
    )


def _pairs(attempt: Attempt) -> list[tuple[np.ndarray, np.ndarray]]:
    """Right and given results of each case, the wrong ones first."""
    cases = [*attempt.wrong, *(case for case in attempt.given if case not in attempt.wrong)]
    return [(attempt.expected[case], attempt.given[case]) for case in cases]


def _reduced(attempt: Attempt, pairs: list) -> tuple[str, str] | None:
    """The reduction that makes the second of each pair from the first, and along which axes."""
    if any(large.size <= small.size or large.ndim <= small.ndim for large, small in pairs):
        return None
    count = pairs[0][0].ndim
    for axes in (axes for size in range(1, count + 1) for axes in combinations(range(count), size)):
        for word, reduction in REDUCTIONS.items():
            try:
                if all(attempt.same(small, reduction(large, axis=axes)) for large, small in pairs):
                    return word, f"along {' and '.join(f'axis {axis}' for axis in axes)}"
            except (ValueError, IndexError):  # no such axis, or nothing along it
                continue
    return None


def _axis_too_many(attempt: Attempt) -> str | None:
    # one row has the same sum, mean and largest, and tells nothing
    pairs = [(g, e) for e, g in _pairs(attempt) if not (g.size == e.size and attempt.same(e, g))]
    told = _reduced(attempt, pairs)
    return told and f"one step is left: the answer is the {told[0]} of your numbers {told[1]}."


def _axis_too_few(attempt: Attempt) -> str | None:
    told = _reduced(attempt, _pairs(attempt))
    return told and f"this is the {told[0]} of the right numbers {told[1]}: each of them was asked."


def _ratio(expected: np.ndarray, given: np.ndarray, attempt: Attempt) -> float | None:
    """The one factor between two results; NaN if both are 0, None if there is none."""
    if expected.shape != given.shape or not np.isfinite(given).all():
        return None
    some = np.abs(expected) > attempt.absolute
    if not some.any():
        return math.nan if attempt.same(expected, given) else None
    ratios = given[some] / expected[some]
    factor = float(np.median(ratios))
    return factor if attempt.same(factor * expected, given) else None


def _factor(attempt: Attempt) -> str | None:
    """One factor everywhere, or a size of the arguments in each case."""
    ratios = {
        case: _ratio(attempt.expected[case], attempt.given[case], attempt) for case in attempt.given
    }
    if None in ratios.values():
        return None
    known = {case: ratio for case, ratio in ratios.items() if ratio == ratio}
    values = np.array([*known.values()])
    if len(values) < 3 or not values.all():
        return None
    if np.allclose(values, values[0], rtol=1e-4):
        base = next(
            (f", {w}" for w, c in CONSTANTS.items() if math.isclose(c, values[0], rel_tol=1e-4)), ""
        )
        near = " They are close but not equal." if abs(values[0] - 1) < NEAR else ""
        return f"each of your numbers is {values[0]:.4g} times the answer{base}.{near}"
    for words, sizes in _sizes([attempt.inputs[case] for case in known]):
        for name, power in (("", 1), ("the square root of ", 0.5)):
            for way, sign in (("large", 1), ("small", -1)):
                if np.allclose(values, sizes ** (sign * power), rtol=1e-4):
                    return f"your numbers are too {way} by the factor of {name}{words}."
        told = _fixed_size(words, sizes, values)
        if told:
            return told
    return None


def _fixed_size(words: str, sizes: np.ndarray, values: np.ndarray) -> str | None:
    """A whole number in the place of a size: right where the size happens to be that number."""
    if len(np.unique(sizes)) < 3:
        return None
    for way, constants in (("divided", sizes / values), ("multiplied", sizes * values)):
        number = round(float(constants[0]))
        if 1 < number <= LARGEST and np.allclose(constants, number, rtol=1e-4):
            return (
                f"you {way} by {number} in the place of {words}, which differs from case to case."
            )
    return None


def _sizes(cases: list[dict]) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers that each case has, in words, and the quotients of two of them."""
    found: dict[str, np.ndarray] = {}
    for name, value in cases[0].items():
        if isinstance(value, Tensor):
            for axis in range(value.ndim):
                where = f"axis {axis} of " if value.ndim > 1 else ""
                words = f"the length of {where}`{name}`"
                found[words] = np.array([case[name].shape[axis] for case in cases], dtype=float)
        else:
            found[f"`{name}`"] = np.array([case[name] for case in cases], dtype=float)
    found = {words: sizes for words, sizes in found.items() if (sizes > 0).all()}
    yield from found.items()
    for (one, first), (other, second) in combinations(found.items(), 2):
        yield f"{one} times {other}", first * second
        yield f"{one} divided by {other}", first / second


def _order(attempt: Attempt) -> str | None:
    """The right numbers at other places."""
    pairs = _pairs(attempt)
    if any(expected.shape != given.shape for expected, given in pairs):
        return None  # the shape comes first
    if all(attempt.same(expected.ravel(), given.ravel()) for expected, given in pairs):
        return None  # the shape alone is wrong
    if not all(
        attempt.same(np.sort(expected, axis=None), np.sort(given, axis=None))
        for expected, given in pairs
    ):
        return None
    if not any(np.unique(expected).size > 2 for expected, _ in pairs):
        return None
    return "these are the right numbers, but they stand at other places: look at the order."


def _few(attempt: Attempt) -> str | None:
    """Two numbers, whatever the case: what a search gives that runs into its bounds."""
    pairs = _pairs(attempt)
    if len(attempt.wrong) < len(pairs) or any(e.size > 1 or g.size > 1 for e, g in pairs):
        return None
    asked, given = (
        np.round([float(part) for part in side], 6) for side in zip(*pairs, strict=True)
    )
    found, counts = np.unique(given, return_counts=True)
    if len(found) != 2 or counts.min() < 2 or len(np.unique(asked)) < MANY:
        return None
    low, high = (f"{value:g}" for value in found)
    return (
        f"all your numbers are {low} or {high}, whatever the case. Does a search run into the ends "
        "of its range, because it goes the wrong way or the range is too narrow?"
    )


def _entries(attempt: Attempt) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """All entries of all cases, right and given, and which of these are wrong."""
    pairs = _pairs(attempt)
    if any(expected.shape != given.shape for expected, given in pairs):
        return None
    expected = np.concatenate([expected.ravel() for expected, _ in pairs])
    given = np.concatenate([given.ravel() for _, given in pairs])
    limit = attempt.absolute + attempt.tolerance * np.abs(expected)
    wrong = ~(np.abs(expected - given) <= limit)
    return (expected, given, wrong) if np.isfinite(given).all() else None


def _cut(attempt: Attempt) -> str | None:
    """Right up to some number, and that number beyond it."""
    expected, given, wrong = _entries(attempt) or (None, None, np.zeros(0))
    if wrong.sum() < 2 or wrong.all() or not np.allclose(given[wrong], given[wrong][0]):
        return None
    value = given[wrong][0]
    for where, sign in (("above", 1), ("below", -1)):
        beyond = (sign * expected[wrong] > sign * value).all()
        if beyond and (sign * given <= sign * value + attempt.absolute).all():
            return f"yours never goes {where} {value:.4g}, though the answer does."
    return None


def _cut_on_both_sides(attempt: Attempt) -> str | None:
    """Right between two numbers, and the nearer of them beyond."""
    expected, given, wrong = _entries(attempt) or (None, None, np.zeros(0))
    if wrong.sum() < 3 or wrong.all():
        return None
    low, high = given.min(), given.max()
    cut = np.clip(expected, low, high)
    beyond = (expected < low).any() and (expected > high).any()
    if beyond and attempt.same(cut, given):
        return f"yours stays between {low:.4g} and {high:.4g}, though the answer does not."
    return None


def _where_wrong(attempt: Attempt) -> str | None:
    """All wrong entries are the same thing."""
    expected, given, wrong = _entries(attempt) or (None, None, np.zeros(0))
    if wrong.sum() < 3 or np.unique(expected[wrong].round(4)).size < 3:
        return None
    for words, change in ELSEWHERE.items():
        with np.errstate(all="ignore"):
            if attempt.same(change(expected[wrong]), given[wrong]):
                return f"{wrong.sum()} of {wrong.size} numbers are wrong; each of them is {words}."
    return None


def _factor_by_counts(attempt: Attempt) -> str | None:
    """Entry j is off by the number of entries j of an argument of whole numbers."""
    for name, value in next(iter(attempt.inputs.values())).items():
        if not isinstance(value, Tensor) or value.dtype != torch.int64 or value.ndim != 1:
            continue
        for words, power in COUNTED.items():
            if all(
                attempt.same(
                    _scaled(attempt.expected[case], attempt.inputs[case][name], power), given
                )
                for case, given in attempt.given.items()
            ):
                return f"each entry {words} the number of samples in its group, by `{name}`."
    return None


def _scaled(expected: np.ndarray, groups: Tensor, power: float) -> np.ndarray:
    """The entries times a power of their counts; nothing where there is no count for each."""
    counts = groups.clamp(min=0).bincount().double().numpy()
    return expected * counts**power if counts.shape == expected.shape else np.array([])
