"""What runs an exercise: an answer is compared with the reference, and told what is wrong.

An exercise is a reference, the cases it is compared on, and the mistakes that people make. Every
mistake is itself a function: an answer that agrees with it where it fails first has made that
mistake, and gets its hint. Where none fits, the diagnoses that all exercises share are tried.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from torch import Tensor

from calibkit.check import diagnoses, running
from calibkit.check.running import NotYet, Refused

SHORT = 12  # arguments and results up to this many numbers are shown in full


@dataclass(frozen=True)
class Reply:
    """What the checker says; true if the answer has passed."""

    passed: bool
    text: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the hint for whoever gives it."""

    function: Callable
    hint: str


@dataclass(eq=False, repr=False)
class Exercise:
    """A checker; call it with an answer.

    `cases` holds the arguments by the name of the case, the ordinary ones first; `slips` advice by
    a pattern of the error that the answer raises.
    """

    reference: Callable
    cases: Mapping[str, tuple]
    mistakes: Sequence[Mistake]
    slips: dict[str, str] = field(default_factory=dict)
    tolerance: float = 1e-5  # of float32 sums, absolute and relative

    def __post_init__(self) -> None:
        self.name = self.reference.__name__
        self.names = tuple(inspect.signature(self.reference).parameters)
        self.inputs = {
            case: dict(zip(self.names, values, strict=True)) for case, values in self.cases.items()
        }
        self.__doc__ = f"{self.reference.__doc__}\n\n{self}"  # for `check.NAME?`

    def __repr__(self) -> str:
        takes = ", ".join(self.names)
        return f"check.{self.name}(your_function) checks a function that takes ({takes})."

    def __call__(self, answer: Callable) -> Reply:
        """Compare `answer` with the reference on every case; raises nothing."""
        try:
            self._check_call(answer)
            given, refused = running.limited(lambda: self._results(answer))
            if refused and len(given) == len(self.inputs):
                raise refused
            wrong = [case for case in given if not self._close(self._expected[case], given[case])]
            if not wrong and refused is None:
                return Reply(True, f"Correct: {self.name} agrees on all {len(given)} cases.")
            hint = self._hint(answer, given, wrong) if wrong else str(refused)
            return Reply(False, f"{hint}{self._exchanged_names(answer)}")
        except NotYet:
            return Reply(
                False,
                f"Not yet: {self.name} returns nothing so far (None). Fill in the stub above; if "
                "it is filled in, is the `return` missing?",
            )
        except Refused as told:
            return Reply(False, str(told))

    def _check_call(self, answer) -> None:
        """Refuse what is no function, or takes another number of arguments."""
        if not callable(answer):
            raise Refused(
                f"Pass the function itself, check.{self.name}(your_function), "
                f"not its result ({type(answer).__name__})."
            )
        try:
            signature = inspect.signature(answer)
        except (TypeError, ValueError):  # some functions written in C do not tell
            return
        try:
            signature.bind(*self.names)
        except TypeError:
            raise Refused(
                f"Your function takes {signature}, but it is called with {len(self.names)} "
                f"argument(s): ({', '.join(self.names)})."
            ) from None

    def _exchanged_names(self, answer: Callable) -> str:
        """A remark where the answer names its arguments in another order."""
        own = getattr(getattr(answer, "__code__", None), "co_varnames", ())[: len(self.names)]
        if own == self.names or sorted(own) != sorted(self.names):
            return ""
        return (
            f" Your function takes ({', '.join(own)}), but it is called with "
            f"({', '.join(self.names)}), in this order: two arguments are exchanged."
        )

    def _results(self, answer: Callable) -> tuple[dict[str, np.ndarray], Refused | None]:
        """The results by case, up to the first that is refused, each computed twice."""
        given: dict[str, np.ndarray] = {}
        try:
            for case in self.inputs:
                given[case] = self._result(answer, case)
            for case in reversed(self.inputs):
                self._check_again(case, given[case], self._result(answer, case))
        except Refused as refused:
            return given, refused
        except NotYet:
            if not given:
                raise
            return given, Refused(
                f"Not quite: your function returns nothing (None) for: {case}. Does each way "
                "through it end in `return`?"
            )
        return given, None

    def _result(self, answer: Callable, case: str) -> np.ndarray:
        return running.result(answer, self._shown[case], self.inputs[case], self.slips)

    def _check_again(self, case: str, first: np.ndarray, second: np.ndarray) -> None:
        if not self._close(first, second):
            raise Refused(
                f"Not quite: called twice with the same arguments ({case}), your function does "
                "not return the same result twice. Is there chance in it, or a variable that "
                "keeps something from one call to the next?"
            )

    def _close(self, expected: np.ndarray, result: np.ndarray) -> bool:
        same = expected.shape == result.shape or expected.size == result.size == 1
        tolerance = {"rtol": self.tolerance, "atol": self.tolerance, "equal_nan": True}
        return same and np.allclose(result.reshape(expected.shape), expected, **tolerance)

    @cached_property
    def _expected(self) -> dict[str, np.ndarray]:
        return {case: running.numbers(self.reference(**a)) for case, a in self.inputs.items()}

    def _hint(self, answer: Callable, given: dict[str, np.ndarray], wrong: list[str]) -> str:
        """The mistake by name if it can be told, then the first case that fails."""
        arguments = self.inputs[wrong[0]]
        words = (
            self._likely(self._known(), given, wrong)
            or _not_finite(given[wrong[0]])
            or self._likely(diagnoses.of_results(arguments), given, wrong)
            or self._likely(diagnoses.of_constants(arguments), given, wrong)
            or self._likely(diagnoses.of_measures(arguments), given, wrong)
            or self._unused(answer, given)
            or self._likely(diagnoses.of_arguments(arguments), given, wrong)
            or self._likely(self._doubled(), given, wrong)
            or diagnoses.of_looks(self._expected[wrong[0]], given[wrong[0]])
        )
        said = " ".join(filter(None, [words, self._difference(wrong[0], given[wrong[0]])]))
        right = len(given) - len(wrong)
        return f"Not quite: {said}" + (
            f" ({right} of {len(given)} cases are right.)" if right else ""
        )

    def _known(self) -> Iterable[diagnoses.Diagnosis]:
        for mistake in self.mistakes:
            yield mistake.hint, lambda _, a, made=mistake: made.function(*a.values())

    def _doubled(self) -> Iterable[diagnoses.Diagnosis]:
        """A mistake of this exercise and a wrong factor at once."""
        for mistake in self.mistakes:
            for words, factor in diagnoses.FACTORS.items():
                yield (
                    f"two things at once: {mistake.hint} And {words}",
                    lambda _, a, made=mistake, by=factor: (
                        by(a) * running.numbers(made.function(*a.values()))
                    ),
                )

    def _likely(
        self, likely: Iterable[diagnoses.Diagnosis], given: dict[str, np.ndarray], wrong: list[str]
    ) -> str | None:
        """The diagnosis that fits the first wrong case, and most cases, wrong and right."""
        best, most = None, 0
        for words, made in likely:
            if not self._fits(made, wrong[0], given):
                continue
            fits = {case: self._fits(made, case, given) for case in given}
            share = sum(fits[case] for case in wrong) / len(wrong)
            # a mistake that would show in cases that are right was not made
            if share >= 0.5 and sum(fits.values()) > max(most, len(given) / 2):
                best, most = words, sum(fits.values())
        return best

    def _fits(self, made: Callable, case: str, given: dict[str, np.ndarray]) -> bool:
        """Whether this mistake leads to the given result; one that cannot be made does not."""
        try:
            with np.errstate(all="ignore"):
                result = running.numbers(made(self.reference, self.inputs[case]))
        except Exception:
            return False
        return self._close(result, given[case])

    def _unused(self, answer: Callable, given: dict[str, np.ndarray]) -> str | None:
        """Which argument never matters to the answer, though it should."""
        first, *rest = given.values()
        if rest and all(self._close(first, other) for other in rest):
            return "your function returns the same whatever it is given."
        ignored = running.limited(
            lambda: [name for name in self.names if self._ignores(answer, name, given)]
        )
        if not ignored:
            return None
        names = " and ".join(f"`{name}`" for name in ignored)
        return f"your result does not change when {names} changes: is the argument ignored?"

    def _ignores(self, answer: Callable, name: str, given: dict[str, np.ndarray]) -> bool:
        seen = False
        for case in given:
            arguments = self.inputs[case]
            for other in diagnoses.others(name, arguments):
                changed = arguments | {name: other}
                try:
                    expected = running.numbers(self.reference(**changed))
                    result = running.result(answer, case, changed, self.slips)
                except Exception:
                    continue
                if self._close(self._expected[case], expected):
                    continue
                if not self._close(given[case], result):
                    return False
                seen = True
        return seen

    def _shape_words(self, got: tuple, expected: tuple, case: str) -> str:
        """The two shapes, and what the axes of the right one stand for."""
        like = next(
            (
                f"one for each entry of `{name}` along its first axis, "
                for name, value in self.inputs[case].items()
                if expected and isinstance(value, Tensor) and value.shape[0] == expected[0]
            ),
            "",
        )
        what = f"numbers of shape {expected} were" if expected else "one number was"
        squeezed = tuple(size for size in got if size > 1) == expected
        advice = " An axis of length 1 is left over: squeeze it." if squeezed else ""
        return f"The shape is wrong: {what} expected, {like}got shape {got}.{advice}"

    def _difference(self, case: str, result: np.ndarray) -> str:
        """The first wrong case in numbers: all of them, or the worst entry of many."""
        expected, at = self._expected[case], ""
        shape = ""
        if expected.shape != result.shape:
            shape = self._shape_words(result.shape, expected.shape, case) + " "
        elif expected.size > SHORT:
            off = np.nan_to_num(np.abs(expected - result), nan=np.inf)
            place = np.unravel_index(off.argmax(), off.shape)
            expected, result = expected[place], result[place]
            at = f"entry {', '.join(map(str, place))} of "
        expected_text, result_text = _apart(expected, result)
        return (
            f"{shape}For {self._shown[case]}: {at}the answer is {expected_text}, "
            f"yours is {result_text}."
        )

    @cached_property
    def _shown(self) -> dict[str, str]:
        """The name of each case and its arguments: long ones by their shape."""
        return {case: f"{case} ({_listed(a)})" for case, a in self.inputs.items()}


def exercise(**parts) -> Callable[[Callable], Exercise]:
    """Make an exercise of the reference function below: `cases`, `mistakes`, perhaps `slips`."""
    return lambda reference: Exercise(reference, **parts)


def _listed(arguments: dict) -> str:
    parts = {name: running.numbers(value) for name, value in arguments.items()}
    return ", ".join(
        f"{name} = {_brief(part)}" if part.size <= SHORT else f"{name} of shape {part.shape}"
        for name, part in parts.items()
    )


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


def _apart(expected: np.ndarray, result: np.ndarray) -> tuple[str, str]:
    """Both in as few decimals, 4 or more, as tell them apart."""
    texts = [(_brief(expected, digits), _brief(result, digits)) for digits in range(4, 18)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _brief(value: np.ndarray, digits: int = 4) -> str:
    """Up to so many decimals, without trailing zeros or points, in one line."""
    kind = {"float_kind": lambda x: f"{x:.{digits}f}".rstrip("0").rstrip(".")}
    text = np.array2string(np.asarray(value), separator=", ", threshold=SHORT, formatter=kind)
    return " ".join(text.split())
