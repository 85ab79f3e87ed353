"""Strengths and weight decays of lessons' trainings, on three seeds that nothing is judged on.

`python -m study.selection NAME` trains one of `STUDIES` anew and keeps its table, from which the
evidence of lessons 10, 14 and 16 takes its settings.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from calibkit import validate
from calibkit.course.experiments import choices, focal_gammas, soft_targets, strengths, translated
from calibkit.lab import training, translation
from study import engine, photographs, rules
from study.photograph_grids import EXPERIMENTS, FORMS, form

# --- focal loss with each gamma, lesson 10 --------------------------------------------------------

GAMMAS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)


def _gamma(size, way, strength, decay, seed) -> training.Trial:
    return focal_gammas.trial(size, strength, decay, seed)


FOCAL = strengths.Study(
    "faded",
    _gamma,
    strengths.settings({f"gamma {gamma:g}": (gamma,) for gamma in GAMMAS}, soft_targets.DECAYS),
)


# --- a part of the images for each epoch, lesson 14 -----------------------------------------------

NOISES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SHARES = (0.1, 0.2, 0.3)
# Ways to train on what was chosen, each with its strengths; 0 is that of a way that has none.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "smoothing": (0.02, 0.05, 0.1, 0.2),
    "mixup": (0.1, 0.2, 0.5, 1.0),
    "focal": (0.5, 1.0, 2.0, 3.0),
}
DECAYS = (0.0, 1e-4, 5e-4, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2)


def parts(seeds=strengths.SELECTION) -> list[dict[str, Any]]:
    """Every rule at noise 0.4, the two of most interest at every noise, cures on five parts."""
    plain = strengths.settings({"cross-entropy": (0.0,)}, DECAYS, seeds)
    every = strengths.settings(WAYS, DECAYS, seeds)
    cures = [one for one in every if one["strength"]]
    two = [("random", 0.1), ("random", 0.3), ("entropy", 0.1), ("entropy", 0.3)]
    cured = [("entropy", share) for share in SHARES] + [("random", 0.1), ("all", 1.0)]
    found = [(rule, share, 0.4, plain) for rule in rules.RULES for share in SHARES]
    found += [(*one, noise, plain) for noise in NOISES if noise != 0.4 for one in two]
    found += [("all", 1.0, noise, plain) for noise in NOISES]
    found += [(*one, 0.4, cures) for one in cured]
    return [
        {"choice": rule, "share": share, "noise": noise, **one}
        for rule, share, noise, grid in found
        for one in grid
    ]


def of_part(size, choice, share, seed, **setting) -> training.Trial:
    """The trial of one of `parts`."""
    noise = setting.get("noise", 0.4)
    select = None if share == 1 else rules.rule(size, choice, share, noise, seed)
    return choices.trial(size, choice, share, seed, **setting, select=select)


PARTS = strengths.Study("choices", of_part, parts())


def chosen_part(
    table: pd.DataFrame, choice: str, share: float, noise: float = 0.4, way: str = "cross-entropy"
) -> dict[str, Any]:
    """A setting with the strength and decay of the least mean NLL after T; see `strengths.best`.

    Raises ValueError where the table has no such rule, share, noise and way.
    """
    setting = {"choice": choice, "share": share, "noise": noise, "way": way}
    rows = table[(table[list(setting)] == pd.Series(setting)).all(axis=1)]
    if rows.empty:
        raise ValueError(f"the table of strengths has no row with {setting}")
    return setting | strengths.best(rows)[way]


# --- the toy pair of languages, lesson 16 ---------------------------------------------------------

OF_TRANSLATION: dict[str, tuple[float, ...]] = {  # alpha, gamma
    "cross-entropy": (0.0,),
    "smoothing": (0.02, 0.05, 0.1, 0.2),
    "focal": (1.0, 2.0, 3.0, 5.0, 7.0),
}


@dataclass(frozen=True)
class Translations(strengths.Study):
    """Plans of `calibkit.lab.translation` in place of trials."""

    def train(
        self, size: translated.Budget, grid: Sequence[Mapping] | None = None, **options: Any
    ) -> pd.DataFrame:
        """One row a setting and seed: the NLL on `cal` as trained, and after the T fitted there."""
        grid, rows = self.grid if grid is None else grid, []
        plans = [self.trial(size, sentences=size.some, **setting) for setting in grid]
        for setting, run in zip(grid, translation.fit_all(plans, **options), strict=True):
            cal = run.predict(translated.drawn(size, "cal", setting["seed"]))
            rows.append({**setting, **strengths.nll(cal)})
        return pd.DataFrame(rows).round(6)

    def keep(self) -> None:
        strengths.keep(self.train(translated.budget("laptop")), self.path)


TOY = Translations(
    "translated",
    translated.plan,
    strengths.settings(OF_TRANSLATION, (1e-2, 1e-1, 3e-1, 1.0, 3.0)),  # AdamW; 1e-2 is the usual
)

# --- the architectures of the experiment "form" on photographs, each one's rate and decay ---------

FORM = engine.setting_of(EXPERIMENTS["form"], "night")


@functools.cache
def _photographs(seed: int):
    return photographs.splits_of("cifar10", FORM, seed, None)


def _form(size, way: str, strength: float, decay: float, seed: int) -> training.Trial:
    """At the scale night whatever the size, the strength a learning rate; scored on `cal`."""
    changes = form(FORMS[way][0], strength, decay)
    one = photographs.changed(FORM, _photographs(seed), seed, changes)
    return replace(one, score={"cal": one.score["calibration"]}, watch={})


RATES = (0.001, 0.003, 0.01)
ON_PHOTOGRAPHS = strengths.Study(
    "architectures_photographs", _form, strengths.settings(dict.fromkeys(FORMS, RATES), (0.1, 1.0))
)
STUDIES = {study.name: study for study in (FOCAL, PARTS, TOY, ON_PHOTOGRAPHS)}


if __name__ == "__main__":
    STUDIES[validate.choice("name", sys.argv[1], tuple(STUDIES))].keep()
