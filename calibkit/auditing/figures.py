"""The pictures of an audit as SVG, each with a text made from its data."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from calibkit.metrics import Reliability
from calibkit.pictures import svg
from calibkit.pictures.palette import ACCURACY, BLACK, DIAGONAL, OVER, TRAINED, UNDER
from calibkit.pictures.panels import curve
from calibkit.pictures.svg_diagram import diagram_panel, legend

if TYPE_CHECKING:
    import pandas as pd

POINTS = 240  # of a curve: more are not seen
PLOT = svg.Axes(left=60, top=30, width=268, height=240)
TICKS = (0, 0.25, 0.5, 0.75, 1)
RISKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # where a risk axis may end
ROW = 26  # pixels of a line in the picture of groups


def figure(picture: str, text: str) -> str:
    """A picture that is read out as `text`."""
    return f'<figure><div role="img" aria-label="{escape(text)}">{picture}</div></figure>'


EVENT = {  # the words of a diagram of an event for those of the predicted class
    ">confidence (%)<": ">predicted (%)<",
    ">accuracy (%)<": ">share with the event (%)<",
    f">{ACCURACY.words}<": ">share with the event<",
    f">{OVER.words}<": ">predicted too high<",
    f">{UNDER.words}<": ">predicted too low<",
}


def reliability(
    counted: Reliability, title: str, level: float = 0.95, *, of_event: bool = False
) -> str:
    """The reliability diagram as every lesson draws it; of_event: of the chance of an event."""
    drawn = diagram_panel(counted, title, level, counted="samples")
    return figure(_reworded(drawn, of_event), _in_words(counted, title, level, of_event))


def _reworded(drawn: str, of_event: bool) -> str:
    for words, others in EVENT.items() if of_event else ():
        drawn = drawn.replace(words, others)
    return drawn


def keys(level: float = 0.95, *, of_event: bool = False) -> str:
    """The legend of the diagrams."""
    look = svg.stroke(DIAGONAL, 1.5)
    diagonal = svg.tag("path", d="M10,112h24", **look)
    diagonal += svg.text(42, 116, DIAGONAL.words, anchor="start")
    seen, said = ("how often the event came", "the prediction") if of_event else (
        "accuracy", "confidence"
    )  # fmt: skip
    text = f"Legend: blue lines are {seen}, hatched the part by which {said} exceeds it, dotted"
    text += f" the part by which it falls short, upright lines {level * 100:g} % intervals."
    drawn = svg.picture(190, 126, *legend(10, 30, level), diagonal)
    return figure(_reworded(drawn, of_event), text)


def _in_words(counted: Reliability, title: str, level: float, of_event: bool) -> str:
    filled = counted.counts > 0
    said, came = counted.confidence[filled], counted.accuracy[filled]
    low, high = (end[filled] for end in counted.interval(level))
    outside, over = int(((said < low) | (said > high)).sum()), int((said > came).sum())
    head = f"Reliability diagram, {title}: {len(said)} filled bins, in {over} of them the "
    if of_event:
        return head + (
            f"event came more seldom than predicted, and in {outside} the prediction lies outside "
            f"the {level * 100:g} % interval of how often it came. The first bin predicts "
            f"{said[0]:.1%} and it came in {came[0]:.1%}; the last bin predicts {said[-1]:.1%} and "
            f"it came in {came[-1]:.1%}."
        )
    worst = int((said - came).abs().mul(counted.share[filled]).argmax())
    return head + (
        f"accuracy is below the confidence, and in {outside} the confidence lies outside the "
        f"{level * 100:g} % interval of the accuracy. The bin that weighs most in the ECE says "
        f"{said[worst]:.1%} and is right {came[worst]:.1%}; the last bin says {said[-1]:.1%} and "
        f"is right {came[-1]:.1%}."
    )


def coverage(share: np.ndarray, risk: np.ndarray) -> str:
    """The risk-coverage curve, with the risk of answering everything as a line across."""
    some = np.unique(np.linspace(0, len(risk) - 1, min(len(risk), POINTS)).round().astype(int))
    top = next(end for end in RISKS if end >= risk[some].max() or end == RISKS[-1])
    axes = svg.Axes(PLOT.left, PLOT.top, PLOT.width, PLOT.height, (0, 1), (0, top))
    look = svg.stroke(TRAINED, 2.5)
    words = svg.text(PLOT.left + PLOT.width / 2, 19, "Risk of the surest part", size=14)
    drawn = svg.picture(
        svg.PANEL,
        int(PLOT.top + PLOT.height + 50),
        words,
        axes.line(0, float(risk[-1]), 1, float(risk[-1]), **svg.stroke(DIAGONAL, 1.5)),
        curve(share[some], risk[some], **look)(axes),
        axes.frame("coverage: share answered (%)", "share wrong (%)", TICKS, (0, top / 2, top)),
    )
    half = risk[max(0, round(len(risk) / 2) - 1)]
    text = (
        f"Risk-coverage curve: of all samples {risk[-1]:.1%} are wrong, of the surer half "
        f"{half:.1%}, of the surest tenth {risk[max(0, round(len(risk) / 10) - 1)]:.1%}. "
        f"A dashed line marks the risk of answering everything."
    )
    return figure(drawn, text)


def gaps(table: pd.DataFrame, level: float) -> str:
    """A line a group: its signed gap with its interval, over-confident to the right of 0."""
    names, gap, low, high = (table[name].tolist() for name in ("name", "gap", "low", "high"))
    ends = np.array([*low, *high, *gap, 0.0])
    reach = float(np.nanmax(np.abs(ends))) * 1.1 or 0.01
    tick = float(f"{reach / 1.5:.1g}")
    axes = svg.Axes(132, 34, svg.PANEL - 142, ROW * len(names), (-reach, reach), (len(names), 0))
    parts = [axes.line(0, 0, 0, len(names), **svg.stroke(DIAGONAL, 1.5))]
    for place, (name, at, lo, hi) in enumerate(zip(names, gap, low, high, strict=True)):
        role, y = OVER if at > 0 else UNDER, place + 0.5
        short = name if len(name) <= 17 else f"{name[:16]}…"
        if np.isfinite(lo) and np.isfinite(hi):
            parts.append(axes.line(float(lo), y, float(hi), y, stroke=BLACK, stroke_width=2))
        parts.append(svg.marker(role, axes.x(float(at)), axes.y(y)))
        parts.append(svg.text(124, axes.y(y) + 4, short, anchor="end"))
    frame = axes.frame("confidence less accuracy (points)", "", (-tick, 0, tick), ())
    head = svg.text(axes.x(-reach), 20, "under-confident", anchor="start")
    head += svg.text(axes.x(reach), 20, "over-confident", anchor="end")
    drawn = svg.picture(svg.PANEL, int(axes.top + axes.height + 44), head, *parts, frame)
    told = "; ".join(f"{name} {at:+.1%}" for name, at in zip(names, gap, strict=True))
    return figure(drawn, f"Signed gap of each group with its {level * 100:g} % interval: {told}.")
