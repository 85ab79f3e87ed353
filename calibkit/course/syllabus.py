"""The course as notebooks/lessons.toml lists it: lessons, what they need, paths through them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from calibkit.course import checkout

FILE = "lessons.toml"
TRACKS = ("start", "core", "elective")


class Times(NamedTuple):
    """The minutes of each sitting, and of what is done at home, as the head of a lesson states."""

    sittings: list[int]
    home: list[int]

    @property
    def all(self) -> list[int]:
        return self.sittings + self.home


def times(text: str) -> Times:
    """What a lesson's text, or its source, says after **Time.**; both are empty where it is silent.

    >>> times("**Time.** 45 minutes; 35 more for sections 4 to 6; 20 more for the homework.")
    Times(sittings=[45, 35], home=[20])
    """
    said = re.search(r"\*\*Time\.\*\*(.*?)(?:\n#?\s*\n|\*\*|\Z)", text, re.DOTALL)
    found = Times([], [])
    for words in said[1].split(";") if said else ():
        if minutes := re.search(r"\d+(?= minutes| more)", words):
            part = found.home if re.search("homework|project", words) else found.sittings
            part.append(int(minutes[0]))
    return found


@dataclass(frozen=True)
class Entry:
    """A lesson in the list.

    asks: its question in a line. track: one of TRACKS. needs: the numbers of the lessons to be
    read before it. part_of: by its number, the part of a lesson that is enough. for_section: the
    only section that needs this part, which may be left out; "" where the lesson needs it.
    """

    number: str
    name: str
    asks: str
    track: str
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
    def times(self) -> Times:
        """Its minutes, as its head states them."""
        return times(checkout.lessons(self.number)[0].source.read_text(encoding="utf-8"))

    @property
    def minutes(self) -> list[int]:
        """The minutes of all its sittings and of its homework."""
        return self.times.all


@dataclass(frozen=True)
class Route:
    """A path through the course: lessons to be read in this order, and who they are for.

    halves: lessons of which the first sitting is enough. known: those that its reader needs no
    more. All others that one of its lessons needs stand on the path before it.
    """

    name: str
    reader: str
    numbers: Sequence[str]
    halves: Sequence[str] = ()
    known: Sequence[str] = ()

    @property
    def sittings(self) -> list[int]:
        """The minutes of each lesson: of all its sittings, or of the first where that is enough."""
        every = [(number in self.halves, entry(number).times.sittings) for number in self.numbers]
        return [sittings[0] if half else sum(sittings) for half, sittings in every]

    def after(self, number: str) -> str | None:
        """The lesson that follows a lesson of this path; None after the last, and off the path."""
        return dict(pairwise(self.numbers)).get(number)

    def listed(self, words: Callable[[Entry], str]) -> str:
        """Its lessons in words, and of which the first sitting is enough."""
        every = ((words(entry(number)), number in self.halves) for number in self.numbers)
        return ", ".join(told + " (first sitting)" * half for told, half in every)


def _file() -> Mapping[str, Any]:
    return tomllib.loads((checkout.root() / "notebooks" / FILE).read_text(encoding="utf-8"))


@cache
def entries() -> tuple[Entry, ...]:
    """Every lesson of the list, in order.

    Raises ValueError for an unknown track, and for a prerequisite that does not come before.
    """
    every, before = tuple(Entry(**row) for row in _file()["lesson"]), set()
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


def entry(number: str) -> Entry | None:
    """The lesson with this number; None where the list has none."""
    return next((one for one in entries() if one.number == number), None)


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
    (0, 2, 4)
    """
    return max((1 + depth(other) for other in entry(number).needs), default=0)


def direct(number: str) -> list[str]:
    """What a lesson needs, without what its other needs need anyway.

    >>> direct("15")
    ['09']
    """
    needs = entry(number).needs
    return [one for one in needs if not any(one in above(other) for other in needs)]
