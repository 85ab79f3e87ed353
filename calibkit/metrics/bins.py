"""Bins of confidence: edges in float64, the bin of every value, and the error from bins' gaps."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from calibkit import validate

Norm = Literal["l1", "l2", "max"]
Binning = Literal["width", "mass"]  # of equal width, or of equally many samples
Closed = Literal["right", "left"]
NORMS = get_args(Norm)


def check_options(bins, binning: Binning = "width", closed: Closed = "right") -> int:
    """`bins` as a plain integer, once all three options are known to be good."""
    validate.choice("binning", binning, get_args(Binning))
    validate.choice("closed", closed, get_args(Closed))
    return validate.integer("bins", bins, 1)


def width_edges(bins: int, device=None) -> Tensor:
    """The edges i / bins of equal-width bins, each correctly rounded to float64.

    Float32 edges put values that sit on an edge into the wrong bin, and so does i * (1 / bins).

    >>> width_edges(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return torch.arange(bins + 1, dtype=torch.float64, device=device) / bins


def mass_edges(values: Tensor, bins: int, weights: Tensor | None = None) -> Tensor:
    """Edges half-way between the neighbours at each cut of the (n,) sorted values.

    The values are cut into `bins` runs of equal length, the first n mod bins of them longer by
    one. Equal values are never torn apart: a run of ties around a cut goes to one side of it,
    so that the row order has no say. With n < bins the last bins stay empty.

    weights: (n,) positive float64. Whole numbers count copies of a row, and the cuts are those of
        the copies; others are cut at equal shares of their sum, a row across a cut below it.

    >>> mass_edges(torch.tensor([0.875, 0.5, 0.75, 0.625]), 2).tolist()
    [0.0, 0.6875, 1.0]
    """
    ordered, order = values.double().sort()
    weights = torch.ones_like(ordered) if weights is None else weights
    mass, cuts = weights[order].cumsum(0), torch.arange(1, bins, device=values.device).double()
    total = mass[-1]
    if bool((weights == weights.round()).all()):
        cuts = cuts * (total // bins) + cuts.clamp(max=(total % bins).item())
    else:
        cuts = cuts / bins * total
    slack = 1e-12 * total  # sums of weights are rounded
    below = torch.searchsorted(mass, cuts - slack).clamp(max=len(mass) - 1)
    above = (below + (mass[below] <= cuts + slack)).clamp(max=len(mass) - 1)
    inner = torch.where(cuts < total, (ordered[below] + ordered[above]) / 2, 1.0)
    return torch.cat([inner.new_zeros(1), inner, inner.new_ones(1)])


def edges_of(values: Tensor, bins: int, binning: Binning, weights: Tensor | None = None) -> Tensor:
    """The (bins + 1,) edges of equal width, or those of equal mass for these values."""
    if binning == "mass":
        return mass_edges(values, bins, weights)
    return width_edges(bins, values.device)


def bin_index(values: Tensor, edges: Tensor, closed: Closed = "right") -> Tensor:
    """The bin of every value: (lo, hi] when closed on the right, [lo, hi) on the left.

    0 is always in the first bin and 1 in the last.

    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4)).tolist()
    [0, 0, 3]
    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4), closed="left").tolist()
    [0, 1, 3]
    """
    inner = edges[1:-1].contiguous()
    return torch.bucketize(values.double().contiguous(), inner, right=closed == "left")


def weighted_gap(gap: Tensor, share: Tensor, norm: Norm) -> Tensor:
    """The `norm` of gaps whose bins are the last dimension; the NaN of an empty bin weighs 0."""
    size = gap.abs().nan_to_num()
    if norm == "max":
        return size.amax(-1)
    power = 1 if norm == "l1" else 2
    return (share * size**power).sum(-1) ** (1 / power)
