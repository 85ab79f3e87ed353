"""Where a model trains, and with how many threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

SMALL = 1_000_000  # parameters below which a second CPU thread costs more than it brings
LARGE = 1_000  # numbers a sample, as in a colour image of 18 px, from which a second one pays
WIDE = 16  # channels from which channels_last pays on a CPU


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
    """Global random state that belongs to the seed (dropout, initial weights), then put back."""
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        torch.manual_seed(seed)
        yield


@contextlib.contextmanager
def threads_for(parameters: int, numbers: int, device: torch.device) -> Iterator[None]:
    """One CPU thread while a tiny model trains: more would spend their time waiting.

    Tiny are few `parameters` on samples of few `numbers`; convolutions do much with few weights.
    """
    before = torch.get_num_threads()
    if device.type == "cpu" and parameters < SMALL and numbers < LARGE:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def memory_format(model: nn.Module) -> torch.memory_format:
    """channels_last for networks of wide convolutions, where it is a quarter faster or more."""
    convolutions = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    wide = any(c.in_channels >= WIDE and c.groups == 1 for c in convolutions)
    return torch.channels_last if wide else torch.contiguous_format
