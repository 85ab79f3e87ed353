"""The reliability diagram as an explorer's frame."""

from __future__ import annotations

from calibkit import palette
from calibkit.explorers import svg
from calibkit.explorers.explorer import Frame
from calibkit.metrics import Reliability

TICKS = (0, 0.25, 0.5, 0.75, 1)
DIAGRAM = svg.Axes(left=60, top=34, width=320, height=320)
COUNTS = svg.Axes(left=60, top=400, width=320, height=70)


def reliability_frame(reliability: Reliability, *, title: str, readout: str) -> Frame:
    """Accuracy bars with interval bars, the gap to the confidence, the diagonal, and the counts.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = reliability_frame(r, title="two predictions", readout="ECE 35 %")
    >>> frame.svg.count('class="interval"'), frame.readout
    (2, 'ECE 35 %')
    """
    parts = [
        svg.text(DIAGRAM.left + DIAGRAM.width / 2, 20, title, size=14),
        *diagram(DIAGRAM, COUNTS, reliability),
        *_legend(),
    ]
    description = f"Reliability diagram, {title}. {readout}"
    return Frame(svg.picture(560, 515, *parts, description=description), readout)


def diagram(axes: svg.Axes, strip: svg.Axes, reliability: Reliability) -> list[str]:
    """The bins and the diagonal on `axes`, and the share of samples per bin on `strip` below."""
    bins, total = _bins(reliability), int(reliability.counts.sum())
    return [
        *(_bin(axes, *values) for values in bins),
        axes.line(0, 0, 1, 1, stroke=palette.GREY, stroke_dasharray="5 4"),
        axes.frame("", "accuracy", (), TICKS),
        *(strip.bar(b[0], b[1], 0, b[2] / total, fill=palette.GREY) for b in bins),
        strip.frame("confidence", "share", TICKS, (0, 1)),
    ]


def _bins(r: Reliability) -> list[tuple]:
    """(low edge, high edge, count, confidence, accuracy, interval) of each non-empty bin."""
    low, high = r.interval()
    rows = zip(
        r.edges[:-1].tolist(),
        r.edges[1:].tolist(),
        r.counts.tolist(),
        r.confidence.tolist(),
        r.accuracy.tolist(),
        zip(low.tolist(), high.tolist(), strict=True),
        strict=True,
    )
    return [row for row in rows if row[2] > 0]


def _bin(axes: svg.Axes, left, right, count, confidence, accuracy, interval) -> str:
    middle = (left + right) / 2
    colour = palette.VERMILLION if confidence > accuracy else palette.GREEN
    return "".join(
        [
            axes.bar(left, right, 0, accuracy, fill=palette.SKY, stroke="#FFFFFF"),
            axes.bar(
                left, right, accuracy, confidence, fill=colour, fill_opacity=0.35, stroke=colour
            ),
            axes.line(middle, interval[0], middle, interval[1], stroke_width=2, class_="interval"),
        ]
    )


def _legend() -> list[str]:
    entries = [
        (palette.SKY, 1, "accuracy"),
        (palette.VERMILLION, 0.35, "over-confident gap"),
        (palette.GREEN, 0.35, "under-confident gap"),
    ]
    marks = []
    for i, (colour, opacity, words) in enumerate(entries):
        y = 60 + 22 * i
        marks += [
            svg.tag(
                "rect", x=396, y=y - 10, width=14, height=12, fill=colour, fill_opacity=opacity
            ),
            svg.text(416, y, words, anchor="start"),
        ]
    line = svg.tag("line", x1=403, x2=403, y1=112, y2=128, stroke=palette.BLACK, stroke_width=2)
    return [*marks, line, svg.text(416, 126, "95 % interval", anchor="start")]
