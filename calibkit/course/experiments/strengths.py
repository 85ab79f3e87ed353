"""A study: ways of training, each at its strengths and weight decays, in one stored table.

Three seeds that nothing is judged on choose; lessons and evidence train what was chosen on others.
`python -m calibkit.course.experiments.NAME` (or `study.NAME`) trains the table of a module anew.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from calibkit import metrics, recalibration
from calibkit.course import checkout, scale
from calibkit.lab import sweep, training
from calibkit.lab.data import Predictions

SELECTION = (100, 101, 102)  # seeds
CHOSEN_BY = {"as trained": "nll", "after T": "scaled_nll"}


def settings(
    ways: Mapping[str, Iterable[float]], decays: Iterable[float], seeds: Iterable[int] = SELECTION
) -> list[dict[str, Any]]:
    """Every way with each of its strengths, each weight decay and each seed.

    >>> settings({"plain": (0.0,)}, (1, 2), (7,))[1]
    {'way': 'plain', 'strength': 0.0, 'decay': 2, 'seed': 7}
    """
    return [
        {"way": way, "strength": strength, "decay": decay, "seed": seed}
        for way, values in ways.items()
        for strength in values
        for decay in decays
        for seed in seeds
    ]


def temperature(outcome: Any) -> recalibration.TemperatureScaler:
    """The one of an outcome's `cal`."""
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)


def nll(cal: Predictions) -> dict[str, float]:
    """As trained, and after the T that is fitted on the same predictions."""
    logits = cal.logits.double()
    T = recalibration.TemperatureScaler().fit(logits, cal.labels)
    scaled = T.probs(logits, allow_fitted=True)
    return {
        "nll": metrics.nll(cal.probs, cal.labels),
        "scaled_nll": metrics.nll(scaled, cal.labels),
    }


@dataclass(frozen=True)
class Study:
    """What is trained to choose from, and its table.

    name: of the table. trial: from a size and a setting to its training. grid: all settings.
    measure: what a row of the table has besides its setting.
    """

    name: str
    trial: Callable[..., training.Trial]
    grid: Sequence[Mapping[str, Any]]
    measure: Callable[[Any], dict[str, float]] = lambda one: nll(one.predictions["cal"])

    @property
    def path(self) -> Path:
        return Path("strengths") / f"{self.name}.csv"

    def train(self, size: Any, grid: Sequence[Mapping] | None = None, **options) -> pd.DataFrame:
        """One row a setting: `grid`, or all. options: as `sweep.run` takes them."""
        make = functools.partial(self.trial, size)
        done = sweep.run(make, self.grid if grid is None else grid, **options)
        rows = [{**one.setting, **self.measure(one)} for one in done.outcomes]
        return pd.DataFrame(rows).round(6)

    def keep(self) -> None:
        """Train the table anew at the lessons' size; hours on one core."""
        keep(self.train(scale.budget("laptop"), device="cpu"), self.path)

    def stored(self, folder: Path | None = None) -> pd.DataFrame:
        """The table that was kept; folder: notebooks/results of the course by default."""
        return stored(self.path, folder)


def keep(table: pd.DataFrame, path: Path) -> None:
    """Write a table below notebooks/results of the course."""
    target = checkout.results() / path
    target.parent.mkdir(exist_ok=True)
    table.to_csv(target, index=False)


def stored(path: Path, folder: Path | None = None) -> pd.DataFrame:
    """The table that was kept there; folder: notebooks/results of the course by default."""
    return pd.read_csv((checkout.results() if folder is None else folder) / path)


def best(table: pd.DataFrame, column: str = "scaled_nll") -> dict[str, dict[str, float]]:
    """Strength and weight decay of each way, as `chosen` finds them; by the NLL after T."""
    return chosen(table, column).set_index("way")[["strength", "decay"]].to_dict("index")


def chosen(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Strength and weight decay of each way with the least mean of `column` over the seeds.

    table: one row a training, with columns way, strength, decay, seed and `column`. Returns one row
    a way, in the table's order: way, strength, decay, the mean, and edge: whether the strength or
    the decay is the first or the last that was tried, so that a better one may lie beyond.

    >>> rows = [("plain", 0.0, d, s, abs(d - 2) + s) for d in (1, 2, 3) for s in (0, 1)]
    >>> table = pd.DataFrame(rows, columns=["way", "strength", "decay", "seed", "nll"])
    >>> chosen(table, "nll").iloc[0].to_dict()
    {'way': 'plain', 'strength': 0.0, 'decay': 2, 'nll': 0.5, 'edge': False}
    """
    means = table.groupby(["way", "strength", "decay"], sort=False)[column].mean()
    rows = []
    for way in table.way.unique():
        strength, decay = means[way].idxmin()
        tried = means[way].reset_index()
        edge = any(
            tried[name].nunique() > 1 and value in (tried[name].min(), tried[name].max())
            for name, value in (("strength", strength), ("decay", decay))
        )
        least = means[way, strength, decay]
        rows.append({"way": way, "strength": strength, "decay": decay, column: least, "edge": edge})
    return pd.DataFrame(rows)
