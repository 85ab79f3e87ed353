"""Focal loss with each gamma: networks, and a model of two weights."""

from __future__ import annotations

import functools

import torch

from calibkit import losses, theory
from calibkit.course import scale
from calibkit.course.experiments import soft_targets
from calibkit.lab import models, training
from calibkit.lab.data import Dataset

DECAY = 1e-4  # where nothing else is said


def trial(
    size: scale.Budget, gamma: float, decay: float, seed: int, longer: int = 1
) -> training.Trial:
    """A network of two hidden layers of 256 units, scored on `train`, `cal` and `test`.

    longer: how many times the epochs of `size`.
    """
    train, cal, test = soft_targets.digits(size, seed)
    return training.trial(
        functools.partial(models.mlp, 64, soft_targets.K),
        train,
        {"train": train, "cal": cal, "test": test},
        seed=seed,
        loss=functools.partial(losses.focal, gamma=gamma),
        weight_decay=decay,
        epochs=longer * size.epochs,
    )


def two_weights(train: Dataset, gamma: float, steps: int = 200, rate: float = 0.5) -> torch.Tensor:
    """(2,) float64: the weights of a linear model on points of a plane, by gradient descent.

    The model says class 1 with probability sigmoid(x @ w). The gradient of cross-entropy is
    -(1 - p) y x, with y = -1 or +1 for the classes 0 and 1 and p the probability of the label;
    that of focal loss is g(p, gamma) times as large.
    """
    x, sign = train.inputs.double(), 2.0 * train.labels - 1
    w = torch.zeros(2, dtype=torch.float64)
    for _ in range(steps):
        p = torch.sigmoid(sign * (x @ w))
        downhill = theory.gradient_ratio(p, gamma) * (1 - p) * sign
        w = w + rate * downhill @ x / len(x)
    return w


def of_two_weights(data: Dataset, w: torch.Tensor) -> torch.Tensor:
    """(n, 2) probabilities of the model with the weights w."""
    second = torch.sigmoid(data.inputs.double() @ w)
    return torch.stack([1 - second, second], dim=1)
