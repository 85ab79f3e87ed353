"""A wrong answer with all that is known of it: what it gave, and what it gives elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from calibkit.course.check import common_mistakes, running

Arguments = Mapping[str, object]
Results = Mapping[str, np.ndarray]  # by the name of the case
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

    answer, reference: the two functions. mistakes: those that people make.
    inputs: by case the arguments by name. expected, given: by case the right results and the
        answer's. wrong: the cases that differ, in order.
    tolerance, absolute: relative and absolute, up to which results are the same.
    """

    answer: Callable
    reference: Callable
    mistakes: Sequence[Mistake]
    inputs: Mapping[str, dict]
    expected: Results
    given: Results
    wrong: Sequence[str]
    tolerance: float
    absolute: float
    until: float = field(default_factory=lambda: time.process_time() + PATIENCE)

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        return close(one, other, self.tolerance, self.absolute)

    def agrees(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a mistake leads to this result: small numbers must agree more closely."""
        scale = min(1, np.abs(other).max(initial=0)) if np.isfinite(other).all() else 1
        absolute = max(min(self.absolute, 1e-6), self.absolute * scale)
        return close(one, other, self.tolerance, absolute)

    def right(self, arguments: Arguments) -> np.ndarray | None:
        """The right result; None where there is none, or none that is finite."""
        try:
            result = running.numbers(self.reference(**arguments))
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
            return self.reference(**changed)

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
