"""The graph of prerequisites, drawn from notebooks/lessons.toml: every lesson is a link."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape

from calibkit.course import syllabus
from calibkit.course.syllabus import Entry
from calibkit.pictures import svg

BOX = (224, 34)  # pixels of a lesson
STEP = (260, 45)  # from one to the next, across and down
EDGE = 4
MAP = "03"  # whose map many lessons use: a sign in place of an arrow


def drawn(pages: Mapping[str, str]) -> str:
    """The graph as SVG, from left to right; pages: the page of each lesson, by number.

    A lesson has as its class its track, and as data its number and all lessons before it.
    """
    rows = _rows()
    width = EDGE * 2 + BOX[0] + STEP[0] * max(syllabus.depth(number) for number in rows)
    height = EDGE * 2 + BOX[1] + STEP[1] * max(rows.values())
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": round(height)}
    every = syllabus.entries()
    parts = [_arrow(one, other, rows) for one in every for other in syllabus.direct(one.number)]
    some = [(one, other) for one in every for other in one.part_of if other != MAP]
    parts += [_arrow(one, other, rows, "part") for one, other in some]
    parts += [_box(one, pages[one.number], rows) for one in every]
    look = {"class_": "graph", "role": "group", "aria_label": "Prerequisites of the lessons"}
    return svg.tag("svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", **size, **look)


def nested(pages: Mapping[str, str], number: str | None = None) -> str:
    """The same as lists within lists, for a narrow screen: below a lesson those that need it."""
    below = [one for one in syllabus.entries() if (_parent(one.number) == number)]
    if not below:
        return ""
    items = (
        f'<li><a class="{one.track}" data-number="{one.number}" href="{pages[one.number]}">'
        f"{escape(one.short)}</a>{nested(pages, one.number)}</li>"
        for one in below
    )
    return f"<ul>{''.join(items)}</ul>"


def _parent(number: str) -> str | None:
    """The lesson behind which it stands."""
    needs = syllabus.direct(number)
    return max(needs, key=syllabus.depth) if needs else None


@cache
def _rows() -> dict[str, float]:
    """The row of each lesson: those that nothing needs one by one, the others amid theirs."""
    below: dict[str | None, list[str]] = {}
    for one in syllabus.entries():
        below.setdefault(_parent(one.number), []).append(one.number)
    rows: dict[str, float] = {}

    def place(number: str, free: int) -> int:
        """Give rows to a lesson and all behind it; the next free row."""
        behind = below.get(number, [])
        for other in behind:
            free = place(other, free)
        rows[number] = (rows[behind[0]] + rows[behind[-1]]) / 2 if behind else free
        return free if behind else free + 1

    free = 0
    for root in below[None]:
        free = place(root, free)
    return rows


def _corner(number: str, rows: Mapping[str, float]) -> tuple[float, float]:
    return EDGE + STEP[0] * syllabus.depth(number), EDGE + STEP[1] * rows[number]


def _arrow(one: Entry, other: str, rows: Mapping[str, float], kind: str = "whole") -> str:
    """From a lesson to one that needs it, or a part of it."""
    (x0, y0), (x1, y1) = _corner(other, rows), _corner(one.number, rows)
    if x0 == x1:  # both in one column: from below to above
        middle = x0 + BOX[0] / 2
        way = f"M{middle:g},{y0 + BOX[1]:g}V{y1 - 2:g}"
    else:
        x0, y0, y1 = x0 + BOX[0], y0 + BOX[1] / 2, y1 + BOX[1] / 2
        bend = x1 - (STEP[0] - BOX[0]) / 2
        way = f"M{x0:g},{y0:g}C{bend:g},{y0:g} {bend:g},{y1:g} {x1 - 2:g},{y1:g}"
    return svg.tag("path", d=way, class_=f"arrow {kind}", data_from=other, data_to=one.number)


def _box(one: Entry, page: str, rows: Mapping[str, float]) -> str:
    x, y = _corner(one.number, rows)
    size: dict = {"width": BOX[0], "height": BOX[1], "rx": 6}
    look: dict = {"anchor": "start", "size": 14, "fill": "currentColor"}
    words = svg.text(x + 12, y + BOX[1] / 2 + 5, one.short, **look)
    sign = ""
    if MAP in one.part_of:
        edge, middle = x + BOX[0] - 13, y + BOX[1] / 2
        sign = svg.tag("path", d=f"M{edge:g},{middle - 5:g}l5,5l-5,5l-5,-5z", class_="map")
    needs = [*one.needs, *(f"{part} of {other}" for other, part in one.part_of.items())]
    told = f"{one.asks[0].upper()}{one.asks[1:]} Needs {', '.join(needs) or 'nothing'}."
    title = svg.tag("title", escape(told))
    before = " ".join(sorted(syllabus.above(one.number)))
    box = svg.tag("rect", x=x, y=y, **size)
    link: dict = {"href": page, "class_": f"lesson {one.track}", "data_number": one.number}
    return svg.tag("a", title + box + words + sign, **link, data_before=before)
