"""Mixup and its halves, each with its alphas and weight decays, beside the losses of lesson 09.

Data, network, seeds and weight decays are those of `soft_targets`, whose table has the rivals.
`python -m calibkit.course.experiments.mixed` makes the table.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from calibkit.course.experiments import soft_targets, strengths
from calibkit.course.experiments.soft_targets import trial

WAYS = dict.fromkeys(("mixup", "images only", "labels only"), (0.1, 0.2, 0.5, 1.0, 2.0))  # alphas
RIVALS = ("cross-entropy", "smoothing", "penalty")  # of `soft_targets`
STUDY = strengths.Study("mixed", trial, strengths.settings(WAYS, soft_targets.DECAYS))


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The stored table, and the rows of the rivals; folder: as in `soft_targets`."""
    rivals = soft_targets.stored(folder)
    rivals = rivals[rivals.way.isin(RIVALS)]
    return pd.concat([rivals, STUDY.stored(folder)], ignore_index=True)


def chosen(table: pd.DataFrame, by: str) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL; by: as in `soft_targets.chosen`."""
    return strengths.best(table, strengths.CHOSEN_BY[by])


if __name__ == "__main__":
    STUDY.keep()
