"""Run any experiment: its grid of values and seeds is prepared, trained and measured."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch

from calibkit import validate
from calibkit.lab import training
from study.captions import CAPTIONS
from study.experiment import Experiment, Result, Task
from study.photograph_grids import EXPERIMENTS
from study.photographs import NETWORKS
from study.texts import TEXTS


def run(
    name: str,
    scale: str = "laptop",
    *,
    dataset: str | None = None,
    seeds: Sequence[int] | None = None,
    values: Sequence | None = None,
    network: str | None = None,
    vectors: str | Path | None = None,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
    jobs: int | None = None,
    cache: bool | str | Path = True,
    progress: bool = True,
) -> Result:
    """Train and measure the grid of experiment `name` on a prepared dataset.

    `values` and `seeds` take the place of the experiment's own. network, of photographs: a name in
    `NETWORKS` in place of the scale's own. vectors, of texts: a file of word vectors, such as
    GloVe's, to start from; by default they start random. All of them are trained. Finished runs are
    kept; the last four options are those of `sweep.run`.

    Raises ValueError for a name, scale, dataset or option that there is not, FileNotFoundError,
    with the command that fetches it, for a dataset that is not prepared.
    """
    experiment = named(name, dataset)
    task = task_of(experiment, scale, network, vectors, root, device)
    values = experiment.grid(scale) if values is None else values
    seeds = range(task.setting.seeds) if seeds is None else seeds
    grid = [{"value": value, "seed": seed} for value in values for seed in seeds]
    prepared = functools.cache(functools.partial(experiment.prepare, task))
    options = {"jobs": jobs, "cache": cache, "progress": progress}
    return Result(experiment, task, *experiment.run(task, prepared, grid, **options))


def named(name: str, dataset: str | None = None) -> Experiment:
    """The experiment on a dataset, by default its own; raises ValueError where there is none."""
    every = [*EXPERIMENTS.values(), *TEXTS.values(), CAPTIONS]
    validate.choice("name", name, tuple(dict.fromkeys(one.name for one in every)))
    by_dataset = {one.dataset: one for one in every if one.name == name}
    first = next(iter(by_dataset.values()))
    dataset = dataset or first.default_dataset
    if "dataset" in first.options:
        return replace(first, dataset=dataset)
    return by_dataset[validate.choice("dataset", dataset, tuple(by_dataset))]


def task_of(
    experiment: Experiment, scale: str, network=None, vectors=None, root=None, device=None
) -> Task:
    """The task that `run` is asked for; raises its ValueErrors."""
    for option, value in {"network": network, "vectors": vectors}.items():
        if value is not None and option not in experiment.options:
            raise ValueError(f"{option} must be left out for {experiment.name!r}, got {value!r}")
    setting = setting_of(experiment, scale, network)
    return Task(scale, setting, training.as_device(device), root, network, vectors)


def setting_of(experiment: Experiment, scale: str, network: str | None = None) -> Any:
    """How a scale trains, with what the experiment changes of its setting or of its recipe.

    network: a name in `NETWORKS` in place of the setting's own; ValueError for another name.
    """
    settings = experiment.settings
    setting = settings[validate.choice("scale", scale, tuple(settings))]
    changes = {
        **experiment.setting_changes.get(scale, {}),
        **experiment.setting_changes.get((scale, experiment.dataset), {}),
    }
    if network is not None:
        changes["network"] = validate.choice("network", network, tuple(NETWORKS))
    direct = {one.name: changes.pop(one.name) for one in fields(setting) if one.name in changes}
    if changes:
        direct["recipe"] = replace(setting.recipe, **changes)
    return replace(setting, **direct)
