"""A measure of every class, from the commonest class of the training set to the rarest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calibkit import validate
from calibkit.course.explorers.along import banded, runs_of
from calibkit.pictures import svg
from calibkit.pictures.palette import COUNTS, Role
from calibkit.pictures.svg import Frame

MOST = 4  # lines: more would not be told apart
LONGEST = 40  # letters of a line in the legend
PLOT = {"left": 56, "top": 30, "width": 272, "height": 190}
CEILING = 1000  # images of a class, the end of the log axis


def ranked_frame(
    counts: Sequence[float],
    lines: Mapping[Role, Sequence],
    *,
    y_label: str,
    y_ticks: Sequence[float],
    title: str,
    readout: str,
) -> Frame:
    """Training images of each class on a log axis, and how `lines` run over the same classes.

    counts: (K,) images, the commonest class first, between 1 and 1,000.
    lines: by role (see `palette`) (seeds, K) values between the first and the last of `y_ticks`,
        drawn as the mean with the whole range as a band; larger ones are drawn at the edge.

    Raises ValueError for no line or more than four, for a line of another length, for a count out
    of range, and for words too long for the legend.

    >>> from calibkit.pictures import palette
    >>> frame = ranked_frame([90, 9], {palette.TRAINED: [[0.1, 0.5]]}, y_label="ECE",
    ...                      y_ticks=[0, 0.5], title="rho 10", readout="rarest 50 %")
    >>> frame.panels[1].count("polyline"), frame.readout
    (1, 'rarest 50 %')
    """
    classes = len(counts)
    for count in counts:
        validate.number("counts", count, 1, CEILING)
    if not 1 <= len(lines) <= MOST:
        raise ValueError(f"lines must be 1 to {MOST} named groups, got {len(lines)}")
    for role in lines:
        if len(role.words) > LONGEST:
            raise ValueError(
                f"words of a line must have at most {LONGEST} letters, got {role.words!r}; shorten"
            )
    runs = {role: runs_of(role.words, values, classes) for role, values in lines.items()}
    return Frame((_sizes(counts, title), _curves(runs, y_label, y_ticks)), readout)


def _sizes(counts: Sequence[float], title: str) -> str:
    """The class sizes as bars."""
    classes = len(counts)
    axes = svg.Axes(**PLOT, x_range=(0.5, classes + 0.5), y_range=(0.5, CEILING), log_y=True)
    bars = [(i + 0.6, i + 1.4, 0.5, count) for i, count in enumerate(counts)]
    words = svg.text(axes.left + axes.width / 2, 19, title, size=14)
    drawn = axes.bars(bars, fill=COUNTS.colour, class_="count")
    frame = axes.frame(
        "class, from common to rare", "training images", (1, classes), (1, 10, 100, 1000)
    )
    return svg.picture(svg.PANEL, 275, words, drawn, frame)


def _curves(runs: Mapping[Role, Sequence], y_label: str, y_ticks: Sequence[float]) -> str:
    classes = next(iter(runs.values())).shape[1]
    x, low, high = range(1, classes + 1), y_ticks[0], y_ticks[-1]
    axes = svg.Axes(**PLOT, x_range=(1, classes), y_range=(low, high))
    parts = [
        *(banded(axes, x, role, values) for role, values in runs.items()),
        axes.frame("class, from common to rare", y_label, (1, classes), y_ticks),
    ]
    for place, (role, values) in enumerate(runs.items()):
        mean = values.mean(axis=0).clip(low, high)
        parts += [svg.marker(role, axes.x(a), axes.y(b), 4) for a, b in zip(x, mean, strict=True)]
        parts.append(svg.line_key(role, 56, axes.top + axes.height + 58 + 20 * place))
    return svg.picture(svg.PANEL, 270 + 20 * len(runs), *parts)
