"""What each SCALE costs, and how a lesson begins: the one place where its budgets are set.

What a scale trains on photographs stands in `study.photographs`, beside the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibkit import validate

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Budget:
    """How much of everything a notebook may use.

    train, test: images; epochs: passes over the training images; seeds: independent repetitions
    behind every verdict; draws: test sets drawn to see an estimator's spread.
    """

    train: int
    test: int
    epochs: int
    seeds: int
    draws: int


BUDGETS = {
    "smoke": Budget(train=256, test=1_000, epochs=10, seeds=2, draws=20),
    "laptop": Budget(train=1_500, test=10_000, epochs=60, seeds=5, draws=200),
    "night": Budget(train=1_500, test=10_000, epochs=60, seeds=5, draws=200),
    "gpu": Budget(train=1_500, test=50_000, epochs=60, seeds=10, draws=1_000),
    "paper": Budget(train=1_500, test=100_000, epochs=60, seeds=20, draws=1_000),
}


def budget(scale: str) -> Budget:
    """The budget called smoke, laptop, night, gpu or paper; raises ValueError for another name.

    >>> budget("laptop").seeds
    5
    """
    return BUDGETS[validate.choice("SCALE", scale, tuple(BUDGETS))]


def begin(scale: str, seed: int = 0, device: str = "auto") -> tuple[Budget, range, torch.device]:
    """How a lesson begins: its budget, the seeds of its repetitions, the device it trains on.

    scale, seed, device: what the lesson's parameters say; as of `budget`, the first seed, and as of
        `training.as_device`. Figures drawn from here on have the course's theme.

    Raises ValueError for an unknown scale or device.

    >>> size, seeds, device = begin("smoke", seed=3, device="cpu")
    >>> size.train, seeds, device.type
    (256, range(3, 5), 'cpu')
    """
    from calibkit.lab.training import as_device
    from calibkit.pictures import plots

    size = budget(scale)
    plots.theme()
    return size, range(seed, seed + size.seeds), as_device(device)
