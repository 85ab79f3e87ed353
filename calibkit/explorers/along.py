"""A reliability diagram beside the curves that it is one point of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibkit import palette, validate
from calibkit.explorers import svg
from calibkit.explorers.explorer import Frame
from calibkit.explorers.reliability import COUNTS, DIAGRAM, TICKS, diagram
from calibkit.metrics import Reliability

COLOURS = (palette.VERMILLION, palette.BLUE, palette.PURPLE, palette.BLACK)
DASHES = ("none", "8 3", "2 3", "9 3 2 3")
RIGHT = {"left": 470, "top": DIAGRAM.top, "width": 230, "height": DIAGRAM.height}
KEYS_TOP = 418  # of the legend, beside the counts


def along_frame(
    reliability: Reliability,
    at: float,
    x: Sequence[float],
    lines: Mapping[str, Sequence],
    *,
    x_label: str,
    x_ticks: Sequence[float],
    title: str,
    readout: str,
) -> Frame:
    """The diagram of the models at `at`, and how `lines` run over all of `x`, `at` marked.

    lines: by name (seeds, m) shares in [0, 1], drawn as the mean with the whole range as a band.

    Raises ValueError when `at` is none of `x`, for a line of another length, or for no line or
    more than four.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = along_frame(r, 0.2, [0.0, 0.2], {"accuracy": [[0.9, 0.5]]}, x_label="noise",
    ...                     x_ticks=[0, 0.2], title="two predictions", readout="ECE 35 %")
    >>> frame.svg.count('class="here"'), frame.readout
    (1, 'ECE 35 %')
    """
    x = [float(value) for value in x]
    place = x.index(validate.choice("at", float(at), tuple(x)))
    if not 1 <= len(lines) <= len(COLOURS):
        raise ValueError(f"lines must be 1 to {len(COLOURS)} named groups, got {len(lines)}")
    axes = svg.Axes(**RIGHT, x_range=(min(x), max(x)))
    parts = [
        svg.text(axes.left - 90, 20, title, size=14),
        *diagram(DIAGRAM, COUNTS, reliability),
        axes.line(at, 0, at, 1, stroke=palette.GREY, stroke_width=1.5, class_="here"),
        axes.frame(x_label, "share", x_ticks, TICKS),
        *_gap_keys(),
    ]
    for i, (name, runs) in enumerate(lines.items()):
        parts += [_line(axes, x, _runs(name, runs, len(x)), place, i), _key(i, name)]
    description = f"Reliability diagram and curves, {title}. {readout}"
    return Frame(svg.picture(720, 548, *parts, description=description), readout)


def _runs(name: str, runs, length: int) -> np.ndarray:
    runs = np.asarray(runs, dtype=np.float64)
    if runs.ndim != 2 or runs.shape[1] != length:
        raise ValueError(f"lines[{name!r}] must be (seeds, {length}), got {runs.shape}")
    return runs


def _line(axes: svg.Axes, x: list[float], runs: np.ndarray, place: int, i: int) -> str:
    """The band from the least to the largest run, the mean, and a mark on the mean at `place`."""
    mean = runs.mean(axis=0).tolist()
    around = [*zip(x, runs.max(axis=0), strict=True), *zip(x, runs.min(axis=0), strict=True)]
    around[len(x) :] = around[: len(x) - 1 : -1]  # back along the lower edge
    line = _points(axes, zip(x, mean, strict=True))
    return "".join(
        [
            svg.tag("polygon", points=_points(axes, around), fill=COLOURS[i], fill_opacity=0.2),
            svg.tag("polyline", points=line, fill="none", **_style(i)),
            _mark(axes.x(x[place]), axes.y(mean[place]), i),
        ]
    )


def _style(i: int) -> dict:
    return {"stroke": COLOURS[i], "stroke_dasharray": DASHES[i], "stroke_width": 2}


def _mark(x: float, y: float, i: int) -> str:
    if i % 2:
        return svg.tag("rect", x=x - 4.5, y=y - 4.5, width=9, height=9, fill=COLOURS[i])
    return svg.tag("circle", cx=x, cy=y, r=5, fill=COLOURS[i])


def _key(i: int, name: str) -> str:
    y = KEYS_TOP + 20 * i
    left = RIGHT["left"]
    line = svg.tag("line", x1=left, x2=left + 34, y1=y - 4, y2=y - 4, **_style(i))
    return line + _mark(left + 17, y - 4, i) + svg.text(left + 42, y, name, anchor="start")


def _gap_keys() -> list[str]:
    """What the colours of the diagram mean, in one row at the foot of the picture."""
    entries = [
        (60, palette.SKY, 1, "accuracy in the bin"),
        (215, palette.VERMILLION, 0.35, "over-confident gap"),
        (370, palette.GREEN, 0.35, "under-confident gap"),
    ]
    style = [{"fill": colour, "fill_opacity": opacity} for _, colour, opacity, _ in entries]
    return [
        svg.tag("rect", x=x, y=524, width=14, height=12, **look)
        + svg.text(x + 20, 534, words, anchor="start")
        for (x, _, _, words), look in zip(entries, style, strict=True)
    ]


def _points(axes: svg.Axes, pairs) -> str:
    return " ".join(f"{axes.x(a):.4g},{axes.y(b):.4g}" for a, b in pairs)
