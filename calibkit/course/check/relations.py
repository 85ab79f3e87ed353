"""Facts of wrong numbers, whatever their cause: how they go with the right ones, what moves them.

A relation holds for every case, also for those that are right: what is seen in one case and not in
the next is chance.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.common_mistakes import others

if TYPE_CHECKING:
    from calibkit.course.check.hints import Attempt

NEAR = 0.02
ROUGH = 5e-3  # a tolerance above this is one of a search, not of rounding
TINY = 1.2e-38  # the smallest normal number of float32
REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "mean": np.mean,
    "sum": np.sum,
    "largest": np.max,
    "smallest": np.min,
    "median": np.median,
    "first": lambda e, axis: np.moveaxis(e, axis, range(len(axis)))[(0,) * len(axis)],
    "last": lambda e, axis: np.moveaxis(e, axis, range(len(axis)))[(-1,) * len(axis)],
}


def the_same(attempt: Attempt) -> str | None:
    """Whether the answer is the same everywhere."""
    first, *rest = attempt.given.values()
    same = attempt.exercise.same
    if rest and np.isfinite(first).all() and all(same(first, other) for other in rest):
        return "your function returns the same whatever it is given."
    return None


def axes(attempt: Attempt) -> str | None:
    """An axis that is left, or lost: what there is to do is then known."""
    # one row has the same sum, mean and largest, and tells nothing
    same = attempt.exercise.same
    left = [(g, e) for e, g in attempt.pairs if not (g.size == e.size and same(e, g))]
    if told := _reduced(attempt, left):
        return f"one step is left: the answer is the {told[0]} of your numbers {told[1]}."
    told = _reduced(attempt, attempt.pairs)
    return told and f"this is the {told[0]} of the right numbers {told[1]}: each of them was asked."


def _reduced(attempt: Attempt, pairs: list) -> tuple[str, str] | None:
    """The reduction that makes the second of each pair from the first, and along which axes."""
    if any(large.size <= small.size or large.ndim <= small.ndim for large, small in pairs):
        return None
    count, same = pairs[0][0].ndim, attempt.exercise.same
    for along in (a for size in range(1, count + 1) for a in combinations(range(count), size)):
        for word, reduction in REDUCTIONS.items():
            try:
                if all(same(small, reduction(large, axis=along)) for large, small in pairs):
                    return word, f"along {' and '.join(f'axis {axis}' for axis in along)}"
            except (ValueError, IndexError):  # no such axis, or nothing along it
                continue
    return None


def whole(attempt: Attempt) -> str | None:
    """Whole numbers where fractions were asked."""
    fractions = sum((expected % 1 != 0).any() for expected, _ in attempt.pairs)
    if fractions < 3 or any((given % 1 != 0).any() for _, given in attempt.pairs):
        return None
    return (
        "all your numbers are whole numbers, though fractions were asked: is something rounded, "
        "divided with //, or compared, so that only True or False is left?"
    )


def _aligned(pairs: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether every result has the shape of the right one."""
    return all(expected.shape == given.shape for expected, given in pairs)


def unused(attempt: Attempt) -> str | None:
    """Which argument never matters to the answer, though it should."""
    names = next(iter(attempt.inputs.values()))
    if not _aligned(attempt.pairs[: len(attempt.wrong)]):
        return None  # whatever it is, it is no result
    ignored = running.limited(lambda: [name for name in names if _ignores(name, attempt)])
    if not ignored or len(ignored) == len(names) > 1:
        return None
    words = " or ".join(f"`{name}`" for name in ignored)
    asked = "is the argument" if len(ignored) == 1 else "are they"
    return f"your result does not change when {words} changes: {asked} ignored?"


def _ignores(name: str, attempt: Attempt) -> bool:
    """Whether at least two changes of the argument leave the answer as it is."""
    if _tells_apart(name, attempt):
        return False
    kinds: list[int] = []
    for case, given in attempt.given.items():
        arguments = attempt.inputs[case]
        for kind, other in enumerate(others(name, arguments)):
            results = attempt.results(arguments | {name: other})
            if results is None or _hidden(attempt.exercise.expected[case], results[0], attempt):
                continue
            if not np.array_equal(given, results[1], equal_nan=True):
                return False
            kinds.append(kind)
    # a table in another order may be the same to an answer that reads it
    return len(set(kinds)) > 1 or (len(kinds) > 1 and not isinstance(arguments[name], Tensor))


def _hidden(expected: np.ndarray, after: np.ndarray, attempt: Attempt) -> bool:
    """Whether the right result stays, or moves by less than a rounding to whole numbers hides."""
    rounded = all((given % 1 == 0).all() for given in attempt.given.values()) and any(
        (answer % 1 != 0).any() for answer in attempt.exercise.expected.values()
    )
    small = expected.shape == after.shape and np.abs(after - expected).max(initial=0) < 1
    return attempt.exercise.same(expected, after) or bool(rounded and small)


def _tells_apart(name: str, attempt: Attempt) -> bool:
    """Whether two cases that differ in this argument alone have different results."""
    return any(
        attempt.given[one].shape == attempt.given[other].shape
        and not np.array_equal(attempt.given[one], attempt.given[other], equal_nan=True)
        and all(
            np.array_equal(value, attempt.inputs[other][key]) != (key == name)
            for key, value in attempt.inputs[one].items()
        )
        for one, other in combinations(attempt.given, 2)
    )


def looks(attempt: Attempt) -> str | None:
    """What the wrong pairs of right and given results tell without a guess at the cause."""
    answers, tolerance = [*attempt.exercise.expected.values()], attempt.exercise.tolerance
    wrong, same = attempt.pairs[: len(attempt.wrong)], attempt.exercise.same
    if not _aligned(wrong):
        return None
    if any(np.unique(expected).size > 2 for expected, _ in wrong) and all(
        same(np.sort(e, axis=None), np.sort(g, axis=None)) for e, g in wrong
    ):
        return "these are the right numbers, but they stand at other places: look at the order."
    if all((e % 1 == 0).all() for e in answers) and any((r % 1 != 0).any() for _, r in wrong):
        return "a whole number was expected."
    limit = NEAR if tolerance <= ROUGH else 10 * tolerance
    if all(np.abs(r - e).max() < limit * np.abs(e).max() for e, r in wrong):
        if tolerance > ROUGH:
            return (
                f"the results are close, but not to within {100 * tolerance:g} %: does a search "
                "stop too early, or is its grid too coarse?"
            )
        return (
            "the results are close but not equal. Look for a number that was added or cut for "
            "safety, a rounding, float32, or a sample on the edge."
        )
    if not any(result.any() for _, result in wrong):
        if all(np.abs(expected).max(initial=0) < TINY for expected, _ in wrong):
            return (
                "your result is 0 where the answer is too small for float32 (below 1e-38): compute "
                "with .double()."
            )
        return "your result is 0. Do two things cancel, or is nothing left to sum?"
    if wrong[0][0].ndim == 2 and (told := _of_tables(*wrong[0])):
        return told
    if all((e >= 0).all() for e in answers) and any((r < 0).any() for _, r in wrong):
        return "your result is negative in some case, which cannot be."
    return None


def _of_tables(expected: np.ndarray, result: np.ndarray) -> str | None:
    wrong, sums = np.abs(result - expected) > 1e-5, result.sum(axis=1)
    if np.allclose(expected.sum(axis=1), 1) and not np.allclose(sums, 1, atol=1e-3):
        return f"each row must sum to 1; yours sum to {np.round(sums, 4).tolist()}."
    if expected.shape[0] != expected.shape[1]:  # a row a sample: there the diagonal is chance
        return None
    diagonal = np.eye(len(expected), dtype=bool)
    if not wrong[diagonal].any():
        return "the diagonal is right, the entries beside it are not."
    if not wrong[~diagonal].any():
        return "the entries beside the diagonal are right, the diagonal is not."
    return None
