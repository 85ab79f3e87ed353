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
from pathlib import Path
from typing import Any, Literal, get_args

import torch

from calibkit import validate
from calibkit.lab.sweep import key, tasks
from calibkit.lab.sweep.outcomes import Outcome, Sweep
from calibkit.lab.training import Run, Trial, as_device, loop

How = Literal["auto", "stacked", "single"]
SMALL = 100_000  # parameters of a network up to which a stack is faster than one after the other


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
