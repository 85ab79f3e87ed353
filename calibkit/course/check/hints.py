"""Which mistake an answer has made: its results are compared with those that mistakes lead to.

The mistakes of the exercise come first, then what all exercises know (`common_mistakes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibkit.course.check import common_mistakes, running

Results = Mapping[str, np.ndarray]  # by the name of the case


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
    tolerance: absolute and relative, up to which results are the same.
    """

    answer: Callable
    reference: Callable
    mistakes: Sequence[Mistake]
    inputs: Mapping[str, dict]
    expected: Results
    given: Results
    wrong: Sequence[str]
    tolerance: float


def hint(attempt: Attempt) -> str | None:
    """The mistake in words; None if it cannot be told."""
    first = attempt.wrong[0]
    arguments, result = attempt.inputs[first], attempt.given[first]
    return (
        _likely(_known(attempt.mistakes), attempt)
        or _not_finite(result)
        or _likely(common_mistakes.of_results(arguments), attempt)
        or _likely(common_mistakes.of_constants(arguments), attempt)
        or _likely(common_mistakes.of_measures(arguments), attempt)
        or _unused(attempt)
        or _likely(common_mistakes.of_arguments(arguments), attempt)
        or _likely(_doubled(attempt.mistakes), attempt)
        or common_mistakes.of_looks(attempt.expected[first], result)
    )


def close(expected: np.ndarray, result: np.ndarray, tolerance: float) -> bool:
    """Whether two results are the same, in shape as well; NaN equals NaN.

    >>> close(np.array([0.5]), np.array(0.5000001), 1e-5), close(np.ones(2), np.ones(3), 1e-5)
    (True, False)
    """
    same = expected.shape == result.shape or expected.size == result.size == 1
    limits = {"rtol": tolerance, "atol": tolerance, "equal_nan": True}
    return same and np.allclose(result.reshape(expected.shape), expected, **limits)


def _known(mistakes: Sequence[Mistake]) -> Iterable[common_mistakes.Diagnosis]:
    for mistake in mistakes:
        yield mistake.hint, lambda _, a, made=mistake: made.function(*a.values())


def _doubled(mistakes: Sequence[Mistake]) -> Iterable[common_mistakes.Diagnosis]:
    """A mistake of this exercise and a wrong factor at once."""
    for mistake in mistakes:
        for words, factor in common_mistakes.FACTORS.items():
            yield (
                f"two things at once: {mistake.hint} And {words}",
                lambda _, a, made=mistake, by=factor: (
                    by(a) * running.numbers(made.function(*a.values()))
                ),
            )


def _likely(likely: Iterable[common_mistakes.Diagnosis], attempt: Attempt) -> str | None:
    """The diagnosis that fits the first wrong case, and most cases, wrong and right."""
    best, most = None, 0
    given, wrong = attempt.given, attempt.wrong
    for words, made in likely:
        if not _fits(made, wrong[0], attempt):
            continue
        fits = {case: _fits(made, case, attempt) for case in given}
        share = sum(fits[case] for case in wrong) / len(wrong)
        # a mistake that would show in cases that are right was not made
        if share >= 0.5 and sum(fits.values()) > max(most, len(given) / 2):
            best, most = words, sum(fits.values())
    return best


def _fits(made: Callable, case: str, attempt: Attempt) -> bool:
    """Whether this mistake leads to the given result; one that cannot be made does not."""
    try:
        with np.errstate(all="ignore"):
            result = running.numbers(made(attempt.reference, attempt.inputs[case]))
    except Exception:
        return False
    return close(result, attempt.given[case], attempt.tolerance)


def _not_finite(result: np.ndarray) -> str | None:
    if np.isnan(result).any():
        return (
            "your result is NaN, as 0/0, 0 times log 0 or the mean of nothing give it. Leave out "
            "what is empty, or sum with nansum."
        )
    if np.isinf(result).any():
        return (
            "your result is infinite, as log 0 or the exponential of a large number give it. "
            "log_softmax and logsumexp do not overflow."
        )
    return None


def _unused(attempt: Attempt) -> str | None:
    """Which argument never matters to the answer, though it should."""
    first, *rest = attempt.given.values()
    if rest and all(close(first, other, attempt.tolerance) for other in rest):
        return "your function returns the same whatever it is given."
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
        for other in common_mistakes.others(name, arguments):
            changed = arguments | {name: other}
            try:
                expected = running.numbers(attempt.reference(**changed))
                result = running.result(attempt.answer, case, changed, {})
            except Exception:
                continue
            if close(attempt.expected[case], expected, attempt.tolerance):
                continue
            if not close(given, result, attempt.tolerance):
                return False
            seen = True
    return seen
