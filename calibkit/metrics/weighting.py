"""Weights of rows: who counts how much, in the estimates of every metric.

A row of weight 2 gives the estimates of two such rows, one of weight 0 those without it, and only
the ratios of weights matter (but for the bins of equal mass, see `ada_ece`). Intervals and tests
draw rows with their weights, and not copies of them, so that no repetition makes anything surer.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from calibkit import validate
from calibkit.validate import Array

Weights = Array | None  # (n,) of the rows, 0 or more; None counts every row once


def kept(weights: Weights, *parts: Any) -> tuple[Any, ...]:
    """The rows of positive weight: of every part (n, ...), and last their float64 weights.

    Without weights all rows, and None.

    >>> [part.tolist() for part in kept([2, 0], torch.tensor([0.5, 0.75]))]
    [[0.5], [2.0]]
    """
    if weights is None:
        return (*parts, None)
    checked = validate.weights(weights, n=len(parts[0]), device=parts[0].device)
    positive = checked > 0
    if bool(positive.all()):
        return (*parts, checked)
    return tuple(part[positive] for part in (*parts, checked))


def mean(values: Tensor, weights: Tensor | None) -> float:
    """The weighted mean of (n,) values, summed in float64.

    >>> mean(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 1.0]))
    0.75
    """
    values = values.double()
    return float(values.mean() if weights is None else (weights * values).sum() / weights.sum())


def effective(total: Tensor, squares: Tensor) -> Tensor:
    """How many equal rows say as much: (sum w)^2 / sum w^2, at most the number of rows; 0 of none.

    Source: Kish (1965), Survey Sampling.

    >>> effective(torch.tensor([8.0, 4.0]), torch.tensor([16.0, 10.0])).tolist()  # 2, 2, 2, 2; 3, 1
    [4.0, 1.600000023841858]
    """
    return torch.where(total > 0, total.square() / squares, 0.0)
