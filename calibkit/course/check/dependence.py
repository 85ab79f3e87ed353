"""What an answer looks at: one place of the input is changed, and what moves is compared.

Where the right result moves and the answer's does not, the answer passes over that place. Where
only the answer's moves, it looks at something that should not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.attempt import Attempt
from calibkit.course.check.common_mistakes import others

PLACES = 20  # a case of more rows or entries is not tried
CASES = 2
STILL = 1e-4  # of the tolerance: less is rounding
CLEAR = 30.0  # tolerances: what moves so far matters beyond doubt
EXACT = 1e-4  # a tolerance above this is one of a search


def of_nothing(attempt: Attempt) -> str | None:
    """Whether the answer is the same everywhere."""
    first, *rest = attempt.given.values()
    if rest and np.isfinite(first).all() and all(attempt.same(first, other) for other in rest):
        return "your function returns the same whatever it is given."
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


def of_places(attempt: Attempt) -> str | None:
    """Which rows or entries the answer passes over, or should pass over."""
    return running.limited(lambda: next(filter(None, _of_arguments(attempt)), None))


def of_columns(attempt: Attempt) -> str | None:
    """Which column of a table the answer passes over."""
    tables = [
        name
        for name, value in next(iter(attempt.inputs.values())).items()
        if isinstance(value, Tensor) and value.ndim == 2 and value.is_floating_point()
    ]
    told = (_idle_columns(name, attempt) for name in tables)
    return running.limited(lambda: next(filter(None, told), None))


def _of_arguments(attempt: Attempt) -> Iterator[str | None]:
    all_tried = []
    for name, value in next(iter(attempt.inputs.values())).items():
        # a row of whole numbers, such as a text, has no other that it could as well be
        if isinstance(value, Tensor) and (value.ndim == 1 or value.is_floating_point()):
            fit = [case for case in attempt.wrong if 3 < _places(case, name, attempt) <= PLACES]
            tried = [_Tried(name, case, attempt) for case in fit[:CASES]]
            all_tried += [tried] if tried else []
    yield from map(_one_way, all_tried)
    for tried in all_tried:
        yield _extra(tried) or _idle(tried) or _mixed(tried)


def _places(case: str, name: str, attempt: Attempt) -> int:
    return int(np.prod(_shape(attempt.inputs[case][name])))


def _shape(value: Tensor) -> tuple[int, ...]:
    """The shape of the places: entries of a vector, rows of a table."""
    return tuple(value.shape) if value.ndim == 1 else tuple(value.shape[:-1])


class _Tried:
    """One argument of one case, changed at each place.

    `matters`, `seen` (places): whether the right result moves there, and whether the answer's does.
    `mixed`: a row of the answer that moves with another row of the input, and that row.
    `reach` (rows of the result, places): whether the right row moves with this place, and yours.
    """

    def __init__(self, name: str, case: str, attempt: Attempt) -> None:
        self.name, self.case, self.arguments = name, case, attempt.inputs[case]
        value = self.arguments[name]
        self.smooth = value.is_floating_point()
        self.matters = np.zeros(_shape(value), dtype=bool)
        self.still, self.seen, self.idle = (np.zeros(_shape(value), dtype=bool) for _ in range(3))
        self.mixed: tuple[int, int] | None = None
        self.reach: list[tuple[np.ndarray, np.ndarray]] = []
        for place in np.ndindex(self.matters.shape):
            moves = [_moves(attempt, case, name, other) for other in _changed(value, place)]
            moves = [move for move in moves if move is not None]
            if moves:
                self._note(place, *np.max(moves, axis=0))
        slight = [_moves(attempt, case, name, _slightly(value))] if self.smooth else []
        # a result that follows the order of the numbers alone does not move with the numbers
        self.smooth &= any(move is not None and move[0].max() > STILL for move in slight)

    def _note(self, place: tuple[int, ...], right: np.ndarray, yours: np.ndarray) -> None:
        self.matters[place] = right.max() > 1
        self.still[place] = right.max() < STILL
        self.seen[place] = yours.max() > 1
        self.idle[place] = yours.max() < STILL
        if right.ndim and len(right) == len(self.matters):
            rows, own = (part.reshape(len(right), -1).max(axis=1) for part in (yours, right))
            self.reach.append((own > 1, rows > STILL))
            others = rows * (own < STILL)
            if (own > STILL).sum() == 1 and others.max() > 1:
                self.mixed = self.mixed or (int(others.argmax()), int(own.argmax()))

    def pattern(self, places: np.ndarray, among: np.ndarray) -> str | None:
        """The places in words; None if no short words tell them."""
        if not places.any() or (places == among).all():
            return None
        return next(
            (words for words, mask in self._patterns() if ((mask & among) == places).all()), None
        )

    def _patterns(self) -> Iterator[tuple[str, np.ndarray]]:
        what = "entry" if self.arguments[self.name].ndim == 1 else "row"
        for axis, size in enumerate(self.matters.shape):
            shape = [1] * self.matters.ndim
            shape[axis] = size
            index = np.arange(size).reshape(shape)
            each = "" if self.matters.ndim == 1 else f" along axis {axis}"
            for words, mask in (
                (f"the first {what}", index == 0),
                (f"the last {what}", index == size - 1),
                (f"every {what} but the first", index > 0),
                (f"every {what} but the last", index < size - 1),
                ("the second half", index >= size // 2),
                (f"every second {what}", index % 2 == 1),
            ):
                yield f"{words}{each} of `{self.name}`", np.broadcast_to(mask, self.matters.shape)
        for name, value in self.arguments.items():
            if isinstance(value, Tensor) and tuple(value.shape) == self.matters.shape:
                for number in value.unique() if not value.is_floating_point() else []:
                    mask = (value == number).numpy()
                    yield f"`{self.name}` where `{name}` is {number.item()}", mask


def _one_way(tried: list[_Tried]) -> str | None:
    """Rows of the answer that look at rows of the input before them alone, or behind them alone."""
    for words, limit in (("earlier", np.tril), ("later", np.triu)):
        if all(_looks_one_way(one, limit) for one in tried):
            return (
                f"each row of your result looks at its own and {words} rows of `{tried[0].name}` "
                "alone, though all rows matter to it: is something masked?"
            )
    return None


def _looks_one_way(one: _Tried, limit: Callable) -> bool:
    """Whether the answer's rows see one triangle where the right rows see all places."""
    if len(one.reach) != len(one.matters) or one.matters.ndim > 1 or not one.smooth:
        return False
    right, yours = (np.stack(part, axis=1) for part in zip(*one.reach, strict=True))
    triangle = limit(np.ones_like(right))
    # a place of little weight may move nothing: so not every entry is asked
    return bool((right & ~triangle).any() and not (yours & ~triangle).any() and yours.any())


def _idle_columns(name: str, attempt: Attempt) -> str | None:
    """The one column of a table that the answer passes over, in each case that can tell."""
    if attempt.tolerance > EXACT:
        return None  # the steps of a search may hide what moves it
    found = set()
    cases = 0
    for case in attempt.wrong:
        table = attempt.inputs[case][name]
        if not 1 < table.shape[1] <= PLACES:
            continue
        moves = [_column_moves(attempt, case, name, column) for column in range(table.shape[1])]
        idle = {k for k, (right, yours) in enumerate(moves) if right > CLEAR and yours < STILL}
        if any(right > CLEAR and STILL <= yours <= 1 for right, yours in moves):
            return None
        if any(moves[k][0] > CLEAR and k not in idle for k in found if k < len(moves)):
            return None  # here the column matters to the answer
        found |= idle
        cases += bool(idle)
        if cases == CASES or len(found) > 1:
            break
    if cases < CASES or len(found) != 1:
        return None
    return f"your result does not change with column {found.pop()} of `{name}`, but it should."


def _column_moves(attempt: Attempt, case: str, name: str, column: int) -> tuple[float, float]:
    """How far the right result moves at least, and the answer's at most, with other numbers."""
    own = attempt.inputs[case][name][:, column]
    moved = []
    for other in (own * 0.7 + 0.01, own.roll(1), (own + own.mean()) / 2 + 0.02):
        table = attempt.inputs[case][name].clone()
        table[:, column] = other
        moves = _moves(attempt, case, name, table)
        if moves is None:
            return 0.0, 0.0
        moved.append([float(part.max()) for part in moves])
    right, yours = zip(*moved, strict=True)
    return min(right), max(yours)


def _extra(tried: list[_Tried]) -> str | None:
    """Places at which the answer looks though it should not."""
    if not all(one.smooth for one in tried):
        return None
    extra = [one.seen & one.still for one in tried]
    if not all(places.any() for places in extra):
        return None
    words = {one.pattern(e, np.ones_like(e)) for one, e in zip(tried, extra, strict=True)}
    place = np.argwhere(extra[0])[0].tolist()
    told = words.pop() if len(words) == 1 else None
    told = told or f"place {', '.join(map(str, place))} of `{tried[0].name}` ({tried[0].case})"
    return f"your result changes with {told}, which should not matter there."


def _idle(tried: list[_Tried]) -> str | None:
    """Places that the answer passes over."""
    if len(tried) < 2 or any(
        one.smooth != one.arguments[one.name].is_floating_point() for one in tried
    ):
        return None
    words = {one.pattern(one.idle & one.matters, one.matters) for one in tried}
    told = words.pop()
    return (
        f"your result does not change with {told}, but it should." if told and not words else None
    )


def _mixed(tried: list[_Tried]) -> str | None:
    """Rows of the answer that move with other rows of the input."""
    if not all(one.mixed and one.smooth for one in tried):
        return None
    moved, changed = tried[0].mixed
    return (
        f"your row {moved} changes when row {changed} of `{tried[0].name}` does. Each row of the "
        "result comes from its own row alone."
    )


def _slightly(value: Tensor) -> Tensor:
    return value + 1e-3 * (value.flip(-1) - value)


def _changed(value: Tensor, place: tuple[int, ...]) -> Iterator[Tensor]:
    """The tensor with another entry or row at this place: one that it could as well have."""
    old = value[place]
    if value.dtype == torch.bool:
        news = [~old]
    elif not value.is_floating_point():
        news = [other for other in value.unique() if other != old][:3]
    elif value.ndim > 1:
        news = [old.flip(0), old.roll(1), (old + old.mean()) / 2]
    else:
        news = [value.min(), value.max(), value.mean()]
    for new in news:
        if not torch.equal(new, old):
            changed = value.clone()
            changed[place] = new
            yield changed


def _moves(attempt: Attempt, case: str, name: str, other: Tensor) -> np.ndarray | None:
    """How far the right result and the answer's move, entry by entry, in units of the tolerance."""
    before = attempt.expected[case], attempt.given[case]
    after = attempt.results(attempt.inputs[case] | {name: other})
    if after is None or any(b.shape != a.shape for b, a in zip(before, after, strict=True)):
        return None
    limit = attempt.absolute + attempt.tolerance * np.abs(before[0]).max(initial=0)
    moved = [np.abs(b - a) / limit for b, a in zip(before, after, strict=True)]
    return None if np.isnan(moved[1]).any() or moved[0].shape != moved[1].shape else np.stack(moved)
