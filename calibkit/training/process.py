"""What a training changes for its whole process, and puts back: random state, threads, memory."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator

import torch
from torch import nn

SMALL = 1_000_000  # dense parameters below which a second CPU thread costs more than it brings
SMALL_STACK = 100_000  # the same for a stack, whose every operation has more to do

# glibc's mallopt: parameter -> its value while a model trains, and afterwards the upper end of what
# glibc itself would have come to
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
KEEPING = {M_MMAP_MAX: 0, M_TRIM_THRESHOLD: 2**31 - 1}
RETURNING = {M_MMAP_MAX: 65_536, M_TRIM_THRESHOLD: 2**26, M_MMAP_THRESHOLD: 2**25}


def own_randomness(device: torch.device):
    """A context after which the global random state is as before, also that of a CUDA `device`."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def seed_globally(seed: int, device: torch.device) -> None:
    """Start the global random state anew, as initial weights and dropout draw from it."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)  # the other one notes a stack trace for CUDA
    else:
        torch.manual_seed(seed)


@contextlib.contextmanager
def prepared(model: nn.Module, device: torch.device, runs: int = 1) -> Iterator[None]:
    """The CPU's threads and memory as they suit the training of `runs` stacked copies of `model`.

    A small dense network gets one thread: more would spend their time waiting. And what a step
    frees is kept for the next one: given back, it costs a page fault per 4 KiB, up to two fifths
    of the time of a convolutional network. Afterwards the threads are as before, and freed memory
    goes back as in glibc's most generous default.
    """
    if device.type != "cpu":
        yield
        return
    before = torch.get_num_threads()
    if not _takes_threads(model, runs):
        torch.set_num_threads(1)
    _tell_allocator(KEEPING)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _tell_allocator(RETURNING)


def _takes_threads(model: nn.Module, runs: int) -> bool:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    enough = SMALL if runs == 1 else SMALL_STACK
    convolves = any(isinstance(module, nn.Conv2d) for module in model.modules())
    return convolves or runs * parameters >= enough


def _tell_allocator(settings: dict[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in settings.items():
            mallopt(parameter, value)
