"""One page for each student: points, what the checker said, the smallest case that fails.

Plain HTML without a script: a page shows what a student wrote, and runs none of it.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from calibkit.course import page_templates
from calibkit.course.classroom import contents
from calibkit.course.classroom.grading import UNKNOWN, Gradebook, Marked

UNSAFE = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # in names of files, on one system or another


def write(book: Gradebook, folder: str | Path) -> list[Path]:
    """Write STUDENT.html for each student of a gradebook into a folder."""
    used: set[str] = set()
    pages = {_file(marked.student, used): page(book, marked) for marked in book.marked}
    return contents.write_texts(folder, pages)


def page(book: Gradebook, marked: Marked) -> str:
    """The page of one student."""
    student = _plain(marked.student)
    words: dict = {"title": f"Feedback: {student}", "book": book, "marked": marked}
    words |= {"unknown": UNKNOWN, "quoted": shlex.quote(marked.student)}
    return page_templates.render("feedback.html", **words)


def _file(student: str, used: set[str]) -> str:
    """A name of a file that every system takes, another one for each student."""
    name = stem = UNSAFE.sub("_", _printable(student)).strip(". ") or "student"
    number = 2
    while name.casefold() in used:
        name, number = f"{stem} ({number})", number + 1
    used.add(name.casefold())
    return f"{name}.html"


def _plain(text: str) -> str:
    return _printable(" ".join(text.split()))


def _printable(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")


page_templates.TEMPLATES.filters |= {"plain": _plain, "printable": _printable}
