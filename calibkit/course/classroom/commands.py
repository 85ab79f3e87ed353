"""The commands for a class: `student`, `teacher`, `key`, `grade`, `quiz`, `handouts`."""

from __future__ import annotations

# Each command imports what it needs, as in calibkit.__main__.


def add(commands) -> None:
    """Add the commands to the parser of `python -m calibkit`."""
    _form(commands, "student", _student, "notebooks to hand out: no outputs, no solutions")
    _form(commands, "teacher", _teacher, "notebooks with notes, open solutions, known mistakes")
    _form(commands, "key", _key, "exercises with executed solutions, and all answers")
    _form(commands, "quiz", _quiz, "recall questions as Markdown and for Moodle (GIFT)")
    _form(commands, "handouts", _handouts, "a page to print for each lesson")
    add = commands.add_parser("grade", help="run and grade the notebooks of a class")
    add.set_defaults(command=_grade)
    add.add_argument("folder", metavar="FOLDER", help="NAME.ipynb or a folder NAME a student")
    add.add_argument("--out", default="grades.csv", help="the table; default: grades.csv")
    add.add_argument("--only", nargs="+", default=(), metavar="NN", help="lessons, such as 01 06")
    words = "those that were set, by the column's name: signed_gap cooled_nll; default: all"
    add.add_argument("--exercises", nargs="+", default=(), metavar="NAME", help=words)
    trust = "grade without a sandbox where none works: students' code may do what you may"
    add.add_argument("--trust", action="store_true", help=trust)


def _form(commands, name: str, command, words: str):
    parser = commands.add_parser(name, help=words)
    parser.set_defaults(command=command)
    parser.add_argument("out", metavar="OUT", help="the folder to write")
    lessons = "lessons whose names start so, such as 01 06; default: all"
    parser.add_argument("--only", nargs="+", default=(), metavar="NN", help=lessons)
    return parser


def _student(options) -> int:
    from calibkit.course.classroom import forms

    return _listed(forms.student(options.out, options.only))


def _teacher(options) -> int:
    from calibkit.course.classroom import forms

    return _listed(forms.teacher(options.out, options.only))


def _key(options) -> int:
    from calibkit.course.classroom import forms

    paths, verdicts = forms.key(options.out, options.only)
    print("\n".join(verdicts))
    return _listed(paths)


def _quiz(options) -> int:
    from calibkit.course.classroom import quiz

    return _listed(quiz.write(options.out, options.only))


def _handouts(options) -> int:
    from calibkit.course.classroom import handouts

    return _listed(handouts.write(options.out, options.only))


def _grade(options) -> int:
    from calibkit.course.classroom import grading

    chosen = {"exercises": options.exercises, "trust": options.trust}
    table = grading.grade(options.folder, options.only, **chosen)
    print("\n".join(grading.summary(table)))
    print(f"the table: {grading.write(table, options.out).resolve()}")
    return 0


def _listed(paths) -> int:
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
    return 0
