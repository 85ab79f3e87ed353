"""Where a model trains, and with how many threads."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Iterator

import torch
from torch import nn

SMALL = 1_000_000  # dense parameters below which a second CPU thread costs more than it brings
SMALL_STACK = 100_000  # the same for a stack, whose every operation has more to do
WIDE = 16  # channels from which channels_last is taken on an accelerator

# glibc's mallopt: parameter -> its value while a model trains, and afterwards the upper end of what
# glibc itself would have come to
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
KEEPING = {M_MMAP_MAX: 0, M_TRIM_THRESHOLD: 2**31 - 1}
RETURNING = {M_MMAP_MAX: 65_536, M_TRIM_THRESHOLD: 2**26, M_MMAP_THRESHOLD: 2**25}


def best_device() -> torch.device:
    """CUDA if there is one, else an Apple GPU, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def as_device(device: str | torch.device | None) -> torch.device:
    """The named device; None or "auto" stands for the best one here."""
    if device is None or device == "auto":
        return best_device()
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device {str(device)!r} is not usable here ({reason}); write 'auto' or 'cpu'"
        ) from None
    return chosen


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Global random state that belongs to the seed (dropout, initial weights).

    Afterwards that of the CPU and of a CUDA `device` is what it was.
    """
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        if device.type == "cpu":
            torch.default_generator.manual_seed(seed)  # the other one notes a stack trace for CUDA
        else:
            torch.manual_seed(seed)
        yield


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
    return bool(_convolutions(model)) or runs * parameters >= enough


def _tell_allocator(settings: dict[int, int]) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for parameter, value in settings.items():
            mallopt(parameter, value)


def memory_format(model: nn.Module, device: torch.device) -> torch.memory_format:
    """channels_last for convolutions on a CPU, up to half faster, and for wide ones elsewhere."""
    narrowest = 1 if device.type == "cpu" else WIDE
    fits = any(c.in_channels >= narrowest and c.groups == 1 for c in _convolutions(model))
    return torch.channels_last if fits else torch.contiguous_format


def _convolutions(model: nn.Module) -> list[nn.Conv2d]:
    return [module for module in model.modules() if isinstance(module, nn.Conv2d)]
