"""What runs an exercise: the comparison of an answer with the reference, and what is said of it.

An exercise is a reference, the cases it is compared on, and the mistakes that people make. Every
mistake is itself a function: an answer that agrees with it on all cases has made that mistake, and
gets its hint.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor


@dataclass(frozen=True)
class Reply:
    """What the checker says; `passed` is True for a right answer."""

    passed: bool
    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the hint for whoever gives it."""

    function: Callable
    hint: str


# What torch says of common slips, and what a student can do about them.
SLIPS = {
    r"mean\(\)|could not infer output dtype": "You took the mean of a True/False tensor: turn it "
    "into floats first, correct.double().mean().",
    r"only one element|converted to Python scalars|Boolean value of Tensor": "Your function gets a "
    "whole tensor, not one number: work on all entries at once.",
    r"must match the size": "Two shapes do not fit. A class that never occurs among the labels "
    "still has a column: one_hot(labels, probs.shape[1]).",
    r"complex": "scipy's lambertw returns complex numbers: take .real.",
}


@dataclass(frozen=True)
class Exercise:
    """A checker; call it with an answer. `cases` are the arguments by the name of the case."""

    reference: Callable
    cases: dict[str, tuple]
    mistakes: Sequence[Mistake]
    tolerance: float = 1e-5

    @property
    def name(self) -> str:
        return self.reference.__name__

    def __call__(self, answer: Callable) -> Reply:
        """Compare `answer` with the reference on every case; never raises."""
        if not callable(answer):
            return Reply(
                False,
                f"Pass the function itself, check.{self.name}(your_function), "
                f"not its result ({type(answer).__name__}).",
            )
        try:
            given = [_result(answer, case) for case in self.cases.values()]
        except Exception as error:
            bare = type(error) is NotImplementedError and not error.args  # the stub's own `raise`
            return self._not_yet() if bare else Reply(False, self._told(error))
        if any(result is None for result in given):
            return self._not_yet()
        return self._judge(given)

    def _told(self, error: Exception) -> str:
        said = f"Your function raised {type(error).__name__}: {str(error).strip().rstrip('.')}."
        advice = [text for pattern, text in SLIPS.items() if re.search(pattern, str(error))]
        return " ".join(
            [said, *advice, f"It was called with {self._shown(next(iter(self.cases.values())))}."]
        )

    def _judge(self, given: list[np.ndarray]) -> Reply:
        wrong = self._first_difference(self.reference, given)
        if wrong is None:
            return Reply(True, f"Correct: {self.name} agrees on all {len(self.cases)} cases.")
        case = list(self.cases.values())[wrong]
        agreeing = [self._agreements(mistake.function, given) for mistake in self.mistakes]
        likely = max(agreeing, key=lambda agrees: agrees[wrong] * sum(agrees))
        if likely[wrong]:
            hint = self.mistakes[agreeing.index(likely)].hint
            return Reply(False, f"Not quite: {hint}")
        if np.isnan(given[wrong]).any():
            return Reply(
                False,
                "Not quite: your result is NaN, as 0/0 or 0 times log 0 give it. Where bins may "
                "be empty, leave those out, or sum with nansum.",
            )
        expected = _result(self.reference, case)
        if expected.shape == given[wrong].shape and expected.size > 12:
            at = np.unravel_index(np.abs(expected - given[wrong]).argmax(), expected.shape)
            place = ", ".join(map(str, at))
            return Reply(
                False,
                f"Not quite: for {self._shown(case)}, entry {place} of the answer is "
                f"{_brief(expected[at])}, yours is {_brief(given[wrong][at])}.",
            )
        return Reply(
            False,
            f"Not quite: for {self._shown(case)} the answer is {_brief(expected)}, "
            f"yours is {_brief(given[wrong])}.",
        )

    def _shown(self, case: tuple) -> str:
        """The arguments of a case by name: short ones in full, long ones by their shape."""
        pairs = zip(
            inspect.signature(self.reference).parameters, map(np.asarray, case), strict=True
        )
        return ", ".join(
            f"{name} = {_brief(part)}" if part.size <= 12 else f"{name} of shape {part.shape}"
            for name, part in pairs
        )

    def _first_difference(self, function: Callable, given: list[np.ndarray]) -> int | None:
        """Index of the first case on which `function` and the given results differ."""
        agrees = self._agreements(function, given)
        return None if all(agrees) else agrees.index(False)

    def _agreements(self, function: Callable, given: list[np.ndarray]) -> list[bool]:
        agrees = []
        for case, result in zip(self.cases.values(), given, strict=True):
            try:
                agrees.append(self._same(_result(function, case), result))
            except (ValueError, IndexError, RuntimeError, ZeroDivisionError):
                agrees.append(False)
        return agrees

    def _same(self, expected: np.ndarray, result: np.ndarray) -> bool:
        return expected.shape == result.shape and bool(
            np.allclose(expected, result, rtol=0, atol=self.tolerance, equal_nan=True)
        )

    def _not_yet(self) -> Reply:
        return Reply(False, f"Not yet: {self.name} returns nothing so far. Fill in the stub above.")


def exercise(**parts) -> Callable[[Callable], Exercise]:
    """Make an exercise of the reference function below: cases, mistakes and their hints."""
    return lambda reference: Exercise(reference, **parts)


def _result(function: Callable, case: tuple) -> np.ndarray | None:
    """The function's answer as a float64 array; None for an untouched stub."""
    value = function(*(part.clone() if isinstance(part, Tensor) else part for part in case))
    if value is None or value is Ellipsis:
        return None
    if isinstance(value, Tensor):
        value = value.detach().cpu().numpy()
    return np.asarray(
        [float(v) for v in value] if isinstance(value, (tuple, list)) else value, dtype=np.float64
    )


def _brief(value: np.ndarray) -> str:
    """Up to four decimals, without trailing zeros or points, in one line."""
    kind = {"float_kind": lambda x: f"{x:.4f}".rstrip("0").rstrip(".")}
    return " ".join(np.array2string(value, separator=", ", threshold=12, formatter=kind).split())
