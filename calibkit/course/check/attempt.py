"""A wrong answer with all that is known of it: what it gave, and what it gives elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from calibkit.course.check import common_mistakes, running

if TYPE_CHECKING:
    from calibkit.course.check.engine import Exercise

Arguments = Mapping[str, object]
PROBES = 8
PATIENCE = 0.5  # seconds of computing in which an answer is asked more


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the hint for whoever gives it."""

    function: Callable
    hint: str


@dataclass(frozen=True)
class Attempt:
    """A wrong answer to an exercise.

    exercise: with its `reference`, `mistakes`, `inputs` and `expected` results.
    given: by case the answer's results. wrong: the cases that differ, in order.
    until: the time of the processor from which on the answer is not asked more.
    """

    exercise: Exercise
    answer: Callable
    given: Mapping[str, np.ndarray]
    wrong: Sequence[str]
    until: float = field(default_factory=lambda: time.process_time() + PATIENCE)

    @property
    def inputs(self) -> Mapping[str, dict]:
        """The arguments by name, by case."""
        return self.exercise.inputs

    @property
    def expected(self) -> Mapping[str, np.ndarray]:
        """The right results, by case."""
        return self.exercise.expected

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two results are the same up to the tolerances."""
        return self.exercise.same(one, other)

    def allowed(self, expected: np.ndarray) -> np.ndarray:
        """How far results may be from the right ones."""
        return self.exercise.absolute + self.exercise.tolerance * np.abs(expected)

    def agrees(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a mistake leads to this result: small numbers must agree more closely."""
        scale = min(1, np.abs(other).max(initial=0)) if np.isfinite(other).all() else 1
        allowed = self.exercise.absolute
        absolute = max(min(allowed, 1e-6), allowed * scale)
        return close(one, other, self.exercise.tolerance, absolute)

    def right(self, arguments: Arguments) -> np.ndarray | None:
        """The right result; None where there is none, or none that is finite."""
        try:
            result = running.numbers(self.exercise.reference(**arguments))
        except Exception:
            return None
        return result if np.isfinite(result).all() else None

    def results(self, arguments: Arguments) -> tuple[np.ndarray, np.ndarray] | None:
        """The right result and the answer's for other arguments.

        None where either has none, and when the time for such questions is up.
        """
        expected = self.right(arguments) if time.process_time() < self.until else None
        if expected is None:
            return None
        try:
            given = running.result(self.answer, "", dict(arguments), {})
        except Exception:
            return None
        return expected, given

    def recalled(self, case: str) -> Callable:
        """The reference, which need not compute the case again."""
        arguments = self.inputs[case]

        def reference(**changed):
            if all(changed[name] is value for name, value in arguments.items()):
                return self.expected[case].copy()
            return self.exercise.reference(**changed)

        return reference

    @cached_property
    def fits(self) -> dict[tuple[Callable, str], bool | None]:
        """Which mistakes fit which cases, as far as that was asked."""
        return {}

    @cached_property
    def probes(self) -> list[tuple[dict, np.ndarray]]:
        """Arguments beside those of the first cases, and what the answer makes of them.

        A diagnosis that fits the cases by accident does not fit these too.
        """
        return running.limited(lambda: list(islice(self._probed(), PROBES)))

    def _probed(self):
        for arguments in islice(self.inputs.values(), 2):
            for name in arguments:
                for other in common_mistakes.others(name, arguments):
                    changed = arguments | {name: other}
                    results = self.results(changed)
                    if results is not None and not self.same(*results):
                        yield changed, results[1]
                        break


def close(expected: np.ndarray, result: np.ndarray, tolerance: float, absolute: float) -> bool:
    """Whether two results are the same, in shape as well; NaN equals NaN.

    >>> one, other = np.array([0.5]), np.array(0.5000001)
    >>> close(one, other, 1e-5, 1e-5), close(np.ones(2), np.ones(3), 1e-5, 1e-5)
    (True, False)
    """
    same = expected.shape == result.shape or expected.size == result.size == 1
    limits = {"rtol": tolerance, "atol": absolute, "equal_nan": True}
    return same and np.allclose(result.reshape(expected.shape), expected, **limits)
