"""How a model is trained: every setting of a training, checked once, in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from torch import Tensor
from torch.nn import functional

from calibkit import validate
from calibkit.prioritization import Selection

Optimizer = Literal["sgd", "adamw"]
Schedule = Literal["step", "cosine", "constant"]


@dataclass(frozen=True)
class Recipe:
    """The settings of one training.

    loss: maps logits (b, K) and labels (b,), or soft labels (b, K) under `mix`, to a scalar. A
        loss that changes with the epoch has a method `at(epoch, epochs)` that returns the loss of
        that epoch, counted from 0 (`losses.ScheduledFocal`). A setting of the loss is bound by
        `functools.partial(losses.focal, gamma=2.0)`.
    epochs, batch_size, weight_decay: as everywhere.
    optimizer: "sgd" with `momentum`, or "adamw" (betas .9 and .999, eps 1e-8, decoupled weight
        decay; `momentum` plays no part).
    lr: the highest learning rate.
    warmup: epochs (or a part of one) in which the rate first rises from 0 in a straight line.
    schedule: what it does then. "step" divides by 10 at each of `milestones`, fractions of the
        epochs; "cosine" falls to 0 along half a cosine, step by step ("one-cycle" after a warm-up
        of some 30 % of the epochs); "constant" stays.
    augment: maps images (b, c, h, w) and `generator=` to images, batch by batch
        (`augmentation.crop_flip`).
    mix: maps inputs, labels, `classes=` and `generator=` to inputs and soft labels
        (`functools.partial(mixing.mixup, alpha=0.2)`).
    select: which samples an epoch trains on (`prioritization.MaxEntropy`, `MaxLoss`, `RandomPart`);
        None takes all.
    autocast: bfloat16 where torch holds it safe; pays on a GPU, costs on most CPUs.

    Raises ValueError or TypeError that names the setting.

    >>> Recipe(epochs=4).lr
    0.1
    """

    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    epochs: int = 60
    batch_size: int = 128
    optimizer: Optimizer = "sgd"
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 1e-4
    schedule: Schedule = "step"
    milestones: tuple[float, ...] = (0.5, 0.75)
    warmup: float = 0.0
    augment: Callable[..., Tensor] | None = None
    mix: Callable[..., tuple[Tensor, Tensor]] | None = None
    select: Selection | None = None
    autocast: bool = False

    def __post_init__(self) -> None:
        validate.integer("epochs", self.epochs, 1)
        validate.integer("batch_size", self.batch_size, 1)
        validate.choice("optimizer", self.optimizer, get_args(Optimizer))
        validate.number("lr", self.lr, 0, math.inf, open_low=True, open_high=True)
        validate.number("momentum", self.momentum, 0, 1, open_high=True)
        validate.number("weight_decay", self.weight_decay, 0, math.inf, open_high=True)
        validate.choice("schedule", self.schedule, get_args(Schedule))
        validate.number("warmup", self.warmup, 0, self.epochs, open_high=True)
        for milestone in self.milestones:
            validate.fraction("milestones", milestone)
        object.__setattr__(self, "milestones", tuple(self.milestones))
        if not (self.select is None or isinstance(self.select, Selection)):
            name = type(self.select).__name__
            raise TypeError(f"select must be a prioritization.Selection, got {name}")
        for name in ("loss", "augment", "mix"):
            value = getattr(self, name)
            if not callable(value) and not (value is None and name != "loss"):
                raise TypeError(f"{name} must be a function, got {type(value).__name__}")

    def loss_at(self, epoch: int) -> Callable[[Tensor, Tensor], Tensor]:
        """The loss of an epoch, counted from 0."""
        return self.loss.at(epoch, self.epochs) if hasattr(self.loss, "at") else self.loss
