"""The course as notebooks/lessons.toml lists it: lessons, what they need, paths through them.

    python -m calibkit.course.syllabus

writes the minutes and the paths into the heads of the lessons and the pages that have them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import dropwhile, pairwise
from pathlib import Path
from typing import Any

from calibkit.course import checkout

FILE = "lessons.toml"
TRACKS = ("start", "core", "elective")


@dataclass(frozen=True)
class Entry:
    """A lesson in the list.

    asks: its question in a line. minutes: of each sitting. home: of homework or project.
    track: one of TRACKS. needs: the numbers of the lessons to be read before it. part_of: by its
    number, the part of a lesson that is enough. for_section: the only section that needs this part,
    which may be left out; "" where the lesson needs it.
    """

    number: str
    name: str
    asks: str
    track: str
    minutes: Sequence[int]
    home: Sequence[int] = ()
    needs: Sequence[str] = ()
    part_of: Mapping[str, str] = field(default_factory=dict)
    for_section: str = ""

    @property
    def short(self) -> str:
        """Its name in a narrow list, such as '03 Over-confidence'."""
        return f"{self.number} {self.name}"

    @property
    def file(self) -> Path:
        """Its notebook."""
        return checkout.lessons(self.number)[0].notebook

    @property
    def every(self) -> str:
        """The minutes of all its sittings and of its homework, "30 + 30"."""
        return " + ".join(map(str, (*self.minutes, *self.home)))


@dataclass(frozen=True)
class Route:
    """A path through the course: lessons to be read in this order, and who they are for.

    reader: may hold links to pages beside the lessons. known: those that its reader needs no more.
    All others that one of its lessons needs stand on the path before it.
    """

    name: str
    reader: str
    numbers: Sequence[str]
    known: Sequence[str] = ()

    @property
    def plain(self) -> str:
        """Its reader without links."""
        return re.sub(r"\[(.+?)\]\(.+?\)", r"\1", self.reader)

    @property
    def minutes(self) -> list[int]:
        """The minutes of each lesson, without homework and project."""
        return [sum(entry(number).minutes) for number in self.numbers]

    def after(self, number: str) -> str | None:
        """The lesson that follows a lesson of this path; None after the last, and off the path."""
        return dict(pairwise(self.numbers)).get(number)


def _file() -> Mapping[str, Any]:
    return tomllib.loads((checkout.root() / "notebooks" / FILE).read_text(encoding="utf-8"))


@cache
def entries() -> tuple[Entry, ...]:
    """Every lesson of the list, in order.

    Raises ValueError for an unknown track, and for a prerequisite that does not come before.
    """
    every, before = tuple(Entry(**row) for row in _file()["lesson"]), set[str]()
    for entry in every:
        if entry.track not in TRACKS:
            raise ValueError(f"{FILE}: track of {entry.number} must be one of {TRACKS}")
        if late := {*entry.needs, *entry.part_of} - before:
            raise ValueError(f"{FILE}: {entry.number} needs {sorted(late)}, which must come before")
        before.add(entry.number)
    return every


@cache
def routes() -> tuple[Route, ...]:
    """The paths through the course, the shortest first."""
    return tuple(Route(**row) for row in _file()["path"])


def entry(number: str) -> Entry:
    """The lesson with this number; raises ValueError where the list has none."""
    for one in entries():
        if one.number == number:
            return one
    raise ValueError(f"{FILE} has no lesson {number}")


def above(number: str) -> set[str]:
    """All lessons that come before a lesson, directly or by way of others.

    >>> sorted(above("08"))
    ['00', '01']
    """
    needs = entry(number).needs
    return set(needs).union(*map(above, needs))


def depth(number: str) -> int:
    """The longest way to a lesson from one that needs none.

    >>> depth("00"), depth("08"), depth("15")
    (0, 2, 3)
    """
    return max((1 + depth(other) for other in entry(number).needs), default=0)


def direct(number: str) -> list[str]:
    """What a lesson needs, without what its other needs need anyway.

    >>> direct("15")
    ['08']
    """
    needs = entry(number).needs
    return [one for one in needs if not any(one in above(other) for other in needs)]


# --- the same on pages ---------------------------------------------------------------------------

LESSONS = ("| notebook | asks | minutes to work through |", "|---|---|---|")
PATHS = ("| path | if | lessons | minutes |", "|---|---|---|---|")


def pages() -> dict[Path, str]:
    """Every file that states minutes or paths, as it has to read."""
    home = checkout.root() / "notebooks"
    made = {home / "the_course.md": _course, checkout.root() / "README.md": _readme}
    made[home / "class_guide.md"] = _guide
    for lesson in checkout.lessons():
        write = partial(_head, entry(lesson.number))
        made |= {lesson.source: write, lesson.notebook: write}
    return {path: make(path.read_text(encoding="utf-8")) for path, make in made.items()}


def _head(one: Entry, text: str) -> str:
    """The numbers in "**Time.** 45 minutes; 20 more for the homework; 60 more for the project."."""
    numbers = map(str, (*one.minutes, *one.home))
    said = re.findall(r"\*\*Time\.\*\*[^\n]*", text)[0]
    return text.replace(said, re.sub(r"\d+(?= minutes| more)", lambda _: next(numbers), said), 1)


def _course(text: str) -> str:
    rows = [f"| {_link(one, one.short)} | {one.asks} | {one.every} |" for one in entries()]
    text = _table(text, LESSONS, rows)
    rows = [
        f"| {one.name} | {one.reader} | {', '.join(_link(entry(n), n) for n in one.numbers)} | "
        f"{' + '.join(map(str, one.minutes))} = {sum(one.minutes)} |"
        for one in routes()
    ]
    return _table(text, PATHS, rows)


def _readme(text: str) -> str:
    """The first three, linked to the site: on a repository's page every answer is shown."""
    from calibkit.course.site import sharing

    site = sharing.site()
    links = {one.number: one.number for one in checkout.lessons()}
    if site:
        links = {one.number: f"[{one.number}]({site}{one.name}.html)" for one in checkout.lessons()}
    rows = [
        f"| {one.name} | {one.reader.replace('](', '](notebooks/')} | "
        f"{', '.join(links[number] for number in one.numbers)} | {sum(one.minutes)} |"
        for one in routes()[:3]
    ]
    return _table(text, PATHS, rows)


def _guide(text: str) -> str:
    """The numbers after a lesson's link in "[00](00_start_here.ipynb) (30 + 30)"."""
    stated = r"(\[(\d\d)\]\([\w.]+\)) \(\d+(?: \+ \d+)*\)"
    return re.sub(stated, lambda found: f"{found[1]} ({entry(found[2]).every})", text)


def _link(one: Entry, words: str) -> str:
    return f"[{words}]({checkout.lessons(one.number)[0].notebook.name})"


def _table(text: str, head: Sequence[str], rows: Sequence[str]) -> str:
    """A text whose table with this head has these rows."""
    top = "\n".join(head)
    before, _, rest = text.partition(top)
    after = "".join(dropwhile(lambda line: line.startswith("|"), rest[1:].splitlines(True)))
    return before + "\n".join([top, *rows, after])


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
