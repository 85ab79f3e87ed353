"""What each model costs at one cost of a miss, and how the costs run over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibkit import validate
from calibkit.course.explorers.along import as_runs, banded
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.svg import Frame

MOST = 6  # rows of bars
WORDS = 24  # letters of a name beside its bar
STEP = 40  # pixels from one bar to the next
BARS: dict[str, Any] = {"left": 120, "top": 30, "width": 190, "height": 250}
PLOT: dict[str, Any] = {"left": 56, "top": 30, "width": 290, "height": 250}
ALWAYS = palette.DIAGONAL.named("check everything")


def cost_frame(
    costs: Mapping[Role, Sequence[Sequence[float]] | np.ndarray],
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
    runs = as_runs("costs", costs, len(ratios), WORDS, MOST)
    means = {role: values.mean(axis=0) for role, values in runs.items()}
    ticks = [value for value in (0, 50, 100, 150, 200) if value <= ceiling]
    axes = svg.Axes(**PLOT, x_range=(ratios[0], ratios[-1]), y_range=(0, ceiling), log_x=True)
    shown = [r for r in (1, 2, 5, 10, 20, 50) if r in ratios]
    lines = [
        *(banded(axes, ratios, role, values) for role, values in runs.items()),
        axes.line(ratios[0], always, ratios[-1], always, **svg.stroke(ALWAYS, 1.5)),
        axes.frame("cost c of a miss (log)", y_label, shown, ticks),
        # what moves comes last, so that the frames of one slider begin alike
        axes.line(at, 0, at, ceiling, stroke=palette.GREY, stroke_width=1.5),
        *(
            svg.marker(role, axes.x(at), axes.y(mean[place]))
            for role, mean in means.items()
            if mean[place] <= ceiling
        ),
    ]
    bars = svg.Axes(**BARS, x_range=(0, ceiling), y_range=(0, 1))
    parts = [
        *(_bar(bars, n, role, mean[place]) for n, (role, mean) in enumerate(means.items())),
        bars.line(always, 0, always, 1, **svg.stroke(ALWAYS, 1.5)),
        svg.text(bars.left + bars.width / 2, 19, title, size=14),
        bars.frame(y_label, "", ticks),
        svg.line_key(ALWAYS, bars.left, bars.top + bars.height + 56, marked=False),
    ]
    panels = (svg.picture(svg.PANEL, 350, *drawn) for drawn in (parts, lines))
    return Frame(tuple(panels), readout)


def _bar(axes: svg.Axes, number: int, role: Role, cost: float) -> str:
    """A bar with its name, and at its end, which the axes may cut off, its number."""
    y, end = axes.top + 22 + STEP * number, axes.x(min(cost, axes.x_range[1]))
    look: dict[str, Any] = {"fill": role.pale, **svg.stroke(role)}
    return "".join([
        svg.tag("rect", x=axes.left, y=y - 11, width=end - axes.left, height=22, **look),
        svg.text(axes.left - 8, y + 4, role.words, anchor="end"),
        svg.text(end + 6, y + 4, f"{cost:.0f}", anchor="start"),
    ])  # fmt: skip
