"""Results of slow functions on disk, under a key of all that decides them.

`sweep.run` keeps trainings of the course's own engine; this keeps what that engine cannot train, in
the same store and with the same reading of values.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import joblib
import torch
from tqdm.auto import tqdm

from calibkit.lab.sweep import fingerprint, placement
from calibkit.lab.sweep.contents import Fingerprint, digest
from calibkit.lab.sweep.origins import Untellable
from calibkit.lab.sweep.store import Store

CPU = torch.device("cpu")


def results(
    function: Callable[..., Any],
    tasks: Sequence[tuple],
    *,
    jobs: int | None = None,
    cache: bool = True,
    progress: bool = True,
) -> list[Any]:
    """`function(*task)` for every task, from disk where it was computed before.

    function: of its arguments alone; gives tensors, numbers, texts, or lists and dictionaries of
        them. Other processes are started where that pays. A result is kept as soon as it is there,
        so that an interrupted call goes on.

    >>> results(max, [(1, 2), (4, 3)], cache=False, progress=False)
    [2, 4]
    """
    store = Store() if cache else None
    keys = _keys(function, tasks) if cache else [None] * len(tasks)
    found = [None if key is None else store.get(key) for key in keys]
    missing = [i for i, value in enumerate(found) if value is None]
    computed = _computed(function, [tasks[i] for i in missing], jobs)
    for place, value in tqdm(
        computed, total=len(missing), disable=not (progress and missing), unit="run"
    ):
        i = missing[place]
        found[i] = value
        if keys[i] is not None:
            store.put(keys[i], value)
    return found


def _keys(function: Callable, tasks: Sequence[tuple]) -> list[str | None]:
    """The key of each result; None, with a warning, for what cannot be told."""
    keys, course = [], fingerprint.package()
    for task in tasks:
        try:
            own = Fingerprint()(function, *task)
            keys.append(digest(["kept 1", course, torch.__version__, own]))
        except Untellable as error:
            said = f"a result is not kept, as it cannot be told: {error}"
            warnings.warn(said, stacklevel=3)
            keys.append(None)
    return keys


def _computed(function, tasks, jobs) -> Iterator[tuple[int, Any]]:
    """Each result with its place; the first is made here, and tells how many processes pay."""
    if not tasks:
        return
    start = time.perf_counter()
    yield 0, function(*tasks[0])
    left = len(tasks) - 1
    if jobs is None:
        jobs = placement.processes((time.perf_counter() - start) * left, left, CPU) if left else 1
    work = (joblib.delayed(_placed)(function, i, tasks[i]) for i in range(1, len(tasks)))
    yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(work)


def _placed(function, place: int, task: tuple) -> tuple[int, Any]:
    return place, function(*task)
