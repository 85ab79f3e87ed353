"""Kits: 90 minutes that a lecturer opens and gives, without reading the package.

A kit has one source, notebooks/teaching/kits/NAME.md. Its parts are the headings of rank two; the
part *Slides* becomes a page of slides, the others pages of text. `placeholders` fills what stands
in double braces from what the lessons printed, so that no number is typed by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from calibkit.course import browser, checkout, page_templates, pages
from calibkit.course.classroom import contents, editions, rubrics
from calibkit.course.classroom.placeholders import KitError, fill
from calibkit.pictures.percent import spaced

SOURCES = Path("notebooks", "teaching", "kits")
LESSONS = re.compile(r"^Lessons: (?P<numbers>[\d ]+)$", re.MULTILINE)
SLIDE = re.compile(r"^### (?P<title>[^\n]+)\n(?P<body>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)
NOTES = re.compile(r"(?:^>.*\n?)+", re.MULTILINE)
LINK = re.compile(r"\[(?P<words>[^\]]*)\]\((?P<name>\d\d_\w+)\.ipynb\)")
STUDENT, PLAY, SLIDES = "student", "play.html", "slides.html"
# By page: its title, and the parts of the source that stand on it.
PAGES = {
    "start_here.html": ("", ("Before the class", "Plan", "After the class")),
    "notes.html": ("notes", ("On the board", "Answers and replies", "Exercises", "Rubric")),
    "quiz.html": ("quiz", ("Quiz",)),
    "quiz_answers.html": ("answers to the quiz", ("Quiz answers",)),
}
PARTS = {"Slides", *(part for _, parts in PAGES.values() for part in parts)}
FILES = f"""\
## What is in this folder

| file | what it is for |
|---|---|
| [{SLIDES}]({SLIDES}) | the slides: arrow keys move, F11 fills the screen, N opens the notes \
for the speaker in a window for your own screen; printing gives a page for each slide, with its \
notes |
| [notes.html](notes.html) | what you write on the board, what students may answer and \
what you reply, exercises with solutions, rubric, answers to *Go further* |
| [quiz.html](quiz.html) | the quiz to print; its answers: \
[quiz_answers.html](quiz_answers.html) |
| rubric.csv | the rubric as a table to fill, for a spreadsheet |
| [{PLAY}]({PLAY}) | the playground, a network that trains in the browser; the notes of the \
slides link to settings of it |
| {STUDENT}/ | the notebooks to hand out: no outputs, no solutions; its `{editions.START}` says \
what a student does first |

All pages work without a network and without a server: open them in a browser.
"""


def names() -> list[str]:
    """The kits that there are."""
    return sorted(path.stem for path in (checkout.root() / SOURCES).glob("*.md"))


@dataclass(frozen=True)
class Kit:
    """A kit as its source has it, every place filled: its lessons, its parts by heading."""

    name: str
    title: str
    lessons: list[str]
    parts: dict[str, str]

    @cached_property
    def pages(self) -> dict[str, str]:
        """Its pages by the names of their files, the first to open first."""
        made = {}
        for file, (words, wanted) in PAGES.items():
            parts = [
                (f"## {part}\n\n" if len(wanted) > 1 else "") + self.parts[part] for part in wanted
            ]
            if "Plan" in wanted:
                parts.insert(1, FILES)
            if "Exercises" in wanted:
                parts.append(_further(self.lessons))
            title = f"{self.title}: {words}" if words else self.title
            made[file] = page_templates.render(
                "kit.html", title=title, body=html("\n\n".join(parts))
            )
        made[SLIDES] = slides(self.title, self.parts["Slides"])
        return {file: spaced(page) for file, page in made.items()} | {PLAY: browser.playground()}


def read(name: str) -> Kit:
    """The kit of that name.

    Raises ValueError for an unknown kit, KitError for a source with a place that nothing fills.
    """
    if name not in names():
        raise ValueError(f"no kit is called {name}; there are {', '.join(names())}")
    text = fill((checkout.root() / SOURCES / f"{name}.md").read_text(encoding="utf-8"))
    title, found = re.match(r"# (.+)\n", text), LESSONS.search(text)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    parts = {heading: contents.section(text, heading) for heading in headings}
    if title is None or found is None or parts.keys() != PARTS:
        raise KitError(
            f"{name}.md needs a title, a line Lessons: 00 08 and the parts "
            f"{', '.join(sorted(PARTS))}; it has {', '.join(sorted(parts))}"
        )
    return Kit(name, title[1], found["numbers"].split(), parts)


def write(name: str, folder: str | Path) -> list[Path]:
    """Write the kit into a new folder; returns the pages, the first to open first.

    Raises the errors of `read`, and ValueError for a folder that is not empty.
    """
    kit, folder = read(name), Path(folder)
    written = contents.write_texts(editions.empty(folder), kit.pages)
    rubrics.write(folder, kit.lessons)
    (folder / "rubric.md").unlink()  # the notes have it
    editions.student(folder / STUDENT, kit.lessons)
    return written


def _further(lessons: list[str]) -> str:
    """The answers of the parts under *Go further* that are no exercises."""
    made = ["## Go further: answers"]
    for lesson in contents.chosen(lessons):
        further = contents.section(contents.prose(contents.committed(lesson)), "Go further")
        for part in re.split(r"^### ", further, flags=re.MULTILINE)[1:]:
            title, told = part.partition("\n")[0], "\n\n".join(contents.folded(part).values())
            if told and not title.startswith("Exercise"):
                made.append(f"### {lesson.number}: {title}\n\n{told}")
    return "\n\n".join(made)


def slides(title: str, text: str) -> str:
    """The page of the slides in a Markdown text, without a framework, a kernel or a network.

    A slide begins with a heading of rank three. What stands in a quotation below it is for the
    speaker: the key N opens it in a window of its own, print has it below the slide. Without a
    script all slides stand below each other; in print each has a page of its own.
    """
    made = []
    for slide in SLIDE.finditer(text + "\n"):
        quoted = "\n".join(part.strip() for part in NOTES.findall(slide["body"]))
        notes = re.sub("^> ?", "", quoted, flags=re.MULTILINE)
        heading = html(slide["title"]).strip().removeprefix("<p>").removesuffix("</p>")
        body = html(NOTES.sub("", slide["body"]))
        made.append({"title": heading, "body": body, "notes": html(notes) if notes else ""})
    script = (page_templates.FOLDER / "slides.js").read_text("utf-8")
    words = {"title": f"{title}: slides", "heading": title, "slides": made}
    return page_templates.render("slides.html", script, **words)


def html(text: str) -> str:
    """Markdown as HTML, formulas as MathML, links to pages of the kit.

    A notebook is named and not linked: a browser would show its source.
    """
    named = LINK.sub(rf"\g<words> (`{STUDENT}/\g<name>.ipynb`)", text)
    return pages.html(named, {file: file for file in [*PAGES, SLIDES, PLAY]})
