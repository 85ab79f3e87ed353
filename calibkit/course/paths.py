"""Ways through the course for readers with little time, or with one aim."""

from __future__ import annotations

import re
from dataclasses import dataclass

from calibkit.course import checkout


@dataclass(frozen=True)
class Path:
    """Lessons to be read in this order, and who they are for."""

    name: str
    reader: str
    numbers: tuple[str, ...]
    halves: tuple[str, ...] = ()  # lessons of which the first sitting is enough

    @property
    def sittings(self) -> list[int]:
        """The minutes of each lesson: of all its sittings, or of the first where that is enough."""
        return [
            minutes(number)[0] if number in self.halves else sum(minutes(number))
            for number in self.numbers
        ]

    def after(self, number: str) -> str | None:
        """The lesson that follows a lesson of this path; None after the last, and off the path."""
        place = self.numbers.index(number) if number in self.numbers else len(self.numbers)
        return self.numbers[place + 1] if place + 1 < len(self.numbers) else None


PATHS = (
    Path(
        "three hours",
        "you must judge a model soon, and have not met calibration yet",
        ("00", "01", "08", "17"),
        halves=("17",),
    ),
    Path(
        "six evenings",
        "you want the story: where over-confidence comes from, and what repairs it",
        ("00", "01", "03", "06", "08", "17"),
    ),
    Path(
        "practice",
        "you put models to use: how to measure, repair, notice a shift, audit",
        ("00", "01", "02", "08", "13", "17"),
    ),
    Path(
        "decisions",
        "you act on what models say: what a wrong probability costs, what can be promised",
        ("00", "01", "08", "19", "20", "17"),
    ),
    Path(
        "language models",
        "your models answer in words: what they know, and when they make things up",
        ("00", "01", "08", "21", "17"),
    ),
    Path(
        "theory",
        "you know the reliability diagram, and want estimators, losses and their proofs",
        ("02", "10", "18"),
    ),
    Path(
        "teaching",
        "you prepare a class: the lessons that the guide for lecturers plans",
        ("00", "08", "06", "17"),
    ),
)


def head(number: str) -> str:
    """The line at the head of a lesson that names the next one on each path; "" on none.

    >>> head("03")
    '**Next on your path.** *Six evenings*: [06](06_label_noise.ipynb).'
    """
    ways: dict[str, list[str]] = {}
    for path in PATHS:
        if following := path.after(number):
            ways.setdefault(following, []).append(path.name)
    if not ways:
        return ""
    steps = [f"{_sentence(names)}: {_link(following)}." for following, names in ways.items()]
    return f"**Next on your path.** {' '.join(steps)}"


def table() -> str:
    """Markdown: the paths with their lessons and minutes, as the README has it."""
    rows = [
        f"| {path.name} | {path.reader} | {', '.join(_links(path))} | {_sum(path)} |"
        for path in PATHS
    ]
    return "\n".join(["| path | if | lessons | minutes |", "|---|---|---|---|", *rows])


def minutes(number: str) -> list[int]:
    """The minutes of each sitting, as the head of a lesson states them; without its homework."""
    (lesson,) = checkout.lessons(number)
    text = lesson.source.read_text(encoding="utf-8")
    sittings = re.search(r"\*\*Time\.\*\* (.*)", text)[1].split(";")
    in_class = [words for words in sittings if not re.search("homework|project", words)]
    return [
        int(found[0]) for words in in_class if (found := re.search(r"\d+(?= minutes| more)", words))
    ]


def _sum(path: Path) -> str:
    return f"{' + '.join(map(str, path.sittings))} = {sum(path.sittings)}"


def _links(path: Path) -> list[str]:
    first = " (first sitting)"
    return [
        f"{_link(number, 'notebooks/')}{first if number in path.halves else ''}"
        for number in path.numbers
    ]


def _link(number: str, folder: str = "") -> str:
    (lesson,) = checkout.lessons(number)
    return f"[{number}]({folder}{lesson.notebook.name})"


def _sentence(names: list[str]) -> str:
    return ", ".join(f"*{name}*" for name in (names[0].capitalize(), *names[1:]))
