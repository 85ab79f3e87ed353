"""The commands that need the folder of the course: `lab`, `course`, `pages`, `student`, ..."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterable
from pathlib import Path

LAB = """\
More options go to JupyterLab, such as --no-browser, --port=9999 or --ip=0.0.0.0;
python -m jupyterlab --help lists them all.
"""

WRITTEN = {  # by command: the function that writes a folder
    "student": "editions.student",
    "teacher": "editions.teacher",
    "key": "editions.key",
    "quiz": "quiz.write",
    "handouts": "handouts.write",
    "rubric": "rubrics.write",
}
ROSTER = "all students, each of whom gets a row or column: a CSV file with a column `student`"
ONLY = "lessons whose names start so, such as 01 06; default: all"

# Each command imports what it needs.


def _lab(options) -> int:
    from calibkit.course import jupyter

    jupyter.start(options.more, work=options.work, again=options.reset)
    return 0


def _course(options) -> int:
    from calibkit.course import execution

    named = {name: getattr(options, name) for name in ("jobs", "only", "limit")}
    results = execution.run_all(options.scale, **named, with_evidence=options.evidence)
    print(execution.table(results))
    if execution.stopped(results):
        raise KeyboardInterrupt("stopped by Ctrl-C; what is ok above is written")
    return 1 if any(result.error for result in results) else 0


def _pages(options) -> int:
    from calibkit.course import pages

    trust = True if options.trust else None
    return _written(pages.export_all(options.source, options.target, options.only, trust=trust))


def _site(options) -> int:
    from calibkit.course import site

    print(f"open {site.build(options.target).resolve()}")
    return 0


def _open(options) -> int:
    from calibkit.course import open_pages

    return _written(open_pages.write(options.target))


def _page(options) -> int:
    from calibkit.course import browser

    make: dict[str, Callable] = {"play": browser.playground, "audit-page": browser.audit}
    make["own-diagram"] = browser.own_diagram
    page = browser.write(make[options.page](), options.target).resolve()
    files = f", or {page}#class for the files of a class" * (options.page == "own-diagram")
    print(f"open {page}{files}")
    return 0


def _explorer(options) -> int:
    from calibkit.course.explorers import storage

    if options.name is None:
        print("\n".join(storage.names()))
        return 0
    page = storage.write(options.name, options.target or options.name)
    print(f"open {page.resolve()}")
    return 0


def _claims(options) -> int:
    from calibkit.course import checkout, claims

    notebooks = checkout.root() / "notebooks"
    folder = checkout.root() / "build" / "course" / options.scale if options.scale else notebooks
    printed, listed = claims.printed(folder), claims.listed(notebooks / claims.DETAIL)
    tables = [
        claims.summary(printed, listed),
        claims.conclusions_table(claims.conclusions(folder), printed, listed),
        claims.table(printed, listed),
    ]
    print(*tables, sep="\n\n")
    return 0


def _reproduce(options) -> int:
    from calibkit.course import checkout

    return checkout.study("commands").reproduce(options)


def _arbiter(options) -> int:
    from calibkit.course import checkout

    return checkout.study("commands").compare(options)


def _form(options) -> int:
    module, _, function = WRITTEN[options.written].partition(".")
    write = getattr(importlib.import_module(f"calibkit.course.classroom.{module}"), function)
    more = {"with_evidence": True} if getattr(options, "evidence", False) else {}
    if getattr(options, "roster", None) is not None:
        more["roster"] = options.roster
    paths = write(options.out, options.only, **more)
    if options.written == "key":
        paths, verdicts = paths
        print("\n".join(verdicts))
    return _written(paths)


def _kit(options) -> int:
    from calibkit.course.classroom import kits

    if options.name == "list":
        print("\n".join(kits.names()))
        return 0
    first, *_ = kits.write(options.name, options.out or f"kit_{options.name}")
    print(f"open {first.resolve()}")
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


def _written(paths: Iterable[Path]) -> int:
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")
    return 0


def _add(commands, name: str, command: Callable) -> argparse.ArgumentParser:
    """The parser of a command, which `command` runs."""
    add = commands.add_parser(name)
    add.set_defaults(command=command)
    return add


def add_all(commands) -> None:
    """Add the commands of the course to the parser of `python -m calibkit`."""
    add = _add(commands, "lab", _lab)
    add.epilog = LAB
    add.set_defaults(takes_more=True)
    add.add_argument(
        "--reset", metavar="LESSON", help="copy a lesson anew, such as 06; yours is kept"
    )
    add.add_argument(
        "--work", metavar="FOLDER", help="of your copies; default: work, in the course's"
    )
    for name in ("course", "notebooks"):
        add = _add(commands, name, _course)
        only = "lessons whose name starts with this, such as 01"
        if name == "course":
            add.add_argument("--scale", default="laptop", help="smoke, laptop, night, gpu, paper")
            add.add_argument("--only", help=only)
        else:
            add.set_defaults(scale=None)
            add.add_argument("only", nargs="?", help=only)
        add.add_argument("--jobs", type=int, default=2, help="notebooks at a time")
        limit = "end a lesson that lasts longer; default: by scale, none for days of training"
        add.add_argument("--limit", type=float, metavar="SECONDS", help=limit)
        evidence = "the evidence beside the lessons, too"
        add.add_argument("--evidence", action="store_true", help=evidence)
    add = _add(commands, "claims", _claims)
    add.add_argument("--scale", help="of an execution under build/course; default: as committed")
    add = _add(commands, "reproduce", _reproduce)
    names = (
        "noise, focal ..., text, captions; all: those on photographs, the lessons' first first; "
    )
    names += "networks: all networks of the course, on its own data; "
    names += "nights: the list of runs on photographs, those that are not stored yet"
    add.add_argument("name", nargs="+", help=names)
    add.add_argument("--scale", default="laptop", help="laptop, night, gpu, paper")
    add.add_argument("--dataset", help="prepared by python -m data_scripts; default: cifar10")
    add.add_argument("--network", help="in place of the scale's own, such as WRN-26-10")
    add.add_argument("--seeds", type=int, help="how many, by default the scale's own number")
    add.add_argument("--root", help="folder of the prepared datasets")
    add.add_argument("--vectors", help="of text: a file of word vectors to start from, GloVe's say")
    add.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, auto")
    add.add_argument("--jobs", type=int, help="processes")
    add.add_argument("--target", help="folder of the tables, by default notebooks/results")
    add = _add(commands, "arbiter", _arbiter)
    add.add_argument("--scale", default="laptop", help="laptop (minutes) or smoke (seconds)")
    add.add_argument("--device", default="cpu", help="of the networks' training: cpu, cuda, auto")
    add.add_argument("--jobs", type=int, help="processes of the networks' training")
    add.add_argument("--target", help="folder of the tables, by default notebooks/results")
    add = _add(commands, "pages", _pages)
    add.add_argument("only", nargs="?", help="lessons whose name starts with this, such as 01")
    add.add_argument("--source", help="folder of executed notebooks, by default notebooks")
    add.add_argument("--target", help="folder of the pages, by default build/pages")
    trust = "keep scripts and sliders: only for a --source that you executed yourself"
    add.add_argument("--trust", action="store_true", help=trust)
    _add_classroom(commands)
    for name, page in {"play": "play", "audit-page": "audit_page", "own-diagram": "own"}.items():
        add = _add(commands, name, _page)
        add.set_defaults(page=name)
        where = f"the page; default: {page}.html"
        add.add_argument("target", nargs="?", default=f"{page}.html", help=where)
    add = _add(commands, "explorer", _explorer)
    add.add_argument("name", nargs="?", help="of the slider; without it all names are printed")
    add.add_argument("target", nargs="?", help="the folder; by default one of the slider's name")
    add = _add(commands, "site", _site)
    add.add_argument("target", nargs="?", help="folder of the site, by default build/site")
    add = _add(commands, "open", _open)
    add.add_argument("target", nargs="?", help="their folder, by default notebooks/open")


def _add_classroom(commands) -> None:
    """Those for a class."""
    for name in WRITTEN:
        add = _add(commands, name, _form)
        add.set_defaults(written=name)
        add.add_argument("out", metavar="OUT", help="the folder to write")
        add.add_argument("--only", nargs="+", default=(), metavar="NN", help=ONLY)
        if name in ("student", "teacher"):
            words = "the evidence of these lessons too, for those who ask for it"
            add.add_argument("--evidence", action="store_true", help=words)
        if name == "rubric":
            add.add_argument("--roster", metavar="FILE.csv", help=ROSTER)
    add = _add(commands, "kit", _kit)
    add.add_argument("name", metavar="NAME", help="such as measure_and_repair; list: all of them")
    add.add_argument("out", metavar="OUT", nargs="?", help="the new folder; default: kit_NAME")
    add = _add(commands, "grade", _grade)
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
