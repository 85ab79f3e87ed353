"""Which mistake an answer has made: its results are compared with those that mistakes lead to.

The mistakes of the exercise come first, then what all exercises know (`common_mistakes`), then
facts (`relations`). A diagnosis that does not fit everywhere is said with "perhaps", or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from calibkit.course.check import common_mistakes, relations, running

if TYPE_CHECKING:
    from calibkit.course.check.engine import Exercise

PROBES = 8
PATIENCE = 0.5  # seconds of computing in which an answer is asked more
SIGN = "the sign is reversed."
LARGE = 50  # numbers whose exponentials are a matter of concern
MOST = 0.6  # share of the cases that a mistake must explain to be named with "perhaps"


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the hint for whoever gives it."""

    function: Callable
    hint: str


@dataclass(frozen=True)
class Attempt:
    """A wrong answer with all that is known of it: what it gave, and what it gives elsewhere.

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
    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Right and given results of each case, the wrong ones first."""
        cases = [*self.wrong, *(case for case in self.given if case not in self.wrong)]
        return [(self.exercise.expected[case], self.given[case]) for case in cases]

    @property
    def fractions(self) -> bool:
        """Whether the results are fractions, which do not agree by accident; whole numbers do."""
        return any((self.given[case] % 1 != 0).any() for case in self.wrong)

    def agrees(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether a mistake leads to this result: small numbers must agree more closely."""
        scale = min(1, np.abs(other).max(initial=0)) if np.isfinite(other).all() else 1
        allowed = self.exercise.absolute
        absolute = max(min(allowed, 1e-6), allowed * scale)
        return close(one, other, self.exercise.tolerance, absolute)

    def results(self, arguments: dict) -> tuple[np.ndarray, np.ndarray] | None:
        """The right result and the answer's for other arguments.

        None where either has none or the right one is not finite, and when the time for such
        questions is up.
        """
        if time.process_time() >= self.until:
            return None
        try:
            expected = running.numbers(self.exercise.reference(**arguments))
            if not np.isfinite(expected).all():
                return None
            return expected, running.result(self.answer, "", dict(arguments), {})
        except Exception:
            return None

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

    def _probed(self) -> Iterator[tuple[dict, np.ndarray]]:
        for arguments in islice(self.inputs.values(), 2):
            for name in arguments:
                for other in common_mistakes.others(name, arguments):
                    changed = arguments | {name: other}
                    results = self.results(changed)
                    if results is not None and not self.exercise.same(*results):
                        yield changed, results[1]
                        break


def close(expected: np.ndarray, result: np.ndarray, tolerance: float, absolute: float) -> bool:
    """Whether two results are the same, in shape as well; NaN equals NaN.

    >>> one, other = np.array([0.5]), np.array(0.5000001)
    >>> close(one, other, 1e-5, 1e-5), close(np.ones(2), np.ones(3), 1e-5, 1e-5)
    (True, False)
    """
    same = expected.shape == result.shape or expected.size == result.size == 1
    limits: dict = {"rtol": tolerance, "atol": absolute, "equal_nan": True}
    return same and np.allclose(result.reshape(expected.shape), expected, **limits)


def hint(attempt: Attempt) -> str | None:
    """The mistake in words; None if it cannot be told."""
    arguments = attempt.inputs[attempt.wrong[0]]
    known = _known(attempt)
    certain = (
        _certain(known, attempt)
        or relations.the_same(attempt)
        or _besides(attempt)
        or _certain(common_mistakes.of_results(arguments), attempt)
        or _not_finite(attempt)
        or _certain(common_mistakes.of_constants(arguments), attempt)
        or _certain(common_mistakes.of_measures(arguments), attempt)
        or relations.axes(attempt)
        or _joined(relations.whole(attempt), relations.unused(attempt))
        or _certain(common_mistakes.of_arguments(arguments), attempt, 1 if attempt.fractions else 3)
        or _certain(_doubled(attempt), attempt)
    )
    if certain:
        return certain
    return " ".join(filter(None, [relations.looks(attempt), _perhaps(known, attempt)])) or None


def _joined(*parts: str | None) -> str:
    """What was found, as sentences one after the other."""
    first, *rest = [*filter(None, parts)] or [""]
    return " ".join([first, *(part[0].upper() + part[1:] for part in rest)])


def _besides(attempt: Attempt) -> str | None:
    """Two things: a mistake that is seen in ordinary cases, and NaN or infinity in others."""
    given = {case: one for case, one in attempt.given.items() if np.isfinite(one).all()}
    wrong = [case for case in attempt.wrong if case in given]
    rest = [case for case in attempt.wrong if case not in given]
    if not wrong or not rest:
        return None
    ordinary = replace(attempt, given=given, wrong=wrong)
    certain = _certain(_known(attempt), ordinary) or _certain(
        common_mistakes.of_results(attempt.inputs[wrong[0]]), ordinary
    )
    return certain and _joined(certain, f"besides, {_not_finite(replace(attempt, wrong=rest))}")


def _known(attempt: Attempt) -> list[common_mistakes.Diagnosis]:
    return [
        (mistake.hint, lambda _, a, made=mistake: made.function(*a.values()))
        for mistake in attempt.exercise.mistakes
    ]


def _doubled(attempt: Attempt) -> Iterable[common_mistakes.Diagnosis]:
    """A mistake of this exercise and a wrong factor at once."""
    for words, made in _known(attempt):
        once = _remembered(made)
        for more, factor in common_mistakes.FACTORS.items():
            yield f"two things at once: {words} And {more}", _times(factor, once, more == SIGN)
        yield (
            f"{words} (Yours has the opposite sign of that.)",
            lambda reference, a, once=once: -once(reference, a),
        )
        yield (
            f"{words} (This is so before you divide each row by its sum, which does not repair "
            "it.)",
            lambda reference, a, once=once: _shared_out(once(reference, a)),
        )


def _times(factor: Callable, once: Callable, reversed_: bool) -> Callable:
    """A mistake times a factor.

    The sign of a difference that should not be there is no mistake of its own: ValueError where it
    has the wrong sign before anything is reversed.
    """

    def made(reference: Callable, arguments: dict) -> np.ndarray:
        result = once(reference, arguments)
        if reversed_ and (result * running.numbers(reference(**arguments)) < 0).any():
            raise ValueError("its own sign is wrong")
        return factor(arguments) * result

    return made


def _shared_out(table: np.ndarray) -> np.ndarray:
    """The rows divided by their sums; raises ValueError for no table, and where they sum to 1."""
    sums = table.sum(axis=-1, keepdims=True) if table.ndim == 2 else np.ones(1)
    if np.allclose(sums, 1):
        raise ValueError("nothing would be changed")
    return table / sums


def _remembered(made: Callable) -> Callable:
    """The same mistake, computed once for the same arguments."""
    results: dict[int, np.ndarray] = {}

    def once(reference: Callable, arguments: dict) -> np.ndarray:
        if id(arguments) not in results:
            results[id(arguments)] = running.numbers(made(reference, arguments))
        return results[id(arguments)]

    return once


def _certain(
    diagnoses: Iterable[common_mistakes.Diagnosis], attempt: Attempt, least: int = 1
) -> str | None:
    """The first diagnosis that fits all cases in which it can be made, and most probes."""
    wrong, *cases = attempt.wrong
    cases += [case for case in attempt.given if case not in attempt.wrong]
    for words, made in diagnoses:
        if not _fits(made, wrong, attempt) or any(_fits(made, c, attempt) is False for c in cases):
            continue
        # one that cannot be made in most of the wrong cases explains little
        explained = sum(bool(_fits(made, case, attempt)) for case in attempt.wrong)
        if explained > len(attempt.wrong) / 2 and explained >= least and _stands(made, attempt):
            return words
    return None


def _perhaps(diagnoses: Iterable[common_mistakes.Diagnosis], attempt: Attempt) -> str | None:
    """The diagnosis that fits most cases, and the wrong ones or the right ones all."""
    best, most = None, MOST * len(attempt.given)
    for words, made in diagnoses:
        if not _fits(made, attempt.wrong[0], attempt):
            continue
        fits = {case: bool(_fits(made, case, attempt)) for case in attempt.given}
        count, of_wrong = sum(fits.values()), sum(fits[case] for case in attempt.wrong)
        all_right = count - of_wrong == len(attempt.given) - len(attempt.wrong)
        explains = of_wrong == len(attempt.wrong) or (all_right and of_wrong > 1)
        if explains and (attempt.fractions or of_wrong > 2) and count > most:
            best, most = words, count
    return best and f"Perhaps: {best}"


def _made(made: Callable, reference: Callable, arguments: dict) -> np.ndarray | None:
    """What a mistake leads to; None where it cannot be made."""
    try:
        with np.errstate(all="ignore"):
            return running.numbers(made(reference, arguments))
    except Exception:
        return None


def _fits(made: Callable, case: str, attempt: Attempt) -> bool | None:
    """Whether this mistake leads to the given result; None where it cannot be made."""
    if (made, case) not in attempt.fits:
        arguments = attempt.inputs[case]

        def reference(**changed) -> np.ndarray:
            """The reference, which need not compute the case again."""
            if all(changed[name] is value for name, value in arguments.items()):
                return attempt.exercise.expected[case].copy()
            return attempt.exercise.reference(**changed)

        result = _made(made, reference, arguments)
        fit = None if result is None else attempt.agrees(result, attempt.given[case])
        attempt.fits[made, case] = fit
    return attempt.fits[made, case]


def _stands(made: Callable, attempt: Attempt) -> bool:
    """Whether a mistake leads to the answer's results on half of the probes or more."""
    fits = []
    for arguments, given in attempt.probes:
        result = _made(made, attempt.exercise.reference, arguments)
        if result is not None and np.isfinite(result).all():
            fits.append(attempt.agrees(result, given))
    return sum(fits) >= len(fits) / 2


def _not_finite(attempt: Attempt) -> str | None:
    """What NaN or infinity tells, where it is all that is wrong."""
    results = [attempt.given[case] for case in attempt.wrong]
    if any(np.isfinite(result).all() for result in results):
        return None
    nan = any(np.isnan(result).any() for result in results)
    largest = [
        max(
            np.abs(running.numbers(value)).max(initial=0) for value in attempt.inputs[case].values()
        )
        for case in attempt.wrong
    ]
    if min(largest) > LARGE:
        return (
            f"your result is {'NaN' if nan else 'infinite'} where numbers are large: their "
            "exponential is infinite, or 0 if they are below 0. Subtract the largest of each row "
            "first, or use softmax, log_softmax or logsumexp, which do."
        )
    if nan:
        return (
            "your result is NaN, as 0/0, 0 times log 0 or the mean of nothing give it. Leave out "
            "what is empty, or sum with nansum."
        )
    return "your result is infinite, as log 0, 1/0 or the exponential of a large number give it."
