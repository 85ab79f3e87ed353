"""Lines over all values of a slider, where it stands, and what is drawn beside them.

Left a diagram, squares or bars of the chosen value; right each line as the mean of its runs, with
their whole range as a band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibkit import validate
from calibkit.devices import as_array
from calibkit.metrics import Reliability
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.svg import Frame
from calibkit.pictures.svg_diagram import HEIGHT, TICKS, diagram_panel, legend, totals

MOST, MOST_COSTS = 4, 6  # lines: more would not be told apart, and their legend leave the panel
BESIDE, ALONE = 24, 40  # letters of a line in a legend with the parts of the diagram, and without
PLOT: dict[str, Any] = {"left": 56, "top": 30, "width": 272, "height": 190}
COSTS: dict[str, Any] = {"left": 56, "top": 30, "width": 290, "height": 250}
BARS: dict[str, Any] = {"left": 120, "top": 30, "width": 190, "height": 250}
STEP = 40  # pixels from one bar to the next
SQUARE = 17  # pixels of one of a hundred
KEYS = PLOT["top"] + PLOT["height"] + 58  # where the legend begins
HERE = {"stroke": palette.GREY, "stroke_width": 1.5}  # the look of what marks the chosen value
ALWAYS = palette.DIAGONAL.named("check everything")
Lines = Mapping[Role, Sequence[Sequence[float]] | np.ndarray]


def along_frame(
    reliability: Reliability,
    at: float,
    x: Sequence[float],
    lines: Lines,
    *,
    x_label: str,
    x_ticks: Sequence[float],
    title: str,
    readout: str,
    log_x: bool = False,
    y_label: str = "share (%)",
    y_ticks: Sequence[float] = TICKS,
    counted: str | None = None,
) -> Frame:
    """The diagram of the models at `at`, and how `lines` run over all of `x`, `at` marked.

    lines: by role (see `palette`) (seeds, m) shares in [0, 1], drawn as the mean with the whole
        range as a band.
    log_x: whether x has a log axis, as epochs mostly want; y_label: what the shares are of. An axis
        whose label ends in "(%)" is written in per cent.
    counted: what the diagram's samples are, such as "answers"; by default images.
    y_ticks: the axis reaches from the first to the last; what lies beyond is drawn at the edge.

    Raises ValueError when `at` is none of `x`, for a line of another length, for no line or more
    than four, and for words too long for the legend.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = along_frame(r, 0.2, [0.0, 0.2], {palette.ACCURACY: [[0.9, 0.5]]},
    ...                     x_label="noise", x_ticks=[0, 0.2], title="two", readout="ECE 35 %")
    >>> frame.panels[1].count('class="here"'), frame.readout
    (1, 'ECE 35 %')
    """
    runs, parts, here = _over(at, x, lines, (x_label, x_ticks), (y_label, y_ticks), BESIDE, log_x)
    keys = [svg.line_key(role, 8, KEYS + 4 + 20 * i) for i, role in enumerate(runs)]
    keys += legend(208, KEYS + 4, accuracy="accuracy of a bin")
    diagram = diagram_panel(reliability, title, counted=counted)
    panels = diagram, svg.picture(svg.PANEL, HEIGHT - 40, *parts, *keys, *here)
    return Frame(panels, readout, totals(reliability))


def squares_frame(
    shares: Mapping[Role, float],
    at: float,
    x: Sequence[float],
    lines: Lines,
    *,
    x_label: str,
    x_ticks: Sequence[float],
    title: str,
    readout: str,
    y_label: str = "share (%)",
) -> Frame:
    """A hundred squares, coloured by kind, and how `lines` run over all of `x`, `at` marked.

    shares: by role, which part of the squares it has; they sum to 1, and the squares are rounded so
        that there are 100. The rest is as of `along_frame`.

    Raises ValueError when the shares do not sum to 1, and as `along_frame` does.

    >>> frame = squares_frame({palette.ACCURACY: 0.875, palette.OVER: 0.125}, 1, [0, 1],
    ...                       {palette.ACCURACY: [[1, 0.875]]}, x_label="x", x_ticks=[0, 1],
    ...                       title="sentences", readout="88 right")
    >>> frame.panels[0].count('class="square"'), frame.readout
    (100, '88 right')
    """
    counts = _hundred(shares)
    runs, parts, here = _over(at, x, lines, (x_label, x_ticks), (y_label, TICKS), ALONE)
    keys = [svg.line_key(role, 56, KEYS + 20 * i) for i, role in enumerate(runs)]
    height = 270 + 20 * max(len(runs), len(counts))
    values = {role.words: float(share) for role, share in shares.items()}
    lined = svg.picture(svg.PANEL, height, *parts, *keys, *here)
    return Frame((_squares(counts, title, height), lined), readout, values)


def _over(
    at: float, x: Sequence[float], lines: Lines, across: tuple, up: tuple, longest: int,
    log_x: bool = False,
) -> tuple[dict[Role, np.ndarray], list[str], list[str]]:  # fmt: skip
    """The checked runs, their plot, and what marks `at`, which moves.

    across, up: label and ticks. What moves is drawn last: the frames of one slider begin alike.
    """
    x = [float(value) for value in x]
    place = x.index(validate.choice("at", float(at), tuple(x)))
    runs = _runs("lines", lines, len(x), longest, MOST)
    low, high = up[1][0], up[1][-1]
    axes = svg.Axes(**PLOT, x_range=(min(x), max(x)), y_range=(low, high), log_x=log_x)
    parts = [_banded(axes, x, role, values) for role, values in runs.items()]
    parts.append(axes.frame(across[0], up[0], across[1], up[1]))
    here = [axes.line(at, low, at, high, **HERE, class_="here")]
    for role, values in runs.items():
        mean = values.mean(axis=0).clip(low, high)[place]
        here.append(svg.marker(role, axes.x(at), axes.y(mean)))
    return runs, parts, here


def _hundred(shares: Mapping[Role, float]) -> dict[Role, int]:
    """How many of 100 squares each role has: rounded down, the rest to the largest remainders."""
    total = sum(shares.values())
    if abs(total - 1) > 1e-6:
        raise ValueError(f"shares must sum to 1, got {total:.4f}")
    counts = {role: int(100 * share + 1e-9) for role, share in shares.items()}
    by_rest = sorted(shares, key=lambda role: counts[role] - 100 * shares[role])
    for role in by_rest[: 100 - sum(counts.values())]:
        counts[role] += 1
    return counts


def _squares(counts: Mapping[Role, int], title: str, height: int) -> str:
    """Ten rows of ten squares, role after role, and a legend with the numbers."""
    step, left, top = 20, (svg.PANEL - 200) / 2, 34
    each = [role for role, count in counts.items() for _ in range(count)]
    parts = [
        _square(role, left + step * (number % 10), top + step * (number // 10), class_="square")
        for number, role in enumerate(each)
    ]
    for line, (role, count) in enumerate(counts.items()):
        y = KEYS - 24 + 20 * line
        parts.append(_square(role, left, y - 12))
        parts.append(svg.text(left + 26, y + 2, f"{count} {role.words}", anchor="start"))
    words = svg.text(svg.PANEL / 2, 19, title, size=14)
    return svg.picture(svg.PANEL, height, words, *parts)


def _square(role: Role, x: float, y: float, **more: str) -> str:
    """A square in the colour of its role, with its marker, unless that is a stroke."""
    look = {"fill": role.pale, "stroke": role.colour}
    drawn = svg.tag("rect", x=x, y=y, width=SQUARE, height=SQUARE, **look, **more)
    middle = SQUARE / 2
    return drawn + (svg.marker(role, x + middle, y + middle, 3) if role.marker != "|" else "")


def cost_frame(
    costs: Lines,
    ratios: Sequence[float],
    at: float,
    *,
    always: float,
    ceiling: float,
    title: str,
    readout: str,
    y_label: str = "cost of 100 images",
) -> Frame:
    """The mean cost of each model at the ratio `at` as bars, and over all ratios as lines.

    costs: by role (seeds, m) costs of a model, one a ratio; the lines have the range of the seeds
        as a band. always: what it costs to give an alarm at every image, whatever the ratio.
    ceiling: the largest cost drawn; larger ones end there, and their number says how large.

    Raises ValueError when `at` is none of the ratios, for costs of another length, for no model or
    more than six, and for a name too long for its place.

    >>> frame = cost_frame({palette.group(0, "model A"): [[10, 90]]}, [1, 20], 20, always=80,
    ...                    ceiling=150, title="c = 20", readout="model A 90")
    >>> frame.panels[0].count("model A"), frame.readout
    (1, 'model A 90')
    """
    ratios = [float(ratio) for ratio in ratios]
    place = ratios.index(validate.choice("at", float(at), tuple(ratios)))
    runs = _runs("costs", costs, len(ratios), BESIDE, MOST_COSTS)
    means = {role: values.mean(axis=0) for role, values in runs.items()}
    ticks = [value for value in (0, 50, 100, 150, 200) if value <= ceiling]
    shown = [r for r in (1, 2, 5, 10, 20, 50) if r in ratios]
    axes = svg.Axes(**COSTS, x_range=(ratios[0], ratios[-1]), y_range=(0, ceiling), log_x=True)
    lines = [_banded(axes, ratios, role, values) for role, values in runs.items()]
    lines += [
        axes.line(ratios[0], always, ratios[-1], always, **svg.stroke(ALWAYS, 1.5)),
        axes.frame("cost c of a miss (log)", y_label, shown, ticks),
        axes.line(at, 0, at, ceiling, **HERE),
    ]
    bars = svg.Axes(**BARS, x_range=(0, ceiling), y_range=(0, 1))
    parts = []
    for number, (role, mean) in enumerate(means.items()):
        cost, y = mean[place], bars.top + 22 + STEP * number
        if cost <= ceiling:
            lines.append(svg.marker(role, axes.x(at), axes.y(cost)))
        end = bars.x(min(cost, ceiling))
        size: dict = {"x": bars.left, "y": y - 11, "width": end - bars.left, "height": 22}
        parts += [
            svg.tag("rect", **size, fill=role.pale, **svg.stroke(role)),
            svg.text(bars.left - 8, y + 4, role.words, anchor="end"),
            svg.text(end + 6, y + 4, f"{cost:.0f}", anchor="start"),
        ]
    parts += [
        bars.line(always, 0, always, 1, **svg.stroke(ALWAYS, 1.5)),
        svg.text(bars.left + bars.width / 2, 19, title, size=14),
        bars.frame(y_label, "", ticks),
        svg.line_key(ALWAYS, bars.left, bars.top + bars.height + 56, marked=False),
    ]
    panels = (svg.picture(svg.PANEL, 350, *drawn) for drawn in (parts, lines))
    return Frame(tuple(panels), readout)


def _runs(name: str, lines: Lines, length: int, longest: int, most: int) -> dict[Role, np.ndarray]:
    """(seeds, length) numbers by role, or ValueError for what cannot be drawn or told apart."""
    if not 1 <= len(lines) <= most:
        raise ValueError(f"{name} must be 1 to {most} named groups, got {len(lines)}")
    runs = {role: as_array(values, np.float64) for role, values in lines.items()}
    for role, values in runs.items():
        if len(role.words) > longest:
            raise ValueError(
                f"words of a line must have at most {longest} letters, got {role.words!r}; shorten"
            )
        if values.ndim != 2 or values.shape[1] != length:
            raise ValueError(
                f"{name}[{role.words!r}] must be (seeds, {length}), got {values.shape}"
            )
    return runs


def _banded(axes: svg.Axes, x: Sequence[float], role: Role, runs: np.ndarray) -> str:
    """The band from the least to the largest run, and the mean; at the edge what lies beyond it."""
    around = np.concatenate([runs.max(axis=0), runs.min(axis=0)[::-1]])
    band = axes.points([*x, *x[::-1]], around.clip(*axes.y_range))
    mean = axes.points(x, runs.mean(axis=0).clip(*axes.y_range))
    area = svg.tag("polygon", points=band, fill=role.colour, fill_opacity=0.2)
    return area + svg.tag("polyline", points=mean, fill="none", **svg.stroke(role))
