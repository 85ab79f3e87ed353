"""A reliability diagram beside the curves that it is one point of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.reliability import DIAGRAM, HEIGHT, TICKS, diagram_panel, legend
from calibkit.pictures.svg import Frame

MOST = 4  # lines: more would not be told apart, and their legend would leave the panel
LONGEST = 24  # letters of a line in the legend, beside the parts of the diagram
PLOT = {"left": DIAGRAM.left, "top": DIAGRAM.top, "width": DIAGRAM.width, "height": 190}


def along_frame(
    reliability: Reliability,
    at: float,
    x: Sequence[float],
    lines: Mapping[Role, Sequence],
    *,
    x_label: str,
    x_ticks: Sequence[float],
    title: str,
    readout: str,
    log_x: bool = False,
    y_label: str = "share",
) -> Frame:
    """The diagram of the models at `at`, and how `lines` run over all of `x`, `at` marked.

    lines: by role (see `palette`) (seeds, m) shares in [0, 1], drawn as the mean with the whole
        range as a band.
    log_x: whether x has a log axis, as epochs mostly want; y_label: what the shares are of.

    Raises ValueError when `at` is none of `x`, for a line of another length, for no line or more
    than four, and for words too long for the legend.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = along_frame(r, 0.2, [0.0, 0.2], {palette.ACCURACY: [[0.9, 0.5]]},
    ...                     x_label="noise", x_ticks=[0, 0.2], title="two", readout="ECE 35 %")
    >>> frame.panels[1].count('class="here"'), frame.readout
    (1, 'ECE 35 %')
    """
    x = [float(value) for value in x]
    place = x.index(validate.choice("at", float(at), tuple(x)))
    if not 1 <= len(lines) <= MOST:
        raise ValueError(f"lines must be 1 to {MOST} named groups, got {len(lines)}")
    for role in lines:
        if len(role.words) > LONGEST:
            raise ValueError(
                f"words of a line must have at most {LONGEST} letters, got {role.words!r}; shorten"
            )
    runs = {role: runs_of(role.words, values, len(x)) for role, values in lines.items()}
    axes = svg.Axes(**PLOT, x_range=(min(x), max(x)), log_x=log_x)
    means = {role: values.mean(axis=0).tolist() for role, values in runs.items()}
    parts = [
        *(banded(axes, x, role, values) for role, values in runs.items()),
        axes.frame(x_label, y_label, x_ticks, TICKS),
        *_keys(list(lines)),
        # what moves comes last, so that the frames of one slider begin alike
        axes.line(at, 0, at, 1, stroke=palette.GREY, stroke_width=1.5, class_="here"),
        *(svg.marker(role, axes.x(at), axes.y(mean[place])) for role, mean in means.items()),
    ]
    curves = svg.picture(svg.PANEL, HEIGHT - 40, *parts)
    return Frame((diagram_panel(reliability, title), curves), readout)


def runs_of(name: str, runs, length: int) -> np.ndarray:
    """(seeds, length) numbers; raises ValueError, naming the line, for another shape."""
    runs = np.asarray(runs, dtype=np.float64)
    if runs.ndim != 2 or runs.shape[1] != length:
        raise ValueError(f"lines[{name!r}] must be (seeds, {length}), got {runs.shape}")
    return runs


def banded(axes: svg.Axes, x: Sequence[float], role: Role, runs: np.ndarray) -> str:
    """The band from the least to the largest run, and the mean; at the edge what lies beyond it."""
    around = np.concatenate([runs.max(axis=0), runs.min(axis=0)[::-1]])
    band = axes.points([*x, *x[::-1]], around.clip(*axes.y_range))
    mean = axes.points(x, runs.mean(axis=0).clip(*axes.y_range))
    return svg.tag("polygon", points=band, fill=role.colour, fill_opacity=0.2) + svg.tag(
        "polyline", points=mean, fill="none", **svg.stroke(role)
    )


def _keys(roles: list[Role]) -> list[str]:
    """The lines in a column, the parts of the diagram in another."""
    top = PLOT["top"] + PLOT["height"] + 62
    lines = [svg.line_key(role, 8, top + 20 * i) for i, role in enumerate(roles)]
    return [*lines, *legend(208, top)]
