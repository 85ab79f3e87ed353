"""The lessons' experiments on photographs: one grid each, at the scale of a laptop or of a paper.

`run` trains, `report` says what came out, with hardware, versions and n, beside the figure of the
paper that it follows; `python -m calibkit reproduce NAME --scale SCALE` does both.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from calibkit import (
    augmentation,
    claims,
    course,
    curation,
    data,
    losses,
    metrics,
    mixing,
    models,
    recalibration,
    sweep,
    training,
    validate,
)
from calibkit.data import Dataset, Splits
from calibkit.training import Recipe, Trial

STEPS_OF_C = (150 / 350, 250 / 350)
# per run, over the scored images: columns of the reported table, as fractions
MEASURES = (
    "train_accuracy",
    "test_accuracy",
    "test_ece",
    "test_gap",
    "test_nll",
    "temperature",
    "scaled_ece",
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


@dataclass(frozen=True)
class Setting:
    """How one scale trains on photographs.

    network: a name in `NETWORKS`.
    train, calibration, test: images; None stands for all that are left, or for the dataset's own
        test set. A number of test images is cut from the training images.
    """

    network: str
    recipe: Recipe
    train: int | None
    calibration: int
    test: int | None
    seeds: int


CROP_FLIP = augmentation.crop_flip
NETWORKS = {  # from channels and classes to a model
    "LeNet-5": models.lenet5,
    "ResNet-8": functools.partial(models.resnet, 8),
    "ResNet-18": models.resnet18,
    "ResNet-34": models.resnet34,
    "ResNet-50": models.resnet50,
    "ResNet-110": functools.partial(models.resnet, 110),
}
SETTINGS = {
    # small batches and no augmentation, so that 25 epochs go far in learning the images by heart
    "laptop": Setting(
        "ResNet-8", Recipe(epochs=25, batch_size=32, lr=0.05), 2_500, 1_000, 5_000, 3
    ),
    "gpu": Setting(
        "ResNet-18", Recipe(epochs=30, augment=CROP_FLIP, autocast=True), None, 5_000, None, 3
    ),
    "paper": Setting("ResNet-50", Recipe(epochs=160, augment=CROP_FLIP), None, 5_000, None, 5),
}


@dataclass(frozen=True)
class Experiment:
    """One lesson's grid on photographs, and the claim that it tests.

    values, few: the grid, and the part of it that a laptop runs.
    change: from the training images, a value of the grid and a seed to the images and settings
        that this value stands for; among them "times", a factor of the epochs, and "network".
    statement: what is claimed of ECE at `last` against ECE at `first`; `expect` is its direction.
    paper: settings that the source paper changes against `SETTINGS["paper"]`.
    """

    lesson: str
    claim: str
    varies: str
    values: tuple
    few: tuple
    change: Callable[[Dataset, Any, int], tuple[Dataset, Mapping[str, Any]]]
    statement: str
    first: Any
    last: Any
    expect: str
    figure: str
    paper: Mapping[str, Any] | None = None


DEEP = "the deep network"  # the one that the scale's setting names


def _network(train: Dataset, network: str, seed: int):
    return train, {} if network == DEEP else {"network": network}


def _size(train: Dataset, fraction: float, seed: int):
    """Equal numbers of steps: a tenth of the images is passed over ten times as often."""
    chosen = curation.subset(train.labels, fraction, seed=seed, stratified=False)
    return train[chosen], {"times": 1 / fraction}


def _noise(train: Dataset, rate: float, seed: int):
    noisy = curation.symmetric_noise(train.labels, rate, classes=train.num_classes, seed=seed)
    return train.with_labels(noisy.labels), {}


LOSSES = {
    "cross-entropy": nn.functional.cross_entropy,
    "focal, gamma 1": functools.partial(losses.focal, gamma=1.0),
    "focal, gamma 2": functools.partial(losses.focal, gamma=2.0),
    "focal, gamma 3": functools.partial(losses.focal, gamma=3.0),
    "FLSD-53": losses.flsd,
}


def _focal(train: Dataset, loss: str, seed: int):
    return train, {"loss": LOSSES[loss]}


def _mixup(train: Dataset, alpha: float, seed: int):
    return train, {"mix": functools.partial(mixing.mixup, alpha=alpha) if alpha else None}


EXPERIMENTS = {
    "depth": Experiment(
        lesson="03",
        claim="O1",
        varies="network",
        values=("LeNet-5", DEEP),
        few=("LeNet-5", DEEP),
        change=_network,
        statement="the deep network has a larger ECE than LeNet-5",
        first="LeNet-5",
        last=DEEP,
        expect="above",
        figure="CIFAR-100 (`--dataset cifar100`): ECE 4.85 % for LeNet-5, 16.53 % for ResNet-110 "
        "(Guo et al. 2017, table 1)",
        paper={"network": "ResNet-110"},
    ),
    "size": Experiment(
        lesson="05",
        claim="D1",
        varies="fraction of the training images",
        values=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        few=(0.1, 1.0),
        change=_size,
        statement="a tenth of the images gives a larger ECE than all, at equal steps",
        first=1.0,
        last=0.1,
        expect="above",
        figure="curves only (Dataset Curation Beyond Accuracy, figure 4)",
    ),
    "noise": Experiment(
        lesson="06",
        claim="D3",
        varies="share of labels shuffled",
        values=(0.0, 0.1, 0.2, 0.3, 0.4),
        few=(0.0, 0.2, 0.4),
        change=_noise,
        statement="label noise .4 gives a larger ECE than none",
        first=0.0,
        last=0.4,
        expect="above",
        figure="curves only (Dataset Curation Beyond Accuracy, figure 2)",
    ),
    "focal": Experiment(
        lesson="10",
        claim="F5",
        varies="loss",
        values=tuple(LOSSES),
        few=("cross-entropy", "focal, gamma 3"),
        change=_focal,
        statement="focal loss with gamma 3 gives a smaller ECE than cross-entropy",
        first="cross-entropy",
        last="focal, gamma 3",
        expect="below",
        figure="table 1, all datasets and networks: T, by a grid on ECE, 2.0 to 2.8 for "
        "cross-entropy and MMCE, mostly .9 to 1.1 for sample-dependent focal loss (Mukhoti et al. "
        "2020, section 5); the T above minimises the NLL",
        # the weight decay is that of the authors' code; the paper's text has none
        paper={"epochs": 350, "milestones": STEPS_OF_C, "weight_decay": 5e-4},
    ),
    "mixup": Experiment(
        lesson="12",
        claim="X1",
        varies="alpha",
        values=(0.0, 0.1, 0.3, 1.0),
        few=(0.0, 0.1, 1.0),
        change=_mixup,
        statement="mixup with alpha .1 gives a smaller ECE than none",
        first=0.0,
        last=0.1,
        expect="below",
        figure="ResNet-34, CIFAR-10, alpha .1: ECE 4.1 to 2.1 %, accuracy 94.1 to 95.1 % "
        "(Tata et al. 2022, table 1)",
        paper={
            "network": "ResNet-34",
            "epochs": 200,
            "lr": 0.01,
            "schedule": "cosine",
            "weight_decay": 5e-4,
        },
    ),
}


def run(
    name: str,
    scale: str,
    *,
    dataset: str = "cifar10",
    seeds: Sequence[int] | None = None,
    values: Sequence | None = None,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
    jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: bool = True,
) -> sweep.Sweep:
    """Train the grid of experiment `name` on a prepared dataset; see `sweep.run`.

    `values` and `seeds` take the place of the experiment's own. The table has the `MEASURES`:
    `temperature` minimises the NLL on the calibration images, `scaled_ece` is ECE after it.

    Raises ValueError for a name or scale that there is not, FileNotFoundError, with the command
    that fetches it, for a dataset that is not prepared.
    """
    experiment = EXPERIMENTS[validate.choice("name", name, tuple(EXPERIMENTS))]
    setting = _setting(experiment, validate.choice("scale", scale, tuple(SETTINGS)))

    @functools.cache
    def splits(seed: int) -> Splits:
        return _splits(dataset, setting, seed, root)

    def recipe(value, seed: int) -> Trial:
        return _trial(experiment, setting, splits(seed), value, seed)

    chosen = range(setting.seeds) if seeds is None else seeds
    own = experiment.few if scale == "laptop" else experiment.values
    grid = {"value": own if values is None else values, "seed": chosen}
    done = sweep.run(recipe, grid, device=device, jobs=jobs, cache=cache, progress=progress)
    done.measure("temperature", lambda o: _scaler(o).temperature)
    return done.measure("scaled_ece", _scaled_ece)


def _setting(experiment: Experiment, scale: str) -> Setting:
    setting = SETTINGS[scale]
    changes = dict(experiment.paper or {}) if scale == "paper" else {}
    network = changes.pop("network", setting.network)
    return replace(setting, network=network, recipe=replace(setting.recipe, **changes))


def _splits(dataset: str, setting: Setting, seed: int, root) -> Splits:
    return data.splits_of(
        dataset,
        seed,
        train=setting.train,
        calibration=setting.calibration,
        test=setting.test,
        test_split=None if setting.test else "test",
        root=root,
    )


def _trial(experiment: Experiment, setting: Setting, splits: Splits, value, seed: int) -> Trial:
    train, changes = experiment.change(splits.train, value, seed)
    changes = dict(changes)
    epochs = round(setting.recipe.epochs * changes.pop("times", 1))
    network = NETWORKS[changes.pop("network", setting.network)]
    sized = {"size": train.inputs.shape[-1]} if network is models.lenet5 else {}
    channels, classes = train.inputs.shape[1], train.num_classes
    return training.trial(
        functools.partial(network, channels, classes, **sized),
        train,
        {"calibration": splits.calibration, "test": splits.test},
        setting.recipe,
        seed=seed,
        epochs=epochs,
        **changes,
    )


def _scaler(outcome: sweep.Outcome) -> recalibration.TemperatureScaler:
    said = outcome.predictions["calibration"]
    return recalibration.TemperatureScaler().fit(said.logits, said.labels)


def _scaled_ece(outcome: sweep.Outcome) -> float:
    said = outcome.predictions["test"]
    return metrics.ece(_scaler(outcome).transform(said.logits).softmax(dim=1), said.labels)


# --- what came out -------------------------------------------------------------------------------


def verdict(name: str, table: pd.DataFrame) -> claims.Verdict:
    """The experiment's claim, judged by the paired differences of a table of runs."""
    experiment = EXPERIMENTS[validate.choice("name", name, tuple(EXPERIMENTS))]
    by_seed = table.pivot(index="seed", columns="value", values="test_ece")
    for value in (experiment.first, experiment.last):
        if value not in by_seed:
            raise ValueError(f"table must hold runs at {value!r}, got {list(by_seed)}")
    differences = (by_seed[experiment.last] - by_seed[experiment.first]).tolist()
    return claims.verdict(
        experiment.claim, experiment.statement, differences, expect=experiment.expect
    )


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each measure, a row per value of the grid."""
    grouped = table.groupby("value", sort=False)[list(MEASURES)]
    return grouped.agg(["mean", "std"])


def report(name: str, scale: str, table: pd.DataFrame, *, dataset: str, device: str) -> str:
    """A page in Markdown: what was run, where, what came out, and the paper's own figure."""
    experiment, setting = EXPERIMENTS[name], _setting(EXPERIMENTS[name], scale)
    recipe, rows = setting.recipe, shown(table)
    lines = [
        f"# {name}, {dataset}, scale {scale}",
        "",
        f"| {experiment.varies} | {' | '.join(HEADS)} |",
        "|---" * (len(HEADS) + 1) + "|",
    ]
    lines += [
        f"| {f'{value} ({setting.network})' if value == DEEP else value} | {' | '.join(row)} |"
        for value, row in zip(rows.index, rows.to_numpy(), strict=True)
    ]
    seeds = table.seed.nunique()
    sizes = f"{setting.train or 'all other'} training, {setting.calibration} calibration"
    tested = f"{setting.test} held-out training images" if setting.test else "the test images"
    lines += [
        "",
        f"Mean ± standard deviation over {seeds} seeds. Training accuracy is that of the last "
        "epoch as it was met: on noisy labels where there are any, under mixup on blends.",
        "",
        str(verdict(name, table)) if seeds > 1 else "One seed: no verdict.",
        "",
        f"Source: {experiment.figure}.",
        "",
        f"- Network and training: {setting.network}, {recipe.epochs} epochs of "
        f"{sizes} images, tested on {tested}; batch {recipe.batch_size}, "
        f"lr {recipe.lr:g} ({recipe.schedule}), weight decay {recipe.weight_decay:g}, "
        f"{'crops and flips' if recipe.augment else 'no augmentation'}.",
        f"- Hardware: {_hardware(device)}.",
        f"- Versions: Python {platform.python_version()}, torch {torch.__version__}.",
        f"- Again: `python -m calibkit reproduce {name} --scale {scale} --dataset {dataset}`",
        "",
    ]
    return "\n".join(lines)


def _hardware(device: str) -> str:
    if str(device).startswith("cuda"):
        return torch.cuda.get_device_name(device)
    kind = "CPU" if str(device) == "cpu" else str(device)
    return f"{kind} {platform.machine()}, {torch.get_num_threads()} threads"


def on_photographs(name: str, scale: str, *, device=None) -> pd.DataFrame:
    """One row a run of the experiment, for a lesson: trained at "gpu" and "paper", else as stored.

    A laptop would need half an hour: at the other scales this is the table under
    notebooks/results/laptop, with its hardware and n beside it. Raises as `run` and `stored` do.
    """
    if scale in ("gpu", "paper"):
        return run(name, scale, device=device).table
    return stored(name, "laptop", course.root() / "notebooks" / "results")


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over seeds as text; accuracy, gap and ECE in per cent."""
    spread = summary(table)
    return pd.DataFrame(
        {
            head: [
                f"{factor * mean:.1f} ± {factor * std:.1f}"
                if factor == 100
                else f"{mean:.2f} ± {std:.2f}"
                for mean, std in spread[measure].itertuples(index=False)
            ]
            for measure, head, factor in zip(MEASURES, HEADS, FACTORS, strict=True)
        },
        index=spread.index,
    )


def stored(name: str, scale: str, folder: Path) -> pd.DataFrame:
    """The table of an earlier run; raises FileNotFoundError with the command that makes it."""
    path = folder / scale / f"{name}.csv"
    if not path.exists():
        raise FileNotFoundError(
            f"{path} is not there; run python -m calibkit reproduce {name} --scale {scale}"
        )
    return pd.read_csv(path)


def write(name: str, scale: str, done: sweep.Sweep, folder: Path, *, dataset: str, device) -> Path:
    """Keep the runs as FOLDER/SCALE/NAME.csv and the report beside it; returns the report."""
    target = folder / scale
    target.mkdir(parents=True, exist_ok=True)
    columns = ["value", "seed", *MEASURES]
    done.table[columns].round(6).to_csv(target / f"{name}.csv", index=False)
    page = target / f"{name}.md"
    page.write_text(report(name, scale, done.table, dataset=dataset, device=str(device)))
    return page
