"""Results of tasks: from disk where they were computed before, else kept as they are finished."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
from tqdm.auto import tqdm

from calibkit.lab.sweep import key
from calibkit.lab.sweep.store import Store

FIRST = 8  # tasks of a group that are computed before it is known how long they take
UNIT = 32  # tasks that are computed together at most: what a kill -9 can lose
WORTH = 15.0  # seconds of work for which starting one more process (some 5 s) pays
HERE = ("LokyBackend", "SequentialBackend")  # joblib's backends on this machine


def results(
    function: Callable[..., Any],
    tasks: Sequence[tuple],
    *,
    jobs: int | None = None,
    cache: str | Path | bool = True,
    progress: bool = True,
) -> list[Any]:
    """`function(*task)` for every task, from disk where it was computed before.

    function: of its arguments alone; gives tensors, numbers, texts, or lists and dictionaries of
        them. Other processes are started where that pays. A result is kept as soon as it is there,
        so that an interrupted call goes on.

    >>> results(max, [(1, 2), (4, 3)], cache=False, progress=False)
    [2, 4]
    """
    calls, cpu = [(function, *task) for task in tasks], torch.device("cpu")
    keys = key.keys(calls, cpu) if cache else [None] * len(calls)
    alone = [[place] for place in range(len(calls))]
    return completed(_called, calls, alone, keys, cpu, jobs=jobs, cache=cache, progress=progress)


def _called(calls: list[tuple]) -> list[Any]:
    return [function(*task) for function, *task in calls]


def completed(
    compute: Callable[[list], list],
    tasks: Sequence[Any],
    groups: Sequence[Sequence[int]],
    keys: Sequence[str | None],
    device: torch.device,
    *,
    jobs: int | None,
    cache: str | Path | bool,
    progress: bool,
) -> list[Any]:
    """What `compute` makes of the tasks, many of a group (indices of tasks) at once.

    keys: of the results on disk; None where there is none. Ctrl-C, or a kill, loses what is in
        flight. What changes its task while it is computed is not kept, and a warning says so.
    """
    names = {i: name for i, name in enumerate(keys) if name is not None}
    store = Store(cache if isinstance(cache, str | Path) else None)
    stored = {i: store.get(name) for i, name in names.items()}
    done = {i: result for i, result in stored.items() if result is not None}
    if names.keys() - done:
        store.check()
    left = [[i for i in group if i not in done] for group in groups]
    left = [group for group in left if group]
    total = len(tasks) - len(done)
    with tqdm(total=total, disable=not (progress and total), unit="run", smoothing=0) as bar:
        for unit, computed in _computed(compute, tasks, left, device, jobs):
            bar.update(len(unit))
            done |= zip(unit, computed, strict=True)
            unit = [i for i in unit if i in names]
            starts = key.keys([tasks[i] for i in unit], device, start_only=True)
            for i, start in zip(unit, starts, strict=True):
                if start is not None and names[i].startswith(start):
                    store.put(names[i], done[i])
                else:
                    text = "a result is not kept, as its computation changed what decides it"
                    warnings.warn(text, stacklevel=3)
    return [done[i] for i in range(len(tasks))]


def split(groups: Sequence[Sequence[int]], jobs: int) -> list[list[int]]:
    """Each group in even parts, one or more a worker and none above `UNIT` tasks.

    >>> split([[0, 1, 2, 3, 4], [5]], 2)
    [[0, 1, 2], [3, 4], [5]]
    """
    parts = []
    for group in groups:
        rounds = -(-len(group) // (jobs * UNIT))
        cut = np.array_split(np.array(group), min(len(group), jobs * rounds))
        parts += [part.tolist() for part in cut]
    return parts


def processes(seconds: float, tasks: int, device: torch.device) -> int:
    """How many processes pay for so many tasks that take one process so many seconds."""
    most = joblib.cpu_count() if device.type == "cpu" else 1
    return max(1, min(most, tasks, 1 + int(seconds / WORTH)))


def _computed(compute, tasks, groups, device, jobs) -> Iterator[tuple[list[int], list[Any]]]:
    """Each unit of work with its results.

    Where nobody says how many processes to take, the first few tasks are computed here, and the
    time that they take says how many pay for the rest.
    """
    backend, asked = joblib.parallel.get_active_backend()
    here = type(backend).__name__ in HERE
    jobs = asked if jobs is None else jobs
    if jobs is None and here and groups:
        first, groups = groups[0][:FIRST], [g for g in (groups[0][FIRST:], *groups[1:]) if g]
        # the first optimiser of a process loads PyTorch's compiler: seconds that no task takes
        importlib.import_module("torch._dynamo")
        start = time.perf_counter()
        yield first, compute([tasks[i] for i in first])
        left = sum(map(len, groups))
        jobs = processes((time.perf_counter() - start) / len(first) * left, left, device)
    if groups and not (jobs == 1 and here):
        yield from _in_workers(compute, tasks, groups, device, jobs)
    else:
        yield from ((unit, compute([tasks[i] for i in unit])) for unit in split(groups, 1))


def _in_workers(compute, tasks, groups, device, jobs) -> Iterator[tuple[list[int], list[Any]]]:
    """Units in other processes; here where one has other code, values or settings, or may have."""
    units = split(groups, max(1, joblib.effective_n_jobs(-1 if jobs is None else jobs)))
    work = [[tasks[i] for i in unit] for unit in units]
    starts = [key.keys(part, device, start_only=True) for part in work]
    calls = [
        joblib.delayed(_there)(compute, device, place, [] if None in told else work[place], told)
        for place, told in enumerate(starts)
    ]
    for place, computed in joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        if computed is None:
            text = f"{len(units[place])} of {len(tasks)} results are computed in this process, as "
            warnings.warn(f"{text}a worker has other code or values, or may have", stacklevel=5)
            computed = compute(work[place])
        yield units[place], computed


def _there(compute, device, place, tasks, starts) -> tuple[int, list[Any] | None]:
    """What a worker computes; None where its keys do not start so, before and after."""

    def same() -> bool:
        return key.keys(tasks, device, start_only=True) == starts

    computed = compute(tasks) if same() else None
    return place, computed if same() else None
