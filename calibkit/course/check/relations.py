"""How wrong numbers and right ones go together: facts, whatever the cause.

All of them hold for each case, also for those that are right: a relation that is seen in one case
and not in the next is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from torch import Tensor

from calibkit.course.check.attempt import Attempt

NEAR = 0.02
CONSTANTS = {
    "ln 10, as if a logarithm had base 10": math.log(10),
    "1 / ln 10, as if a logarithm had base 10": 1 / math.log(10),
    "ln 2, as if a logarithm had base 2": math.log(2),
    "1 / ln 2, as if a logarithm had base 2": 1 / math.log(2),
    "the square root of 2": math.sqrt(2),
    "1 over the square root of 2": math.sqrt(0.5),
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
# What wrong entries may be, where the others are right.
ELSEWHERE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "0": np.zeros_like,
    "1": np.ones_like,
    "minus the answer": np.negative,
    "1 minus the answer": lambda e: 1 - e,
    "1 divided by the answer": lambda e: 1 / e,
    "twice the answer": lambda e: 2 * e,
    "half of the answer": lambda e: e / 2,
    "the answer plus 1": lambda e: e + 1,
    "the answer minus 1": lambda e: e - 1,
}


def of_axes(attempt: Attempt) -> str | None:
    """An axis that is left, or lost: what there is to do is then known."""
    return _axis_too_many(attempt) or _axis_too_few(attempt)


def whole(attempt: Attempt) -> str | None:
    """Whole numbers where fractions were asked."""
    fractions = sum((expected % 1 != 0).any() for expected, _ in _pairs(attempt))
    if fractions < 3 or any((given % 1 != 0).any() for _, given in _pairs(attempt)):
        return None
    return (
        "all your numbers are whole, though fractions were asked: is something rounded, divided "
        "with //, or compared, so that only True or False is left?"
    )


def strong(attempt: Attempt) -> str | None:
    """One relation for all numbers."""
    return _factor(attempt) or _order(attempt)


def weak(attempt: Attempt) -> str | None:
    """Relations that tell where to look."""
    return (
        _cut(attempt)
        or _where_wrong(attempt)
        or _factor_by_counts(attempt)
        or _factor_along(attempt)
    )


def _pairs(attempt: Attempt) -> list[tuple[np.ndarray, np.ndarray]]:
    """Right and given results of each case, the wrong ones first."""
    cases = [*attempt.wrong, *(case for case in attempt.given if case not in attempt.wrong)]
    return [(attempt.expected[case], attempt.given[case]) for case in cases]


def _axes(count: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, count + 1):
        yield from combinations(range(count), size)


def _reduced(attempt: Attempt, pairs: list) -> tuple[str, tuple[int, ...]] | None:
    """The reduction that makes the second of each pair from the first."""
    for axes in _axes(pairs[0][0].ndim):
        for word, reduction in REDUCTIONS.items():
            try:
                if all(attempt.same(small, reduction(large, axis=axes)) for large, small in pairs):
                    return word, axes
            except (ValueError, IndexError):  # no such axis, or nothing along it
                continue
    return None


def _along(axes: tuple[int, ...]) -> str:
    return ("axis " if len(axes) == 1 else "axes ") + " and ".join(map(str, axes))


def _axis_too_many(attempt: Attempt) -> str | None:
    pairs = [(given, expected) for expected, given in _pairs(attempt)]
    # one row has the same sum, mean and largest
    pairs = [(g, e) for g, e in pairs if not (g.size == e.size and attempt.same(e, g))]
    if any(g.size <= e.size or g.ndim <= e.ndim for g, e in pairs):
        return None
    found = _reduced(attempt, pairs)
    if not found:
        return None
    word, axes = found
    return f"one step is left: the answer is the {word} of your numbers along {_along(axes)}."


def _axis_too_few(attempt: Attempt) -> str | None:
    pairs = _pairs(attempt)
    if any(expected.ndim <= given.ndim for expected, given in pairs):
        return None
    found = _reduced(attempt, pairs)
    if not found:
        return None
    word, axes = found
    return f"this is the {word} of the right numbers along {_along(axes)}: each of them was asked."


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
    for words, sizes in found.items():
        less = np.where(sizes > 1, sizes - 1, 1)
        yield words, sizes
        yield f"m / (m - 1), as if by n - 1 in place of n, where m is {words}", sizes / less
    for (one, first), (other, second) in combinations(found.items(), 2):
        yield f"{one} times {other}", first * second
        yield f"{one} divided by {other}", first / second


def _order(attempt: Attempt) -> str | None:
    """The right numbers at other places."""
    pairs = _pairs(attempt)
    if any(expected.size != given.size for expected, given in pairs):
        return None
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
    entries = _entries(attempt)
    if entries is None:
        return None
    expected, given, wrong = entries
    value = given[wrong][0]
    if wrong.sum() < 2 or wrong.all() or not np.allclose(given[wrong], value):
        return None
    if (expected[wrong] > value).all() and (given <= value + attempt.absolute).all():
        return f"yours never goes above {value:.4g}, though the answer does."
    if (expected[wrong] < value).all() and (given >= value - attempt.absolute).all():
        return f"yours never goes below {value:.4g}, though the answer does."
    return None


def _where_wrong(attempt: Attempt) -> str | None:
    """All wrong entries are the same thing."""
    entries = _entries(attempt)
    if entries is None:
        return None
    expected, given, wrong = entries
    if wrong.sum() < 3 or np.unique(expected[wrong].round(4)).size < 3:
        return None
    for words, change in ELSEWHERE.items():
        with np.errstate(all="ignore"):
            if attempt.same(change(expected[wrong]), given[wrong]):
                return (
                    f"{wrong.sum()} of {wrong.size} numbers are wrong, and each of them is {words}."
                )
    return None


def _ratios(attempt: Attempt) -> dict[str, np.ndarray] | None:
    """Entry by entry, by case; None where a result has zeros or another shape."""
    found = {}
    for case, given in attempt.given.items():
        expected = attempt.expected[case]
        if expected.shape != given.shape or not np.isfinite(given).all():
            return None
        with np.errstate(all="ignore"):
            found[case] = np.where(np.abs(expected) > 1e-9, given / expected, np.nan)
    return found


def _agree(one: np.ndarray, other: np.ndarray) -> bool:
    known = np.isfinite(one) & np.isfinite(other)
    return known.any() and np.allclose(one[known], other[known], rtol=1e-4)


def _factor_by_counts(attempt: Attempt) -> str | None:
    """Entry j is off by the number of entries j of an argument."""
    ratios = _ratios(attempt)
    if ratios is None or any(ratio.ndim != 1 for ratio in ratios.values()):
        return None
    for name, counts in _counts(attempt):
        for root, power in (("", 1), ("the square root of ", 0.5)):
            for way, sign in (("large", 1), ("small", -1)):
                if all(_agree(ratio, counts[c] ** (sign * power)) for c, ratio in ratios.items()):
                    return (
                        f"each entry is too {way} by {root}the number of samples in its group, "
                        f"counted in `{name}`."
                    )
    return None


def _counts(attempt: Attempt) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """How often each number occurs in an argument of whole numbers, as long as the result."""
    for name, value in next(iter(attempt.inputs.values())).items():
        if not isinstance(value, Tensor) or value.is_floating_point() or value.ndim != 1:
            continue
        counts = {
            case: np.bincount(arguments[name].numpy().astype(int)).astype(float)
            for case, arguments in attempt.inputs.items()
            if (arguments[name] >= 0).all()
        }
        results = attempt.expected
        if all(case in counts and counts[case].shape == results[case].shape for case in results):
            yield name, counts


def _factor_along(attempt: Attempt) -> str | None:
    """Each row, each column or each case has one factor of its own."""
    ratios = _ratios(attempt)
    if ratios is None:
        return None
    several = [ratio for ratio in ratios.values() if np.isfinite(ratio).sum() >= 3]
    if len(several) < 2:
        return None
    for axis, words in (
        (None, "all numbers of a case are"),
        (1, "each row is"),
        (0, "each column is"),
    ):
        if axis is not None and any(r.ndim != 2 or min(r.shape) < 2 for r in several):
            return None
        with np.errstate(all="ignore"):
            middle = [np.nanmedian(r, axis=axis, keepdims=True) for r in several]
        if all(
            _agree(ratio, np.broadcast_to(m, ratio.shape))
            for ratio, m in zip(several, middle, strict=True)
        ):
            return (
                f"{words} off by a factor of {'their' if axis is None else 'its'} own: look at "
                "what you divide by, or at a weight."
            )
    return None
