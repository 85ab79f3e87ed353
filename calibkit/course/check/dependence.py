"""What an answer looks at: one place of the input is changed, and what moves is compared.

Where the right result moves and the answer's does not, the answer passes over that place. Where
only the answer's moves, it looks at something that should not matter.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.attempt import Attempt
from calibkit.course.check.common_mistakes import others

PLACES = 10  # as many rows or entries are tried one by one
STILL = 1e-4  # of the tolerance: less is rounding
CASES = 2
PATIENCE = 0.2  # seconds after which no further argument is tried


def of_nothing(attempt: Attempt) -> str | None:
    """Whether the answer is the same everywhere."""
    first, *rest = attempt.given.values()
    if rest and all(attempt.same(first, other) for other in rest):
        return "your function returns the same whatever it is given."
    return None


def unused(attempt: Attempt) -> str | None:
    """Which argument never matters to the answer, though it should."""
    names = next(iter(attempt.inputs.values()))
    ignored = running.limited(lambda: [name for name in names if _ignores(name, attempt)])
    if not ignored:
        return None
    words = " and ".join(f"`{name}`" for name in ignored)
    return f"your result does not change when {words} changes: is the argument ignored?"


def _ignores(name: str, attempt: Attempt) -> bool:
    seen = False
    for case, given in attempt.given.items():
        arguments = attempt.inputs[case]
        for other in others(name, arguments):
            results = attempt.results(arguments | {name: other})
            if results is None or attempt.same(attempt.expected[case], results[0]):
                continue
            if not np.array_equal(given, results[1], equal_nan=True):
                return False
            seen = True
    return seen


def of_places(attempt: Attempt) -> str | None:
    """Which rows or entries the answer passes over, or should pass over."""
    fit = [case for case in attempt.wrong if _rows(attempt.inputs[case]) > 2]
    fit = sorted(fit, key=lambda case: _size(attempt.inputs[case]))[:CASES]
    until = time.monotonic() + PATIENCE
    return running.limited(lambda: next(filter(None, _of_arguments(fit, attempt, until)), None))


def _of_arguments(cases: list[str], attempt: Attempt, until: float) -> Iterator[str | None]:
    for case in cases:
        for name, value in attempt.inputs[case].items():
            if isinstance(value, Tensor) and value.ndim and time.monotonic() < until:
                yield _of_argument(name, case, attempt)


def _size(arguments: dict) -> int:
    return sum(value.numel() for value in arguments.values() if isinstance(value, Tensor))


def _rows(arguments: dict) -> int:
    return max((len(v) for v in arguments.values() if isinstance(v, Tensor) and v.ndim), default=0)


def _of_argument(name: str, case: str, attempt: Attempt) -> str | None:
    """Which places of one argument play the wrong part."""
    arguments = attempt.inputs[case]
    value = arguments[name]
    what, shape = ("entry", value.shape) if value.ndim == 1 else ("row", value.shape[:-1])
    places = [tuple(place) for place in np.ndindex(*shape)]
    idle, extra, mixed, tried = [], [], [], 0
    for place in places[:PLACES] + [p for p in places[-2:] if p not in places[:PLACES]]:
        moves = [_moves(attempt, case, name, other) for other in _changed(value, place)]
        moves = [move for move in moves if move is not None]
        if not moves:
            continue
        tried += 1
        right, yours = np.max(moves, axis=0)
        if right.max() > 1 and yours.max() == 0:
            idle.append(place)
        elif not value.is_floating_point():
            continue  # another label may change nothing by accident, another index everything
        elif yours.max() > 1 and right.max() < STILL and len(moves) > 1:
            extra.append(place)
        elif right.ndim and len(right) == len(value):
            rows, own = (part.reshape(len(value), -1).max(axis=1) for part in (yours, right))
            if (own > STILL).sum() == 1 and (rows * (own < STILL)).max() > 1:
                mixed.append((int((rows * (own < STILL)).argmax()), int(own.argmax())))
    if extra:
        return (
            f"your result changes when {what} {_shown(extra[0])} of `{name}` does, which should "
            f"not matter there ({case})."
        )
    if idle and len(idle) < tried:
        listed = ", ".join(_shown(place) for place in idle[:4]) + ", ..." * (len(idle) > 4)
        return (
            f"{what} {listed} of `{name}` never matters to your result, though it should ({case})."
        )
    if mixed:
        (moved, changed) = mixed[0]
        return (
            f"your row {moved} changes when row {changed} of `{name}` does ({case}). Each row of "
            "the result comes from its own row alone."
        )
    return None


def _shown(place: tuple[int, ...]) -> str:
    return str(place[0]) if len(place) == 1 else str(place)


def _changed(value: Tensor, place: tuple[int, ...]) -> Iterator[Tensor]:
    """The tensor with another entry or row at this place: one that it could as well have."""
    old = value[place]
    if value.dtype == torch.bool:
        news = [~old]
    elif not value.is_floating_point():
        if value.ndim > 1:
            news = [old.roll(1, 0), old.flip(0)]
        else:
            news = [other for other in value.unique() if other != old][:3]
    elif value.ndim > 1:
        news = [old.flip(0), old.roll(1), (old + old.mean()) / 2]
    else:
        news = [0.5 * old + 0.05, 0.9 * old + 0.09]
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
