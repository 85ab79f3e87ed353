"""SVG pictures as plain strings: built in under a millisecond, no figure to keep or to close."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from calibkit.pictures.palette import BLACK, EDGE, OVER, UNDER, Role

PANEL = 360  # pixels: words stay legible on a telephone, and wide fonts stay inside
SIZE = 13  # of words, in pixels
WIDTH = 2  # of a line
HATCHES = {"//": "M-2,2l4,-4M0,8l8,-8M6,10l4,-4", "..": "M2,2h2M6,6h2"}


def tag(name: str, content: str = "", **attributes) -> str:
    """One element; `stroke_width=2` becomes stroke-width="2", floats keep one decimal."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{number(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def number(value) -> str:
    """A float with one decimal at most, anything else as text that stays text.

    >>> number(2.04), number(0.25), number(2)
    ('2', '0.2', '2')
    """
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else escape(str(value))


def text(
    x: float, y: float, words: str, *, size: int = SIZE, anchor: str = "middle", **more
) -> str:
    """Words at a point; `anchor` is start, middle or end."""
    look = {"x": x, "y": y, "font_size": size, "text_anchor": anchor, "fill": BLACK}
    return tag("text", escape(words), **look | more)


def picture(width: int, height: int, *parts: str, scale: float = 1) -> str:
    """A whole SVG on white, with the hatches that areas are filled with, shown at `scale`."""
    background = tag("rect", width=width, height=height, fill="#FFFFFF")
    content = "".join([hatches(), background, *parts])
    place: dict[str, Any] = {"viewBox": f"0 0 {width} {height}", "width": round(width * scale)}
    place |= {"height": round(height * scale), "font_family": "system-ui, sans-serif"}
    return tag("svg", content, xmlns="http://www.w3.org/2000/svg", **place)


def hatches() -> str:
    """What the areas of over- and of under-confidence are filled with; each picture has its own."""
    return _hatch(OVER) + _hatch(UNDER)


def image(picture: str, words: str = "") -> str:
    """The picture as an HTML image with a text, where an SVG itself would be taken out."""
    packed = base64.b64encode(picture.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{packed}" alt="{escape(words)}">'


def stroke(role: Role, width: float = WIDTH) -> dict[str, Any]:
    """The look of a role as the outline of an element."""
    dash = " ".join(f"{width * length:g}" for length in role.dash) or "none"
    return {"stroke": role.colour, "stroke_width": width, "stroke_dasharray": dash}


def fill(role: Role) -> dict[str, Any]:
    """The look of a role as an area: hatched where the role is, else pale within an edge."""
    if role.hatch:
        return {"fill": f"url(#{_name(role)})", "stroke": role.colour}
    return {"fill": role.pale, "stroke": role.edge, "stroke_width": EDGE}


def marker(role: Role, x: float, y: float, r: float = 5) -> str:
    """The marker of a role at a point."""
    return tag("path", d=marked(role, x, y, r), fill=role.colour, class_="marker")


def marked(role: Role, x: float, y: float, r: float = 5) -> str:
    """The outline of that marker, as a path takes it."""
    turned = f"M{x:.1f},{y - r:.1f}l{r},{r}l{-r},{r}l{-r},{-r}z"
    shapes = {
        "o": f"M{x - r:.1f},{y:.1f}a{r},{r} 0 1 0 {2 * r},0a{r},{r} 0 1 0 {-2 * r},0z",
        "s": f"M{x - r:.1f},{y - r:.1f}h{2 * r}v{2 * r}h{-2 * r}z",
        "^": f"M{x - r:.1f},{y + r:.1f}h{2 * r}l{-r},{-2 * r}z",
        "v": f"M{x - r:.1f},{y - r:.1f}h{2 * r}l{-r},{2 * r}z",
    }
    return shapes.get(role.marker, turned)


def area_key(role: Role, x: float, y: float) -> str:
    """A legend's entry for an area; y is the line that its words stand on."""
    box = tag("rect", x=x, y=y - 11, width=24, height=13, **fill(role))
    return box + text(x + 32, y, role.words, anchor="start")


def marker_key(role: Role, x: float, y: float) -> str:
    """A legend's entry for markers that no line joins."""
    return marker(role, x + 12, y - 4, 4) + text(x + 32, y, role.words, anchor="start")


def line_key(role: Role, x: float, y: float, *, marked: bool = True) -> str:
    """A legend's entry for a line, with its marker unless the line has none."""
    line = tag("path", d=f"M{x:.1f},{y - 4:.1f}h24", **stroke(role))
    drawn = line + marker(role, x + 12, y - 4, 4) if marked else line
    return drawn + text(x + 32, y, role.words, anchor="start")


@dataclass(frozen=True)
class Frame:
    """What one position of the sliders shows: pictures side by side, and a line of words.

    panels: SVG text of each; they stand below one another where there is less room.
    readout: the numbers in words, for everyone and above all for those who cannot see the panels.
    values: the numbers themselves by name, for those who tell them in other words.
    """

    panels: tuple[str, ...]
    readout: str
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Axes:
    """A rectangle of the picture (pixels), the data range that it shows, and its scales."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)
    log_x: bool = False
    log_y: bool = False

    def x(self, value: float) -> float:
        """Pixel of a data value along x."""
        return self.left + _part(value, self.x_range, self.log_x) * self.width

    def y(self, value: float) -> float:
        """Pixel of a data value along y; data grow upwards, pixels downwards."""
        return self.top + (1 - _part(value, self.y_range, self.log_y)) * self.height

    def points(self, x: Iterable[float], y: Iterable[float]) -> str:
        """Data points as a polyline or polygon takes them."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(x, y, strict=True))

    def bars(self, spans: Iterable[tuple[float, float, float, float]], **style) -> str:
        """Rectangles (left, right, from, to), in data, as one path: a third of the bytes."""
        drawn = (
            f"M{self.x(x0):.1f},{self.y(y0):.1f}V{self.y(y1):.1f}H{self.x(x1):.1f}V{self.y(y0):.1f}z"
            for x0, x1, y0, y1 in spans
        )
        return tag("path", d="".join(drawn), **style)

    def levels(self, spans: Iterable[tuple[float, float, float]], **style) -> str:
        """Level lines (left, right, at), in data, as one path."""
        drawn = (f"M{self.x(x0):.1f},{self.y(y):.1f}H{self.x(x1):.1f}" for x0, x1, y in spans)
        return tag("path", d="".join(drawn), fill="none", **style)

    def whiskers(self, spans: Iterable[tuple[float, float, float]], **style) -> str:
        """Upright lines (x, from, to), in data, as one path."""
        drawn = (f"M{self.x(x):.1f},{self.y(y0):.1f}V{self.y(y1):.1f}" for x, y0, y1 in spans)
        return tag("path", d="".join(drawn), **style)

    def line(self, x0: float, y0: float, x1: float, y1: float, **style) -> str:
        """A straight line between two data points."""
        style = {"stroke": BLACK} | style
        return tag("line", x1=self.x(x0), y1=self.y(y0), x2=self.x(x1), y2=self.y(y1), **style)

    def frame(self, x_label: str, y_label: str, x_ticks=(), y_ticks=()) -> str:
        """The box with its ticks and labels; behind "(%)" or "(points)" ticks are hundredths."""
        size: dict[str, Any] = {"width": self.width, "height": self.height}
        box = tag("rect", x=self.left, y=self.top, **size, fill="none", stroke=BLACK)
        bottom, middle = self.top + self.height, self.top + self.height / 2
        across = [text(self.x(v), bottom + 16, _tick(v, x_label)) for v in x_ticks]
        up = [text(self.left - 5, self.y(v) + 4, _tick(v, y_label), anchor="end") for v in y_ticks]
        turn = f"rotate(-90 {self.left - 38:g} {middle:g})"
        labels = [
            text(self.left + self.width / 2, bottom + 33, x_label),
            text(self.left - 38, middle, y_label, transform=turn),
        ]
        return "".join([box, *across, *up, *labels])


def _tick(value: float, label: str) -> str:
    value = 100 * value if label.endswith(("(%)", "(points)")) else value
    return f"{round(value, 9):g}".replace("-", "\N{MINUS SIGN}")


def _part(value: float, ends: tuple[float, float], log: bool) -> float:
    if log:
        value, ends = math.log(value), (math.log(ends[0]), math.log(ends[1]))
    return (value - ends[0]) / (ends[1] - ends[0])


def _name(role: Role) -> str:
    """What the page's script replaces by a name of its own for every copy of the explorer."""
    return f"calibkit-{'over' if role is OVER else 'under'}"


def _hatch(role: Role) -> str:
    pale = tag("rect", width=8, height=8, fill=role.pale)
    lines = tag("path", d=HATCHES[role.hatch], stroke=role.colour, stroke_width=1.5)
    size = {"width": 8, "height": 8, "patternUnits": "userSpaceOnUse"}
    return tag("pattern", pale + lines, id=_name(role), **size)
