"""Grade a folder of notebooks: one row a student, one column an exercise.

A notebook's function runs in a sandbox (`sandbox` says what that defends), on the cases of the
checker and on others that no file holds; the library's own function for the exercise is withheld
from it. Right on all cases is one point, everything else none. Only functions are run, not the
notebook: what else it trains, prints or deletes never happens. Before the class, the course's own
solution is graded in the same way, so that nobody loses points to a sandbox that does not work.
"""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from tqdm.auto import tqdm

from calibkit.course import check
from calibkit.course.check.running import TimeUp
from calibkit.course.classroom import reading, sandbox, unseen

LARGEST = 20 << 20  # bytes of a notebook
FORMULA = ("=", "+", "-", "@")  # what makes a spreadsheet compute a cell
NOT_HANDED_IN = "not handed in"
UNKNOWN = "?"  # in place of points: an error of the grader, and no fault of the student's
NO_SANDBOX = (
    "no sandbox works here: bubblewrap (Linux: apt install bubblewrap) is not there, or may not "
    "make namespaces. Students' code could then read and delete your files. If you trust these "
    "students, say --trust; better grade inside a virtual machine or a container."
)


@dataclass(frozen=True)
class Submission:
    """What one student handed in: the cells of code of each notebook by its file name."""

    student: str
    notebooks: Mapping[str, list[str]]
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grade:
    """Points for one exercise, UNKNOWN for an error of ours, and what the checker said."""

    points: int | str
    message: str


def grade(
    folder: str | Path,
    only: Iterable[str] = (),
    *,
    exercises: Iterable[str] = (),
    trust: bool = False,
    seed: int | None = None,
) -> pd.DataFrame:
    """One row a student: columns `student`, an exercise each, `total`, `message`.

    folder: NAME.ipynb, or a folder NAME with notebooks, for each student.
    only: lessons whose names start so; by default those of which anything was handed in.
    exercises: those that were set, by the names of their checkers, such as "ece"; by default all.
    trust: grade without a sandbox where none works. seed: of the hidden cases, by default a
    secret one, the same for all students of this run.

    An error that is not the student's gives "?" in place of points, which counts as none.

    Raises ValueError for a folder without notebooks, an unknown exercise, without a sandbox or
    `trust`, and where the course's own solution is not graded right.
    """
    walls = sandbox.bubblewrap()
    if walls is None and not trust:
        raise ValueError(NO_SANDBOX)
    handed_in = submissions(Path(folder))
    exercises = set(exercises)
    asked = [
        task
        for task in _tasks(only, exercises)
        if only or exercises or any(_cells(one, task) for one in handed_in)
    ]
    if not asked:
        raise ValueError(f"no notebook in {folder} holds an exercise of the course")
    seed = secrets.randbits(63) if seed is None else seed
    _rehearse(asked[0], seed, walls or [])
    rows = []
    for one in tqdm(handed_in, unit="student"):
        grades = {task.checker: _graded(one, task, seed, walls or []) for task in asked}
        rows.append(_row(one, grades))
    return pd.DataFrame(rows)


def write(table: pd.DataFrame, path: str | Path) -> Path:
    """Write the table as CSV for a spreadsheet, in which no cell computes anything."""
    safe = table.map(lambda cell: _inert(cell) if isinstance(cell, str) else cell)
    safe.to_csv(path, index=False, quoting=csv.QUOTE_NONNUMERIC, encoding="utf-8-sig")
    return Path(path)


def submissions(folder: Path) -> list[Submission]:
    """The students of a folder, by name; links are not followed.

    Raises ValueError where there is none.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name the one with the students' notebooks")
    notebooks: dict[str, list[Path]] = {}
    # by name without ending, so that "08 (1)", a second download, comes after "08"
    for path in sorted(folder.rglob("*.ipynb"), key=lambda path: path.with_suffix("")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        linked = any(
            place.is_symlink() for place in (path, *path.parents) if folder in place.parents
        )
        if not hidden and not linked and path.is_file():
            student = inside.parts[0] if len(inside.parts) > 1 else path.stem
            notebooks.setdefault(student, []).append(path)
    if not notebooks:
        raise ValueError(f"no notebook in {folder}; it holds NAME.ipynb or NAME/ for each student")
    return [_submission(student, paths) for student, paths in sorted(notebooks.items())]


def _submission(student: str, paths: Iterable[Path]) -> Submission:
    notebooks, troubles = {}, []
    for path in paths:
        try:
            notebooks[path.name] = code(path)
        except ValueError as error:
            troubles.append(f"{path.name}: {error}")
    return Submission(student, notebooks, tuple(troubles))


def code(path: Path) -> list[str]:
    """The cells of code of a notebook; raises ValueError for a file that is none."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MB; clear its outputs")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        made = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [source if isinstance(source, str) else "".join(source) for source in made]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise ValueError("this is no notebook that can be read") from None


def _rehearse(task: reading.Exercise, seed: int, walls: list[str]) -> None:
    """Grade the course's own solution as a student's; raises ValueError if it is not right."""
    (lesson,) = reading.chosen([task.lesson])
    cells = reading.filled(reading.committed(lesson), [task])
    grade = _graded(Submission("calibkit", {f"{task.lesson}.ipynb": cells}), task, seed, walls)
    if grade.points != 1:
        raise ValueError(
            f"nobody was graded, for calibkit's own solution of {task.checker} is not graded right "
            f"on this machine: {grade.message}"
        )


def _tasks(only: Iterable[str], exercises: set[str]) -> list[reading.Exercise]:
    """The exercises in code of the lessons, in order; those named, if any are."""
    tasks = [
        task
        for lesson in reading.chosen(only)
        for task in reading.exercises(lesson.name, reading.committed(lesson))
        if task.checker
    ]
    known = [task.checker for task in tasks]
    if not exercises <= {*known}:
        unknown = ", ".join(sorted(exercises - {*known}))
        raise ValueError(f"no exercise is called {unknown}; there are {', '.join(known)}")
    return [task for task in tasks if not exercises or task.checker in exercises]


def _cells(submission: Submission, task: reading.Exercise) -> tuple[list[str], str] | None:
    """The notebook that holds an exercise, the last by name, and the function's name there.

    One that calls the checker comes before one that only names the function.
    """
    texts = [("\n".join(cells), cells) for cells in reversed(submission.notebooks.values())]
    for text, cells in texts:
        for checker, name in reversed(reading.CHECKED.findall(text)):
            if checker == task.checker:
                return cells, name
    holding = (cells for text, cells in texts if task.function in text)
    return next(((cells, task.function) for cells in holding), None)


def _row(submission: Submission, grades: Mapping[str, Grade]) -> dict:
    points = {name: one.points for name, one in grades.items()}
    total = sum(number for number in points.values() if number != UNKNOWN)
    words = [*submission.troubles, *(f"{name}: {one.message}" for name, one in grades.items())]
    return {"student": submission.student, **points, "total": total, "message": " | ".join(words)}


def _graded(submission: Submission, task: reading.Exercise, seed: int, walls: list[str]) -> Grade:
    handed_in = _cells(submission, task)
    if handed_in is None:
        return Grade(0, NOT_HANDED_IN)
    exercise = check.EXERCISES[task.checker]
    withheld = unseen.withheld(exercise, task.solution)
    try:
        with sandbox.Answer(*handed_in, withheld=withheld, walls=walls) as answer:
            reply = unseen.extended(exercise, seed)(answer)
    except TimeUp:
        return Grade(0, "the cells that the function needs had not ended in time")
    except (sandbox.Missing, sandbox.Ended, sandbox.Raised, NotImplementedError) as error:
        return Grade(0, f"{type(error).__name__}: {error}")
    except Exception as error:
        return Grade(UNKNOWN, f"not graded, for an error of the grader: {error!r}")
    return Grade(int(reply.passed), " ".join(reply.text.split()))


def _inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula, and no terminal for a command.

    >>> _inert("=1+1")
    "'=1+1"
    """
    text = "".join(sign for sign in text if sign.isprintable())
    return f"'{text}" if text.startswith(FORMULA) else text


def summary(table: pd.DataFrame) -> Iterator[str]:
    """One line a student, for the screen."""
    points = [name for name in table.columns if name not in ("student", "total", "message")]
    unknown = (table[points] == UNKNOWN).sum(axis=1)
    for student, total, open_ in zip(table.student, table.total, unknown, strict=True):
        words = f", {open_} not graded: see the message in the table" if open_ else ""
        yield f"{_inert(student)}: {total} of {len(points)}{words}"
