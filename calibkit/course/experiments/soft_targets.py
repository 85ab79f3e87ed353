"""Losses that ask for less confidence, each with its strengths and weight decays.

`python -m calibkit.course.experiments.soft_targets` trains them on three seeds that nothing is
judged on, and keeps the table from which the evidence of lesson 09 takes its settings.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import pandas as pd

from calibkit import losses
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.course.experiments.strengths import CHOSEN_BY, temperature
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, training

__all__ = ["CHOSEN_BY", "WAYS", "chosen", "digits", "stored", "temperature", "trial"]

K = 10
# A strength of 0 is that of a loss that has none. The others: alpha of form K, the weight of the
# entropy, the weight of the MMCE.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "smoothing": (0.01, 0.02, 0.05, 0.1, 0.2),
    "penalty": (0.05, 0.1, 0.2, 0.4, 0.8),
    "Brier": (0.0,),
    "MMCE, plain": (0.25, 0.5, 1.0, 2.0, 4.0),
    "MMCE, weighted": (0.06, 0.12, 0.25, 0.5, 1.0),
    "MMCE, squared": (0.5, 1.0, 2.0, 8.0, 32.0),
}
DECAYS = (1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2)


@functools.cache
def digits(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(size.train, noise=0.4, seed=seed, test=size.test)


def trial(
    size: scale.Budget, way: str, strength: float, decay: float, seed: int, **options: Any
) -> training.Trial:
    """A network of two hidden layers of 64 units, scored on `train`, `cal` and `test`.

    options: more of `training.trial`, such as what blends a batch.
    """
    train, cal, test = digits(size, seed)
    return training.trial(
        functools.partial(models.mlp, 64, K, width=64),
        train,
        {"train": train, "cal": cal, "test": test},
        seed=seed,
        weight_decay=decay,
        epochs=size.epochs,
        **({"loss": losses.cross_entropy} | changes(way, strength)),
        **options,
    )


STUDY = strengths.Study("soft_targets", trial, strengths.settings(WAYS, DECAYS))
stored = STUDY.stored


def chosen(table: pd.DataFrame, by: Literal["as trained", "after T"]) -> pd.DataFrame:
    """The setting of each way with the least mean over the selection seeds; see `strengths`."""
    return strengths.chosen(table, CHOSEN_BY[by])


if __name__ == "__main__":
    STUDY.keep()
