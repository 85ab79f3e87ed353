"""Which runs of a sweep are trained together, and in how many processes."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import joblib
import numpy as np
import torch
from tqdm.auto import tqdm

from calibkit.lab.sweep import fingerprint
from calibkit.lab.training import Trial, train_trials

How = Literal["auto", "stacked", "single"]
HOW = get_args(How)
SMALL = 100_000  # parameters of a network up to which a stack is faster than one after the other
STACK = 32  # runs a stack at most: what a kill -9 can lose
FIRST = 8  # runs that are trained before it is known how long they take
WORTH = 15.0  # seconds of training for which starting one more process (some 5 s) pays
HERE = ("LokyBackend", "SequentialBackend")  # joblib's backends on this machine
_ALONE = threading.Lock()  # one training at a time in a process: they share its random state


def train(
    trials: Sequence[Trial],
    device: torch.device,
    *,
    how: How = "auto",
    jobs: int | None = None,
    progress: bool = True,
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Train all, and yield index and `Run.tensors()` of each run as it is finished.

    how, jobs: as in `sweep.run`. Raises KeyboardInterrupt on Ctrl-C, ValueError for a trial that
    how="stacked" cannot stack.
    """
    with tqdm(total=len(trials), disable=not (progress and trials), unit="run", smoothing=0) as bar:
        for unit, finished in _finished(trials, units(trials, how), device, jobs):
            bar.update(len(unit))
            yield from zip(unit, finished, strict=True)


def units(trials: Sequence[Trial], how: How = "auto") -> list[list[int]]:
    """Indices of the trials that are trained together.

    "auto" stacks small networks of one shape, "stacked" all networks of one shape, "single" none.
    """
    groups: dict[Any, list[int]] = {}
    for i, trial in enumerate(trials):
        shape = None if how == "single" else trial.shape
        if shape and how == "auto" and shape[0].parameters >= SMALL:
            shape = None
        if shape is None and how == "stacked":
            raise ValueError(
                f"how='stacked' cannot train run {i}: its model has layers that do not stack, or "
                "its recipe autocasts; leave how='auto'"
            )
        groups.setdefault(i if shape is None else shape, []).append(i)
    return list(groups.values())


def split(units: Sequence[Sequence[int]], jobs: int) -> list[list[int]]:
    """Each stack in even parts, one or more a worker and none above `STACK` runs.

    >>> split([[0, 1, 2, 3, 4], [5]], 2)
    [[0, 1, 2], [3, 4], [5]]
    """
    parts = []
    for unit in units:
        rounds = -(-len(unit) // (jobs * STACK))
        cut = np.array_split(np.array(unit), min(len(unit), jobs * rounds))
        parts += [part.tolist() for part in cut]
    return parts


def processes(seconds: float, runs: int, device: torch.device) -> int:
    """How many processes pay for so many runs that take one process so many seconds."""
    most = joblib.cpu_count() if device.type == "cpu" else 1
    return max(1, min(most, runs, 1 + int(seconds / WORTH)))


def train_unit(trials: Sequence[Trial], device: torch.device) -> list[dict[str, Any]]:
    """`Run.tensors()` of trials that are trained together in this process."""
    with _ALONE:
        runs = train_trials(trials, device=device, progress=False)
    if any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    return [run.tensors() for run in runs]


def _finished(trials, units, device, jobs) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    """Each unit of work with its runs.

    Where nobody says how many processes to take, the first few runs are trained here, and the time
    that they take says how many pay for the rest.
    """
    backend, asked = joblib.parallel.get_active_backend()
    here = type(backend).__name__ in HERE
    jobs = asked if jobs is None else jobs
    if jobs is None and here and units:
        first, units = units[0][:FIRST], [u for u in (units[0][FIRST:], *units[1:]) if u]
        start = time.perf_counter()
        yield from _one_by_one(trials, [first], device)
        left = sum(map(len, units))
        jobs = processes((time.perf_counter() - start) / len(first) * left, left, device)
    if not units or (jobs == 1 and here):
        yield from _one_by_one(trials, split(units, 1), device)
    else:
        shared = getattr(backend, "supports_sharedmem", False)
        yield from _in_workers(trials, units, device, jobs, shared)


def _one_by_one(trials, units, device):
    for unit in units:
        yield unit, train_unit([trials[i] for i in unit], device)


def _in_workers(trials, units, device, jobs, shared):
    """Units in other processes, or in threads that have a `shared` memory with this one.

    A process that would train something else, or of which that cannot be told, trains nothing.
    """
    keys = _keys(trials, device)
    untold = {i for i, key in enumerate(keys) if key is None and not shared}
    stay = [unit for unit in units if untold & set(unit)]
    if stay:
        warnings.warn(
            f"{sum(map(len, stay))} of {len(trials)} trainings stay in this process, as it cannot "
            "be told whether a worker would train the same",
            stacklevel=5,
        )
    workers = max(1, joblib.effective_n_jobs(-1 if jobs is None else jobs))
    work = split([unit for unit in units if unit not in stay], workers)
    tasks = ((u, [trials[i] for i in u], [keys[i] for i in u], device) for u in work)
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    for unit, runs in parallel(joblib.delayed(_there)(*task) for task in tasks):
        if runs is None:
            text = "a worker has other code or values than this process; its part is trained here"
            warnings.warn(text, stacklevel=5)
            yield from _one_by_one(trials, [unit], device)
        else:
            yield unit, runs
    yield from _one_by_one(trials, split(stay, 1), device)


def _there(unit, trials, keys, device):
    """The unit with its runs, or with None where this worker would train something else."""
    with _ALONE:  # networks are built to be read, with the random state of the process
        same = _keys(trials, device) == keys
    return unit, train_unit(trials, device) if same else None


def _keys(trials: Sequence[Trial], device: torch.device) -> list[str | None]:
    with warnings.catch_warnings(action="ignore"):  # of what is not cached a sweep speaks once
        return fingerprint.keys(trials, device)
