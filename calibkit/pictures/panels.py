"""Several small plots under one slider: curves, points and reliability diagrams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.pictures import palette, svg
from calibkit.pictures.svg import Frame
from calibkit.pictures.svg_diagram import diagram

Mark = Callable[[svg.Axes], str]  # draws data into axes
Panel = Callable[[float, float], str]  # draws a whole plot into the cell at (left, top)

SIDE = 160  # pixels of a square plot
CELL = (228, 240)  # of a plot with its labels; four stand side by side in JupyterLab
INSET = (56, 30)
STRIP = 24  # height of the counts under a reliability diagram, which its own plot gives up


def curve(x: Sequence[float], y: Sequence[float], **style) -> Mark:
    """A line through the points; `style` as SVG has it (stroke, stroke_width, stroke_dasharray).

    Raises ValueError when x and y differ in length.

    >>> axes = svg.Axes(0, 0, 10, 10)
    >>> curve([0, 1], [0, 0.5])(axes)
    '<polyline points="0.0,10.0 10.0,5.0" fill="none" stroke="#000000"/>'
    """
    x, y = _pair(x, y)
    style = {"stroke": palette.BLACK} | style
    return lambda axes: svg.tag("polyline", points=axes.points(x, y), fill="none", **style)


def plot(
    title: str,
    marks: Iterable[Mark],
    *,
    x_label: str,
    y_label: str,
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    log_x: bool = False,
) -> Panel:
    """A square plot that reaches from the first tick to the last; what lies outside is cut off.

    log_x: whether x has a log axis.

    Raises ValueError for fewer than two ticks.
    """
    marks = list(marks)
    x_range, y_range = _range("x_ticks", x_ticks), _range("y_ticks", y_ticks)

    def draw(left: float, top: float) -> str:
        axes = svg.Axes(left + INSET[0], top + INSET[1], SIDE, SIDE, x_range, y_range, log_x)
        # a picture of its own inside the axes: what reaches beyond them is not drawn
        place: dict[str, Any] = {"x": axes.left, "y": axes.top}
        place |= {"width": axes.width, "height": axes.height}
        box = " ".join(f"{v:g}" for v in place.values())
        data = svg.tag("svg", "".join(mark(axes) for mark in marks), **place, viewBox=box)
        return _title(left, top, title) + data + axes.frame(x_label, y_label, x_ticks, y_ticks)

    return draw


def reliability_plot(title: str, reliability: Reliability) -> Panel:
    """A small reliability diagram with its intervals, its diagonal and the counts of its bins."""

    def draw(left: float, top: float) -> str:
        side = SIDE - STRIP - 6
        x, y = left + INSET[0] + (SIDE - side) / 2, top + INSET[1]
        axes, strip = svg.Axes(x, y, side, side), (x, y + side + 6, side, STRIP)
        parts = diagram(axes, strip, reliability, (0, 0.5, 1))
        return "".join([_title(left, top, title), *parts])

    return draw


def frame(
    panels: Sequence[Panel],
    *,
    title: str,
    readout: str,
    scale: float = 1,
    keys: Sequence[str] = (),
    values: Mapping[str, float] | None = None,
) -> Frame:
    """The plots side by side, or below one another where there is less room.

    title: what is read out before the numbers, such as "after epoch 3".
    scale: how much larger the plots are shown.
    keys: pictures that follow the plots, such as a legend.
    values: the numbers of the readout by name.

    Raises ValueError when there is no plot.

    >>> line = plot("a line", [curve([0, 1], [0, 1])], x_label="x", y_label="y",
    ...             x_ticks=[0, 1], y_ticks=[0, 1])
    >>> drawn = frame([line, line], title="twice", readout="slope 1")
    >>> len(drawn.panels), drawn.readout
    (2, 'twice: slope 1')
    """
    if not panels:
        raise ValueError("panels must hold at least 1 plot, got none")
    drawn = (svg.picture(*CELL, draw(0, 0), scale=scale) for draw in panels)
    return Frame((*drawn, *keys), f"{title}: {readout}", values or {})


def _pair(x, y) -> tuple[list[float], list[float]]:
    x, y = ([round(float(v), 5) for v in part] for part in (x, y))
    validate.same_length("y", len(y), len(x))
    return x, y


def _range(name: str, ticks: Sequence[float]) -> tuple[float, float]:
    if len(ticks) < 2:
        raise ValueError(f"{name} must hold at least 2 numbers, got {list(ticks)}")
    return float(ticks[0]), float(ticks[-1])


def _title(left: float, top: float, title: str) -> str:
    return svg.text(left + INSET[0] + SIDE / 2, top + INSET[1] - 9, title, size=13)
