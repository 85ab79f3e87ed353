"""Label noise on photographs, on seeds of their own: what kappa without it says of the gap with it.

`python -m study.fresh` trains them and keeps the table that lesson 06 reads.
Seeds, rates, the number of images and the margins of the verdicts were fixed before the first run:
no other table has these images or these seeds. In contrast to those tables, the training accuracy
is measured at the end, in evaluation mode, on the labels that were trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from calibkit import metrics
from calibkit.course import checkout
from calibkit.lab import sweep
from calibkit.lab.training import Trial
from study import photographs
from study.engine import named, setting_of, task_of

NAME, SCALE, IMAGES = "noise", "night", 10_000
RATES, SEEDS = (0.0, 0.2, 0.4), (100, 101, 102, 103, 104)
PATH = Path("plane") / "new_photographs.csv"


def train(
    *,
    rates: Sequence[float] = RATES,
    seeds: Sequence[int] = SEEDS,
    scale: str = SCALE,
    images: int = IMAGES,
    root: str | Path | None = None,
    **options,
) -> pd.DataFrame:
    """One row a network: value (the noise rate), seed, its three numbers of the plane, its gap.

    Accuracy and confidence are those on new photographs with clean labels. root: of the prepared
    datasets; options: `jobs`, `cache`, `progress` of `sweep.run`. Raises FileNotFoundError where
    CIFAR-10 is not prepared.
    """
    experiment = named(NAME)
    task = task_of(experiment, scale, root=root)
    setting = replace(setting_of(experiment, scale), train=images)

    def recipe(value: float, seed: int) -> Trial:
        splits = photographs.splits_of(experiment.dataset, setting, seed, root)
        trial = photographs.trial_of(experiment, setting, splits, value, seed)
        return replace(trial, score={"train": trial.train, "test": splits.test}, watch={})

    grid = [{"value": rate, "seed": seed} for seed in seeds for rate in rates]
    rows = []
    for one in sweep.run(recipe, grid, device=task.device, **options).outcomes:
        fitted, new = one.predictions["train"], one.predictions["test"]
        right, sure = metrics.accuracy(new.probs, new.labels), new.probs.amax(dim=1).mean().item()
        own = metrics.accuracy(fitted.probs, fitted.labels)
        numbers = {"train_accuracy": own, "test_accuracy": right, "test_confidence": sure}
        rows.append({**one.setting, **numbers, "test_gap": sure - right})
    return pd.DataFrame(rows).round(6)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `train` made; folder: notebooks/results of the course by default."""
    return pd.read_csv((checkout.results() if folder is None else folder) / PATH)


def foretold(table: pd.DataFrame, classes: int = 10) -> pd.DataFrame:
    """The table with each network's place in the plane, and the gap that it is foretold.

    kappa is that of the networks without label noise, claimed over lost as means over seeds. From
    it and from the accuracies alone follows the gap on clean labels of a network with noise r and
    accuracy a: kappa * lost - r (a - 1 / K).

    >>> rows = [(0.0, 0, 1.0, 0.8, 0.1), (0.2, 0, 0.9, 0.7, 0.0)]
    >>> columns = ["value", "seed", "train_accuracy", "test_accuracy", "test_gap"]
    >>> foretold(pd.DataFrame(rows, columns=columns)).round(3).iloc[1, -4:].to_dict()
    {'lost': 0.32, 'claimed': 0.12, 'kappa': 0.5, 'foretold': 0.04}
    """
    doubt = table.value * (table.test_accuracy - 1 / classes)
    lost = table.train_accuracy - (table.test_accuracy - doubt)
    claimed = table.test_gap + doubt
    clean = table.value == 0
    kappa = claimed[clean].mean() / lost[clean].mean()
    places = {"lost": lost, "claimed": claimed, "kappa": kappa}
    return table.assign(**places, foretold=kappa * lost - doubt)


if __name__ == "__main__":
    train().to_csv(checkout.results() / PATH, index=False)
