"""The kits of a class on the site, to be seen before anything is installed.

Each has a page with its plan and its slides, made of the source that `python -m calibkit kit`
reads, and beside it slides, notes and quiz as that command writes them.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from calibkit.course.classroom import contents, kits
from calibkit.course.classroom.kits import Kit

FOLDER = "kits"
SHOWN = ("Before the class", "Plan", "After the class", "Slides")
# its pages that stand beside, with what is said of them
BESIDE = {
    kits.SLIDES: "The slides as a room sees them",
    "notes.html": "Notes: the board, answers and replies, exercises, rubric",
    "quiz.html": "The quiz to print",
    "quiz_answers.html": "Its answers",
}


def every() -> list[Kit]:
    """All kits, in the order of their lessons: what a lesson needs comes before it."""
    return sorted(map(kits.read, kits.names()), key=lambda kit: kit.lessons)


def told(kit: Kit) -> str:
    """Its lessons and slides in words."""
    many = "1 lesson" if len(kit.lessons) == 1 else f"{len(kit.lessons)} lessons"
    slides = len(kits.SLIDE.findall(kit.parts["Slides"]))
    return f"{many} ({', '.join(kit.lessons)}) · {slides} slides"


def text(kit: Kit) -> str:
    """Its page as Markdown: where its other pages are, the plan, and every slide in order.

    A slide has the number that the plan calls it by; what is quoted below it, the speaker says.
    """
    number = itertools.count(1)
    parts = dict(kit.parts)
    parts["Slides"] = re.sub(r"(?m)^### ", lambda _: f"### {next(number)} · ", parts["Slides"])
    first, *others = (f"[{words}]({file})" for file, words in BESIDE.items())
    beside = "\n".join(f"- {link}" for link in others)
    opening = (
        f"# {kit.title}\n\n"
        f'<p class="of-kit">{told(kit)}.</p>\n\n'
        f"{first} Arrow keys move, N opens the notes in a window.\n\n{beside}\n\n"
        "This command writes the kit into a folder, with the rubric as a table and the "
        "notebooks to hand out:\n\n"
        f"```bash\npython -m calibkit kit {kit.name} kit\n```\n"
    )
    return "\n\n".join([opening, *(f"## {part}\n\n{parts[part]}" for part in SHOWN)])


def links(kit: Kit) -> dict[str, str]:
    """Which page of the site stands for which of the kit."""
    return {file: f"{FOLDER}/{kit.name}/{file}" for file in BESIDE} | {kits.PLAY: kits.PLAY}


def write(kit: Kit, folder: Path) -> None:
    """The pages beside its own, whose playground is the site's, into `folder`/kits/NAME."""
    pages = {file: kit.pages[file] for file in BESIDE}
    for file, page in pages.items():
        pages[file] = page.replace(f'href="{kits.PLAY}', f'href="../../{kits.PLAY}')
    contents.write_texts(folder / FOLDER / kit.name, pages)


def listed(every: list[Kit]) -> str:
    """The page of all kits as Markdown; whom one is for, its source says in its first sentence."""
    lines = []
    for kit in every:
        readers = re.split(r"(?<=\.) ", kit.parts["Before the class"], maxsplit=1)[0]
        lines.append(f"- **[{kit.title}](kit_{kit.name}.html)**<br>{told(kit)}<br>{readers}")
    opening = (
        "A kit is a class of 90 minutes, ready to give: a plan by the minute, slides, what "
        "students may answer and what to reply, a quiz, a rubric, notebooks. Look at one here; "
        "nothing has to be installed. [The guide for a class](class_guide.md) says how to give "
        "it.\n\n"
    )
    return opening + '<div class="list-of-kits">\n\n' + "\n".join(lines) + "\n\n</div>"
