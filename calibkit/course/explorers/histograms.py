"""How an estimator's values spread around the truth, as an explorer's frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from calibkit.devices import as_array
from calibkit.pictures import svg
from calibkit.pictures.palette import BLACK, Role, group
from calibkit.pictures.svg import Frame

MOST, BINS = 4, 40
PLOT: dict[str, Any] = {"left": 56, "top": 30, "width": 272, "height": 230}
NICE = MaxNLocator(5, steps=[1, 2, 5, 10])  # ticks at round numbers
SHADE = 0.4  # opacity: a histogram behind another is seen
KEYS = 260  # pixels, width of the legend


def spread_frame(
    samples: Mapping[str, Sequence[float]],
    truths: Mapping[str, float],
    *,
    x_range: tuple[float, float],
    x_label: str,
    title: str,
    readout: str,
    roles: Mapping[str, Role] | None = None,
) -> Frame:
    """A histogram of each named sample, with a line at its truth.

    Values outside `x_range` are counted in the first or last bar. roles: the look of each sample
    that plays a role of the course; without them the samples are drawn as groups. Raises KeyError
    when a sample has no truth or no role, ValueError for no sample or more than four.

    >>> frame = spread_frame({"a": [0.1, 0.2]}, {"a": 0.1}, x_range=(0, 1), x_label="ECE",
    ...                      title="two draws", readout="mean 0.15")
    >>> frame.panels[0].count("truth of a")
    1
    """
    if not 1 <= len(samples) <= MOST:
        raise ValueError(f"samples must be 1 to {MOST} named groups, got {len(samples)}")
    axes = svg.Axes(**PLOT, x_range=x_range, y_range=(0, 1))
    groups = {name: group(i, name) for i, name in enumerate(samples)}
    looks = [(groups if roles is None else roles)[name].named(name) for name in samples]
    edges, drawn = np.linspace(*x_range, BINS + 1), []
    for role in looks:
        values = np.clip(as_array(samples[role.words]), *x_range)
        heights = np.histogram(values, edges)[0]
        bars = zip(edges[:-1], edges[1:], 0.9 * heights / heights.max(), strict=True)
        spans = [(low, high, 0, height) for low, high, height in bars if height > 0]
        drawn.append(axes.bars(spans, fill=role.colour, fill_opacity=SHADE))
    for role in looks:
        x = axes.x(truths[role.words])
        ends: dict[str, Any] = {"x1": x, "x2": x, "y1": axes.y(0), "y2": axes.y(1)}
        drawn.append(svg.tag("line", **ends, stroke=BLACK, stroke_width=0.5))
        told = svg.tag("title", f"truth of {role.words}")
        drawn.append(svg.tag("line", told, **ends, **svg.stroke(role)))
    ticks = [tick for tick in NICE.tick_values(*x_range) if x_range[0] <= tick <= x_range[1]]
    frame = axes.frame(x_label, "share of draws (scaled)", ticks)
    words = svg.text(axes.left + axes.width / 2, 19, title, size=14)
    keys = [svg.text(8, 24 * len(looks) + 30, "bars: measured; line: exact", anchor="start")]
    for i, role in enumerate(looks):
        y = 24 * i + 30
        look: dict[str, Any] = {"fill": role.colour, "fill_opacity": SHADE}
        keys.append(svg.tag("rect", x=8, y=y - 11, width=16, height=13, **look))
        # thinner than in the plot, and with shorter dashes: a long one and a dot look like a "!"
        keys.append(svg.tag("path", d=f"M34,{y - 14}v20", **svg.stroke(role, 1.4)))
        keys.append(svg.text(46, y, role.words, anchor="start"))
    plot = svg.picture(svg.PANEL, 305, words, *drawn, frame)
    return Frame((plot, svg.picture(KEYS, 24 * len(looks) + 54, *keys)), readout)
