"""Ways of training for strange images, and networks of one cost, each with its weight decays.

`python -m study.strangers` trains them on three seeds that nothing is judged on, and keeps the
table from which the evidence of lesson 13 takes its settings. All are chosen without a strange or
a shifted image, by the NLL on `cal`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from calibkit import losses, metrics, mixing
from calibkit.course import scale
from calibkit.course.experiments import shifted, soft_targets, strengths
from calibkit.lab import data, models, sweep, training

# A strength of 0 is that of a way that has none; alpha of mixup.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "FLSD-53": (0.0,),
    "mixup": (0.1, 0.2, 0.4, 1.0),
    "one": (0.0,),
    "5 x epochs": (0.0,),
    "5 x weights": (0.0,),
}
COSTS = ("one", "5 x epochs", "5 x weights")  # these are trained on all ten digits
DECAYS = (1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2)
PATH = Path("strengths") / "shifted.csv"


@functools.cache
def all_ten(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(
        size.train, noise=shifted.NOISE, seed=seed, test=1
    )  # tests are drawn elsewhere


def options(way: str, strength: float) -> Mapping[str, Any]:
    if way == "FLSD-53":
        return {"loss": losses.flsd}
    if way == "mixup":
        return {"mix": functools.partial(mixing.mixup, alpha=strength)}
    return {}


def trial(
    size: scale.Budget, way: str, strength: float, decay: float, seed: int, member: int = 0
) -> training.Trial:
    """A network of two hidden layers, scored on `cal`; of eight digits on `test` too.

    member: which of the networks of an ensemble; they share their images.
    """
    if way in COSTS:
        train, cal, _ = all_ten(size, seed)
        score = {"cal": cal}
    else:
        train = shifted.familiar(size.train, 4000 + seed)
        score = {
            "cal": shifted.familiar(2000, 2000 + seed),
            "test": shifted.familiar(size.test // 5, 3000 + seed),
        }
    classes, width = train.num_classes, 325 if way == "5 x weights" else 128
    return training.trial(
        functools.partial(models.mlp, 64, classes, width=width),
        train,
        score,
        seed=10 * seed + member,
        epochs=5 * size.epochs if way == "5 x epochs" else size.epochs,
        weight_decay=decay,
        **options(way, strength),
    )


def settings(seeds=strengths.SELECTION) -> list[dict[str, Any]]:
    return strengths.settings(WAYS, DECAYS, seeds)


def train(size: scale.Budget, grid=None, **choices) -> pd.DataFrame:
    """One row a setting and seed: the NLL on `cal` after the temperature that is fitted there."""
    grid = settings() if grid is None else grid
    rows = []
    for one in sweep.run(functools.partial(trial, size), grid, **choices).outcomes:
        cal = one.predictions["cal"]
        T = soft_targets.temperature(one).temperature
        scaled = (cal.logits.double() / T).softmax(dim=1)
        rows.append({**one.setting, "scaled_nll": metrics.nll(scaled, cal.labels)})
    return pd.DataFrame(rows).round(6)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `train` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


def chosen(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL after T; see `strengths.chosen`."""
    return strengths.best(table, "scaled_nll")


if __name__ == "__main__":
    strengths.keep(train(scale.budget("laptop"), device="cpu"), PATH)
