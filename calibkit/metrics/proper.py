"""Proper scores: negative log likelihood, Brier, and what a Brier score is made of."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics.classwise import blocks, class_tally
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


class BrierParts(NamedTuple):
    """calibration + refinement + within == Brier score; see `brier_decomposition`."""

    calibration: float
    refinement: float
    within: float


def brier_decomposition(
    probs: Array, labels: Array, *, bins: int = 15, weights: Weights = None
) -> BrierParts:
    """The Brier score as calibration + refinement + within-bin remainder.

    Each class's probability is put into equal-width bins. With n_bk samples of mean probability
    c_bk and label frequency a_bk in bin b of class k,

        calibration = 1/n sum_bk n_bk (c_bk - a_bk)^2
        refinement  = 1/n sum_bk n_bk a_bk (1 - a_bk)
        within      = 1/n sum over samples and classes of (p - c)^2 - 2 (p - c) (y - a)

    and their sum is exactly `brier(probs, labels)`. Murphy's identity Brier = calibration +
    refinement holds exactly where the probabilities in each bin are equal, for then within is 0;
    otherwise within is what binning hides, and it shrinks as bins are added.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K); bins: number of bins.
    weights: (n,) of the rows, as in `ece`; n_bk and n are then sums of weights.

    Source: Murphy (1973); the remainder is Stephenson, Coelho & Jolliffe (2008).

    >>> parts = brier_decomposition([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    >>> [round(part, 4) for part in parts]  # 2 (0.8 - 0.75)^2, 2 * 0.75 * 0.25, nothing
    [0.005, 0.375, 0.0]
    """
    counts, hits, total = class_tally(probs, labels, bins, weights)
    probs, labels = validate.predictions(probs, labels)
    n, squares, of_labels = _sums(probs, of_label(probs, labels), weights)
    filled = torch.where(counts > 0, counts, 1.0)
    calibration = ((total - hits).square() / filled).sum() / n
    refinement = (hits * (1 - hits / filled)).sum() / n
    # over a bin, (p - c)^2 sums to the p^2 less n c^2, and (p - c)(y - a) to the (p - c) y
    spread = squares - (total.square() / filled).sum()
    shared = of_labels - (total * hits / filled).sum()
    return BrierParts(float(calibration), float(refinement), float((spread - 2 * shared) / n))


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
