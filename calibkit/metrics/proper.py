"""Proper scores: negative log likelihood and Brier."""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit.metrics.classwise import blocks
from calibkit.metrics.top import classes_of, of_label
from calibkit.metrics.weighting import Weights, kept, mean
from calibkit.validate import Array


def nll(probs: Array, labels: Array, *, weights: Weights = None) -> float:
    """Negative log likelihood: the mean of -log p(label), in nats.

    Infinite when a label was given probability 0. Arguments, weights and errors as in `ece`.

    >>> round(nll([[0.5, 0.5], [0.25, 0.75]], [0, 0]), 4)  # (log 2 + log 4) / 2
    1.0397
    """
    probs, labels, checked = classes_of(probs, labels, weights)
    return -mean(of_label(probs, labels).log(), checked)


def brier(probs: Array, labels: Array, *, weights: Weights = None) -> float:
    """Brier score: mean over samples of the sum over classes of (p_k - [label = k])^2.

    The value lies in [0, 2]; some packages divide it by K or by 2. Arguments, weights and errors as
    in `ece`. Source: Brier (1950), Monthly Weather Review 78.

    >>> round(brier([[0.8, 0.2]], [0]), 4)  # 0.2^2 + 0.2^2
    0.08
    """
    probs, labels, checked = classes_of(probs, labels, weights)
    n, squares, of_labels = _sums(probs, of_label(probs, labels), checked)
    return float((squares - 2 * of_labels) / n) + 1


def _sum_of_squares(probs: Tensor) -> Tensor:
    """Sum of all squared entries in float64."""
    return torch.stack([block.square().sum() for block in blocks(probs)]).sum()


def _sums(probs: Tensor, each: Tensor, weights: Weights) -> tuple[Tensor | int, Tensor, Tensor]:
    """Weighted sums: of ones, of all squared entries, and of `each` (n,)."""
    if weights is None:
        return len(each), _sum_of_squares(probs), each.sum()
    squares, each, of_rows = kept(weights, _squares(probs), each)
    return of_rows.sum(), of_rows @ squares, of_rows @ each


def _squares(probs: Tensor) -> Tensor:
    """(n,) sums of the squared entries of a row in float64."""
    return torch.cat([block.square().sum(1) for block in blocks(probs)])
