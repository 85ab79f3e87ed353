"""Which mistake an answer has made: its results are compared with those that mistakes lead to.

The mistakes of the exercise come first, then what all exercises know (`common_mistakes`), then
facts (`relations`). A diagnosis that does not fit everywhere is said with "perhaps", or not at all.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from calibkit.course.check import common_mistakes, relations, running
from calibkit.course.check.attempt import Attempt, Mistake

SIGN = "the sign is reversed."
LARGE = 50  # numbers whose exponentials are a matter of concern
MOST = 0.6  # share of the cases that a mistake must explain to be named with "perhaps"


def hint(attempt: Attempt) -> str | None:
    """The mistake in words; None if it cannot be told."""
    arguments = attempt.inputs[attempt.wrong[0]]
    known = _known(attempt.exercise.mistakes)
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
        or _certain(
            common_mistakes.of_arguments(arguments), attempt, 1 if _fractions(attempt) else 3
        )
        or _certain(_doubled(attempt), attempt)
    )
    if certain:
        return certain
    facts = (
        relations.factor(attempt)
        or relations.order(attempt)
        or relations.rows(attempt)
        or relations.elsewhere(attempt)
        or _looks(attempt)
    )
    return " ".join(filter(None, [facts, _perhaps(known, attempt)])) or None


def _joined(*parts: str | None) -> str:
    """What was found, as sentences one after the other."""
    first, *rest = [*filter(None, parts)] or [""]
    return " ".join([first, *(part[0].upper() + part[1:] for part in rest)])


def _besides(attempt: Attempt) -> str | None:
    """Two things: a mistake that is seen in ordinary cases, and NaN or infinity in others."""
    finite = [case for case in attempt.given if np.isfinite(attempt.given[case]).all()]
    wrong = [case for case in attempt.wrong if case in finite]
    rest = [case for case in attempt.wrong if case not in finite]
    if not wrong or not rest:
        return None
    arguments = attempt.inputs[wrong[0]]
    given = {case: attempt.given[case] for case in finite}
    ordinary = replace(attempt, given=given, wrong=wrong)
    certain = _certain(_known(attempt.exercise.mistakes), ordinary) or _certain(
        common_mistakes.of_results(arguments), ordinary
    )
    return certain and _joined(certain, f"besides, {_not_finite(replace(attempt, wrong=rest))}")


def _known(mistakes: Sequence[Mistake]) -> list[common_mistakes.Diagnosis]:
    return [
        (mistake.hint, lambda _, a, made=mistake: made.function(*a.values()))
        for mistake in mistakes
    ]


def _doubled(attempt: Attempt) -> Iterable[common_mistakes.Diagnosis]:
    """A mistake of this exercise and a wrong factor at once."""
    for words, made in _known(attempt.exercise.mistakes):
        once = _remembered(made)
        for more, factor in common_mistakes.FACTORS.items():
            kept = _of_its_sign if more == SIGN else _as_it_is
            yield (
                f"two things at once: {words} And {more}",
                lambda reference, a, once=once, by=factor, kept=kept: (
                    by(a) * kept(once(reference, a), reference, a)
                ),
            )
        yield (
            f"{words} (Yours has the opposite sign of that.)",
            lambda reference, a, once=once: -once(reference, a),
        )
        yield (
            f"{words} (This is so before you divide each row by its sum, which does not repair "
            "it.)",
            lambda reference, a, once=once: _shared_out(once(reference, a)),
        )


def _as_it_is(result: np.ndarray, reference: Callable, arguments: dict) -> np.ndarray:
    return result


def _of_its_sign(result: np.ndarray, reference: Callable, arguments: dict) -> np.ndarray:
    """The result of a mistake; ValueError where it has the wrong sign before anything is reversed.

    The sign of a difference that should not be there is no mistake of its own.
    """
    if (result * running.numbers(reference(**arguments)) < 0).any():
        raise ValueError("its own sign is wrong")
    return result


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
        key = id(arguments)
        if key not in results:
            results[key] = running.numbers(made(reference, arguments))
        return results[key]

    return once


def _certain(
    diagnoses: Iterable[common_mistakes.Diagnosis], attempt: Attempt, least: int = 1
) -> str | None:
    """The first diagnosis that fits all cases in which it can be made, and most probes."""
    right = [case for case in attempt.given if case not in attempt.wrong]
    for words, made in diagnoses:
        fits = _all_fit(made, [*attempt.wrong, *right], attempt)
        # one that cannot be made in most of the wrong cases explains little
        explained = sum(fits[case] for case in fits if case in attempt.wrong)
        if (
            explained > len(attempt.wrong) / 2
            and explained >= least
            and not _refuted(made, attempt)
        ):
            return words
    return None


def _fractions(attempt: Attempt) -> bool:
    """Whether the results are fractions, which do not agree by accident; whole numbers do."""
    return any((attempt.given[case] % 1 != 0).any() for case in attempt.wrong)


def _all_fit(made: Callable, cases: Sequence[str], attempt: Attempt) -> dict[str, bool]:
    """Whether a mistake fits, by case, False where it cannot be made; empty if one refutes it."""
    fits = {}
    for case in cases:
        fit = _fits(made, case, attempt)
        if fit is False or (fit is None and case == cases[0]):
            return {}
        fits[case] = bool(fit)
    return fits


def _perhaps(diagnoses: Iterable[common_mistakes.Diagnosis], attempt: Attempt) -> str | None:
    """The diagnosis that fits most cases, and the wrong ones or the right ones all."""
    best, most = None, 0
    given, wrong = attempt.given, attempt.wrong
    for words, made in diagnoses:
        if not _fits(made, wrong[0], attempt):
            continue
        fits = {case: bool(_fits(made, case, attempt)) for case in given}
        count, of_wrong = sum(fits.values()), sum(fits[case] for case in wrong)
        all_right = count - of_wrong == len(given) - len(wrong)
        explains = of_wrong == len(wrong) or (all_right and of_wrong > 1)
        explains &= _fractions(attempt) or of_wrong > 2
        if explains and count > max(most, MOST * len(given)):
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
        result = _made(made, attempt.recalled(case), attempt.inputs[case])
        fit = None if result is None else attempt.agrees(result, attempt.given[case])
        attempt.fits[made, case] = fit
    return attempt.fits[made, case]


def _refuted(made: Callable, attempt: Attempt) -> bool:
    """Whether a mistake leads elsewhere than the answer on most of the probes."""
    fits = []
    for arguments, given in attempt.probes:
        result = _made(made, attempt.exercise.reference, arguments)
        if result is not None and np.isfinite(result).all():
            fits.append(attempt.agrees(result, given))
    return sum(fits) < len(fits) / 2


def _not_finite(attempt: Attempt) -> str | None:
    """What NaN or infinity tells, where it is all that is wrong."""
    if not all((~np.isfinite(attempt.given[case])).any() for case in attempt.wrong):
        return None
    nan = any(np.isnan(attempt.given[case]).any() for case in attempt.wrong)
    if all(_largest(attempt.inputs[case]) > LARGE for case in attempt.wrong):
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


def _largest(arguments: dict) -> float:
    numbers = (np.abs(running.numbers(value)) for value in arguments.values())
    return max(part.max(initial=0) for part in numbers)


def _looks(attempt: Attempt) -> str | None:
    return common_mistakes.of_looks(
        [(attempt.expected[case], attempt.given[case]) for case in attempt.wrong],
        [*attempt.expected.values()],
        attempt.exercise.tolerance,
    )
