"""The landing page, and what moves on it: all networks, stored runs retold without their terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import unescape
from typing import Any

from calibkit.course import checkout, claims, page_templates, syllabus
from calibkit.course.explorers import Explorer, Frame, Slider, networks, stored
from calibkit.course.explorers.plane import PLAIN, AllNetworks
from calibkit.course.site import findings, prerequisites, sharing
from calibkit.pictures import panels, svg
from calibkit.pictures.palette import ACCURACY, CONFIDENCE, GREY, OVER, Role

DESCRIBED = re.compile(r'(?s)<p class="description">(?P<words>.*?)</p>')  # what an explorer is
CELL = 15  # pixels of one of the hundred
GRID = 10 * CELL
TOP = 58
PLOT = 285  # pixels, width of a plot, two of which stand side by side
VIEW = (12, 6, 200, 232)  # of a small diagram: without the room beside it that a lesson needs
WIDE = (8, 6, 216, 232)  # of a small plot
SMALL = 9  # of its words, which are enlarged with it
# how a picture begins: its own size, and the one at which it is shown
SIZE = re.compile(r'viewBox="0 0 (?P<width>\d+) (?P<height>\d+)" width="\d+" height="\d+"')


def plane() -> AllNetworks:
    """All networks, opened at one of lesson 06 that is as sure and as right as those of 00.

    Its words are plain: who meets it has read no lesson.
    """
    explorer = networks("06", "label noise", words=PLAIN)
    wanted = stored("start_here").first.values
    table = explorer.topic.table
    off = sum(abs(table[name] - wanted[name]) for name in ("accuracy", "confidence"))
    explorer.at[1] = int(off.idxmin())
    return explorer


def hundred(frame: Frame) -> tuple[int, int]:
    """Of a hundred answers, how many a model says are right, and how many are.

    frame: one whose values have the mean confidence and the accuracy.

    >>> hundred(Frame((), "", {"confidence": 0.93, "accuracy": 0.788}))
    (93, 79)
    """
    return round(100 * frame.values["confidence"]), round(100 * frame.values["accuracy"])


def hundred_panel(promised: int, right: int) -> str:
    """Of a hundred answers, how many a model says are right beside how many are.

    >>> hundred_panel(93, 79).count("79 right")
    1
    """
    parts = []
    for left, words, many, role, shape, colour in (
        (18, "It says", promised, CONFIDENCE, "s", "#8A3A6B"),
        (192, "In truth", right, ACCURACY, "o", ACCURACY.colour),
    ):
        middle, look = left + GRID / 2, {"font_weight": "bold", "fill": colour}
        parts += [svg.text(middle, 20, f"{words}:")]
        parts += [svg.text(middle, 44, f"{many} right", size=22, **look)]
        marker = Role(role.words, role.colour, marker=shape)
        for place in range(100):  # row by row: `many` with the marker of the role, a cross else
            x, y = left + CELL * (place % 10 + 0.5), TOP + CELL * (place // 10 + 0.5)
            cross: dict = {"d": f"M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8", "stroke": OVER.colour}
            cross |= {"stroke_width": 2.2, "fill": "none"}
            parts.append(svg.marker(marker, x, y) if place < many else svg.tag("path", **cross))
    return svg.picture(svg.PANEL, TOP + GRID + 14, *parts, scale=1.6)


def _promise(wrong: str, frame: Frame) -> Frame:
    promised, right = hundred(frame)
    labels = f"{wrong} of the training labels wrong"
    words = f"{labels}: of 100 answers it says {promised} are right; {right} are."
    return Frame((hundred_panel(promised, right),), words)


def _training(epoch: str, frame: Frame) -> Frame:
    seen, new = (
        f"{100 * frame.values[f'{name}_accuracy']:.1f} % right, "
        f"mean confidence {100 * frame.values[f'{name}_confidence']:.1f} %"
        for name in ("train", "test")
    )
    words = f"after epoch {epoch}: training images {seen}; test images {new}."
    return Frame(tuple(_closer(frame.panels[place]) for place in (0, 1, 3)), words)


def _temperature(_, frame: Frame) -> Frame:
    T, gap, error = (frame.values[name] for name in ("T", "gap", "ece"))
    words = (
        f"T = {T:g}: mean confidence minus accuracy {100 * gap:+.1f} points; average distance "
        f"from the diagonal (ECE) {100 * error:.1f} points."
    )
    hint = svg.text(144, 110, "drag T to draw the curve", fill=GREY) * (T < 1.3)
    ece = frame.panels[2].replace("</svg>", f"{hint}</svg>")
    return Frame((_closer(frame.panels[0]), _closer(ece, WIDE)), words)


# By name: the stored explorer, its frames retold, what its slider moves, what it shows.
SLIDERS: dict[str, tuple[str, Callable[[str, Frame], Frame], str, str]] = {
    "promise": (
        "start_here",
        _promise,
        "wrong training labels",
        "Two grids of a hundred answers of trained networks. Under “It says” the squares are the "
        "answers that the networks, by their own confidence, expect to be right. Under “In "
        "truth” the dots are the answers that were right, and the crosses those that were wrong.",
    ),
    "training": (
        "overconfidence",
        _training,
        "passes over the training images",
        "Two reliability diagrams of one network, for the images that it learns from and for "
        "new ones. Across: how sure it is. Upwards: how often it is right. On the dashed "
        "diagonal the two agree. Slanted lines mark answers that are right less often than "
        "stated, dots those that are right more often. The strip below counts the images.",
    ),
    "temperature": (
        "temperature",
        _temperature,
        "temperature T",
        "Under “reliability” is the diagram of trained networks whose scores are divided by T. "
        "Under “ECE” is the average distance of the bars from the diagonal, drawn up to the "
        "chosen T; a thin upright line stands at the lowest so far.",
    ),
    "test_images": (
        "test_images",
        lambda _, frame: frame,
        "images in the test set",
        "For each of three models a histogram: the calibration error (ECE) that many test sets "
        "of the chosen size measure. The upright line of the same colour is the exact error, "
        "which is known here. A histogram to the right of its line is an estimate that is too "
        "large on average.",
    ),
}


@cache
def sliders() -> dict[str, Explorer]:
    """The four sliders of the landing page by name, in reading order: stored ones, retold."""
    found = {}
    for name, (kept, retold, label, description) in SLIDERS.items():
        (slider,) = stored(kept).sliders
        frames = dict(zip(slider.values, stored(kept).frames, strict=True))
        start = slider.values[0 if name == "training" else slider.start]
        found[name] = Explorer(
            lambda value, frames=frames, retold=retold: retold(value, frames[value]),
            Slider(label, slider.values, start=start),
            description=description,
            play=True,
        )
    return found


def _closer(panel: str, view: Sequence[int] = VIEW) -> str:
    """A small plot cut to what is drawn and enlarged, but for its words; a legend as it is."""
    size = SIZE.search(panel)
    if size is None or (int(size["width"]), int(size["height"])) != panels.CELL:
        return panel
    box = " ".join(map(str, view))
    shown = f'viewBox="{box}" width="{PLOT}" height="{round(PLOT * view[3] / view[2])}"'
    return re.sub(r'font-size="1\d"', f'font-size="{SMALL}"', SIZE.sub(shown, panel, count=1))


def page(course: Sequence[Any]) -> str:
    """The HTML of the first page; course: its lessons, as `sources.lessons` gives them."""
    explorer = plane()
    map_words = re.findall(r"!\[([^\]]+)\]\(images/course_map\.svg\)", course[0].prose)
    stems = {lesson.number: lesson.stem for lesson in course}
    entries = [one for one in syllabus.entries() if one.number in stems]
    links = {number: f"{stem}.html" for number, stem in stems.items()}
    # the description of the plane is folded, where there is no room for it
    folded = '<details class="description"><summary>How to read the picture</summary><p>'
    licence = (checkout.root() / "LICENSE").read_text(encoding="utf-8")
    return page_templates.render(
        "landing.html",
        said=round(100 * explorer.chosen.confidence, 1),
        right=round(100 * explorer.chosen.accuracy, 1),
        start_minutes=sum(syllabus.entry(course[0].number).minutes),
        code=sharing.code(),
        plane=DESCRIBED.sub(rf"{folded}\g<words></p></details>", explorer.html(), count=1),
        sliders={name: apart(one.html()) for name, one in sliders().items()},
        entries=entries,
        names={one.number: one.short for one in entries},
        paths=syllabus.routes(),
        graph=prerequisites.drawn(links),
        nested=prerequisites.nested(links),
        findings=findings.twelve(),
        stems=stems,
        verdicts=len(claims.printed(checkout.root() / "notebooks")),
        map=map_words[0] if map_words else "The course on one page.",
        authors=licence.partition("Copyright (c) ")[2].split("\n")[0],
    )


def apart(html: str) -> dict[str, str]:
    """An explorer, and beside it, as `how`, its description, which a page shows elsewhere.

    >>> apart('<div><p class="description">Across: T &amp; more.</p></div>')
    {'how': 'Across: T & more.', 'html': '<div></div>'}
    """
    described = DESCRIBED.search(html)
    how = unescape(described["words"]) if described else ""
    return {"how": how, "html": DESCRIBED.sub("", html, count=1)}
