"""Mixup and its halves, each with its alphas and weight decays, beside the losses of lesson 09.

`python -m calibkit.course.experiments.mixed` trains them on three seeds that nothing is judged on,
and keeps the table from which lesson 12 and its evidence take their settings. Data, network, seeds
and weight decays are those of `soft_targets`, whose table has the rivals.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from calibkit.course import scale
from calibkit.course.experiments import soft_targets, strengths
from calibkit.lab import training

ALPHAS = (0.1, 0.2, 0.5, 1.0, 2.0)
WAYS: dict[str, tuple[float, ...]] = {
    "mixup": ALPHAS,
    "images only": ALPHAS,
    "labels only": ALPHAS,
}
RIVALS = ("cross-entropy", "smoothing", "penalty")  # of `soft_targets`
PATH = Path("strengths") / "mixed.csv"


def trial(size: scale.Budget, way: str, strength: float, decay: float, seed: int) -> training.Trial:
    """The network of `soft_targets`, trained in one of `WAYS` or as one of its own."""
    return soft_targets.trial(size, way, strength, decay, seed)


def settings(seeds=strengths.SELECTION) -> list[dict[str, Any]]:
    return strengths.settings(WAYS, soft_targets.DECAYS, seeds)


def train(size: scale.Budget, grid=None, **options) -> pd.DataFrame:
    """One row a setting and seed: the NLL on `cal` as trained, and after the T fitted there."""
    return soft_targets.train(size, settings() if grid is None else grid, made=trial, **options)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `train` made, and the rows of the rivals; folder: as in `soft_targets`."""
    table = strengths.stored(PATH, folder)
    rivals = soft_targets.stored(folder)
    return pd.concat([rivals[rivals.way.isin(RIVALS)], table], ignore_index=True)


def chosen(table: pd.DataFrame, by: str) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL; by: as in `soft_targets.chosen`."""
    return strengths.best(table, soft_targets.CHOSEN_BY[by])


if __name__ == "__main__":
    strengths.keep(train(scale.budget("laptop"), device="cpu"), PATH)
