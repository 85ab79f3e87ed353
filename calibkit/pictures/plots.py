"""Figures of calibration, and the course's theme.

Every function that draws takes an Axes, returns it, and sets nothing global; `theme` alone does,
when a cell calls it. Curves over a sweep's table are seaborn's:

    sns.lineplot(swept.table, x="noise", y="test_ece", errorbar=("pi", 100))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from calibkit.devices import as_array
from calibkit.metrics import Reliability
from calibkit.metrics import corp as _corp
from calibkit.metrics import reliability as _reliability
from calibkit.metrics.bins import Binning
from calibkit.metrics.plane import kappa
from calibkit.metrics.top import Weights
from calibkit.pictures import alt_text, palette
from calibkit.pictures.palette import (
    ACCURACY,
    BLACK,
    COUNTS,
    DIAGONAL,
    OVER,
    UNDER,
    Role,
)
from calibkit.pictures.svg_diagram import FADED, counted_words, hardly_any

ROOM = 0.16  # inches that a bin must be wide for its count to be written in legible type
SIDE = 4.2  # inches of a square figure
MARKED = 20  # positions of a line: markers of more would touch


def theme() -> None:
    """The look of the course's figures: white, gridded, square, in the palette's colours.

    In a notebook figures are shown with a text of their own from then on (`alt_text`). A cell calls
    it; it may be called again. Needs seaborn, which the course installs.
    """
    import seaborn as sns

    sns.set_theme(
        style="whitegrid",
        context="notebook",
        font_scale=0.85,
        palette=palette.CYCLE,
        rc={
            "figure.figsize": (SIDE, SIDE),
            "figure.constrained_layout.use": True,
            "axes.edgecolor": BLACK,
            "axes.linewidth": 0.8,
            "grid.linewidth": 0.5,
            "hatch.linewidth": 0.6,
            "legend.framealpha": 0.9,
        },
    )
    alt_text.show_with_text()


def percent(ax: Axes, axes: str = "xy", unit: str = "%") -> None:
    """Write `axes` ("x", "y" or "xy"), which hold shares, in hundredths; the labels say the unit.

    unit: "%" of a share, "points" of a difference of shares. A label that is there gets it.
    """
    for name in axes:
        axis = getattr(ax, f"{name}axis")
        axis.set_major_formatter(PercentFormatter(1, symbol=""))
        if axis.get_label_text():
            axis.set_label_text(f"{axis.get_label_text()} ({unit})")


def reliability_diagram(
    probs,
    labels,
    *,
    bins: int = 15,
    binning: Binning = "width",
    weights: Weights = None,
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Accuracy against confidence per bin, with interval bars, counts per bin and the diagonal.

    A line stands at the accuracy of each bin. From there to its mean confidence the gap is hatched
    (over-confident) or dotted (under-confident). Bins with hardly any samples are faded. Black
    lines are Wilson intervals of coverage `level`.
    The strip below counts the samples of each bin on a log axis. Empty bins are not drawn.

    weights: (n,) of the rows. Accuracy and confidence are then weighted means; the strip and the
        intervals have the number of equal rows that say as much (`Reliability.effective`).

    probs: (n, K) probabilities; labels: (n,). Raises as `metrics.reliability` does.

    Source: Guo et al. (2017), figure 1.
    """
    counted = _reliability(probs, labels, bins=bins, binning=binning, weights=weights)
    return draw_reliability(counted, level=level, title=title, ax=ax)


def draw_reliability(
    reliability: Reliability,
    *,
    level: float = 0.95,
    title: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """The same figure from bins that were counted before (see `metrics.reliability`)."""
    ax = _axes(ax, 4.4, 5.0)
    edges = reliability.edges.cpu().numpy()
    columns = reliability.effective, reliability.confidence, reliability.accuracy
    arrays = [part.cpu().numpy() for part in (*columns, *reliability.interval(level))]
    rows = [edges[:-1], np.diff(edges), *arrays]
    left, width, counts, confidence, accuracy, low, high = (row[arrays[0] > 0] for row in rows)
    for role, side in ((OVER, confidence > accuracy), (UNDER, confidence <= accuracy)):
        gap, look = (confidence - accuracy)[side], role.area(label=None)
        ax.bar(left[side], gap, width[side], bottom=accuracy[side], align="edge", **look)
    few = np.array([hardly_any(count, counts.sum()) for count in counts], dtype=bool)
    veil: dict[str, Any] = {"align": "edge", "facecolor": "white", "alpha": FADED}
    ax.bar(left[few], (confidence - accuracy)[few], width[few], bottom=accuracy[few], **veil)
    thin = min(1.5, 30 / len(edges))  # a line per bin must not blacken a fine diagram
    ax.vlines(left + width / 2, low, high, color=BLACK, lw=thin, label=f"{level:.0%} interval")
    ax.plot([0, 1], [0, 1], **DIAGONAL.line())
    ax.hlines(accuracy, left, left + width, color=ACCURACY.colour, lw=2.5, label=ACCURACY.words)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", ylabel="accuracy", title=title)
    percent(ax, "y")
    _count_strip(ax, left, width, counts, counted_words(reliability))
    _note(
        ax,
        f"Reliability diagram of {len(accuracy)} filled bins; accuracy below confidence in "
        f"{int((confidence > accuracy).sum())}; the last bin says {confidence[-1]:.0%}, right "
        f"{accuracy[-1]:.0%}",
    )
    if legend:
        # Keys of their own: a side without a bin would leave its look out of the legend.
        keys = [Patch(**OVER.area()), Patch(**UNDER.area())]
        drawn = ax.get_legend_handles_labels()[0]
        ax.legend(handles=[*drawn, *keys], loc="upper left", fontsize="x-small", framealpha=0.9)
    return ax


def corp_diagram(
    probs, labels, *, level: float = 0.9, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Accuracy against confidence without bins, with the band in which a calibrated model lies.

    The curve is the isotonic regression of the hits (`metrics.corp`). The band is pointwise: at
    any one confidence the curve of a calibrated model leaves it in about 1 - level of all samples.

    probs: (n, K) probabilities; labels: (n,). Raises as `metrics.corp` does.

    Source: Dimitriadis, Gneiting & Jordan (2021).
    """
    ax = _axes(ax, SIDE, SIDE)
    curve = _corp(probs, labels)
    x, y, (low, high) = curve.confidence, curve.frequency, curve.band(level=level)
    words = f"a calibrated model, {level:.0%}"
    ax.fill_between(x, low, high, **DIAGONAL.area(lw=0, label=words))
    ax.plot([0, 1], [0, 1], **DIAGONAL.line())
    ax.plot(x, y, **ACCURACY.line(marker=""))
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", title=title)
    ax.set(xlabel="confidence", ylabel="accuracy")
    percent(ax)
    ax.legend(loc="lower right", fontsize="x-small")
    share = curve.counts[(y < low) | (y > high)].sum() / curve.counts.sum()
    _note(
        ax,
        f"accuracy by isotonic regression, from {y[0]:.0%} at confidence {x[0]:.0%} to {y[-1]:.0%} "
        f"at {x[-1]:.0%}; {share:.0%} of the images lie where the curve leaves the band",
    )
    return ax


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes that were given, or those of a new figure of so many inches."""
    return ax or plt.subplots(figsize=(width, height), layout="constrained")[1]


def _note(ax: Axes, words: str) -> None:
    """Words in place of the figure for those who cannot see it, after its title if it has one."""
    title = ax.get_title()
    alt_text.note(ax, f"{title}: {words[0].lower()}{words[1:]}" if title else words)


def spread(x, runs, role: Role, *, ax: Axes) -> Axes:
    """Mean over runs as a marked line and the whole range over runs as a band.

    For runs that stand in no table; for those that do, `sns.lineplot` is the way.

    x: (m,) positions; runs: (seeds, m) one row per run; role: their look (see `palette`).

    Raises ValueError when the shapes disagree.
    """
    x, runs = as_array(x), as_array(runs)
    if runs.ndim != 2 or runs.shape[1] != len(x):
        raise ValueError(f"runs must be (seeds, {len(x)}), one column per x, got {runs.shape}")
    ax.plot(x, runs.mean(axis=0), **role.line())
    ax.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=role.colour, alpha=0.2, lw=0)
    return ax


def columns(table, x: str, roles: Mapping[str, Role], *, ax: Axes) -> Axes:
    """Columns of a sweep's table against `x`: mean over seeds as a line, the whole range as a band.

    table: pandas, one row a run; roles: the look of each column (see `palette`). The legend names
    the roles. Needs seaborn, which the course installs.
    """
    import seaborn as sns

    crowded = table[x].nunique() > MARKED
    for column, role in roles.items():
        look = role.line(marker="") if crowded else role.line()
        sns.lineplot(table, x=x, y=column, errorbar=("pi", 100), ax=ax, **look)
    ax.legend(fontsize="small")
    return ax


def plane(
    places: Mapping[Role, Sequence[tuple[float, float]]],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Trainings in the plane: accuracy lost on new data, and how much of it is still claimed.

    places: by look (see `palette.group`) one `metrics.Place` a training; the legend has the kappa.

    Beside them stand the two lines that need no training: a nearest neighbour, whose kappa is 1,
    and a model whose mean confidence equals its accuracy, whose kappa is 0.
    Raises ValueError for no look, or a look without places.
    """
    if not places or not all(len(rows) for rows in places.values()):
        raise ValueError("places must map looks to at least 1 place each, got none")
    ax = plt.subplots(figsize=(7.6, 4.4))[1] if ax is None else ax  # the legend stands beside it
    points = {role: as_array(rows, float).T for role, rows in places.items()}
    right = 1.08 * max(0.1, *(lost.max() for lost, _ in points.values()))
    look: dict[str, Any] = {"color": DIAGONAL.colour, "linewidth": 1, "marker": ""}
    ax.plot([0, right], [0, right], linestyle=(0, DIAGONAL.dash), **look)
    ax.axhline(0, **look)
    along: dict[str, Any] = {"rotation": 45, "rotation_mode": "anchor", "ha": "right"}
    beside = {"ha": "left", "va": "center"}  # outside, where no network lies
    for words, height, offset, how in (
        ("nearest neighbour", right, (-4, 4), along),
        ("confidence = accuracy", 0, (4, 0), beside),
    ):
        text = ax.annotate(words, (right, height), offset, textcoords="offset points", **how)
        text.set(fontsize=8, color=DIAGONAL.colour)
    for role, (lost, claimed) in points.items():
        slope = None if len(lost) < 2 else kappa(list(zip(lost, claimed, strict=True)))
        words = role.words if slope is None else f"{role.words}: kappa {slope.value:.2f}"
        ax.plot(lost, claimed, **role.line(label=words, linestyle=""))
    ax.set(xlabel="accuracy lost on new data", ylabel="claimed: signed gap")
    percent(ax, unit="points")
    ax.set(xlim=(min(0, *(lost.min() for lost, _ in points.values())), right), aspect="equal")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1))
    return alt_text.note(ax, _plane_in_words(points))


def _plane_in_words(points: Mapping[Role, np.ndarray]) -> str:
    """The plane for those who cannot see it."""
    parts = []
    for role, (lost, claimed) in points.items():
        share = f", which is {claimed.mean() / lost.mean():.2f} of it" if lost.mean() else ""
        parts.append(
            f"{role.words} {lost.mean():.2f} lost and {claimed.mean():+.2f} claimed{share}"
        )
    return f"Accuracy lost on new data, and claimed all the same: {'; '.join(parts)}."


def _count_strip(ax: Axes, left, width, counts, label: str) -> None:
    """A strip under the diagram, as wide as it: the samples of each bin on a log axis."""
    strip = ax.inset_axes((0, -0.34, 1, 0.22), sharex=ax)
    strip.bar(left, counts, width, align="edge", color=COUNTS.colour, edgecolor="white")
    written = ax.get_window_extent().width / ax.figure.dpi * width.min() >= ROOM
    strip.set(yscale="log", ylim=(0.5, counts.max() * (200 if written else 2)))
    strip.set(xlabel="confidence", ylabel=label)
    percent(strip, "x")
    if written:
        strip.set_yticks([], minor=False)
        strip.minorticks_off()
        for x, count in zip(left + width / 2, counts, strict=True):
            words = strip.text(x, 1.2 * count, f"{count:.0f}", rotation=90, fontsize=7)
            words.set(ha="center", va="bottom")
    ax.tick_params(labelbottom=False)
