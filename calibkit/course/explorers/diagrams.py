"""Diagrams beside one another, and beside small plots in which a marker moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.pictures import palette, panels, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.svg import Frame
from calibkit.pictures.svg_diagram import diagram_panel, legend_panel

EXACT = palette.TRUTH.named("exact posterior")
TEST, TRAINING = palette.group(0, "test"), palette.group(1, "training")
COOLED = palette.CURED.named("the network")
SCALE = 1.3  # of a film: three plots fill the width of a lesson
NLLS = (0, 1.25, 2.5)  # of a film, up to the largest that is drawn
Row = Mapping[str, float]


def film_frame(
    history: pd.DataFrame,
    training: Reliability,
    test: Reliability,
    epoch: int,
    *,
    exact_nll: float,
) -> Frame:
    """Both reliability diagrams after an epoch, beside the NLL of both against the epoch.

    history: a row an epoch, with epoch and, for "train" and "test", NAME_nll, NAME_accuracy and
        NAME_confidence, as a run has them that watched both; the frame's values are those of the
        row that is shown.
    exact_nll: the NLL of the exact posterior on the test images, in nats.

    Raises ValueError for an epoch that the history does not have.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> columns = {f"{n}_{m}": [0.5, 0.4] for n in ("train", "test")
    ...            for m in ("nll", "accuracy", "confidence")}
    >>> history = pd.DataFrame({"epoch": [1, 2]} | columns)
    >>> film_frame(history, r, r, 2, exact_nll=0.1).readout[:49]
    'after epoch 2: training images 40.0 % right, mean'
    """
    row = _row(history, "epoch", epoch, "epoch")
    pairs = ((TEST, "test_nll"), (TRAINING, "train_nll"))
    ends, ticks = (int(history.epoch.min()), int(history.epoch.max())), NLLS
    marks = [
        _line(EXACT, ends, (exact_nll, exact_nll)),
        *(_line(role, history.epoch, history[name]) for role, name in pairs),
        # in the upper right, where no curve is after the first epochs
        *(_key(role, 26, 18 + 18 * place) for place, role in enumerate((TEST, TRAINING, EXACT))),
        *(_marker(role, row["epoch"], row[name]) for role, name in pairs),
    ]
    labels: dict[str, Any] = {"x_label": "epoch", "y_label": "NLL"}
    drawn = [
        panels.reliability_plot("training images", training),
        panels.reliability_plot("test images", test),
        panels.plot("NLL over the epochs", marks, **labels, x_ticks=ends, y_ticks=ticks),
    ]
    words = (
        f"training images {_pair(row, 'train')}; test images {_pair(row, 'test')}; "
        f"test NLL {row['test_nll']:.2f}"
    )
    title, keys = f"after epoch {epoch}", (legend_panel(),)
    return panels.frame(drawn, title=title, readout=words, scale=SCALE, keys=keys, values=row)


def cooling_frame(
    reliability: Reliability, curves: pd.DataFrame, at: float, *, exact_nll: float
) -> Frame:
    """The reliability diagram at one temperature, beside NLL and ECE at all up to this one.

    curves: a row a temperature, rising, with the columns T, nll, ece and gap; the frame's values
        are those of the row that is shown.
    exact_nll: the NLL of the exact posterior on the same images, in nats.

    Raises ValueError for a temperature that the table does not have.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> table = pd.DataFrame({"T": [1, 2], "nll": [0.9, 0.6], "ece": [0.2, 0.1], "gap": [0.2, 0.1]})
    >>> cooling_frame(r, table, 2, exact_nll=0.3).readout
    'T = 2: signed gap +10.0 %, ECE 10.0 %, NLL 0.600'
    """
    row = _row(curves, "T", at, "at")
    ends = float(curves["T"].min()), float(curves["T"].max())
    level = [_line(EXACT, ends, (exact_nll, exact_nll)), _key(EXACT, 8, 118, marked=False)]
    drawn = [
        panels.reliability_plot("reliability", reliability),
        _against(curves, row, "NLL", (0, 0.5, 1, 1.5), level),
        _against(curves, row, "ECE", (0, 0.1, 0.2), []),
    ]
    gap, ece = 100 * row["gap"], 100 * row["ece"]
    words = f"signed gap {gap:+.1f} %, ECE {ece:.1f} %, NLL {row['nll']:.3f}"
    return panels.frame(drawn, title=f"T = {at:g}", readout=words, values=row)


def rivals_frame(models: Sequence[Reliability], titles: Sequence[str], *, readout: str) -> Frame:
    """The diagrams of two models on one test set, a panel each, and what their parts are.

    Raises ValueError for another number of titles than models.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> frame = rivals_frame([r, r], ["model A", "model B"], readout="A 50 %; B 50 %")
    >>> len(frame.panels), frame.readout
    (3, 'A 50 %; B 50 %')
    """
    validate.same_length("titles", len(titles), len(models), "model")
    drawn = [diagram_panel(one, title) for one, title in zip(models, titles, strict=True)]
    return Frame((*drawn, legend_panel()), readout)


def _row(table: pd.DataFrame, column: str, at: float, argument: str) -> Row:
    """The numbers of the row where `column` is `at`, which the error calls `argument`."""
    validate.choice(argument, at, tuple(table[column].tolist()))
    row = table[table[column] == at].select_dtypes("number").iloc[0]
    return {str(name): float(value) for name, value in row.items()}


def _pair(row: Row, name: str) -> str:
    right, sure = row[f"{name}_accuracy"], row[f"{name}_confidence"]
    return f"{100 * right:.1f} % right, mean confidence {100 * sure:.1f} %"


def _against(
    curves: pd.DataFrame, row: Row, name: str, ticks: Sequence[float], more: list[panels.Mark]
) -> panels.Panel:
    """One measure up to the chosen T, which has a marker; a line at its lowest value so far.

    What lies beyond stays hidden, so that a student can guess it before moving on.
    """
    seen, column = curves[curves["T"] <= row["T"]], name.lower()
    best, ends = float(seen["T"][seen[column].idxmin()]), (ticks[0], ticks[-1])
    marks = [
        *more,
        panels.curve((best, best), ends, stroke=palette.GREY, stroke_dasharray="3 3"),
        _line(COOLED, seen["T"], seen[column]),
        _marker(COOLED, row["T"], row[column]),
    ]
    low, high = float(curves["T"].min()), float(curves["T"].max())
    x_ticks = (low, *(tick for tick in (1, 2, 3, 4) if low < tick < high), high)
    label = "NLL" if name == "NLL" else f"{name} (%)"
    return panels.plot(name, marks, x_label="T", y_label=label, x_ticks=x_ticks, y_ticks=ticks)


def _line(role: Role, x, y) -> panels.Mark:
    return panels.curve(x, y, **svg.stroke(role))


def _marker(role: Role, x: float, y: float) -> panels.Mark:
    return lambda axes: svg.marker(role, axes.x(x), axes.y(y))


def _key(role: Role, right: float, down: float, *, marked: bool = True) -> panels.Mark:
    """An entry of the legend, inside the plot."""
    return lambda axes: svg.line_key(role, axes.left + right, axes.top + down, marked=marked)
