"""What an answer is worth: the checker's reply, the share of unseen cases, a case that fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.engine import Exercise, Reply
from calibkit.course.classroom import unseen

PRINTED = 400  # numbers of a case; one with more is not printed
EXACT = 17  # digits that tell two different numbers apart


@dataclass(frozen=True)
class Failing:
    """A case on which an answer is wrong: the call as code, the right result and the answer's."""

    name: str
    call: str
    expected: str
    given: str


@dataclass(frozen=True)
class Examined:
    """The checker's reply, how many of the unseen cases are right, and the smallest that fails."""

    reply: Reply
    right: int
    unseen: int
    smallest: Failing | None = None

    @property
    def share(self) -> float:
        """Right ones among the unseen cases."""
        return self.right / self.unseen


def examine(exercise: Exercise, seed: int, answer: Callable) -> Examined:
    """Ask the exercise about an answer, on its own cases and on those that `seed` draws."""
    extended = unseen.extended(exercise, seed)
    cases, hidden = extended.cases, extended.cases.keys() - exercise.cases.keys()
    reply = extended(answer)
    if reply.passed:
        return Examined(reply, len(hidden), len(hidden))
    # one by one, for the checker itself stops at the first case that raises an error
    failing = {
        name: case
        for name, case in cases.items()
        if not replace(exercise, cases={name: case})(answer).passed
    }
    right = len(hidden) - len(failing.keys() & hidden)
    smallest = min(failing, key=lambda name: _size(failing[name]), default=None)
    if smallest is None:  # right one by one, and not as a whole: it keeps something between calls
        return Examined(reply, right, len(hidden))
    return Examined(reply, right, len(hidden), _failing(exercise, smallest, cases, answer))


def _failing(exercise: Exercise, name: str, cases: dict[str, tuple], answer: Callable) -> Failing:
    case = cases[name]
    call = f"{exercise.name}({', '.join(map(_code, case))})"
    if _size(case) > PRINTED:
        call = f"({_size(case)} numbers, too many to print)"
    expected, given = running.numbers(exercise.reference(*case)), None
    arguments = dict(zip(exercise.names, case, strict=True))
    try:
        given = running.result(answer, name, arguments, exercise.slips)
    except running.NotYet:
        return Failing(name, call, _text(expected), "nothing (None)")
    except running.Refused as refusal:
        return Failing(name, call, _text(expected), str(refusal))
    digits = next((d for d in range(4, EXACT) if _text(expected, d) != _text(given, d)), EXACT)
    return Failing(name, call, _text(expected, digits), _text(given, digits))


def _size(case: tuple) -> int:
    return sum(value.numel() if isinstance(value, Tensor) else 1 for value in case)


def _code(value) -> str:
    """An argument as one writes it in Python.

    >>> import torch
    >>> _code(torch.tensor([1, 2])), _code(0.5)
    ('torch.tensor([1, 2], dtype=torch.int64)', '0.5')
    """
    return (
        f"torch.tensor({value.tolist()}, dtype={value.dtype})"
        if isinstance(value, Tensor)
        else repr(value)
    )


def _text(value: np.ndarray, digits: int = 4) -> str:
    """A number, or a list of them, in so many decimals."""
    with np.printoptions(precision=digits, suppress=True, threshold=PRINTED, linewidth=100):
        return str(np.asarray(value))
