"""A grid of trainings: in goes what varies, out comes a table and every run's predictions.

Each finished run is kept on disk under a key of everything that decides it, so that an interrupted
sweep goes on where it was, a changed loss trains again, and a second notebook reuses the first
one's runs. Small networks of one shape are trained as one stacked model. Work is spread by joblib:
`with joblib.parallel_config("dask"):` around the call sends it to a cluster.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import torch

from calibkit import metrics, validate
from calibkit.lab.data import Predictions
from calibkit.lab.sweep import key, tasks
from calibkit.lab.training import Run, Trial, as_device, loop

How = Literal["auto", "stacked", "single"]
SMALL = 100_000  # parameters of a network up to which a stack is faster than one after the other


@dataclass(frozen=True)
class Outcome:
    """One finished run of a sweep: its values of the grid, what was trained, and what came of it.

    What the run has, the outcome has too: `outcome.history` is `outcome.run.history`.
    """

    setting: Mapping[str, Any]
    trial: Trial = field(repr=False)
    run: Run

    def __getattr__(self, name: str) -> Any:
        if name == "run" or name.startswith("__"):  # while it is being copied or unpickled
            raise AttributeError(name)
        return getattr(self.run, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self.run) if name[0] != "_")})


class Sweep:
    """The outcomes of a grid, in its order.

    table: one row a run: the grid's columns, train_loss and train_accuracy of the last epoch, and
        per scored dataset NAME_accuracy, NAME_confidence, NAME_gap (confidence - accuracy),
        NAME_ece (15 equal bins) and NAME_nll. Of the history only train_loss and train_accuracy
        come here; `measure` adds more. These NAME_* are of `score`, a history's of `watch`.
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = list(outcomes)
        self.keys = list(self.outcomes[0].setting)
        self.table = pd.DataFrame([_row(outcome) for outcome in self.outcomes])

    def __repr__(self) -> str:
        named = f"{len(self.outcomes)} runs over {', '.join(self.keys)}"
        scored = ", ".join(self.outcomes[0].trial.score)
        return f"Sweep of {named}" + (f"; scored: {scored}" if scored else "")

    def where(self, **setting) -> list[Outcome]:
        """The outcomes with these grid values; raises ValueError when there is none."""
        for name in setting:
            validate.choice("setting", name, tuple(self.keys))
        chosen = [o for o in self.outcomes if all(o.setting[k] == v for k, v in setting.items())]
        if not chosen:
            there = {k: sorted({o.setting[k] for o in self.outcomes}, key=str) for k in setting}
            raise ValueError(f"no run has {setting}; the grid has {there}")
        return chosen

    def one(self, **setting) -> Outcome:
        """The single outcome with these grid values."""
        chosen = self.where(**setting)
        if len(chosen) > 1:
            free = [key for key in self.keys if key not in setting]
            raise ValueError(f"{len(chosen)} runs have {setting}; give {', '.join(free)} too")
        return chosen[0]

    def pooled(self, name: str, **setting) -> Predictions:
        """The predictions of several runs, one after the other, as if they were one."""
        runs = [outcome.predictions[name] for outcome in self.where(**setting)]
        known = all(one.posterior is not None for one in runs)
        posterior = torch.cat([one.posterior for one in runs]) if known else None
        logits, labels = (torch.cat([getattr(o, f) for o in runs]) for f in ("logits", "labels"))
        return Predictions(logits, labels, posterior)

    def measure(self, column: str, function: Callable[[Outcome], float]) -> Sweep:
        """Add a column to the table: `function(outcome)` of every run."""
        self.table[column] = [float(function(outcome)) for outcome in self.outcomes]
        return self

    def values(self, column: str, **setting) -> np.ndarray:
        """A column's values in the runs with this setting, in the grid's order."""
        self.where(**setting)  # raises where there is none
        validate.choice("column", column, tuple(map(str, self.table.columns)))
        chosen = [all(o.setting[k] == v for k, v in setting.items()) for o in self.outcomes]
        return self.table.loc[chosen, column].to_numpy()

    def difference(self, column: str, left: Mapping, right: Mapping, **both) -> np.ndarray:
        """Paired differences, left minus right, one per run that both settings have (per seed).

        Raises ValueError when the runs do not pair off one to one.
        """
        sides = []
        for setting in (left, right):
            rest = [key for key in self.keys if key not in {*setting, *both}]
            runs = self.where(**setting, **both)
            values = self.values(column, **setting, **both)
            mates = [tuple(str(run.setting[key]) for key in rest) for run in runs]
            sides.append(dict(zip(mates, values, strict=True)))
        if set(sides[0]) != set(sides[1]) or len(sides[0]) != len(runs):
            raise ValueError(f"the runs of {dict(left)} and {dict(right)} do not pair off")
        return np.array([sides[0][mate] - sides[1][mate] for mate in sides[0]])


def _row(outcome: Outcome) -> dict[str, Any]:
    last = outcome.history.iloc[-1]
    row = dict(outcome.setting)
    row |= {"train_loss": last.train_loss, "train_accuracy": last.train_accuracy}
    for name, predictions in outcome.predictions.items():
        probs, labels = predictions.probs, predictions.labels
        row[f"{name}_accuracy"] = metrics.accuracy(probs, labels)
        row[f"{name}_confidence"] = predictions.confidence.double().mean().item()
        row[f"{name}_gap"] = metrics.signed_gap(probs, labels)
        row[f"{name}_ece"] = metrics.ece(probs, labels)
        row[f"{name}_nll"] = metrics.nll(probs, labels)
    return row


def run(
    make_trial: Callable[..., Trial],
    grid: Mapping[str, Iterable] | Sequence[Mapping[str, Any]],
    *,
    device: str | torch.device | None = None,
    cache: str | Path | bool = True,
    jobs: int | None = None,
    how: How = "auto",
    progress: bool = True,
) -> Sweep:
    """Train `make_trial(**setting)` for every setting of the grid, and return the `Sweep`.

    make_trial: gives the `training.trial` of one setting. Data that several trials share is best
        made once outside, or behind `functools.cache`.
    grid: values by name, of which all combinations are run ({"noise": [0, .2], "seed": range(5)}),
        or a list of settings.
    cache: True keeps finished runs in $CALIBKIT_CACHE or the user's cache folder, a path there,
        False nowhere.
    jobs: processes (or a cluster's workers); None takes several only where that pays, or what
        `joblib.parallel_config` says.
    how: "auto" stacks networks of one shape that have less than 100,000 parameters; "stacked"
        stacks all of one shape, "single" none.

    Ctrl-C, or a kill, loses the runs in flight and nothing that was finished.
    Raises ValueError or TypeError naming the argument, OSError when a result cannot be kept.

    >>> from calibkit.lab import data, models, training
    >>> train, _, test = data.noisy_digits(200, test=500)
    >>> def by_width(width, seed):
    ...     network = lambda: models.mlp(64, 10, width=width)
    ...     return training.trial(network, train, {"test": test}, seed=seed, epochs=2)
    >>> swept = run(by_width, {"width": [8, 16], "seed": [0, 1]}, cache=False, progress=False)
    >>> swept.table.shape[0], len(swept.values("test_ece", width=8))
    (4, 2)
    """
    validate.choice("how", how, get_args(How))
    device = as_device(device)
    settings = _settings(grid)
    trials = [_made(make_trial, setting) for setting in settings]
    keys = [None] * len(trials) if cache is False else key.keys(trials, device)
    train = functools.partial(loop.train_unit, device=device)
    options: dict[str, Any] = {"jobs": jobs, "cache": cache, "progress": progress}
    finished = tasks.completed(train, trials, groups(trials, how), keys, device, **options)
    runs = map(Run.from_tensors, trials, finished)
    return Sweep([Outcome(*one) for one in zip(settings, trials, runs, strict=True)])


def groups(trials: Sequence[Trial], how: How = "auto") -> list[list[int]]:
    """Indices of the trials that are trained together.

    "auto" stacks small networks of one shape, "stacked" all networks of one shape, "single" none.
    """
    by_shape: dict[Any, list[int]] = {}
    for i, trial in enumerate(trials):
        shape = None if how == "single" else trial.shape
        if shape and how == "auto" and shape[0].parameters >= SMALL:
            shape = None
        if shape is None and how == "stacked":
            raise ValueError(
                f"how='stacked' cannot train run {i}: its model has layers that do not stack, or "
                "its recipe autocasts; leave how='auto'"
            )
        by_shape.setdefault(i if shape is None else shape, []).append(i)
    return list(by_shape.values())


def _settings(grid) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        values = [list(options) for options in grid.values()]
        settings = [dict(zip(grid, row, strict=True)) for row in itertools.product(*values)]
    else:
        settings = [dict(setting) for setting in grid]
    if not settings or not settings[0]:
        raise ValueError(f"grid must hold at least one setting, got {grid!r}")
    return settings


def _made(make_trial: Callable[..., Trial], setting: dict[str, Any]) -> Trial:
    made = make_trial(**setting)
    if not isinstance(made, Trial):
        raise TypeError(
            f"make_trial must return a training.trial(...), got {type(made).__name__} for {setting}"
        )
    return made
