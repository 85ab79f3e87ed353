"""The reliability diagram as an explorer's frame."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from calibkit.metrics import Reliability
from calibkit.pictures import svg
from calibkit.pictures.palette import ACCURACY, BLACK, COUNTS, DIAGONAL, OVER, UNDER
from calibkit.pictures.svg import Frame

TICKS = (0, 0.25, 0.5, 0.75, 1)
HEIGHT = 400
DIAGRAM = svg.Axes(left=56, top=30, width=272, height=272)
STRIP = (56, 312, 272, 48)
KEYS = 190  # pixels, width of the legend when it stands alone
FEW = 15  # bins
FADED = 0.8  # how much of a bin's colours is taken where it holds hardly any samples
VEIL: dict[str, Any] = {"fill": "#FFFFFF", "fill_opacity": FADED, "class_": "faded"}
# its outline cuts the edges that it lies on into dashes
VEIL |= {"stroke": "#FFFFFF", "stroke_width": 2.5, "stroke_dasharray": "3 3"}
THICK = 3.5  # pixels, of the line at a bin's accuracy
FINE = 40  # bins, from which on their intervals are drawn pale, or they would blacken the diagram
LEGIBLE = 40  # pixels of a count strip on which two numbers do not touch


def reliability_frame(
    reliability: Reliability, *, title: str, readout: str, counted: str | None = None
) -> Frame:
    """Accuracies with interval bars, the gap to the confidence, the diagonal, and the counts.

    counted: what the samples are, such as "answers"; by default images.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = reliability_frame(r, title="two predictions", readout="ECE 35 %")
    >>> len(frame.panels), frame.readout
    (2, 'ECE 35 %')
    """
    panels = diagram_panel(reliability, title, counted=counted), legend_panel()
    return Frame(panels, readout, totals(reliability))


def totals(reliability: Reliability) -> dict[str, float]:
    """Accuracy and mean confidence of all samples in the bins, by these two names.

    >>> from calibkit import metrics
    >>> totals(metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5))
    {'accuracy': 0.5, 'confidence': 0.75}
    """
    n = reliability.counts.sum()
    confidence = (reliability.confidence * reliability.counts).nansum()  # empty bins have none
    return {"accuracy": float(reliability.hits.sum() / n), "confidence": float(confidence / n)}


def legend_panel() -> str:
    """A picture of the legend alone."""
    return svg.picture(KEYS, 110, *legend(10, 30))


def diagram_panel(
    reliability: Reliability, title: str, level: float = 0.95, *, counted: str | None = None
) -> str:
    """One panel: the diagram under its title, the counts below; level: of the interval bars."""
    words = svg.text(DIAGRAM.left + DIAGRAM.width / 2, 19, title, size=14)
    parts = diagram(DIAGRAM, STRIP, reliability, level=level, counted=counted)
    return svg.picture(svg.PANEL, HEIGHT, words, *parts)


def diagram(
    axes: svg.Axes,
    strip: tuple[float, float, float, float],
    reliability: Reliability,
    ticks: Sequence[float] = TICKS,
    *,
    most: int | None = None,
    level: float = 0.95,
    moved: bool = False,
    counted: str | None = None,
) -> list[str]:
    """The bins and the diagonal on `axes`, and the counts (log) on the rectangle `strip`.

    most: samples that the strip has room for; by default those of `reliability`. moved: whether a
        page's script moves the parts, so that all of them must be there.

    Empty bins are not drawn. A line stands at the accuracy of a bin; from there to its mean
    confidence the gap is hatched or dotted. Bins with hardly any samples, see `hardly_any`, are
    faded and their edges dashed. Of weighted rows the strip has the number of equal rows that say
    as much. counted: what is counted, such as "answers"; by default images.
    """
    bins = _bins(reliability, level)
    total = sum(b["count"] for b in bins)
    few = [b for b in bins if hardly_any(b["count"], total)]
    veil = [_gap(b) for b in few]
    over = [b for b in bins if b["confidence"] > b["accuracy"]]
    under = [b for b in bins if b["confidence"] <= b["accuracy"]]
    middles = [((b["left"] + b["right"]) / 2, b["low"], b["high"]) for b in bins]
    levels = [(b["left"], b["right"], b["accuracy"]) for b in bins]
    width = svg.WIDTH if len(reliability.counts) <= FEW else 1  # thin where bins are narrow
    pale = {"stroke_opacity": 0.35} if len(reliability.counts) >= FINE else {}
    return [
        axes.bars(map(_gap, over), **svg.fill(OVER), class_="over"),
        axes.bars(map(_gap, under), **svg.fill(UNDER), class_="under"),
        *([axes.bars(veil, **VEIL)] if veil or moved else []),
        axes.whiskers(middles, stroke=BLACK, stroke_width=width, class_="interval", **pale),
        axes.line(0, 0, 1, 1, **svg.stroke(DIAGONAL, 1.5)),
        axes.levels(levels, **svg.stroke(ACCURACY, THICK), class_="accuracy"),
        axes.frame("", "accuracy (%)", (), ticks),
        _count_strip(strip, bins, ticks, most, counted_words(reliability, counted)),
    ]


def hardly_any(count: float, total: float) -> bool:
    """Whether a bin has too few samples to be looked at: less than 10, and than 1 in 100.

    >>> hardly_any(5, 10_000), hardly_any(4, 500), hardly_any(6, 500)
    (True, True, False)
    """
    return count < min(10, total / 100)


def legend(x: float, y: float, level: float = 0.95, accuracy: str = ACCURACY.words) -> list[str]:
    """What the parts of a diagram are, one below the other from the line y on.

    accuracy: what its lines are called, where a line beside them has that name.
    """
    whisker = svg.tag("path", d=f"M{x + 12:.1f},{y + 49:.1f}v16", stroke=BLACK, stroke_width=2)
    return [
        svg.line_key(ACCURACY.named(accuracy), x, y, marked=False),
        svg.area_key(OVER, x, y + 20),
        svg.area_key(UNDER, x, y + 40),
        whisker + svg.text(x + 32, y + 61, f"{level * 100:g} % interval", anchor="start"),
    ]


def pooled(diagrams: Sequence[Reliability]) -> Reliability:
    """Diagrams over the same edges, such as those of several seeds, counted as one.

    Raises ValueError for no diagram or for different edges.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> pooled([r, r]).counts.tolist()
    [0, 0, 2, 0, 2]
    """
    if not diagrams:
        raise ValueError("diagrams must hold at least 1 diagram, got none")
    return functools.reduce(operator.add, diagrams)


def _gap(b: dict) -> tuple[float, float, float, float]:
    return b["left"], b["right"], b["accuracy"], b["confidence"]


def _bins(r: Reliability, level: float) -> list[dict]:
    """The non-empty bins, each with its numbers by name."""
    low, high = r.interval(level)
    columns = {"left": r.edges[:-1], "right": r.edges[1:], "count": r.effective, "low": low}
    columns |= {"high": high, "confidence": r.confidence, "accuracy": r.accuracy}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    bins = [dict(zip(columns, row, strict=True)) for row in rows]
    return [b for b in bins if b["count"] > 0]


def counted_words(reliability: Reliability, counted: str | None = None) -> str:
    """What a strip of counts counts."""
    if reliability.squares is not None:
        return "effective (log)"
    return f"{counted} (log)" if counted else COUNTS.words


def ceiling_of(samples: float) -> int:
    """Where the axis of the counts ends.

    >>> ceiling_of(5000)
    10000
    """
    return 10 ** len(str(int(samples)))


def _count_strip(
    place: tuple[float, float, float, float],
    bins: list[dict],
    x_ticks: Sequence[float],
    most: int | None,
    words: str,
) -> str:
    """Counts on a log axis, from half a sample up: a bin of one is still seen beside thousands."""
    ceiling = ceiling_of(sum(b["count"] for b in bins) if most is None else most)
    axes = svg.Axes(*place, y_range=(0.5, ceiling), log_y=True)
    bars = [(b["left"], b["right"], 0.5, b["count"]) for b in bins]
    top = 100 if ceiling > 100 else 10  # a longer number would reach the label
    ticks = (1, top) if axes.height >= LEGIBLE else (top,)
    drawn = axes.bars(bars, fill=COUNTS.colour, stroke="#FFFFFF", class_="count")
    return drawn + axes.frame("confidence (%)", words, x_ticks, ticks)
