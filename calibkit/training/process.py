"""What a training changes for its whole process, and puts back: random state and threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch import nn

SMALL = 1_000_000  # dense parameters below which a second CPU thread costs more than it brings
SMALL_STACK = 100_000  # the same for a stack, whose every operation has more to do


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
    """The CPU's threads as they suit a network of so many stacked runs; afterwards as before.

    A small dense network gets one thread: more would spend their time waiting.
    """
    before = torch.get_num_threads()
    if device.type == "cpu" and not _takes_threads(network, runs):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _takes_threads(network: nn.Module, runs: int) -> bool:
    enough = SMALL if runs == 1 else SMALL_STACK
    weights = list(network.parameters())
    convolves = any(weight.ndim > 3 for weight in weights)  # dense ones have 3 where they stack
    return convolves or sum(weight.numel() for weight in weights) >= enough
