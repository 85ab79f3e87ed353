"""Ways through the course for readers with little time, or with one aim."""

from __future__ import annotations

from dataclasses import dataclass

from calibkit.course import checkout, syllabus


@dataclass(frozen=True)
class Path:
    """Lessons to be read in this order, and who they are for.

    halves: lessons of which the first sitting is enough. known: those that its reader needs no
    more. All others that one of its lessons needs stand on the path before it.
    """

    name: str
    reader: str
    numbers: tuple[str, ...]
    halves: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

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
        "you must judge a model soon",
        ("00", "01", "08", "17"),
    ),
    Path(
        "six evenings",
        "where over-confidence comes from, and what repairs it",
        ("00", "01", "02", "03", "06", "08", "17"),
        halves=("02",),
    ),
    Path(
        "practice",
        "you put models to use: measure, repair, audit",
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
        ("02", "08", "10", "18"),
        known=("00", "01"),
    ),
    Path(
        "teaching",
        "you prepare a class: the six weeks of the guide for lecturers",
        ("00", "01", "02", "03", "08", "06", "17"),
    ),
)


def head(number: str) -> str:
    """The line at the head of a lesson that names the next one on each path; "" on none.

    >>> head("03")[:66]
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
    """Markdown: the paths with their lessons and minutes, as notebooks/the_course.md has them."""
    rows = [
        f"| {path.name} | {path.reader} | {', '.join(_links(path))} | {_sum(path)} |"
        for path in PATHS
    ]
    return "\n".join(["| path | if | lessons | minutes |", "|---|---|---|---|", *rows])


def short_table(site: str = "") -> str:
    """Markdown: the first three paths, as the README has them.

    site: address of the site, whose pages keep what a lesson hides; without one the numbers stand
    there alone, for a repository's page shows every answer of a notebook.
    """
    rows = []
    for path in PATHS[:3]:
        cells = path.name, path.reader, ", ".join(_numbers(path, site)), str(sum(path.sittings))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(["| path | if | lessons | minutes |", "|---|---|---|---|", *rows])


def minutes(number: str) -> list[int]:
    """The minutes of each sitting, as the head of a lesson states them; without its homework."""
    (lesson,) = checkout.lessons(number)
    return syllabus.times(lesson.source.read_text(encoding="utf-8")).sittings


def _sum(path: Path) -> str:
    return f"{' + '.join(map(str, path.sittings))} = {sum(path.sittings)}"


def _links(path: Path) -> list[str]:
    return [f"{_link(number)}{_half(path, number)}" for number in path.numbers]


def _numbers(path: Path, site: str) -> list[str]:
    stems = {one: checkout.lessons(one)[0].name for one in path.numbers}
    words = {one: f"[{one}]({site}{stem}.html)" if site else one for one, stem in stems.items()}
    return [f"{words[one]}{_half(path, one)}" for one in path.numbers]


def _half(path: Path, number: str) -> str:
    return " (first sitting)" if number in path.halves else ""


def _link(number: str) -> str:
    (lesson,) = checkout.lessons(number)
    return f"[{number}]({lesson.notebook.name})"


def _sentence(names: list[str]) -> str:
    return ", ".join(f"*{name}*" for name in (names[0].capitalize(), *names[1:]))
