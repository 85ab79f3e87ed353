"""A training as a film: what the network says of its training and of its test images."""

from __future__ import annotations

import pandas as pd

from calibkit import validate
from calibkit.metrics import Reliability
from calibkit.pictures import palette, panels, svg
from calibkit.pictures.reliability import legend_panel
from calibkit.pictures.svg import Frame

TEST, TRAINING = palette.group(0, "test"), palette.group(1, "training")
EXACT = palette.TRUTH.named("exact posterior")
SCALE = 1.3  # three plots fill the width of a lesson


def film_frame(
    history: pd.DataFrame,
    training: Reliability,
    test: Reliability,
    epoch: int,
    *,
    exact_nll: float,
    ceiling: float = 2.5,
) -> Frame:
    """Both reliability diagrams after an epoch, beside the NLL of both against the epoch.

    history: a row an epoch, with epoch and, for "train" and "test", NAME_nll, NAME_accuracy and
        NAME_confidence, as a run has them that watched both.
    exact_nll: the NLL of the exact posterior on the test images, in nats.
    ceiling: the largest NLL that is drawn.

    Raises ValueError for an epoch that the history does not have.

    >>> from calibkit import metrics
    >>> r = metrics.reliability([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=5)
    >>> columns = {f"{n}_{m}": [0.5, 0.4] for n in ("train", "test")
    ...            for m in ("nll", "accuracy", "confidence")}
    >>> history = pd.DataFrame({"epoch": [1, 2]} | columns)
    >>> film_frame(history, r, r, 2, exact_nll=0.1).readout[:49]
    'after epoch 2: training images 40.0 % right, mean'
    """
    validate.choice("epoch", epoch, tuple(history.epoch.tolist()))
    row = history[history.epoch == epoch].iloc[0]
    drawn = [
        panels.reliability_plot("training images", training),
        panels.reliability_plot("test images", test),
        _losses(history, row, exact_nll, ceiling),
    ]
    words = (
        f"training images {_pair(row, 'train')}; test images {_pair(row, 'test')}; "
        f"test NLL {row.test_nll:.2f}"
    )
    return panels.frame(
        drawn, title=f"after epoch {epoch}", readout=words, scale=SCALE, keys=(legend_panel(),)
    )


def _pair(row: pd.Series, name: str) -> str:
    right, sure = row[f"{name}_accuracy"], row[f"{name}_confidence"]
    return f"{100 * right:.1f} % right, mean confidence {100 * sure:.1f} %"


def _losses(history: pd.DataFrame, row: pd.Series, exact: float, ceiling: float) -> panels.Panel:
    """The NLL over the epochs, with markers at the epoch that is shown."""
    first, last = int(history.epoch.min()), int(history.epoch.max())
    pairs = ((TEST, "test_nll"), (TRAINING, "train_nll"))
    curves = [panels.curve(history.epoch, history[name], **svg.stroke(r)) for r, name in pairs]
    level = panels.curve((first, last), (exact, exact), **svg.stroke(EXACT))
    keys = [_key(r, place) for place, r in enumerate((TEST, TRAINING, EXACT))]
    here = [_marker(r, row.epoch, row[name]) for r, name in pairs]
    return panels.plot(
        "NLL over the epochs",
        [level, *curves, *keys, *here],
        x_label="epoch",
        y_label="NLL",
        x_ticks=(first, last),
        y_ticks=(0, ceiling / 2, ceiling),
    )


def _key(role: palette.Role, place: int) -> panels.Mark:
    """An entry of the legend, in the upper right, where no curve is after the first epochs."""
    return lambda axes: svg.line_key(role, axes.left + 26, axes.top + 18 + 18 * place)


def _marker(role: palette.Role, x: float, y: float) -> panels.Mark:
    return lambda axes: svg.marker(role, axes.x(x), axes.y(y))
