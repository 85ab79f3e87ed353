"""What an experiment's runs say: verdicts, the table, the report, and their stored form."""

from __future__ import annotations

import math
import platform
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch

from calibkit.course.experiments import photograph_runs
from calibkit.course.experiments.tables import stem, stored
from calibkit.course.verdicts import Verdict
from study.engine import named
from study.experiment import Experiment, Result
from study.photograph_grids import EXPERIMENTS
from study.photographs import DEEP, SETTINGS

# The columns that a report shows, in its order, and what it calls them; a new one is shown when it
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


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each measure, a row per value of the grid."""
    columns = [column for column in SHOWN if column in table]
    return table.groupby("value", sort=False)[columns].agg(["mean", "std"])


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over seeds as text, in per cent where the head says so.

    The value alone for a single seed.
    """
    spread = summary(table)
    columns = {
        SHOWN[column]: [_text(SHOWN[column], *row) for row in spread[column].to_numpy()]
        for column in spread.columns.unique(0)
    }
    return pd.DataFrame(columns, index=spread.index.rename(None))


def _text(head: str, mean: float, std: float) -> str:
    """Both numbers, so that no table breaks them into lines."""
    factor, digits = 100 if head.endswith("%") else 1, 2 if head in ("NLL", "T") else 1
    numbers = [f"{factor * number:.{digits}f}" for number in (mean, std) if not math.isnan(number)]
    return "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}".join(numbers)


def report(result: Result) -> str:
    """A page in Markdown: what was run, where, what came out, and the source's own figure."""
    experiment, task, table = result.experiment, result.task, result.table
    rows = shown(table).rename({DEEP: f"{DEEP} ({getattr(task.setting, 'network', '')})"})
    beside = ", on a machine with other work" if experiment.shares_cpu else ""
    points = [
        *experiment.training_points(result),
        f"Seconds a run: {table.seconds.median():.0f} (median{beside})",
        f"Hardware: {hardware(result)}",
        f"Versions: Python {platform.python_version()}, torch {torch.__version__}",
    ]
    network = f" --network {task.network}" if task.network else ""
    lines = [
        f"# {experiment.name}, {experiment.dataset}, scale {task.scale}",
        "",
        f"| {experiment.varies} | {' | '.join(rows)} |",
        "|---" * (len(rows.columns) + 1) + "|",
        *(f"| {value} | {' | '.join(row)} |" for value, *row in rows.itertuples()),
        "",
        experiment.footnote.format(seeds=table.seed.nunique(), table=table, setting=task.setting),
        "",
        *_judged(result),
        "",
        f"Source: {experiment.source}.",
        "",
        *(f"- {point}." for point in points),
        f"- Again: `{_again(experiment, task.scale)}{network}`",
        "",
    ]
    return "\n".join(lines)


def _judged(result: Result) -> list[str]:
    """The lines of the verdicts: the whole, then step by step."""
    experiment, seeds = result.experiment, result.table.seed.nunique()
    if seeds < experiment.least_seeds:
        return ["One seed: no verdict." if seeds == 1 else f"{seeds} seed(s): no verdict."]
    wholes = [str(whole) for whole in experiment.main_verdicts(result.table)]
    steps = [f"- {step}" for step in experiment.step_verdicts(result.table)]
    between = ["", "Step by step:", ""] if wholes and steps else []
    return [*wholes, *between, *steps]


def hardware(result: Result) -> str:
    """What a report says of the machine."""
    device = result.task.device
    if result.experiment.shares_cpu:
        return f"CPU {platform.machine()}, 1 thread"
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    kind = "CPU" if device.type == "cpu" else str(device)
    return f"{kind} {platform.machine()}, {torch.get_num_threads()} threads"


def _again(experiment: Experiment, scale: str) -> str:
    options = experiment.command_options.format(scale=scale, dataset=experiment.dataset)
    return f"python -m calibkit reproduce {experiment.name} {options}"


def write(result: Result, folder: Path) -> Path:
    """Keep the tables as FOLDER/SCALE/NAME.csv and the report beside; returns the report.

    Parts join their own name: NAME-epochs.csv. Another dataset than the
    kind's usual one, and a network that was asked for, join the name too.
    """
    experiment, task = result.experiment, result.task
    target = Path(folder) / task.scale
    target.mkdir(parents=True, exist_ok=True)
    table = result.table.round(6)
    for name, part in {"": table, **result.parts}.items():
        path = target / f"{stem(experiment.name, experiment.dataset, name, task.network)}.csv"
        part.round(5 if name == "epochs" else 6).to_csv(path, index=False)
    page = target / f"{stem(experiment.name, experiment.dataset, network=task.network)}.md"
    text = report(replace(result, table=table))  # it tells what is kept, to the last digit
    page.write_text(text, encoding="utf-8")
    return page


class Photographed(NamedTuple):
    """What the stored table of one experiment says of its claim."""

    scale: str
    whole: Verdict  # of the ends of the grid
    steps: list[Verdict]


def photographed(folder: Path) -> dict[str, list[Photographed]]:
    """Per claim what the stored tables of CIFAR-10 say, of each experiment the largest scale."""
    claims: dict[str, list[Photographed]] = {}
    for name in EXPERIMENTS:
        scales = [scale for scale in SETTINGS if (folder / scale / f"{name}.csv").exists()]
        if name in photograph_runs.SERIES and (folder / photograph_runs.SERIES[name]).exists():
            scales = sorted({*scales, "night"}, key=[*SETTINGS].index)
        if not scales:
            continue
        table = stored(name, scales[-1], folder)
        whole, steps = verdict(name, table), verdicts(name, table)
        for claim in dict.fromkeys(step.claim for step in steps):
            of_claim = [step for step in steps if step.claim == claim]
            claims.setdefault(claim, []).append(Photographed(scales[-1], whole, of_claim))
    return claims
