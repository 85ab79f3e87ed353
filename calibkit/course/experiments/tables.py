"""What an experiment's runs say: verdicts, the table, the report, and their stored form."""

from __future__ import annotations

import platform
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch

from calibkit import validate
from calibkit.course import checkout
from calibkit.course.experiments.grids import DEEP, EXPERIMENTS
from calibkit.course.experiments.runs import run
from calibkit.course.experiments.settings import SETTINGS, setting_of
from calibkit.course.verdicts import Verdict, judge
from calibkit.lab import sweep

# per run, over the scored images: columns of the kept table, as fractions
MEASURES = (
    "train_accuracy",
    "test_accuracy",
    "test_ece",
    "test_gap",
    "test_nll",
    "temperature",
    "scaled_ece",
)
MORE = (
    "scaled_nll",
    "grid_temperature",
    "grid_ece",
    "test_smooth_ece",
    "test_classwise_ece",
    "test_brier",
    "test_overconfidence_error",
    "seconds",
)
HEADS = (
    "training accuracy, %",
    "accuracy, %",
    "ECE, %",
    "confidence - accuracy, %",
    "NLL",
    "T",
    "ECE after T, %",
)
FACTORS = (100, 100, 100, 100, 1, 1, 100)
# of single experiments. About classes: ECE of the test images *of* the first and of the last class
# of the seed's order, and the second less the first. About strange images: see
# `runs.with_strange_images`
OWN = {
    "common_ece": "ECE, commonest class, %",
    "rare_ece": "ECE, rarest class, %",
    "clean_ece": "ECE, cleanest class, %",
    "noisy_ece": "ECE, noisiest class, %",
    "class_gap": "last - first class, %",
    "gaussian_auroc": "AUROC, Gaussian noise, %",
    "gaussian_scaled_auroc": "AUROC after T, %",
    "noise_confidence": "confidence, pure noise, %",
    "noise_scaled_confidence": "confidence after T, %",
}
LOOKS = dict(zip(MEASURES, zip(HEADS, FACTORS, strict=True), strict=True))
LOOKS |= {column: (head, 100) for column, head in OWN.items()}
# per epoch of a run, over the test images
HISTORY = (
    "epoch",
    "train_loss",
    "train_accuracy",
    "head_norm",
    "test_accuracy",
    "test_confidence",
    "test_nll",
    "test_nll_correct",
    "test_nll_wrong",
    "test_entropy",
    "test_entropy_correct",
    "test_entropy_wrong",
    "test_feature_norm",
)


def verdict(name: str, table: pd.DataFrame) -> Verdict:
    """The experiment's claim, judged by the paired differences of a table of runs."""
    experiment = EXPERIMENTS[validate.choice("name", name, tuple(EXPERIMENTS))]
    by_seed = table.pivot(index="seed", columns="value", values=experiment.judged[0])
    for value in (experiment.first, experiment.last):
        if value not in by_seed:
            raise ValueError(f"table must hold runs at {value!r}, got {list(by_seed)}")
    differences = (by_seed[experiment.last] - by_seed[experiment.first]).tolist()
    return judge(experiment.claim, experiment.statement, differences, expect=experiment.expect)


def verdicts(name: str, table: pd.DataFrame) -> list[Verdict]:
    """The claim for every step of the grid, or for each value against the first one.

    An ordered grid is judged from value to value in the direction of its claim, so that a rise that
    comes and goes is not hidden behind its ends. Raises as `verdict` does.
    """
    experiment = EXPERIMENTS[validate.choice("name", name, tuple(EXPERIMENTS))]
    column, called = experiment.judged
    by_seed = table.pivot(index="seed", columns="value", values=column)
    values = [value for value in experiment.values if value in by_seed]
    if experiment.ordered:
        forward = values.index(experiment.first) < values.index(experiment.last)
        steps = list(pairwise(values if forward else values[::-1]))
    else:
        steps = [(experiment.first, value) for value in values if value != experiment.first]
    relation = "larger" if experiment.expect == "above" else "smaller"
    return [
        judge(
            experiment.claims.get(right, experiment.claim),
            f"{called} at {experiment.varies} {right} is {relation} than at {left}",
            (by_seed[right] - by_seed[left]).tolist(),
            expect=experiment.expect,
        )
        for left, right in steps
    ]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each measure, a row per value of the grid."""
    own = [column for column in OWN if column in table]
    grouped = table.groupby("value", sort=False)[[*MEASURES, *own]]
    return grouped.agg(["mean", "std"])


def report(
    name: str,
    scale: str,
    table: pd.DataFrame,
    *,
    dataset: str,
    device: str,
    network: str | None = None,
) -> str:
    """A page in Markdown: what was run, where, what came out, and the paper's own figure."""
    experiment = EXPERIMENTS[name]
    setting = setting_of(scale, experiment.changes, network)
    recipe, rows = setting.recipe, shown(table)
    lines = [
        f"# {name}, {dataset}, scale {scale}",
        "",
        *in_markdown(experiment.varies, rows.rename({DEEP: f"{DEEP} ({setting.network})"})),
    ]
    seeds = table.seed.nunique()
    sizes = f"{setting.train or 'all other'} training, {setting.calibration} calibration"
    named = "the networks named" if experiment.varies == "network" else setting.network
    tested = f"{setting.test} held-out training images" if setting.test else "the test images"
    lines += [
        "",
        f"Mean ± standard deviation over {seeds} seeds. Training accuracy is that of the last "
        "epoch as it was met: on noisy labels where there are any, under mixup on blends.",
        "",
        *_judged(name, table),
        "",
        f"Source: {experiment.figure}.",
        "",
        f"- Network and training: {named}, {recipe.epochs} epochs of "
        f"{sizes} images, tested on {tested}; batch {recipe.batch_size}, "
        f"lr {recipe.lr:g} ({recipe.schedule}), weight decay {recipe.weight_decay:g}, "
        f"{'crops and flips' if recipe.augment else 'no augmentation'}"
        f"{', bfloat16' if recipe.autocast else ''}.",
        f"- Seconds a run: {table.seconds.median():.0f} (median).",
        f"- Hardware: {hardware(device)}.",
        f"- Versions: Python {platform.python_version()}, torch {torch.__version__}.",
        f"- Again: `python -m calibkit reproduce {name} --scale {scale} --dataset {dataset}"
        f"{f' --network {network}' if network else ''}`",
        "",
    ]
    return "\n".join(lines)


def _judged(name: str, table: pd.DataFrame) -> list[str]:
    if table.seed.nunique() < 2:
        return ["One seed: no verdict."]
    lines = [str(verdict(name, table)), "", "Step by step:", ""]
    return lines + [f"- {step}" for step in verdicts(name, table)]


def hardware(device: str) -> str:
    """What a report says of the machine."""
    if str(device).startswith("cuda"):
        return torch.cuda.get_device_name(device)
    kind = "CPU" if str(device) == "cpu" else str(device)
    return f"{kind} {platform.machine()}, {torch.get_num_threads()} threads"


def on_photographs(name: str, scale: str, *, device=None) -> pd.DataFrame:
    """One row a run of the experiment, for a lesson: trained at "gpu" and "paper", else as stored.

    A laptop would need hours: at the other scales this is the table under notebooks/results/night,
    or /laptop where there is none, with its hardware and n beside it. Raises as `run` and `stored`
    do.
    """
    if scale in ("gpu", "paper"):
        return run(name, scale, device=device).table
    results = checkout.results()
    kept = "night" if (results / "night" / f"{name}.csv").exists() else "laptop"
    return stored(name, kept, results)


class Photographed(NamedTuple):
    """What the stored table of one experiment says of its claim."""

    scale: str
    whole: Verdict  # of the ends of the grid
    steps: list[Verdict]


def photographed(folder: Path) -> dict[str, list[Photographed]]:
    """Per claim what the stored tables of CIFAR-10 say, of each experiment the largest scale."""
    found: dict[str, list[Photographed]] = {}
    for name in EXPERIMENTS:
        scales = [scale for scale in SETTINGS if (folder / scale / f"{name}.csv").exists()]
        if scales:
            table = stored(name, scales[-1], folder)
            whole, steps = verdict(name, table), verdicts(name, table)
            for claim in dict.fromkeys(step.claim for step in steps):
                own = [step for step in steps if step.claim == claim]
                found.setdefault(claim, []).append(Photographed(scales[-1], whole, own))
    return found


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over seeds as text; accuracy, gap and ECE in per cent."""
    spread = summary(table)
    columns = {
        head: [
            plus_minus(factor * mean, factor * std, 1 if factor == 100 else 2)
            for mean, std in spread[measure].itertuples(index=False)
        ]
        for measure, (head, factor) in LOOKS.items()
        if measure in spread
    }
    return pd.DataFrame(columns, index=spread.index.rename(None))


def plus_minus(mean: float, std: float, digits: int) -> str:
    """Both as text that no table breaks into lines."""
    return f"{mean:.{digits}f}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{std:.{digits}f}"


def in_markdown(varies: str, rows: pd.DataFrame) -> list[str]:
    """The lines of a table of texts; `varies` is what its index is called."""
    return [
        f"| {varies} | {' | '.join(rows)} |",
        "|---" * (len(rows.columns) + 1) + "|",
        *(f"| {value} | {' | '.join(row)} |" for value, *row in rows.itertuples()),
    ]


def stored(
    name: str, scale: str, folder: Path | None = None, *, dataset: str = "cifar10", part: str = ""
) -> pd.DataFrame:
    """The table of an earlier run; raises FileNotFoundError with the command that makes it.

    folder: notebooks/results of the course by default. part: "epochs" for the `HISTORY` of every
        run, one row an epoch.
    """
    folder = checkout.results() if folder is None else folder
    stem = _stem(name, dataset)
    path = folder / scale / f"{stem}-{part}.csv" if part else folder / scale / f"{stem}.csv"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there; run python -m calibkit reproduce {name} --scale {scale} "
            f"--dataset {dataset}"
        )
    return pd.read_csv(path)


def write(
    name: str,
    scale: str,
    done: sweep.Sweep,
    folder: Path,
    *,
    dataset: str,
    device,
    network: str | None = None,
) -> Path:
    """Keep the runs as FOLDER/SCALE/NAME.csv and the report beside it; returns the report.

    NAME-epochs.csv has the `HISTORY` of every training. Another dataset than CIFAR-10, and a
    network that was asked for, join the name.
    """
    target = folder / scale
    target.mkdir(parents=True, exist_ok=True)
    stem = _stem(name, dataset, network)
    own = [column for column in OWN if column in done.table]
    columns = ["value", "seed", *MEASURES, *MORE, *own]
    kept = done.table[columns].round(6)  # the report tells what is kept, to the last digit
    kept.to_csv(target / f"{stem}.csv", index=False)
    trained = done.outcomes
    if EXPERIMENTS[name].corrupts:  # the others are the same networks
        trained = done.where(value=trained[0].setting["value"])
    histories = [outcome.history[list(HISTORY)].assign(**outcome.setting) for outcome in trained]
    curves = pd.concat(histories)[["value", "seed", *HISTORY]]
    curves.round(5).to_csv(target / f"{stem}-epochs.csv", index=False)
    page = target / f"{stem}.md"
    text = report(name, scale, kept, dataset=dataset, device=str(device), network=network)
    page.write_text(text, encoding="utf-8")
    return page


def _stem(name: str, dataset: str, network: str | None = None) -> str:
    parts = [name, "" if dataset == "cifar10" else dataset, network or ""]
    return "-".join(filter(None, parts))
