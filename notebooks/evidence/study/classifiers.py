"""What is measured of trained classifiers of photographs and of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from calibkit import metrics, recalibration
from calibkit.lab import sweep

# per epoch of a run, over the test images
WATCHED = ["accuracy", "confidence", "nll", "nll_correct", "nll_wrong"]
WATCHED += ["entropy", "entropy_correct", "entropy_wrong", "feature_norm"]
HISTORY = ["epoch", "train_loss", "train_accuracy", "head_norm", *(f"test_{w}" for w in WATCHED)]


def row(outcome: sweep.Outcome) -> dict[str, float]:
    """What the stored table has of a run, in its order, as fractions.

    `temperature` has the least NLL on the calibration data, `grid_temperature` the least ECE on a
    grid; `scaled_` and `grid_` are measures of the test data after them.
    """
    test, calibration = outcome.predictions["test"], outcome.predictions["calibration"]
    probs, labels = test.probs, test.labels
    least_nll = recalibration.TemperatureScaler(method="nll")
    least_ece = recalibration.TemperatureScaler(method="ece_grid")
    scaled, on_grid = (
        scaler.fit(calibration.logits, calibration.labels).transform(test.logits).softmax(dim=1)
        for scaler in (least_nll, least_ece)
    )
    return {
        "train_accuracy": outcome.history.train_accuracy.iloc[-1],
        "test_accuracy": metrics.accuracy(probs, labels),
        "test_ece": metrics.ece(probs, labels),
        "test_gap": metrics.signed_gap(probs, labels),
        "test_nll": metrics.nll(probs, labels),
        "temperature": least_nll.temperature,
        "scaled_ece": metrics.ece(scaled, labels),
        "scaled_nll": metrics.nll(scaled, labels),
        "grid_temperature": least_ece.temperature,
        "grid_ece": metrics.ece(on_grid, labels),
        "test_smooth_ece": metrics.smooth_ece(probs, labels),
        "test_classwise_ece": metrics.classwise_ece(probs, labels),
        "test_brier": metrics.brier(probs, labels),
        "test_overconfidence_error": metrics.overconfidence_error(probs, labels),
        "seconds": outcome.seconds,
    }


def rows(
    outcomes: Sequence[sweep.Outcome],
    more: Callable[[sweep.Outcome, dict[str, float]], dict[str, float]] | None = None,
) -> pd.DataFrame:
    """Value, seed and `row` of each run, and what `more` makes of the outcome and its row."""
    table = []
    for outcome in outcomes:
        measured = row(outcome)
        if more is not None:
            measured |= more(outcome, measured)
        table.append({key: outcome.setting[key] for key in ("value", "seed")} | measured)
    return pd.DataFrame(table)


def epochs(outcomes: Sequence[sweep.Outcome]) -> pd.DataFrame:
    """Value, seed and `HISTORY` of each epoch of each run."""
    histories = [outcome.history[HISTORY].assign(**outcome.setting) for outcome in outcomes]
    return pd.concat(histories)[["value", "seed", *HISTORY]]
