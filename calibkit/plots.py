"""Figures of calibration: every function draws on an Axes, returns it, and sets nothing global."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.metrics import reliability as _reliability
from calibkit.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION

CYCLE = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK)
MOST_COUNTS = 25  # more numbers than this would run into one another
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def reliability_diagram(
    probs,
    labels,
    *,
    bins: int = 15,
    binning: str = "width",
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Accuracy against confidence per bin, with interval bars, counts per bin and the diagonal.

    Bars are accuracies; the shaded piece reaches to the mean confidence of the bin, red where the
    model is over-confident, green where it is under-confident; black lines are Wilson intervals
    of coverage `level`. The strip below counts the samples of each bin. Empty bins are not drawn.

    probs: (n, K) probabilities; labels: (n,). Raises as `metrics.reliability` does.
    Source: Guo et al. (2017), figure 1.
    """
    return draw_reliability(
        _reliability(probs, labels, bins=bins, binning=binning), level=level, title=title, ax=ax
    )


def draw_reliability(
    reliability: Reliability,
    *,
    level: float = 0.95,
    title: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """The same figure from bins that were counted before (see `metrics.reliability`)."""
    ax = plt.subplots(figsize=(4.4, 5.0), layout="constrained")[1] if ax is None else ax
    filled = reliability.counts.cpu().numpy() > 0
    edges = reliability.edges.cpu().numpy()
    left, width = edges[:-1][filled], np.diff(edges)[filled]
    confidence, accuracy = (
        part.cpu().numpy()[filled] for part in (reliability.confidence, reliability.accuracy)
    )
    low, high = (end.cpu().numpy()[filled] for end in reliability.interval(level))
    ax.bar(left, accuracy, width, align="edge", color=SKY, edgecolor="white", label="accuracy")
    gaps = {VERMILLION: confidence > accuracy, GREEN: confidence <= accuracy}
    for colour, side in gaps.items():
        ax.bar(
            left[side],
            (confidence - accuracy)[side],
            width[side],
            bottom=accuracy[side],
            align="edge",
            **_shading(colour),
        )
    thin = min(1.5, 30 / len(edges))  # a line per bin must not blacken a fine diagram
    ax.vlines(left + width / 2, low, high, color=BLACK, lw=thin, label=f"{level:.0%} interval")
    ax.plot([0, 1], [0, 1], "--", color=GREY, label="perfectly calibrated")
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", ylabel="accuracy", title=title)
    _count_strip(ax, left, width, reliability.counts.cpu().numpy()[filled])
    if legend:
        # Keys of their own: a side without a bin would leave its colour out of the legend.
        keys = [
            Patch(label="over-confident gap", **_shading(VERMILLION)),
            Patch(label="under-confident gap", **_shading(GREEN)),
        ]
        drawn = ax.get_legend_handles_labels()[0]
        ax.legend(handles=[*drawn, *keys], loc="upper left", fontsize="x-small", framealpha=0.9)
    return ax


def confidence_histogram(
    probs, labels, *, bins: int = 15, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Share of samples per confidence bin, with the mean confidence and the accuracy as lines.

    The distance between the two lines is the signed gap, which is the ECE with a single bin up
    to its sign. Source: Guo et al. (2017), figure 1.
    """
    counted = _reliability(probs, labels, bins=bins)
    ax = plt.subplots(figsize=(4.2, 3.6), layout="constrained")[1] if ax is None else ax
    n = int(counted.counts.sum())
    edges, shares = counted.edges.cpu().numpy(), counted.counts.cpu().numpy() / n
    ax.bar(edges[:-1], shares, np.diff(edges), align="edge", color=SKY, edgecolor="white")
    confidence = float((counted.confidence * counted.counts).nansum() / n)
    accuracy = float(counted.hits.sum() / n)
    ax.axvline(accuracy, color=BLACK, ls="-", label=f"accuracy {accuracy:.1%}")
    ax.axvline(confidence, color=VERMILLION, ls="--", label=f"mean confidence {confidence:.1%}")
    ax.set(
        xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel=f"share of {n:,} samples", title=title
    )
    ax.legend(loc="upper left", fontsize="small")
    return ax


def spread(x, runs, *, label: str, style: int = 0, ax: Axes) -> Axes:
    """Mean over runs as a marked line and the whole range over runs as a band.

    x: (m,) positions; runs: (seeds, m) one row per run; style: which colour and marker.
    Raises ValueError when the shapes disagree.
    """
    x, runs = np.asarray(x), np.asarray(runs)
    if runs.ndim != 2 or runs.shape[1] != len(x):
        raise ValueError(f"runs must be (seeds, {len(x)}), one column per x, got {runs.shape}")
    style = validate.integer("style", style, 0)
    colour, marker = CYCLE[style % len(CYCLE)], MARKERS[style % len(MARKERS)]
    ax.plot(x, runs.mean(axis=0), color=colour, marker=marker, label=label)
    ax.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.2, lw=0)
    return ax


def _shading(colour: str) -> dict:
    """How a gap is drawn: told apart by hatch as well as by colour."""
    hatch = "//" if colour == VERMILLION else ".."
    return {"facecolor": colour, "alpha": 0.35, "edgecolor": colour, "hatch": hatch}


def _count_strip(ax: Axes, left, width, counts) -> None:
    """A strip under the diagram, as wide as it, with the number of samples in each bin."""
    strip = ax.inset_axes([0, -0.34, 1, 0.22], sharex=ax)
    strip.bar(left, counts, width, align="edge", color=GREY, edgecolor="white")
    tallest = counts.max()
    written = zip(left + width / 2, counts, strict=True) if len(counts) <= MOST_COUNTS else ()
    for x, count in written:
        strip.text(
            x,
            count + 0.06 * tallest,
            f"{count:g}",
            rotation=90,
            ha="center",
            va="bottom",
            fontsize=6,
        )
    strip.set(xlabel="confidence", ylabel="count", ylim=(0, 2.2 * tallest))
    strip.set_yticks([])
    ax.tick_params(labelbottom=False)
