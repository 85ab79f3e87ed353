"""How an estimator's values spread around the truth, as an explorer's frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibkit import palette
from calibkit.explorers import svg
from calibkit.explorers.explorer import Frame

COLOURS = (palette.VERMILLION, palette.BLUE, palette.GREEN, palette.PURPLE)
DASHES = ("12 3", "7 3", "2 3", "9 3 2 3")
PLOT = {"left": 60, "top": 40, "width": 420, "height": 230}


def spread_frame(
    samples: Mapping[str, Sequence[float]],
    truths: Mapping[str, float],
    *,
    x_range: tuple[float, float],
    x_label: str,
    title: str,
    readout: str,
    bins: int = 40,
) -> Frame:
    """A histogram of each named sample, with a dashed line at its truth.

    Values outside `x_range` are counted in the first or last bar. Raises KeyError when a sample
    has no truth, ValueError for no sample or more than four.

    >>> frame = spread_frame({"a": [0.1, 0.2]}, {"a": 0.1}, x_range=(0, 1), x_label="ECE",
    ...                      title="two draws", readout="mean 0.15")
    >>> frame.svg.count("truth of a")
    1
    """
    if not 1 <= len(samples) <= len(COLOURS):
        raise ValueError(f"samples must be 1 to {len(COLOURS)} named groups, got {len(samples)}")
    axes = svg.Axes(**PLOT, x_range=x_range, y_range=(0, 1))
    parts = [svg.text(axes.left + axes.width / 2, 24, title, size=14)]
    for i, (name, values) in enumerate(samples.items()):
        style = {"stroke": COLOURS[i], "stroke_dasharray": DASHES[i], "stroke_width": 2}
        parts += [
            _histogram(axes, values, bins, COLOURS[i]),
            _truth(axes, name, truths[name], style),
        ]
        y = 60 + 22 * i
        parts.append(svg.tag("line", x1=496, x2=524, y1=y - 4, y2=y - 4, **style))
        parts.append(svg.text(530, y, name, anchor="start"))
    ticks = np.linspace(*x_range, 6).round(3).tolist()
    parts.append(axes.frame(x_label, "share of draws (scaled)", ticks))
    words = f"{title}. {readout} Dashed lines mark the truth."
    return Frame(svg.picture(660, 320, *parts, description=words), readout)


def _histogram(axes: svg.Axes, values: Sequence[float], bins: int, colour: str) -> str:
    edges = np.linspace(*axes.x_range, bins + 1)
    heights = np.histogram(np.clip(values, *axes.x_range), edges)[0]
    bars = zip(edges[:-1], edges[1:], heights / heights.max(), strict=True)
    return "".join(
        axes.bar(low, high, 0, 0.9 * height, fill=colour, fill_opacity=0.4)
        for low, high, height in bars
        if height > 0
    )


def _truth(axes: svg.Axes, name: str, truth: float, style: dict) -> str:
    title = svg.tag("title", f"truth of {name}")
    x = axes.x(truth)
    return svg.tag("line", title, x1=x, x2=x, y1=axes.y(0), y2=axes.y(1), **style)
