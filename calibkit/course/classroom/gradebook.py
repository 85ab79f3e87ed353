"""The grades of a class: a row a student for a spreadsheet, a line a student for the screen."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calibkit.course.classroom.examining import Failing

FORMULA = ("=", "+", "-", "@")  # what makes a spreadsheet compute a cell
UNKNOWN = "?"  # in place of points: an error of the grader, and no fault of the student's
REFUSED = "The sandbox refused it: nothing was harmed, and the points stand."
NOT_REFUSED = "There was no sandbox, so it may have been done: look at the files."


@dataclass(frozen=True)
class Grade:
    """Points for one exercise, UNKNOWN for an error of ours, and what the checker said.

    share: of the cases that no notebook shows, those that are right; None where none was tried.
    smallest: the smallest case that fails. attempts: what the answer tried to do to files.
    """

    points: int | str
    message: str
    share: float | None = None
    smallest: Failing | None = None
    attempts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Marked:
    """One student's grades by the name of the exercise, and what else there is to say.

    fingerprint: of the code that was graded, as `Submission` has it.
    """

    student: str
    grades: Mapping[str, Grade]
    notes: tuple[str, ...] = ()
    walled: bool = True
    fingerprint: str = ""

    @property
    def total(self) -> int:
        """The points; an error of ours counts as none."""
        return sum(one.points for one in self.grades.values() if one.points != UNKNOWN)

    @property
    def warning(self) -> str:
        """What the answers tried to do to files and programs; "" if nothing was seen."""
        tried = [
            f"{name} tried to {', to '.join(one.attempts)}"
            for name, one in self.grades.items()
            if one.attempts
        ]
        if not tried:
            return ""
        outcome = REFUSED if self.walled else NOT_REFUSED
        return f"The code of {'; of '.join(tried)}. {outcome}"


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
        """Columns `student`, for each exercise NAME and NAME_unseen, `total`, `warning`, `seed`,
        `fingerprint`, `message`.

        NAME_unseen is the share of unseen cases that are right, empty where none was tried.
        """
        return pd.DataFrame([self._row(one) for one in self.marked])

    def _row(self, one: Marked) -> dict:
        row: dict[str, object] = {"student": one.student}
        for name, grade in one.grades.items():
            share = None if grade.share is None else round(grade.share, 2)
            row |= {name: grade.points, f"{name}_unseen": share}
        words = [*one.notes, *(f"{name}: {grade.message}" for name, grade in one.grades.items())]
        last = {"total": one.total, "warning": one.warning, "seed": self.seed}
        last["fingerprint"] = one.fingerprint
        return row | last | {"message": " | ".join(words)}

    def summary(self) -> Iterator[str]:
        """One line a student, for the screen, then what a teacher should look at."""
        for one in self.marked:
            unsure = sum(grade.points == UNKNOWN for grade in one.grades.values())
            words = f", {unsure} not graded: see the message in the table" * bool(unsure)
            words += ", WARNING: see the table" * bool(one.warning)
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
                share = (
                    "" if grade.share is None else f", {100 * grade.share:.0f} % of unseen cases"
                )
                yield inert(f"{one.student}, {name}: {grade.points}{share}. {grade.message}")
            if one.warning:
                yield inert(f"{one.student}: WARNING. {one.warning}")
            if one.fingerprint:
                words = {None: "", one.fingerprint: ", the code that was graded"}
                changed = f": NOT the code that was graded, which has {graded}"
                told = one.fingerprint + words.get(graded, changed)
                yield inert(f"{one.student}: fingerprint of the code {told}")


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
