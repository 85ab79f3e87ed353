"""The commands for a class: `student`, `teacher`, `key`, `grade`, `quiz`, `handouts`."""

from __future__ import annotations

import importlib

WRITTEN = {  # by command: the function that writes a folder, and what it writes
    "student": ("forms.student", "notebooks to hand out: no outputs, no solutions"),
    "teacher": ("forms.teacher", "notebooks with notes, open solutions, known mistakes"),
    "key": ("forms.key", "exercises with executed solutions, and all answers"),
    "quiz": ("quiz.write", "recall questions as Markdown and for Moodle (GIFT)"),
    "handouts": ("handouts.write", "a page to print for each lesson"),
}
ONLY = "lessons whose names start so, such as 01 06; default: all"


def add(commands) -> None:
    """Add the commands to the parser of `python -m calibkit`."""
    for name, (_, words) in WRITTEN.items():
        add = commands.add_parser(name, help=words)
        add.set_defaults(command=_written, written=name)
        add.add_argument("out", metavar="OUT", help="the folder to write")
        add.add_argument("--only", nargs="+", default=(), metavar="NN", help=ONLY)
        if name in ("student", "teacher"):
            words = "the evidence of these lessons too, for those who ask for it"
            add.add_argument("--evidence", action="store_true", help=words)
    add = commands.add_parser("grade", help="run and grade the notebooks of a class")
    add.set_defaults(command=_grade)
    add.add_argument("folder", metavar="FOLDER", help="NAME.ipynb or a folder NAME a student")
    add.add_argument("--out", default="grades.csv", help="the table; default: grades.csv")
    add.add_argument("--only", nargs="+", default=(), metavar="NN", help="lessons, such as 01 06")
    words = "those that were set, by the column's name: signed_gap cooled_nll; default: all"
    add.add_argument("--exercises", nargs="+", default=(), metavar="NAME", help=words)
    trust = "grade without a sandbox where none works: students' code may do what you may"
    add.add_argument("--trust", action="store_true", help=trust)


def _written(options) -> int:
    # imported here, as in calibkit.__main__: a command needs what it needs alone
    module, _, function = WRITTEN[options.written][0].partition(".")
    write = getattr(importlib.import_module(f"{__package__}.{module}"), function)
    more = {"with_evidence": True} if getattr(options, "evidence", False) else {}
    paths = write(options.out, options.only, **more)
    if options.written == "key":
        paths, verdicts = paths
        print("\n".join(verdicts))
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
    return 0


def _grade(options) -> int:
    from calibkit.course.classroom import grading

    chosen = {"exercises": options.exercises, "trust": options.trust}
    table = grading.grade(options.folder, options.only, **chosen)
    print("\n".join(grading.summary(table)))
    print(f"the table: {grading.write(table, options.out).resolve()}")
    return 0
