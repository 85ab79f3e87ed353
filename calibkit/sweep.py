"""A grid of trainings: in goes what varies, out comes a table and every run's predictions.

Each finished run is kept on disk under a key of everything that decides it, so that an interrupted
sweep goes on where it was, a changed loss trains again, and a second notebook reuses the first
one's runs. Runs of one shape are trained as one stacked model where a short trial shows that to be
faster. Work is spread by joblib: `with joblib.parallel_config("dask"):` around the call sends it to
a cluster.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import torch
from torch import nn
from tqdm.auto import tqdm

from calibkit import metrics, training, validate
from calibkit.data import Dataset, Predictions
from calibkit.fingerprint import Fingerprint, core_code
from calibkit.metrics import Reliability
from calibkit.store import Store
from calibkit.training import Run, Trial
from calibkit.training import device as place
from calibkit.training.probe import seconds_per_epoch
from calibkit.training.single import built
from calibkit.training.stacked import fit_stacked, shape_of

HOW = ("auto", "stacked", "single")
STACK = 32  # runs a stack at most: what a kill -9 can lose
_ALONE = threading.Lock()  # one training at a time in a process: they share its random state
SHORT = 1.0  # seconds of training below which comparing ways costs more than it brings
WORTH = 15.0  # seconds of training for which starting one more process (some 5 s) pays


@dataclass(frozen=True)
class Outcome:
    """One finished run of a sweep.

    setting: its values of the grid.
    predictions: what the model said of each scored dataset at the end.
    history, diagrams, logits, gradients: as in `training.Run`.
    seconds: what the training took; a stack's time is shared evenly.
    """

    setting: Mapping[str, Any]
    predictions: Mapping[str, Predictions]
    history: pd.DataFrame
    diagrams: Mapping[str, list[Reliability]]
    logits: Mapping[str, torch.Tensor]
    gradients: torch.Tensor | None
    seconds: float
    trial: Trial
    state: Mapping[str, torch.Tensor]

    @cached_property
    def model(self) -> nn.Module:
        """The trained network, in eval mode, on the CPU."""
        model = _initial(self.trial)
        model.load_state_dict(self.state)
        return model.eval()


class Sweep:
    """The outcomes of a grid, in its order.

    table: one row a run: the grid's columns, train_loss and train_accuracy of the last epoch, and
        per scored dataset NAME_accuracy, NAME_confidence, NAME_gap (confidence - accuracy),
        NAME_ece (15 equal bins) and NAME_nll.
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = list(outcomes)
        self.keys = list(self.outcomes[0].setting)
        self.table = pd.DataFrame([_row(outcome) for outcome in self.outcomes])

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
        said = [outcome.predictions[name] for outcome in self.where(**setting)]
        known = all(one.posterior is not None for one in said)
        posterior = torch.cat([one.posterior for one in said]) if known else None
        logits, labels = (torch.cat([getattr(o, f) for o in said]) for f in ("logits", "labels"))
        return Predictions(logits, labels, posterior)

    def measure(self, column: str, function: Callable[[Outcome], float]) -> Sweep:
        """Add a column to the table: `function(outcome)` of every run."""
        self.table[column] = [float(function(outcome)) for outcome in self.outcomes]
        return self

    def values(self, column: str, **setting) -> np.ndarray:
        """A column's values in the runs with this setting, in the grid's order."""
        self.where(**setting)  # raises where there is none
        validate.choice("column", column, tuple(map(str, self.table.columns)))
        chosen = np.ones(len(self.table), dtype=bool)
        for key, value in setting.items():
            chosen &= np.array([outcome.setting[key] == value for outcome in self.outcomes])
        return self.table.loc[chosen, column].to_numpy()

    def difference(self, column: str, left: Mapping, right: Mapping, **both) -> np.ndarray:
        """Paired differences, left minus right, one per run that both settings have (per seed).

        Raises ValueError when the runs do not pair off one to one.
        """
        sides = []
        for setting in (left, right):
            rest = [key for key in self.keys if key not in {*setting, *both}]
            runs = self.where(**setting, **both)
            found = self.values(column, **setting, **both)
            mates = [tuple(str(run.setting[key]) for key in rest) for run in runs]
            sides.append(dict(zip(mates, found, strict=True)))
        if set(sides[0]) != set(sides[1]) or len(sides[0]) != len(runs):
            raise ValueError(f"the runs of {dict(left)} and {dict(right)} do not pair off")
        return np.array([sides[0][mate] - sides[1][mate] for mate in sides[0]])


def run(
    recipe: Callable[..., Trial],
    grid: Mapping[str, Iterable] | Sequence[Mapping[str, Any]],
    *,
    device: str | torch.device | None = None,
    cache: str | Path | bool = True,
    jobs: int | None = None,
    how: str = "auto",
    progress: bool = True,
) -> Sweep:
    """Train `recipe(**setting)` for every setting of the grid, and return the `Sweep`.

    recipe: makes the `training.trial` of one setting. Data that several trials share is best made
        once outside, or behind `functools.cache`.
    grid: values by name, of which all combinations are run ({"noise": [0, .2], "seed": range(5)}),
        or a list of settings.
    cache: True keeps finished runs in $CALIBKIT_CACHE or the user's cache folder, a path there,
        False nowhere.
    jobs: processes (or a cluster's workers); None takes several only where that pays, or what
        `joblib.parallel_config` says.
    how: "auto" trains a few steps of each kind and takes the faster, but stacks without asking what
        takes less than a second; "stacked" and "single" insist.

    Ctrl-C, or a kill, loses the runs in flight and nothing that was finished.
    Raises ValueError or TypeError naming the argument, OSError when a result cannot be kept.

    >>> from calibkit import data, models
    >>> train, _, test = data.noisy_digits(200, test=500)
    >>> def by_width(width, seed):
    ...     network = lambda: models.mlp(64, 10, width=width)
    ...     return training.trial(network, train, {"test": test}, seed=seed, epochs=2)
    >>> swept = run(by_width, {"width": [8, 16], "seed": [0, 1]}, cache=False, progress=False)
    >>> swept.table.shape[0], len(swept.values("test_ece", width=8))
    (4, 2)
    """
    validate.choice("how", how, HOW)
    device = training.as_device(device)
    settings = _settings(grid)
    trials = [_made(recipe, setting) for setting in settings]
    store = None if cache is False else Store(None if cache is True else cache)
    keys = _keys(trials, device) if store else [None] * len(trials)
    found = {i: store.get(key) for i, key in enumerate(keys)} if store else {}
    results = {i: payload for i, payload in found.items() if payload is not None}
    missing = [i for i in range(len(trials)) if i not in results]
    if missing:
        if store:
            store.check()
        for i, payload in _train(trials, missing, device, how, jobs, progress):
            if store:
                store.put(keys[i], payload)
            results[i] = payload
    return Sweep([_outcome(settings[i], trials[i], results[i]) for i in range(len(trials))])


def _settings(grid) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        values = [list(options) for options in grid.values()]
        settings = [dict(zip(grid, row, strict=True)) for row in itertools.product(*values)]
    else:
        settings = [dict(setting) for setting in grid]
    if not settings or not settings[0]:
        raise ValueError(f"grid must hold at least one setting, got {grid!r}")
    return settings


def _made(recipe: Callable[..., Trial], setting: dict[str, Any]) -> Trial:
    made = recipe(**setting)
    if not isinstance(made, Trial):
        raise TypeError(
            f"recipe must return a training.trial(...), got {type(made).__name__} for {setting}"
        )
    return made


def _keys(trials: Sequence[Trial], device: torch.device) -> list[str]:
    """Per trial the fingerprint of all that decides its result."""
    read = Fingerprint()
    return [
        read(
            core_code(),
            device.type,
            _initial(trial),
            trial.recipe,
            trial.seed,
            (trial.train.inputs, trial.train.labels, trial.train.num_classes),
            {name: dataset.inputs for name, dataset in trial.score.items()},
            {name: (dataset.inputs, dataset.labels) for name, dataset in trial.watch.items()},
            (trial.keep, trial.gradients),
        )
        for trial in trials
    ]


def _initial(trial: Trial) -> nn.Module:
    with place.seeded(trial.seed, torch.device("cpu")):
        return built(trial.model)


# --- the work ------------------------------------------------------------------------------------


def _train(trials, missing, device, how, jobs, progress):
    """Yield (index, payload) of each missing run as it is finished."""
    units, seconds = _units(trials, missing, device, how)
    backend, asked = joblib.parallel.get_active_backend()
    elsewhere = type(backend).__name__ not in ("LokyBackend", "SequentialBackend")
    if jobs is None:
        jobs = asked
    if jobs is None and not elsewhere:
        most = joblib.cpu_count() if device.type == "cpu" else 1
        jobs = min(most, len(missing), 1 + int(seconds / WORTH))
    with tqdm(total=len(missing), disable=not progress, unit="run", smoothing=0) as bar:
        if jobs == 1 and not elsewhere:
            for unit in _split(units, 1):
                yield from _counted(bar, unit, _run_unit([trials[i] for i in unit], device))
            return
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        units = _split(units, max(1, joblib.effective_n_jobs(-1 if jobs is None else jobs)))
        work = (joblib.delayed(_named)(u, [trials[i] for i in u], device) for u in units)
        for unit, payloads in parallel(work):
            yield from _counted(bar, unit, payloads)


def _counted(bar, unit, payloads):
    bar.update(len(unit))
    yield from zip(unit, payloads, strict=True)


def _split(units: list[list[int]], jobs: int) -> list[list[int]]:
    """Each stack in even parts, one or more a worker and none above `STACK` runs."""
    parts = []
    for unit in units:
        rounds = -(-len(unit) // (jobs * STACK))
        cut = np.array_split(np.array(unit), min(len(unit), jobs * rounds))
        parts += [part.tolist() for part in cut]
    return parts


def _units(trials, missing, device, how) -> tuple[list[list[int]], float]:
    """Which runs may be trained together, and about how many seconds one worker needs for all."""
    groups: dict[Any, list[int]] = {}
    for i in missing:
        model = _initial(trials[i])
        shape = shape_of(trials[i], model)
        if shape is None and how == "stacked":
            raise ValueError(
                f"how='stacked' cannot train run {i}: its model has layers that do not stack, or "
                "its recipe selects, compiles or autocasts; leave how='auto'"
            )
        alike = ("alone", str(model), trials[i].train.inputs.shape, trials[i].recipe.batch_size)
        groups.setdefault(alike if shape is None else shape, []).append(i)
    units, seconds = [], 0.0
    for shape, group in groups.items():
        way = "single" if shape[0] == "alone" else how
        stacked, spent = _faster([trials[i] for i in group], device, way)
        units += [group] if stacked else [[run] for run in group]
        seconds += spent
    return units, seconds


def _faster(trials: list[Trial], device: torch.device, how: str) -> tuple[bool, float]:
    """Whether a stack beats one by one, as measured on a few steps; seconds of the faster way."""
    epochs = sum(trial.recipe.epochs for trial in trials)
    part = trials[:STACK]
    single = stacked = float("inf")
    if how != "stacked" or len(trials) == 1:
        single = seconds_per_epoch(trials[:1], device) * epochs
    if how != "single" and len(trials) > 1:
        if single < SHORT:
            return True, single
        stacked = seconds_per_epoch(part, device) * epochs / len(part)
    return stacked < single, min(stacked, single)


def _named(unit, trials, device):
    return unit, _run_unit(trials, device)


def _run_unit(trials: list[Trial], device: torch.device) -> list[dict[str, Any]]:
    with _ALONE:
        start = time.perf_counter()
        if len(trials) > 1:
            runs = fit_stacked(trials, device=device, progress=False)
        else:
            runs = [_fit(trials[0], device)]
        if any(run.interrupted for run in runs):
            raise KeyboardInterrupt
        seconds = (time.perf_counter() - start) / len(runs)
        return [_payload(trial, run, seconds) for trial, run in zip(trials, runs, strict=True)]


def _fit(trial: Trial, device: torch.device) -> Run:
    return training.fit(
        trial.model,
        trial.train,
        trial.recipe,
        seed=trial.seed,
        device=device,
        watch=trial.watch,
        keep=trial.keep,
        gradients=trial.gradients,
        progress=False,
    )


def _payload(trial: Trial, run: Run, seconds: float) -> dict[str, Any]:
    """A run as tensors and plain values, all on the CPU."""
    scored = {name: run.predict(_light(dataset)).logits for name, dataset in trial.score.items()}
    return {
        "scored": {name: logits.cpu() for name, logits in scored.items()},
        "history": run.history.to_dict(orient="list"),
        "diagrams": {n: list(map(_counted_bins, found)) for n, found in run.diagrams.items()},
        "logits": dict(run.logits),
        "gradients": run.gradients,
        "state": {name: tensor.cpu().clone() for name, tensor in run.model.state_dict().items()},
        "seconds": seconds,
    }


def _light(dataset: Dataset) -> Dataset:
    return replace(dataset, posterior=None)


def _counted_bins(diagram: Reliability) -> dict[str, torch.Tensor]:
    return {f.name: getattr(diagram, f.name) for f in fields(diagram) if f.init}


def _outcome(setting, trial: Trial, payload: dict[str, Any]) -> Outcome:
    said = {
        name: Predictions(payload["scored"][name], dataset.labels, dataset.posterior)
        for name, dataset in trial.score.items()
    }
    diagrams = {n: [Reliability(**d) for d in found] for n, found in payload["diagrams"].items()}
    return Outcome(
        setting=setting,
        predictions=said,
        history=pd.DataFrame(payload["history"]),
        diagrams=diagrams,
        logits=payload["logits"],
        gradients=payload["gradients"],
        seconds=payload["seconds"],
        trial=trial,
        state=payload["state"],
    )


def _row(outcome: Outcome) -> dict[str, Any]:
    last = outcome.history.iloc[-1]
    row = dict(outcome.setting)
    row |= {"train_loss": last.train_loss, "train_accuracy": last.train_accuracy}
    for name, said in outcome.predictions.items():
        probs, labels = said.probs, said.labels
        row[f"{name}_accuracy"] = metrics.accuracy(probs, labels)
        row[f"{name}_confidence"] = said.confidence.double().mean().item()
        row[f"{name}_gap"] = metrics.signed_gap(probs, labels)
        row[f"{name}_ece"] = metrics.ece(probs, labels)
        row[f"{name}_nll"] = metrics.nll(probs, labels)
    return row
