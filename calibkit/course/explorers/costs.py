"""What each model costs at one cost of a miss, and how the costs run over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibkit import validate
from calibkit.devices import as_array
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
    runs = {role: as_array(values, np.float64) for role, values in costs.items()}
    if not 1 <= len(runs) <= MOST:
        raise ValueError(f"costs must be of 1 to {MOST} models, got {len(runs)}")
    for role, values in runs.items():
        if values.ndim != 2 or values.shape[1] != len(ratios):
            words = f"costs[{role.words!r}] must be (seeds, {len(ratios)}), got {values.shape}"
            raise ValueError(words)
        if len(role.words) > WORDS:
            raise ValueError(f"a name must have at most {WORDS} letters, got {role.words!r}")
    means = {role: values.mean(axis=0) for role, values in runs.items()}
    now = {role: values[place] for role, values in means.items()}
    lines = _lines(runs, means, ratios, place, always, ceiling, y_label)
    return Frame((_bars(now, always, ceiling, title, y_label), lines), readout)


def _bars(now: Mapping[Role, float], always: float, ceiling: float, title: str, label: str) -> str:
    """A bar for each model, its number at the end, and an upright line at the cost of `always`."""
    axes = svg.Axes(**BARS, x_range=(0, ceiling), y_range=(0, 1))
    parts = []
    for number, (role, cost) in enumerate(now.items()):
        y, end = axes.top + 22 + STEP * number, axes.x(min(cost, ceiling))
        look: dict[str, Any] = {"fill": role.pale, **svg.stroke(role)}
        parts += [
            svg.tag("rect", x=axes.left, y=y - 11, width=end - axes.left, height=22, **look),
            svg.text(axes.left - 8, y + 4, role.words, anchor="end"),
            svg.text(end + 6, y + 4, f"{cost:.0f}", anchor="start"),
        ]
    ticks = [value for value in (0, 50, 100, 150, 200) if value <= ceiling]
    parts += [
        axes.line(always, 0, always, 1, **svg.stroke(ALWAYS, 1.5)),
        svg.text(axes.left + axes.width / 2, 19, title, size=14),
        axes.frame(label, "", ticks),
        svg.line_key(ALWAYS, axes.left, axes.top + axes.height + 56, marked=False),
    ]
    return svg.picture(svg.PANEL, 350, *parts)


def _lines(
    runs: Mapping[Role, np.ndarray],
    means: Mapping[Role, np.ndarray],
    ratios: list[float],
    place: int,
    always: float,
    ceiling: float,
    label: str,
) -> str:
    """Mean and range of the costs against the ratio, and a marker of each at the chosen one."""
    axes = svg.Axes(**PLOT, x_range=(ratios[0], ratios[-1]), y_range=(0, ceiling), log_x=True)
    ticks = [value for value in (0, 50, 100, 150, 200) if value <= ceiling]
    parts = []
    for role, values in runs.items():
        around = np.concatenate([values.max(axis=0), values.min(axis=0)[::-1]]).clip(0, ceiling)
        points = axes.points([*ratios, *ratios[::-1]], around)
        parts.append(svg.tag("polygon", points=points, fill=role.colour, fill_opacity=0.2))
        points = axes.points(ratios, means[role].clip(0, ceiling))
        parts.append(svg.tag("polyline", points=points, fill="none", **svg.stroke(role)))
    parts += [
        axes.line(ratios[0], always, ratios[-1], always, **svg.stroke(ALWAYS, 1.5)),
        axes.frame(
            "cost c of a miss (log)",
            label,
            [r for r in (1, 2, 5, 10, 20, 50) if r in ratios],
            ticks,
        ),
        # what moves comes last, so that the frames of one slider begin alike
        axes.line(ratios[place], 0, ratios[place], ceiling, stroke=palette.GREY, stroke_width=1.5),
    ]
    for role, values in means.items():
        if values[place] <= ceiling:
            parts.append(svg.marker(role, axes.x(ratios[place]), axes.y(values[place])))
    return svg.picture(svg.PANEL, 350, *parts)
