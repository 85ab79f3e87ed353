"""Facts of wrong numbers, whatever their cause: how they go with the right ones, what moves them.

A relation holds for every case, also for those that are right: what is seen in one case and not in
the next is chance.
"""

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.attempt import Attempt
from calibkit.course.check.common_mistakes import others

NEAR = 0.02
STILL = 1e-4  # of the tolerance: what moves less has not moved
EXACT = 1e-4  # a tolerance above this is one of a search, whose steps hide what moves it
ROWS = 20  # a case of more rows is not tried
CASES = 3
BASES = {"ln 10": math.log(10), "1 / ln 10": 1 / math.log(10)}
REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {
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
    "the answer plus 1": lambda e: e + 1,
    "the answer minus 1": lambda e: e - 1,
}


def the_same(attempt: Attempt) -> str | None:
    """Whether the answer is the same everywhere."""
    first, *rest = attempt.given.values()
    if rest and np.isfinite(first).all() and all(attempt.same(first, other) for other in rest):
        return "your function returns the same whatever it is given."
    return None


def axes(attempt: Attempt) -> str | None:
    """An axis that is left, or lost: what there is to do is then known."""
    # one row has the same sum, mean and largest, and tells nothing
    left = [(g, e) for e, g in _pairs(attempt) if not (g.size == e.size and attempt.same(e, g))]
    if told := _reduced(attempt, left):
        return f"one step is left: the answer is the {told[0]} of your numbers {told[1]}."
    told = _reduced(attempt, _pairs(attempt))
    return told and f"this is the {told[0]} of the right numbers {told[1]}: each of them was asked."


def _pairs(attempt: Attempt) -> list[tuple[np.ndarray, np.ndarray]]:
    """Right and given results of each case, the wrong ones first."""
    cases = [*attempt.wrong, *(case for case in attempt.given if case not in attempt.wrong)]
    return [(attempt.expected[case], attempt.given[case]) for case in cases]


def _reduced(attempt: Attempt, pairs: list) -> tuple[str, str] | None:
    """The reduction that makes the second of each pair from the first, and along which axes."""
    if any(large.size <= small.size or large.ndim <= small.ndim for large, small in pairs):
        return None
    count = pairs[0][0].ndim
    for along in (a for size in range(1, count + 1) for a in combinations(range(count), size)):
        for word, reduction in REDUCTIONS.items():
            try:
                if all(attempt.same(small, reduction(large, axis=along)) for large, small in pairs):
                    return word, f"along {' and '.join(f'axis {axis}' for axis in along)}"
            except (ValueError, IndexError):  # no such axis, or nothing along it
                continue
    return None


def whole(attempt: Attempt) -> str | None:
    """Whole numbers where fractions were asked."""
    fractions = sum((expected % 1 != 0).any() for expected, _ in _pairs(attempt))
    if fractions < 3 or any((given % 1 != 0).any() for _, given in _pairs(attempt)):
        return None
    return (
        "all your numbers are whole numbers, though fractions were asked: is something rounded, "
        "divided with //, or compared, so that only True or False is left?"
    )


def factor(attempt: Attempt) -> str | None:
    """One factor everywhere, or a size of the arguments in each case."""
    ratios = {c: _ratio(attempt.expected[c], attempt.given[c], attempt) for c in attempt.given}
    if None in ratios.values():
        return None
    known = {case: ratio for case, ratio in ratios.items() if not math.isnan(ratio)}
    values = np.array([*known.values()])
    if len(values) < 3 or not values.all():
        return None
    if np.allclose(values, values[0], rtol=1e-4):
        bases = (b for b, c in BASES.items() if math.isclose(c, values[0], rel_tol=1e-4))
        base = "".join(f", {base}, as if a logarithm had base 10" for base in bases)
        near = " They are close but not equal." if abs(values[0] - 1) < NEAR else ""
        return f"each of your numbers is {values[0]:.4g} times the answer{base}.{near}"
    for words, sizes in _sizes([attempt.inputs[case] for case in known]):
        for root, power in (("", 1.0), ("the square root of ", 0.5)):
            for way, sign in (("large", 1), ("small", -1)):
                if np.allclose(values, sizes ** (sign * power), rtol=1e-4):
                    return f"your numbers are too {way} by the factor of {root}{words}."
    return None


def _ratio(expected: np.ndarray, given: np.ndarray, attempt: Attempt) -> float | None:
    """The one factor between two results; NaN if both are 0, None if there is none."""
    if expected.shape != given.shape or not np.isfinite(given).all():
        return None
    some = np.abs(expected) > attempt.exercise.absolute
    if not some.any():
        return math.nan if attempt.same(expected, given) else None
    ratio = float(np.median(given[some] / expected[some]))
    return ratio if attempt.same(ratio * expected, given) else None


def _sizes(cases: list[dict]) -> Iterator[tuple[str, np.ndarray]]:
    """Numbers that each case has, in words, their products and quotients."""
    found: dict[str, np.ndarray] = {}
    for name, value in cases[0].items():
        if isinstance(value, Tensor):
            for axis in range(value.ndim):
                words = f"the length of {f'axis {axis} of ' * (value.ndim > 1)}`{name}`"
                found[words] = np.array([case[name].shape[axis] for case in cases], dtype=float)
        else:
            found[f"`{name}`"] = np.array([case[name] for case in cases], dtype=float)
    found = {words: sizes for words, sizes in found.items() if (sizes > 0).all()}
    yield from found.items()
    for (one, first), (other, second) in combinations(found.items(), 2):
        yield f"{one} times {other}", first * second
        yield f"{one} divided by {other}", first / second


def order(attempt: Attempt) -> str | None:
    """The right numbers at other places."""
    pairs = _pairs(attempt)
    if (
        any(expected.shape != given.shape for expected, given in pairs)
        or not any(np.unique(expected).size > 2 for expected, _ in pairs)
        or not all(attempt.same(np.sort(e, axis=None), np.sort(g, axis=None)) for e, g in pairs)
    ):
        return None
    return "these are the right numbers, but they stand at other places: look at the order."


def elsewhere(attempt: Attempt) -> str | None:
    """All wrong entries are the same thing."""
    pairs = _pairs(attempt)
    if any(expected.shape != given.shape for expected, given in pairs):
        return None
    expected, given = (
        np.concatenate([part.ravel() for part in side]) for side in zip(*pairs, strict=True)
    )
    wrong = ~(np.abs(expected - given) <= attempt.allowed(expected))
    if wrong.sum() < 3 or np.unique(expected[wrong].round(4)).size < 3:
        return None
    for words, change in ELSEWHERE.items():
        with np.errstate(all="ignore"):
            if attempt.same(change(expected[wrong]), given[wrong]):
                return f"{wrong.sum()} of {wrong.size} numbers are wrong; each of them is {words}."
    return None


def unused(attempt: Attempt) -> str | None:
    """Which argument never matters to the answer, though it should."""
    names = next(iter(attempt.inputs.values()))
    if any(attempt.expected[case].shape != attempt.given[case].shape for case in attempt.wrong):
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
    kinds: set[int] = set()
    count = 0
    for case, given in attempt.given.items():
        arguments = attempt.inputs[case]
        for kind, other in enumerate(others(name, arguments)):
            results = attempt.results(arguments | {name: other})
            if results is None or _hidden(attempt.expected[case], results[0], attempt):
                continue
            if not np.array_equal(given, results[1], equal_nan=True):
                return False
            kinds.add(kind)
            count += 1
    # a table in another order may be the same to an answer that reads it
    return len(kinds) > 1 or (count > 1 and not isinstance(arguments[name], Tensor))


def _hidden(expected: np.ndarray, after: np.ndarray, attempt: Attempt) -> bool:
    """Whether the right result stays, or moves by less than a rounding to whole numbers hides."""
    rounded = all((given % 1 == 0).all() for given in attempt.given.values()) and any(
        (answer % 1 != 0).any() for answer in attempt.expected.values()
    )
    small = expected.shape == after.shape and np.abs(after - expected).max(initial=0) < 1
    return attempt.same(expected, after) or bool(rounded and small)


def _tells_apart(name: str, attempt: Attempt) -> bool:
    """Whether two cases that differ in this argument alone have different results."""
    return any(
        not np.array_equal(attempt.given[one], attempt.given[other], equal_nan=True)
        for one, other in combinations(attempt.given, 2)
        if attempt.given[one].shape == attempt.given[other].shape
        and all(
            _equal(attempt.inputs[one][key], attempt.inputs[other][key]) != (key == name)
            for key in attempt.inputs[one]
        )
    )


def _equal(one, other) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and torch.equal(one, other)
    return one is other or (not isinstance(one, Tensor) and one == other)


def rows(attempt: Attempt) -> str | None:
    """Whether the first or the last row is passed over, or one row of the answer moves another."""
    values = (
        next(iter(attempt.inputs.values())).items() if attempt.exercise.tolerance <= EXACT else ()
    )
    tables = [n for n, v in values if isinstance(v, Tensor) and v.ndim and v.is_floating_point()]
    told = (_of_rows(name, attempt) for name in tables)
    return running.limited(lambda: next(filter(None, told), None))


def _of_rows(name: str, attempt: Attempt) -> str | None:
    """What changes of the first and of the last row show in all cases of a few rows."""
    few = [case for case in attempt.wrong if 1 < len(attempt.inputs[case][name]) <= ROWS][:CASES]
    moved = {place: [_moves(case, name, place, attempt) for case in few] for place in (0, -1)}
    if len(few) < 2 or any(move is None for moves in moved.values() for move in moves):
        return None
    for place, other in ((0, -1), (-1, 0)):
        what = f"the {'last' if place else 'first'} row of `{name}`"
        still = all(right.max() > 1 and yours.max() < STILL for right, yours in moved[place])
        if still and all(yours.max() > 1 for _, yours in moved[other]):
            return f"your result does not change with {what}, but it should."
        sizes = [len(attempt.inputs[case][name]) for case in few]
        if all(_mixed(move, place, n) for move, n in zip(moved[place], sizes, strict=True)):
            return f"other rows of your result change with {what}. Each row of it comes from its own row alone."
    return None


def _mixed(moves: np.ndarray, place: int, rows: int) -> bool:
    """Whether other rows of the answer than its own move with a row of the input."""
    if moves.shape[1] != rows:
        return False
    right, yours = np.delete(moves, place, axis=1)
    return bool(moves[0, place] > 1 and right.max() < STILL and yours.max() > 1)


def _moves(case: str, name: str, place: int, attempt: Attempt) -> np.ndarray | None:
    """How far each row of the right result and of the answer's moves, in units of the tolerance."""
    value = attempt.inputs[case][name]
    before = attempt.expected[case], attempt.given[case]
    limit = attempt.allowed(np.abs(before[0]).max(initial=0))
    old, moved = value[place], []
    one = value.ndim == 1
    for row in (value.max(), value.mean()) if one else (old.flip(-1), (old + old.mean()) / 2):
        changed = value.clone()
        changed[place] = row
        after = attempt.results(attempt.inputs[case] | {name: changed})
        if after is None or len({result.shape for result in (*before, *after)}) > 1:
            return None
        far = np.abs(np.stack(before) - np.stack(after)) / limit
        moved.append(far.reshape(2, len(far[0]) if far[0].ndim else 1, -1).max(axis=2, initial=0))
    return np.max(moved, axis=0) if np.isfinite(moved).all() else None
