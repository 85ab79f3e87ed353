"""One page of paper a lesson: its question, what to take away, and its main figures.

A page holds everything that it shows and fits one A4 sheet, also in grey: print it from a browser.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from calibkit.course import checkout, explorers, page_templates, pages
from calibkit.course.classroom import contents
from calibkit.course.execution import PNG
from calibkit.pictures import svg

FIGURES = 3
LONGEST = 350  # characters of a printed caption
TAKEAWAYS = "Three things to take away"
CODES = re.compile(r"\s*\(\d\d[a-z]\b[^)]*\)")  # of verdicts, which paper does not show
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# Lessons that are best told by a slider: its name, and the places that are shown, a value a slider.
FRAMES = {
    "08_temperature": ("temperature", [("1.0",), ("2.6",)]),  # as trained, and of the lowest NLL
    "13_shift_and_ood": ("severity", [("0.4",), ("0.8",)]),  # the old scanner, and a new one
}


def write(folder: str | Path, only: Iterable[str] = ()) -> list[Path]:
    """Write NAME.html for each lesson into a folder."""
    pages = {f"{lesson.name}.html": handout(lesson) for lesson in contents.chosen(only)}
    return contents.write_texts(folder, pages)


def handout(lesson: checkout.Lesson) -> str:
    """The page of a lesson, from its committed notebook."""
    notebook = contents.committed(lesson)
    if lesson.name in FRAMES:
        shown = [(row(one), one.readout) for one in frames(*FRAMES[lesson.name])]
    else:
        shown = [(image(source, alt), alt) for source, alt in figures(notebook)]
    name = pages.title(notebook)
    return page_templates.render(
        "handout.html",
        title=f"{name}: handout",
        heading=name,
        question=_html(f"**Question.** {contents.question(notebook)}"),
        takeaways=(TAKEAWAYS, _html(takeaways(notebook))),
        figures=shown,
        longest=LONGEST,
        number=lesson.name[:2],
    )


def image(source: str, alt: str) -> str:
    """A figure as HTML, with its text."""
    return f'<img src="{source}" alt="{escape(alt)}">'


def frames(name: str, places: Iterable[tuple]) -> list[explorers.Frame]:
    """What a stored explorer shows where its sliders have these values."""
    explorer = explorers.stored(name)
    values = itertools.product(*(slider.values for slider in explorer.sliders))
    every = dict(zip(values, explorer.frames, strict=True))
    return [every[place] for place in places]


def row(frame: explorers.Frame, tag: str = "div") -> str:
    """The panels of one position side by side; the text of the first is the readout."""
    first, *others = frame.panels
    shown = svg.image(first, frame.readout) + "".join(map(svg.image, others))
    return f'<{tag} class="row">{shown}</{tag}>'


def takeaways(notebook) -> str:
    """The numbered sentences, without what follows them and without the codes of verdicts."""
    text = contents.section(contents.prose(notebook), TAKEAWAYS)
    return CODES.sub("", re.split(r"\n\n(?!\d\.)", text)[0])


def figures(notebook) -> list[tuple[str, str]]:
    """Source and text of up to three figures: first those that answer a prediction, in order."""
    every = [
        ("answer" not in cell.metadata.get("tags", ()), place, *image)
        for place, cell in enumerate(notebook.cells)
        for image in images(cell)
    ]
    chosen = sorted(sorted(every)[:FIGURES], key=lambda figure: figure[1])
    return [(source, alt) for _, _, source, alt in chosen]


def images(cell) -> list[tuple[str, str]]:
    """Source and text of the figures that have one; paper has no use for a slider's picture."""
    figures = [output for output in cell.get("outputs", ()) if PNG in output.get("data", {})]
    texts = [output.metadata.get(PNG, {}).get("alt") for output in figures]
    sources = [f"data:{PNG};base64,{output.data[PNG]}" for output in figures]
    return [(source, text) for source, text in zip(sources, texts, strict=True) if text]


def _html(text: str) -> str:
    """Markdown as HTML, its formulas as MathML, its links as plain words."""
    return pages.html(LINK.sub(r"\1", text))
