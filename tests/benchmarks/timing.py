"""Median times of calls, and the row that a benchmark prints."""

from __future__ import annotations

import statistics
import time
import timeit
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
    clock = timeit.Timer(call, timer=time.process_time)
    once = 1e3 * min(clock.repeat(2, 1))
    loops = max(1, int(at_least_ms / max(once, 1e-3)))
    return 1e3 * statistics.median(clock.repeat(repeats, loops)) / loops


def against(
    work: str, peer: str, target: float, ours, theirs, repeats: int = 5, timer=time.process_time
) -> Row:
    """A row of two calls taken in turn, so that machine drift cancels, after a warm-up of each."""
    clocks = [timeit.Timer(call, timer=timer) for call in (ours, theirs)]
    pairs = [[clock.timeit(1) for clock in clocks] for _ in range(repeats + 1)][1:]
    mine, other = (1e3 * statistics.median(side) for side in zip(*pairs, strict=True))
    if mine < 5:  # too short for one call at a time
        mine, other = cpu_ms(ours), cpu_ms(theirs)
    return Row(work, peer, other / mine, target, ours_ms=mine)
