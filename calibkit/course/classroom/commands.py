"""The commands for a class: `student`, `teacher`, `key`, `grade`, `quiz`, ..."""

from __future__ import annotations

import importlib
from pathlib import Path

WRITTEN = {  # by command: the function that writes a folder
    "student": "forms.student",
    "teacher": "forms.teacher",
    "key": "forms.key",
    "quiz": "quiz.write",
    "handouts": "handouts.write",
    "rubric": "rubrics.write",
}
ROSTER = "all students, each of whom gets a row or column: a CSV file with a column `student`"
ONLY = "lessons whose names start so, such as 01 06; default: all"


def add(commands) -> None:
    """Add the commands to the parser of `python -m calibkit`."""
    for name in WRITTEN:
        add = commands.add_parser(name)
        add.set_defaults(command=_written, written=name)
        add.add_argument("out", metavar="OUT", help="the folder to write")
        add.add_argument("--only", nargs="+", default=(), metavar="NN", help=ONLY)
        if name in ("student", "teacher"):
            words = "the evidence of these lessons too, for those who ask for it"
            add.add_argument("--evidence", action="store_true", help=words)
        if name == "rubric":
            add.add_argument("--roster", metavar="FILE.csv", help=ROSTER)
    add = commands.add_parser("kit")
    add.set_defaults(command=_kit)
    add.add_argument("name", metavar="NAME", help="such as measure_and_repair; list: all of them")
    add.add_argument("out", metavar="OUT", nargs="?", help="the new folder; default: kit_NAME")
    add = commands.add_parser("own-diagram")
    add.set_defaults(command=_own_diagram)
    add.add_argument("target", nargs="?", default="own.html", help="the page; default: own.html")
    add = commands.add_parser("grade")
    add.set_defaults(command=_grade)
    add.add_argument("folder", metavar="FOLDER", help="NAME.ipynb or a folder NAME a student")
    words = "the table; default: grades.csv, and none for single students"
    add.add_argument("--out", metavar="FILE", help=words)
    words = "a page for each student; default: beside the table, as grades_feedback"
    add.add_argument("--feedback", metavar="FOLDER", help=words)
    words = "lessons, such as 01 06, or students by name, such as anna"
    add.add_argument("--only", nargs="+", default=(), metavar="NAME", help=words)
    words = "of the unseen cases; that of an earlier run gives the same cases again; default: drawn"
    add.add_argument("--seed", type=int, metavar="N", help=words)
    words = "that of the code that was graded, as the student's page has it: says if it is the same"
    add.add_argument("--fingerprint", metavar="XXXX-XXXX", help=words)
    add.add_argument("--roster", metavar="FILE.csv", help=ROSTER)
    words = "those that were set, by the column's name: signed_gap fitted_temperature; default: all"
    add.add_argument("--exercises", nargs="+", default=(), metavar="NAME", help=words)
    trust = "grade without a sandbox where none works: students' code may do what you may"
    add.add_argument("--trust", action="store_true", help=trust)


def _written(options) -> int:
    # imported here, as in calibkit.__main__: a command needs what it needs alone
    module, _, function = WRITTEN[options.written].partition(".")
    write = getattr(importlib.import_module(f"{__package__}.{module}"), function)
    more = {"with_evidence": True} if getattr(options, "evidence", False) else {}
    if getattr(options, "roster", None) is not None:
        more["roster"] = options.roster
    paths = write(options.out, options.only, **more)
    if options.written == "key":
        paths, verdicts = paths
        print("\n".join(verdicts))
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
    return 0


def _kit(options) -> int:
    from calibkit.course.classroom import kits

    if options.name == "list":
        print("\n".join(kits.names()))
        return 0
    first, *_ = kits.write(options.name, options.out or f"kit_{options.name}")
    print(f"open {first.resolve()}")
    return 0


def _own_diagram(options) -> int:
    from calibkit.course import browser
    from calibkit.course.browser import own_diagram

    page = browser.write(own_diagram.page(), options.target).resolve()
    print(f"open {page}, or {page}#class for the files of a class")
    return 0


def _grade(options) -> int:
    from calibkit.course.classroom import feedback, grading

    lessons, students = grading.named(options.only, options.folder)
    chosen = {name: getattr(options, name) for name in ("exercises", "trust", "seed", "roster")}
    book = grading.grade(options.folder, lessons, students=students, **chosen)
    print("\n".join(book.summary()))
    out = options.out
    if students:  # looked at again: their class's table stays as it is
        print("\n".join(book.replies(options.fingerprint)))
    elif out is None:
        out = "grades.csv"
    pages = options.feedback
    if out is not None:
        table = grading.write(book.table(), out).resolve()
        print(f"the table: {table}")
        pages = pages or table.with_name(f"{table.stem}_feedback")
    if pages is not None:
        feedback.write(book, pages)
        print(f"a page for each student: {Path(pages).resolve()}")
    return 0
