"""Drawings read back: what stands in a picture, in the units of its axes, and in which look.

`of_axes` reads matplotlib and `reading_svg.picture` SVG text; both give `Plot`s, so that one check
serves both.
"""

from dataclasses import dataclass, field

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

PIXEL = 0.3  # two places nearer than this are one: numbers are written with one decimal


@dataclass(frozen=True)
class Look:
    """Colour of a line, or of an area's ground; dash of a line; hatch with its colour; marker."""

    colour: str
    dash: tuple[float, ...] = ()
    hatch: str = ""
    marker: str = ""


def line(role) -> Look:
    return Look(role.colour, role.dash)


def area(role) -> Look:
    return Look(role.pale.upper(), hatch=f"{role.hatch} {role.colour}" if role.hatch else "")


def marker(role) -> Look:
    """In SVG, which knows five markers: what has another one is a diamond there."""
    return Look(role.colour, marker=role.marker if role.marker in ("o", "s", "^", "v") else "D")


@dataclass(frozen=True)
class Shape:
    """kind: bars, whiskers, levels, line, band, marker or box; two ends stand in columns."""

    kind: str
    look: Look
    x: np.ndarray  # of bars and boxes (n, 2), else (n,)
    y: np.ndarray  # of bars, boxes, whiskers and bands (n, 2), else (n,)


@dataclass(frozen=True)
class Scale:
    """value = start + slope * place; on a log axis that is the value's logarithm."""

    slope: float = 1.0
    start: float = 0.0
    log: bool = False

    def value(self, place):
        height = self.start + self.slope * np.asarray(place, dtype=float)
        return np.exp(height) if self.log else height

    def place(self, value):
        height = np.log(value) if self.log else np.asarray(value, dtype=float)
        return (height - self.start) / self.slope


@dataclass(frozen=True)
class Plot:
    title: str
    x_label: str
    y_label: str
    x: Scale
    y: Scale
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    shapes: list[Shape]
    keys: dict[str, list[set[Look]]] = field(default_factory=dict)  # matplotlib's legend
    rows: dict[str, float] = field(default_factory=dict)  # names beside the axes, in pixels

    def all(self, kind: str, look: Look | None = None) -> list[Shape]:
        return [s for s in self.shapes if s.kind == kind and look in (None, s.look)]

    def one(self, kind: str, look: Look | None = None) -> Shape:
        shapes = self.all(kind, look)
        assert len(shapes) == 1, f"{len(shapes)} {kind} of {look} among {self.all(kind)}"
        return shapes[0]

    def is_at(self, shape: Shape, x, y, within: float = PIXEL) -> None:
        """Raise AssertionError unless a shape stands at these values, to a third of a pixel."""
        for scale, drawn, expected in ((self.x, shape.x, x), (self.y, shape.y, y)):
            expected = np.asarray(expected, dtype=float)
            assert drawn.shape == expected.shape, (shape.kind, drawn.shape, expected.shape)
            np.testing.assert_allclose(scale.place(drawn), scale.place(expected), 0, within)


def of_axes(ax) -> Plot:
    """What matplotlib draws; a unit counts as a million pixels, for its numbers are not rounded."""
    exact, legend = Scale(slope=1e-6), ax.get_legend()
    shapes = [_bars(container) for container in ax.containers if len(container)]
    shapes += [shape for line in ax.lines for shape in _line(line)]
    shapes += [_collection(collection) for collection in ax.collections]
    names = [text.get_text() for text in legend.get_texts()] if legend else []
    looks = [_looks(handle) for handle in legend.legend_handles] if legend else []
    keys = {name: [set(look)] for name, look in zip(names, looks, strict=True)}
    labels = (ax.get_title(), ax.get_xlabel(), ax.get_ylabel())
    return Plot(*labels, exact, exact, ax.get_xlim(), ax.get_ylim(), shapes, keys)


def _hex(colour) -> str:
    return mpl.colors.to_hex(mpl.colors.to_rgba_array(colour)[0]).upper()


def _looks(artist) -> list[Look]:
    """Of a line first its own look, then that of its markers, where it has some."""
    if isinstance(artist, Patch):
        hatch = artist.get_hatch()
        lines = f"{hatch} {_hex(artist.get_edgecolor())}" if hatch else ""
        return [Look(_hex(artist.get_facecolor()), hatch=lines)]
    if not isinstance(artist, Line2D):  # a collection of lines
        return [Look(_hex(artist.get_color()))]
    colour, (_, dash) = _hex(artist.get_color()), artist._unscaled_dash_pattern
    marker = artist.get_marker()
    looks = [Look(colour, tuple(dash or ()))]
    return looks if marker in ("", "None", None) else [*looks, Look(colour, marker=marker)]


def _bars(container) -> Shape:
    x, y = np.moveaxis([bar.get_bbox().get_points() for bar in container], 2, 0)
    return Shape("bars", _looks(container[0])[0], x, y)


def _line(line) -> list[Shape]:
    x, y = (np.asarray(part, dtype=float) for part in line.get_data(orig=False))
    kinds = zip(("line", "marker"), _looks(line), strict=False)
    return [Shape(kind, look, x, y) for kind, look in kinds]


def _collection(collection) -> Shape:
    if isinstance(collection, LineCollection):
        x, y = np.moveaxis(collection.get_segments(), 2, 0)
        if len(y) and (np.ptp(y, axis=1) == 0).all() and (np.ptp(x, axis=1) > 0).all():
            return Shape("levels", Look(_hex(collection.get_color())), x, y.mean(axis=1))
        return Shape("whiskers", Look(_hex(collection.get_color())), x.mean(axis=1), y)
    corners = np.concatenate([path.vertices for path in collection.get_paths()])
    x = np.unique(corners[:, 0])
    ends = [[end(corners[corners[:, 0] == at, 1]) for end in (np.min, np.max)] for at in x]
    return Shape("band", Look(_hex(collection.get_facecolor())), x, np.array(ends))
