"""What a training changes for its whole process, and puts back: random state, threads, memory."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator

import torch
from torch import nn

from calibkit.threads import one_thread

SMALL = 1_000_000  # dense parameters below which a second CPU thread costs more than it brings
SMALL_STACK = 100_000  # the same for a stack, whose every operation has more to do

# glibc's mallopt: M_MMAP_MAX, M_TRIM_THRESHOLD and M_MMAP_THRESHOLD, while a model trains and after
# it; the last are the upper ends of what glibc itself would have come to
KEEPING = {-4: 0, -1: 2**31 - 1}
RETURNING = {-4: 65_536, -1: 2**26, -3: 2**25}


def own_randomness(device: torch.device):
    """A context after which the global random state is as before, also that of a CUDA `device`."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def seed_globally(seed: int, device: torch.device) -> None:
    """Start the global random state anew, as initial weights and dropout draw from it."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)  # and leaves CUDA's state alone
    else:
        torch.manual_seed(seed)


@contextlib.contextmanager
def prepared(network: nn.Module, device: torch.device, runs: int = 1) -> Iterator[None]:
    """The CPU's threads and memory as they suit a network of so many stacked runs; then as before.

    A small dense network gets one thread: more would spend their time waiting. What a step frees
    stays with the process: given back, it would cost the next step a page fault per 4 KiB, up to
    half of the time of a stack of convolutional networks.
    """
    if device.type != "cpu":
        yield
        return
    _tell_allocator(KEEPING)
    try:
        with one_thread(not _takes_threads(network, runs)):
            yield
    finally:
        _tell_allocator(RETURNING)


def _tell_allocator(settings: dict[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in settings.items():
            mallopt(parameter, value)


def _takes_threads(network: nn.Module, runs: int) -> bool:
    enough = SMALL if runs == 1 else SMALL_STACK
    weights = list(network.parameters())
    convolves = any(weight.ndim > 3 for weight in weights)  # dense ones have 3 where they stack
    return convolves or sum(weight.numel() for weight in weights) >= enough
