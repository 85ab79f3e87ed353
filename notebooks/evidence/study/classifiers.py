"""What is measured of trained classifiers of photographs and of texts: one row format."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from calibkit import metrics, recalibration
from calibkit.course.experiments import photograph_runs
from calibkit.lab import sweep
from calibkit.lab.data import Predictions

PLAIN = {
    "accuracy": metrics.accuracy,
    "confidence": lambda probs, _: probs.double().amax(dim=1).mean().item(),
    "ece": metrics.ece,
    "nll": metrics.nll,
}
# what a row has besides, as fractions and nats; the README says what each part of a name stands for
MEASURES = [
    *("train_accuracy", "train_confidence", "train_nll"),
    *("calibration_accuracy", "calibration_confidence", "calibration_ece", "calibration_nll"),
    *("test_accuracy", "test_confidence", "test_ece", "test_nll"),
    *("scaled_temperature", "scaled_ece", "scaled_nll", "scaled_brier"),
    *("grid_temperature", "grid_ece", "grid_nll", "grid_brier"),
    *("test_ada_ece", "test_classwise_ece", "test_smooth_ece", "test_brier"),
    *("test_overconfidence_error", "test_s99", "test_s99_accuracy"),
    "calibration_scaled_nll",  # by which settings are chosen that are compared after T
]
# per epoch of a run, over the test images
WATCHED = ["accuracy", "confidence", "nll", "nll_correct", "nll_wrong"]
WATCHED += ["entropy", "entropy_correct", "entropy_wrong", "feature_norm"]
HISTORY = ["epoch", "train_loss", "train_accuracy", "head_norm", *(f"test_{w}" for w in WATCHED)]


def measures(train: Predictions, calibration: Predictions, test: Predictions) -> dict[str, float]:
    """What a row has of its predictions: `MEASURES`, in their order."""
    row: dict[str, float] = {}
    for name, part in {"train": train, "calibration": calibration, "test": test}.items():
        row |= {
            f"{name}_{what}": measure(part.probs, part.labels) for what, measure in PLAIN.items()
        }
    scalers = {
        "scaled": recalibration.TemperatureScaler(method="nll"),
        "grid": recalibration.TemperatureScaler(method="ece_grid"),
    }
    for name, scaler in scalers.items():
        scaler.fit(calibration.logits, calibration.labels)
        probs = scaler.transform(test.logits).softmax(dim=1)
        row |= {
            f"{name}_temperature": scaler.temperature,
            f"{name}_ece": metrics.ece(probs, test.labels),
            f"{name}_nll": metrics.nll(probs, test.labels),
            f"{name}_brier": metrics.brier(probs, test.labels),
        }
    # what one number was fitted on: to choose by, not to report
    cooled = scalers["scaled"].probs(calibration.logits, allow_fitted=True)
    row["calibration_scaled_nll"] = metrics.nll(cooled, calibration.labels)
    held, hit = metrics.confident_share(test.probs, test.labels)
    row |= {
        "test_ada_ece": metrics.ada_ece(test.probs, test.labels),
        "test_classwise_ece": metrics.classwise_ece(test.probs, test.labels),
        "test_smooth_ece": metrics.smooth_ece(test.probs, test.labels),
        "test_brier": metrics.brier(test.probs, test.labels),
        "test_overconfidence_error": metrics.overconfidence_error(test.probs, test.labels),
        "test_s99": held,
        "test_s99_accuracy": hit,
    }
    return {name: row[name] for name in MEASURES}


def row(outcome: sweep.Outcome) -> dict[str, float]:
    """What the table of an experiment has of a run: some `measures`, named as in `photograph_runs`.

    The training accuracy is that of the last epoch, as it was met.
    """
    test, calibration = outcome.predictions["test"], outcome.predictions["calibration"]
    found = measures(test, calibration, test)  # nothing of the training images is asked for
    found["test_confidence"] -= found["test_accuracy"]
    found["seconds"] = outcome.seconds
    met = {"train_accuracy": outcome.history.train_accuracy.iloc[-1]}
    return met | {new: found[old] for old, new in photograph_runs.AGAIN.items()}


def rows(
    outcomes: Sequence[sweep.Outcome],
    more: Callable[[sweep.Outcome, dict[str, float]], dict[str, float]] | None = None,
) -> pd.DataFrame:
    """Value, seed and `row` of each run, and what `more` makes of the outcome and its row."""
    table = []
    for outcome in outcomes:
        measured = row(outcome)
        measured |= more(outcome, measured) if more else {}
        table.append({key: outcome.setting[key] for key in ("value", "seed")} | measured)
    return pd.DataFrame(table)


def epochs(outcomes: Sequence[sweep.Outcome]) -> pd.DataFrame:
    """Value, seed and `HISTORY` of each epoch of each run."""
    histories = [outcome.history[HISTORY].assign(**outcome.setting) for outcome in outcomes]
    return pd.concat(histories)[["value", "seed", *HISTORY]]
