"""The kits of a class on the site, to be seen before anything is installed.

Each has a page with its plan and its slides, made of the source that `python -m calibkit kit`
reads, and beside it slides, notes and quiz as that command writes them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from calibkit.course.classroom.kits import names, writing

FOLDER = "kits"
SHOWN = ("Before the class", "Plan", "After the class", "Slides")
# its pages that stand beside, with what is said of them
BESIDE = {
    writing.SLIDES: "The slides as a room sees them",
    "notes.html": "Notes: the board, answers and replies, exercises, rubric",
    "quiz.html": "The quiz to print",
    "quiz_answers.html": "Its answers",
}


@dataclass(frozen=True)
class Kit:
    """A kit by its name."""

    name: str

    @property
    def stem(self) -> str:
        """The name of its page."""
        return f"kit_{self.name}"

    @cached_property
    def _read(self) -> tuple[str, list[str], dict[str, str]]:
        return writing.read(self.name)

    title = property(lambda self: self._read[0])
    lessons = property(lambda self: self._read[1])
    parts = property(lambda self: self._read[2])

    @property
    def readers(self) -> str:
        """For whom it is: the sentence that its source begins with."""
        return re.split(r"(?<=\.) ", self.parts["Before the class"], maxsplit=1)[0]

    @property
    def slides(self) -> int:
        """How many there are."""
        return len(writing.SLIDE.findall(self.parts["Slides"]))

    @property
    def told(self) -> str:
        """Its lessons and slides in words."""
        many = "1 lesson" if len(self.lessons) == 1 else f"{len(self.lessons)} lessons"
        return f"{many} ({', '.join(self.lessons)}) · {self.slides} slides"

    @property
    def text(self) -> str:
        """Its page as Markdown: where its other pages are, the plan, and every slide in order.

        A slide has the number that the plan calls it by; what is quoted below it, the speaker says.
        """
        number = itertools.count(1)
        parts = dict(self.parts)
        parts["Slides"] = re.sub(r"(?m)^### ", lambda _: f"### {next(number)} · ", parts["Slides"])
        first, *others = (f"[{words}]({file})" for file, words in BESIDE.items())
        beside = "\n".join(f"- {link}" for link in others)
        opening = (
            f"# {self.title}\n\n"
            f'<p class="of-kit">{self.told}.</p>\n\n'
            f"{first} Arrow keys move, N opens the notes in a window.\n\n{beside}\n\n"
            "This command writes the kit into a folder, with the rubric as a table and the "
            "notebooks to hand out:\n\n"
            f"```bash\npython -m calibkit kit {self.name} kit\n```\n"
        )
        return "\n\n".join([opening, *(f"## {part}\n\n{parts[part]}" for part in SHOWN)])

    @property
    def links(self) -> Mapping[str, str]:
        """Which page of the site stands for which of the kit."""
        beside = {file: f"{FOLDER}/{self.name}/{file}" for file in BESIDE}
        return beside | {writing.PLAY: writing.PLAY}

    def write(self, folder: Path) -> None:
        """The pages beside its own, whose playground is the site's, into `folder`/kits/NAME."""
        home = folder / FOLDER / self.name
        home.mkdir(parents=True)
        _, made = writing.page_texts(self.name)
        for file in BESIDE:
            page = made[file].replace(f'href="{writing.PLAY}', f'href="../../{writing.PLAY}')
            (home / file).write_text(page, encoding="utf-8")


def every() -> list[Kit]:
    """All kits, in the order of their lessons: what a lesson needs comes before it."""
    return sorted(map(Kit, names()), key=lambda kit: kit.lessons)


def listed(kits: list[Kit]) -> str:
    """The page of all kits as Markdown."""
    lines = [f"- **[{kit.title}]({kit.stem}.html)**<br>{kit.told}<br>{kit.readers}" for kit in kits]
    opening = (
        "A kit is a class of 90 minutes, ready to give: a plan by the minute, slides, what "
        "students may answer and what to reply, a quiz, a rubric, notebooks. Look at one here; "
        "nothing has to be installed. [The guide for a class](class_guide.md) says how to give "
        "it.\n\n"
    )
    return opening + '<div class="list-of-kits">\n\n' + "\n".join(lines) + "\n\n</div>"
