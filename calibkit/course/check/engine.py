"""What runs an exercise: an answer is compared with the reference, and told what is wrong.

An exercise is a reference, the cases it is compared on, and the mistakes that people make. Every
mistake is itself a function: an answer that agrees with it where it fails first has made that
mistake, and gets its hint (`hints`).
"""

import html
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from torch import Tensor

from calibkit.course.check import running
from calibkit.course.check.hints import Attempt, Mistake, close, hint
from calibkit.course.check.running import NotYet, Refused

SHORT = 12  # arguments and results up to this many numbers are shown in full
SMALLEST = 1e-15  # answers below this are not told apart by their decimals
WIDE = 80  # columns of a reply
# Words tell the outcome; a bar in a colour that the colour-blind can tell apart goes with them.
COLOURS = {"Correct:": "#009E73", "Not yet:": "#0072B2", "Not quite:": "#D55E00"}


@dataclass(frozen=True)
class Reply:
    """What the checker says; true if the answer has passed."""

    passed: bool
    text: str

    def __bool__(self) -> bool:
        return self.passed

    @property
    def plain(self) -> str:
        """The text without the marks of code."""
        return self.text.replace("`", "")

    def __repr__(self) -> str:
        return textwrap.fill(self.plain, WIDE, break_long_words=False, break_on_hyphens=False)

    def _repr_html_(self) -> str:
        head = next((head for head in COLOURS if self.text.startswith(head)), "")
        colour = COLOURS.get(head, COLOURS["Not quite:"])
        rest = html.escape(self.text.removeprefix(head))
        rest = re.sub(r"`([^`]*)`", r"<code>\1</code>", rest)
        style = f"border-left: 0.4em solid {colour}; padding-left: 0.7em; max-width: {WIDE}ch"
        return f'<div style="{style}"><strong>{head}</strong>{rest}</div>'


@dataclass(eq=False, repr=False)
class Exercise:
    """A checker; call it with an answer.

    `cases` holds the arguments by the name of the case, the ordinary ones first; `slips` advice by
    a pattern of the error that the answer raises. Results are right up to `tolerance` times the
    answer plus `absolute`, which must be less where answers are small.
    """

    reference: Callable
    cases: Mapping[str, tuple]
    mistakes: Sequence[Mistake]
    slips: dict[str, str] = field(default_factory=dict)
    tolerance: float = 1e-5  # of float32 sums, relative
    absolute: float = None  # type: ignore[assignment]  # by default the same number

    def __post_init__(self) -> None:
        self.absolute = self.tolerance if self.absolute is None else self.absolute
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
            wrong = [case for case in given if not self.same(self.expected[case], given[case])]
            if not wrong and refused is None:
                return Reply(True, f"Correct: {self.name} agrees on all {len(given)} cases.")
            told = self._told(Attempt(self, answer, given, wrong)) if wrong else str(refused)
            return Reply(False, f"{told}{self._exchanged_names(answer)}")
        except NotYet:
            return Reply(
                False,
                f"Not yet: {self.name} returns nothing so far (None). Fill in the stub above; if "
                "it is filled in, is the `return` missing?",
            )
        except Refused as refusal:
            return Reply(False, str(refusal))

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
            for case in (*self.inputs, *reversed(self.inputs)):
                arguments = self.inputs[case]
                result = running.result(answer, self._shown[case], arguments, self.slips)
                if not self.same(given.setdefault(case, result), result):
                    raise Refused(
                        f"Not quite: called twice with the same arguments ({case}), your function "
                        "does not return the same result twice. Is there chance in it, or a "
                        "variable that keeps something from one call to the next?"
                    )
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

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether two results are the same up to the tolerances."""
        return close(one, other, self.tolerance, self.absolute)

    @cached_property
    def expected(self) -> dict[str, np.ndarray]:
        """The right results by case."""
        return {case: running.numbers(self.reference(**a)) for case, a in self.inputs.items()}

    def _told(self, attempt: Attempt) -> str:
        """The mistake by name if it can be told, then the smallest case that fails."""
        given = attempt.given

        def order(case: str) -> tuple[bool, bool, int]:
            """A wrong shape comes first; 0 or 1 alone, as where something is empty, comes late."""
            size = sum(running.numbers(value).size for value in self.inputs[case].values())
            right = self.expected[case]
            # how many numbers a student has to look at; one or none tell little
            looked_at = size if size > len(self.names) else SHORT + size
            return given[case].shape == right.shape, bool(np.isin(right, (0, 1)).all()), looked_at

        shown = min(attempt.wrong, key=order)
        told = hint(attempt), self._difference(shown, given[shown])
        right = len(given) - len(attempt.wrong)
        return f"Not quite: {' '.join(filter(None, told))}" + (
            f" ({right} of {len(given)} cases are right.)" if right else ""
        )

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
        expected, at, shape = self.expected[case], "", ""
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


def exercise(
    mistakes: Mapping[str, Callable | Sequence[Callable]], **parts
) -> Callable[[Callable], Exercise]:
    """Make an exercise of the reference function below.

    mistakes: {hint: the wrong answer that gets it, or several}. parts: see `Exercise`.
    """
    lists = {hint: [made] if callable(made) else made for hint, made in mistakes.items()}
    named = [Mistake(one, hint) for hint, made in lists.items() for one in made]
    return lambda reference: Exercise(reference, mistakes=named, **parts)


def _listed(arguments: dict) -> str:
    parts = {name: running.numbers(value) for name, value in arguments.items()}
    return ", ".join(
        f"{name} = {_brief(part)}" if part.size <= SHORT else f"{name} of shape {part.shape}"
        for name, part in parts.items()
    )


def _apart(expected: np.ndarray, result: np.ndarray) -> tuple[str, str]:
    """Both in as few decimals, 4 or more, as tell them apart; an answer like 2e-46 in figures."""
    if 0 < np.abs(expected).max(initial=0) < SMALLEST:
        return _brief(expected, figures=True), _brief(result, figures=True)
    texts = [(_brief(expected, digits), _brief(result, digits)) for digits in range(4, 18)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _brief(value: np.ndarray, digits: int = 4, figures: bool = False) -> str:
    """Up to so many decimals, or figures, without trailing zeros or points, in one line."""

    def shown(x: float) -> str:
        return f"{x:.{digits}g}" if figures else f"{x:.{digits}f}".rstrip("0").rstrip(".")

    look: dict = {"threshold": SHORT, "formatter": {"float_kind": shown}}
    text = np.array2string(np.asarray(value), separator=", ", **look)
    return " ".join(text.split())
