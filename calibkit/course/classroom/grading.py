"""Grade a folder of notebooks: one row a student, one column an exercise.

A notebook's function runs in a sandbox (`sandbox` says what that defends), on the cases of the
checker and on others that no file holds; the library's own function for the exercise is withheld
from it. Right on all cases is one point, everything else none. Only functions are run, not the
notebook: what else it trains, prints or deletes never happens. Before the class, the course's own
solution is graded in the same way, so that nobody loses points to a sandbox that does not work.
"""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from torch import Tensor
from tqdm.auto import tqdm

from calibkit import validate
from calibkit.course import check, checkout
from calibkit.course.check import running
from calibkit.course.check.engine import Exercise
from calibkit.course.classroom import contents, sandbox, submissions, unseen
from calibkit.course.classroom.submissions import Submission

SEEDS = 10**9  # a spreadsheet keeps such a number exactly
PRINTED = 400  # numbers of a case; one with more is not printed
EXACT = 17  # digits that tell two different numbers apart
FORMULA = ("=", "+", "-", "@")  # what makes a spreadsheet compute a cell
UNKNOWN = "?"  # in place of points: an error of the grader, and no fault of the student's
NOT_HANDED_IN = "not handed in"
NO_SANDBOX = (
    "no sandbox works here: bubblewrap (Linux: apt install bubblewrap) is not there, or may not "
    "make namespaces. Students' code could then read and delete your files. If you trust these "
    "students, say --trust; better do so in a virtual machine or a container that you throw away."
)


@dataclass(frozen=True)
class Failing:
    """A case on which an answer is wrong: the call as code, the right result and the answer's."""

    name: str
    call: str
    expected: str
    given: str


@dataclass(frozen=True)
class Grade:
    """Points for one exercise, UNKNOWN for an error of ours, and what the checker said.

    share: of the cases that no notebook shows, those that are right; None where none was tried.
    """

    points: int | str
    message: str
    share: float | None = None
    smallest: Failing | None = None


@dataclass(frozen=True)
class Marked:
    """One student's grades by the name of the exercise, and what else there is to say.

    fingerprint: of the code that was graded, as `Submission` has it.
    """

    student: str
    grades: Mapping[str, Grade]
    notes: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def total(self) -> int:
        """The points; an error of ours counts as none."""
        return sum(one.points for one in self.grades.values() if isinstance(one.points, int))


@dataclass(frozen=True)
class Gradebook:
    """What `grade` found: a row a student, and the seed that repeats it.

    titles: of the exercises, by their names. unknown: submissions of nobody on the roster.
    """

    seed: int
    titles: Mapping[str, str]
    marked: tuple[Marked, ...]
    unknown: tuple[str, ...] = ()

    def table(self) -> pd.DataFrame:
        """Columns `student`, for each exercise NAME and NAME_unseen, `total`, `seed`,
        `fingerprint`, `message`.

        NAME_unseen is the share of unseen cases that are right, empty where none was tried.
        """
        rows = []
        for one in self.marked:
            row: dict[str, object] = {"student": one.student}
            for name, grade in one.grades.items():
                share = None if grade.share is None else round(grade.share, 2)
                row |= {name: grade.points, f"{name}_unseen": share}
            row |= {"total": one.total, "seed": self.seed}
            said = [f"{name}: {grade.message}" for name, grade in one.grades.items()]
            words = " | ".join([*one.notes, *said])
            rows.append(row | {"fingerprint": one.fingerprint, "message": words})
        return pd.DataFrame(rows)

    def summary(self) -> Iterator[str]:
        """One line a student, for the screen, then what a teacher should look at."""
        for one in self.marked:
            unsure = sum(grade.points == UNKNOWN for grade in one.grades.values())
            words = f", {unsure} not graded: see the message in the table" * bool(unsure)
            yield f"{inert(one.student)}: {one.total} of {len(one.grades)}{words}"
        if self.unknown:
            yield f"not on the roster: {', '.join(map(inert, self.unknown))}"
        yield f"the seed of this run: {self.seed}"

    def replies(self, graded: str | None = None) -> Iterator[str]:
        """What was said of each answer, for the screen: point, share of unseen cases, message.

        graded: the fingerprint of the code that an earlier run graded, to compare with.
        """
        for one in self.marked:
            for name, grade in one.grades.items():
                share = grade.share
                told = "" if share is None else f", {100 * share:.0f} % of unseen cases"
                yield inert(f"{one.student}, {name}: {grade.points}{told}. {grade.message}")
            if one.fingerprint:
                words = {None: "", one.fingerprint: ", the code that was graded"}
                changed = f": NOT the code that was graded, which has {graded}"
                told = one.fingerprint + words.get(graded, changed)
                yield inert(f"{one.student}: fingerprint of the code {told}")


def named(words: Iterable[str], folder: str | Path) -> tuple[list[str], list[str]]:
    """Lessons and students that the words of `--only` mean: ["06"] and ["anna"] of 06 and anna.

    A word is a lesson where a lesson's name starts so. Where a student's does, too, it must say
    which is meant, as lesson:06 or student:06; else ValueError is raised.
    """
    known = [lesson.name for lesson in checkout.lessons()]
    lessons, students = list[str](), list[str]()
    for word in words:
        kind, mark, name = word.partition(":")
        if mark and kind in ("lesson", "student"):
            (lessons if kind == "lesson" else students).append(name)
        elif not any(lesson.startswith(word) for lesson in known):
            students.append(word)
        elif any(word == one.student for one in submissions.read(Path(folder))):
            raise ValueError(
                f"{word} is a lesson and a student: say lesson:{word} or student:{word}"
            )
        else:
            lessons.append(word)
    return lessons, students


def grade(
    folder: str | Path,
    only: Iterable[str] = (),
    *,
    exercises: Iterable[str] = (),
    trust: bool = False,
    seed: int | None = None,
    students: Iterable[str] = (),
    roster: str | Path | None = None,
) -> Gradebook:
    """Grade what a class handed in.

    folder: NAME.ipynb, or a folder NAME with notebooks, for each student.
    only: lessons whose names start so; by default those of which anything was handed in.
    exercises: those that were set, by the names of their checkers, such as "ece"; by default all.
    trust: grade without a sandbox where none works. seed: of the cases that no notebook shows, the
    same for all students of a run, by default a secret one; the same seed gives the same cases, and
    the same marks to an answer without chance or a clock in it.
    students: grade these alone. roster: a CSV file with all students, of whom each gets a row.

    An error that is not the student's gives "?" in place of points, which counts as none.

    Raises ValueError for a folder without notebooks, an unknown exercise or student, a roster that
    cannot be read, without a sandbox or `trust`, and where the course's own solution is not graded
    right.
    """
    walls = sandbox.bubblewrap()
    if walls is None and not trust:
        raise ValueError(NO_SANDBOX)
    everything = submissions.read(Path(folder))
    exercises = set(exercises)
    asked = [
        task
        for task in _tasks(only, exercises)
        if only or exercises or any(cells_of(one, task) for one in everything)
    ]
    if not asked:
        raise ValueError(f"no notebook in {folder} holds an exercise of the course")
    handed_in, unknown = submissions.on_the_roster(everything, roster)
    handed_in = submissions.of(students, handed_in)
    seed = secrets.randbelow(SEEDS) if seed is None else validate.integer("seed", seed, 0)
    # the course's own solution as a student's
    (lesson,), task = contents.chosen([asked[0].lesson]), asked[0]
    cells = contents.filled(contents.committed(lesson), [task])
    own = graded(Submission("calibkit", {f"{task.lesson}.ipynb": cells}), task, seed, walls or [])
    if own.points != 1:
        raise ValueError(
            f"nobody was graded, for calibkit's own solution of {task.checker} is not graded right "
            f"on this machine: {own.message}"
        )
    marked = []
    for one in tqdm(handed_in, unit="student", disable=None):
        grades = {task.checker: graded(one, task, seed, walls or []) for task in asked}
        marked.append(Marked(one.student, grades, one.troubles, one.fingerprint))
    titles = {task.checker: task.title for task in asked}
    return Gradebook(seed, titles, tuple(marked), tuple(unknown))


def _tasks(only: Iterable[str], exercises: set[str]) -> list[contents.Exercise]:
    """The exercises in code of the lessons, in order; those named, if any are."""
    tasks = [
        task
        for lesson in contents.chosen(only)
        for task in contents.exercises(lesson.name, contents.committed(lesson))
        if task.checker
    ]
    known = [task.checker for task in tasks]
    if not exercises <= {*known}:
        unknown = ", ".join(sorted(exercises - {*known}))
        raise ValueError(f"no exercise is called {unknown}; there are {', '.join(known)}")
    return [task for task in tasks if not exercises or task.checker in exercises]


def cells_of(submission: Submission, task: contents.Exercise) -> tuple[list[str], str] | None:
    """The notebook that holds an exercise, the last by name, and the function's name there.

    One that calls the checker comes before one that only names the function.
    """
    texts = [("\n".join(cells), cells) for cells in reversed(submission.notebooks.values())]
    for text, cells in texts:
        for checker, name in reversed(contents.CHECKED.findall(text)):
            if checker == task.checker:
                return cells, name
    holding = (cells for text, cells in texts if task.function in text)
    return next(((cells, task.function) for cells in holding), None)


def graded(submission: Submission, task: contents.Exercise, seed: int, walls: list[str]) -> Grade:
    handed_in = cells_of(submission, task)
    if handed_in is None:
        return Grade(0, NOT_HANDED_IN)
    exercise = check.EXERCISES[task.checker]
    withheld = unseen.withheld(exercise, task.solution)
    answer = sandbox.Answer(*handed_in, withheld=withheld, walls=walls, seed=seed)
    try:
        with answer as function:
            grade = examine(exercise, seed, function)
            # where its process is gone, what came after is no result
            return replace(grade, smallest=None) if getattr(function, "why", "") else grade
    except running.TimeUp:
        return Grade(0, "the cells that the function needs had not ended in time")
    except (sandbox.Missing, sandbox.Ended, sandbox.Raised, NotImplementedError) as error:
        return Grade(0, f"{type(error).__name__}: {error}")
    except Exception as error:
        return Grade(UNKNOWN, f"not graded, for an error of the grader: {error!r}")


def examine(exercise: Exercise, seed: int, answer: Callable) -> Grade:
    """Ask the exercise about an answer, on its own cases and on those that `seed` draws."""
    extended = unseen.extended(exercise, seed)
    cases, hidden = extended.cases, extended.cases.keys() - exercise.cases.keys()
    reply = extended(answer)
    grade = Grade(int(reply.passed), " ".join(reply.plain.split()), 1.0)
    if reply.passed:
        return grade
    # one by one, for the checker itself stops at the first case that raises an error
    failing = {
        name: case
        for name, case in cases.items()
        if not replace(exercise, cases={name: case})(answer).passed
    }
    grade = replace(grade, share=1 - len(failing.keys() & hidden) / len(hidden))
    if not failing:  # right one by one, and not as a whole: it keeps something between calls
        return grade
    name = min(failing, key=lambda name: _size(failing[name]))
    case, size = cases[name], _size(cases[name])
    call = f"{exercise.name}({', '.join(map(_code, case))})"
    call = call if size <= PRINTED else f"({size} numbers, too many to print)"
    expected, digits = running.numbers(exercise.reference(*case)), 4
    arguments = dict(zip(exercise.names, case, strict=True))
    try:
        numbers = running.result(answer, name, arguments, exercise.slips)
        while digits < EXACT and _text(expected, digits) == _text(numbers, digits):
            digits += 1
        given = _text(numbers, digits)
    except running.NotYet:
        given = "nothing (None)"
    except running.Refused as refusal:
        given = str(refusal)
    return replace(grade, smallest=Failing(name, call, _text(expected, digits), given))


def _size(case: tuple) -> int:
    return sum(value.numel() if isinstance(value, Tensor) else 1 for value in case)


def _code(value) -> str:
    """An argument as one writes it in Python.

    >>> import torch
    >>> _code(torch.tensor([1, 2])), _code(0.5)
    ('torch.tensor([1, 2], dtype=torch.int64)', '0.5')
    """
    if isinstance(value, Tensor):
        return f"torch.tensor({value.tolist()}, dtype={value.dtype})"
    return repr(value)


def _text(value: np.ndarray, digits: int = 4) -> str:
    """A number, or a list of them, in so many decimals.

    >>> _text(np.array(0.123456)), _text(np.array([0.5, 1e-9]))
    ('0.1235', '[0.5 0. ]')
    """
    look: dict = {"suppress_small": True, "threshold": PRINTED, "max_line_width": 100}
    return np.array2string(np.asarray(value), precision=digits, **look)


def write(table: pd.DataFrame, path: str | Path) -> Path:
    """Write the table as CSV for a spreadsheet, in which no cell computes anything."""
    safe = table.map(lambda cell: inert(cell) if isinstance(cell, str) else cell)
    safe.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, encoding="utf-8-sig")
    return Path(path)


def inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula, and no terminal for a command.

    >>> inert("=1+1")
    "'=1+1"
    """
    text = "".join(sign for sign in text if sign.isprintable())
    return f"'{text}" if text.startswith(FORMULA) else text
