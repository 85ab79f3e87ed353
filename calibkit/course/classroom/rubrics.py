"""Rubrics for exercises that no checker reads: criteria, points, and what a full answer says.

Their text is notebooks/teaching/rubrics.md, a table for each exercise. A teacher gets it to read,
and as a table for a spreadsheet with a column for each student.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from calibkit.course import checkout
from calibkit.course.classroom import contents, grading, submissions

SOURCE = Path("notebooks", "teaching", "rubrics.md")
PART = re.compile(r"^## (?P<lesson>\w+): (?P<title>.+)\n(?P<rows>[^#]*)", re.MULTILINE)
ROW = re.compile(r"^\| (?P<name>.+?) \| (?P<points>\d+) \| (?P<full>.+) \|$", re.MULTILINE)
COLUMNS = ("lesson", "exercise", "criterion", "points", "a full answer says")


@dataclass(frozen=True)
class Criterion:
    """One thing that an answer is read for; full: what it says where it gets all points."""

    name: str
    points: int
    full: str


@dataclass(frozen=True)
class Rubric:
    """What an exercise in words, or the project, is read for."""

    lesson: str
    title: str
    criteria: tuple[Criterion, ...]

    @property
    def points(self) -> int:
        return sum(one.points for one in self.criteria)


def every(only: Iterable[str] = ()) -> list[Rubric]:
    """The rubrics of the lessons whose names start with one of `only`, in order."""
    text = (checkout.root() / SOURCE).read_text(encoding="utf-8")
    lessons = {lesson.name for lesson in contents.chosen(only)}
    found = []
    for part in PART.finditer(text):
        rows = ROW.finditer(part["rows"])
        criteria = (Criterion(row["name"], int(row["points"]), row["full"]) for row in rows)
        if part["lesson"] in lessons:
            found.append(Rubric(part["lesson"], part["title"], tuple(criteria)))
    return found


def write(folder: str | Path, only: Iterable[str] = (), roster: str | None = None) -> list[Path]:
    """Write rubric.md, to read, and rubric.csv, to fill, with a column for each student.

    roster: the CSV file with the students; without it there is one column, `given`.
    """
    folder, rubrics = Path(folder), every(only)
    students = ["given"] if roster is None else submissions.roster(roster)
    folder.mkdir(parents=True, exist_ok=True)
    read, fill = folder / "rubric.md", folder / "rubric.csv"
    read.write_text("\n\n".join(["# Rubrics", *map(markdown, rubrics)]) + "\n", encoding="utf-8")
    rows = [
        (one.lesson, one.title, row.name, row.points, row.full, *[""] * len(students))
        for one in rubrics
        for row in one.criteria
    ]
    table = pd.DataFrame(rows, columns=[*COLUMNS, *map(grading.inert, students)])
    return [read, grading.write(table, fill)]


def markdown(rubric: Rubric, level: int = 2) -> str:
    """The rubric under a heading of this rank, with a column for the points given.

    >>> one = Rubric("00_start_here", "a rule", (Criterion("Which scans?", 1, "New ones."),))
    >>> print(markdown(one))
    ## 00_start_here: a rule (1 point)
    <BLANKLINE>
    | criterion | points | a full answer says | given |
    |---|---|---|---|
    | Which scans? | 1 | New ones. | |
    """
    many = f"{rubric.points} point{'s' * (rubric.points > 1)}"
    head = f"{'#' * level} {rubric.lesson}: {rubric.title} ({many})"
    table = ["| criterion | points | a full answer says | given |", "|---|---|---|---|"]
    table += [f"| {row.name} | {row.points} | {row.full} | |" for row in rubric.criteria]
    return "\n".join([head, "", *table])
