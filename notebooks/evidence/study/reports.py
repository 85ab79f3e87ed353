"""What an experiment's runs say: verdicts, the table in words, and its stored form."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from calibkit.course.experiments.tables import stem
from calibkit.course.verdicts import Verdict
from study.engine import named
from study.experiment import Result

# The columns that are shown, in its order, and what it calls them; a new one is shown when it
# stands here.
SHOWN = {
    "train_accuracy": "training accuracy, %",
    "test_accuracy": "accuracy, %",
    "test_ece": "ECE, %",
    "test_gap": "confidence - accuracy, %",
    "test_nll": "NLL",
    "accuracy": "token accuracy, %",
    "ece": "token ECE, %",
    "gap": "confidence - accuracy, %",
    "nll": "NLL",
    "temperature": "T",
    "scaled_ece": "ECE after T, %",
    "common_ece": "ECE, commonest class, %",
    "rare_ece": "ECE, rarest class, %",
    "clean_ece": "ECE, cleanest class, %",
    "noisy_ece": "ECE, noisiest class, %",
    "class_gap": "last - first class, %",
    "gaussian_auroc": "AUROC, Gaussian noise, %",
    "gaussian_scaled_auroc": "AUROC, Gaussian noise, after T, %",
    "noise_confidence": "confidence, pure noise, %",
    "noise_scaled_confidence": "confidence, pure noise, after T, %",
    "elsewhere_auroc": "AUROC, elsewhere, %",
    "elsewhere_scaled_auroc": "AUROC, elsewhere, after T, %",
    "elsewhere_fpr95": "passing at 95 %, %",
    "elsewhere_scaled_fpr95": "passing after T, %",
    "elsewhere_confidence": "confidence, elsewhere, %",
    "elsewhere_scaled_confidence": "confidence, elsewhere, after T, %",
    "greedy": "BLEU, greedy",
    "beam": "BLEU, beam 4",
}


def verdict(name: str, table: pd.DataFrame, *, dataset: str | None = None) -> Verdict:
    """The experiment's claim, judged by the paired differences of a table of runs.

    Raises ValueError for a table without one of the values, or with a single seed.
    """
    return named(name, dataset).main_verdict(table)


def verdicts(name: str, table: pd.DataFrame, *, dataset: str | None = None) -> list[Verdict]:
    """The claim for every step of the grid, or the experiment's claims where it has no steps.

    None for fewer seeds than it takes. Raises as `verdict` does.
    """
    experiment = named(name, dataset)
    if table.seed.nunique() < experiment.least_seeds:
        return []
    return experiment.step_verdicts(table) or experiment.main_verdicts(table)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over seeds as text, in per cent where the head says so.

    The value alone for a single seed.
    """
    runs = table.groupby("value", sort=False)
    spread = {
        head: runs[column].agg(["mean", "std"]) for column, head in SHOWN.items() if column in table
    }
    columns = {
        head: [_text(head, *row) for row in both.to_numpy()] for head, both in spread.items()
    }
    return pd.DataFrame(columns, index=runs.size().index.rename(None))


def _text(head: str, mean: float, std: float) -> str:
    """Both numbers, so that no table breaks them into lines."""
    factor, digits = 100 if head.endswith("%") else 1, 2 if head in ("NLL", "T") else 1
    numbers = [f"{factor * number:.{digits}f}" for number in (mean, std) if not math.isnan(number)]
    return "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}".join(numbers)


def told(result: Result) -> str:
    """The table of a run and its verdicts, the whole and then step by step."""
    experiment, table = result.experiment, result.table.round(6)  # as it is kept
    lines = [f"{experiment.name}, {experiment.dataset}, scale {result.task.scale}, by "
             f"{experiment.varies}; mean ± standard deviation over seeds", ""]  # fmt: skip
    lines += [shown(table).to_string(), ""]
    if (seeds := table.seed.nunique()) < experiment.least_seeds:
        return "\n".join([*lines, f"{seeds} seed(s): no verdict."])
    given = [*experiment.main_verdicts(table), *experiment.step_verdicts(table)]
    return "\n".join([*lines, *map(str, given)])


def write(result: Result, folder: Path) -> Path:
    """Keep the tables as FOLDER/SCALE/NAME.csv; returns the path of that of the runs.

    Parts join their own name: NAME-epochs.csv. Another dataset than the
    kind's usual one, and a network that was asked for, join the name too.
    """
    experiment, task = result.experiment, result.task
    target = Path(folder) / task.scale
    target.mkdir(parents=True, exist_ok=True)
    for name, part in {**result.parts, "": result.table}.items():
        path = target / f"{stem(experiment.name, experiment.dataset, name, task.network)}.csv"
        part.round(5 if name == "epochs" else 6).to_csv(path, index=False)
    return path
