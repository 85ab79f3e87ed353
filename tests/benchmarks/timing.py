"""Median CPU time of a call, and the row that a benchmark prints."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: how many times faster than the peer we are."""

    work: str
    against: str
    ratio: float
    target: float
    ours_ms: float = float("nan")

    def met(self) -> bool:
        return self.ratio >= self.target


def cpu_ms(call: Callable[[], object], repeats: int = 5, at_least_ms: float = 20) -> float:
    """Median CPU milliseconds of `call` after one warm-up; short calls are looped."""
    call()
    once = _cpu(call, 1)
    loops = max(1, int(at_least_ms / max(once, 1e-3)))
    return statistics.median(_cpu(call, loops) for _ in range(repeats))


def interleaved_ms(ours, theirs, repeats: int = 5) -> tuple[float, float]:
    """Median CPU milliseconds of two calls taken in turn, so that machine drift cancels."""
    ours(), theirs()
    pairs = [(_cpu(ours, 1), _cpu(theirs, 1)) for _ in range(repeats)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def _cpu(call: Callable[[], object], loops: int) -> float:
    gc.disable()
    start = time.process_time()
    for _ in range(loops):
        call()
    spent = time.process_time() - start
    gc.enable()
    return spent * 1e3 / loops
