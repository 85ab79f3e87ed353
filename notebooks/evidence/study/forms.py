"""The settings of the experiment "form": each architecture's rate and decay on photographs.

`python -m study.forms` trains every setting on three seeds that nothing is judged on.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from calibkit.course.experiments import strengths
from calibkit.lab import training
from study import engine, photographs
from study.photograph_grids import EXPERIMENTS, FORMS, form

RATES = (0.001, 0.003, 0.01)
DECAYS = (0.1, 1.0)
SETTING = engine.setting_of(EXPERIMENTS["form"], "night")


@functools.cache
def splits(seed: int):
    return photographs.splits_of("cifar10", SETTING, seed, None)


def trial(size, way: str, strength: float, decay: float, seed: int) -> training.Trial:
    """As in the experiment "form" at the scale night, whatever the size; scored on `cal`."""
    one = photographs.changed(SETTING, splits(seed), seed, form(FORMS[way][0], strength, decay))
    return replace(one, score={"cal": one.score["calibration"]}, watch={})


GRID = strengths.settings(dict.fromkeys(FORMS, RATES), DECAYS)
STUDY = strengths.Study("architectures_photographs", trial, GRID)


if __name__ == "__main__":
    STUDY.keep()
