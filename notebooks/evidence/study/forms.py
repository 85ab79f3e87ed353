"""The settings of the experiment "form": each architecture's rate and decay on photographs.

`python -m study.forms` trains every setting on three seeds that nothing is judged on.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pandas as pd

from calibkit.course import scale
from calibkit.course.experiments import soft_targets, strengths
from calibkit.lab import training
from study import engine, photographs
from study.photograph_grids import EXPERIMENTS, FORMS, form

RATES = (0.001, 0.003, 0.01)
DECAYS = (0.1, 1.0)
PATH = Path("strengths") / "architectures_photographs.csv"


def train_on_photographs(grid=None, root: str | Path | None = None, **options) -> pd.DataFrame:
    """Every setting, trained as in the experiment "form" at the scale night.

    root: of the prepared datasets. Some 80 minutes on one core.
    """
    experiment = EXPERIMENTS["form"]
    setting = engine.setting_of(experiment, "night")
    splits = functools.cache(lambda seed: photographs.splits_of("cifar10", setting, seed, root))

    def made(size, way, strength, decay, seed) -> training.Trial:
        changes = form(FORMS[way][0], strength, decay)
        at = replace(experiment, change=lambda train, value, seed: (train, changes))
        one = photographs.trial_of(at, setting, splits(seed), way, seed)
        return replace(one, score={"cal": one.score["calibration"]}, watch={})

    if grid is None:
        ways = dict.fromkeys(FORMS, RATES)
        grid = strengths.settings(ways, DECAYS)
    return soft_targets.train(scale.budget("laptop"), grid, made=made, **options)


if __name__ == "__main__":
    strengths.keep(train_on_photographs(jobs=1), PATH)
