"""Bins of confidence: edges in float64, the bin of every value, and what falls into each bin."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from calibkit import validate

BINNINGS = ("width", "mass")
SIDES = ("right", "left")


class Tally(NamedTuple):
    """What fell into each bin: how many samples, how many right, the sum of their confidences."""

    edges: Tensor  # (bins + 1,) float64
    counts: Tensor  # (bins,) int64
    hits: Tensor  # (bins,) int64, or float64 where a hit is a probability
    confidence: Tensor  # (bins,) float64


def width_edges(bins: int, device=None) -> Tensor:
    """The edges i / bins of equal-width bins, each correctly rounded to float64.

    Float32 edges put values that sit on an edge into the wrong bin, and so does i * (1 / bins).

    >>> width_edges(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return torch.arange(bins + 1, dtype=torch.float64, device=device) / bins


def mass_edges(confidence: Tensor, bins: int) -> Tensor:
    """Edges half-way between the neighbours at each cut of the sorted confidences.

    The n values are cut into `bins` runs of equal length, the first n mod bins of them longer by
    one. Equal values are never torn apart: a run of ties around a cut goes to one side of it,
    so that the row order has no say. With n < bins the last bins stay empty.

    >>> mass_edges(torch.tensor([0.875, 0.5, 0.75, 0.625]), 2).tolist()
    [0.0, 0.6875, 1.0]
    """
    ordered = confidence.double().sort().values
    return _cut_edges(ordered, bins)


def _cut_edges(ordered: Tensor, bins: int) -> Tensor:
    """`mass_edges` of values that are sorted already."""
    n = len(ordered)
    cuts = torch.arange(1, bins, device=ordered.device)
    cuts = cuts * (n // bins) + cuts.clamp(max=n % bins)
    below, above = ordered[cuts - 1].double(), ordered[cuts.clamp(max=n - 1)].double()
    inner = torch.where(cuts < n, (below + above) / 2, 1.0)
    ends = torch.tensor([0.0, 1.0], dtype=torch.float64, device=ordered.device)
    return torch.cat([ends[:1], inner, ends[1:]])


def edges_of(confidence: Tensor, bins: int, binning: str) -> Tensor:
    """The edges that `binning` gives these confidences."""
    if binning == "width":
        return width_edges(bins, confidence.device)
    return mass_edges(confidence, bins)


def bin_index(confidence: Tensor, edges: Tensor, closed: str = "right") -> Tensor:
    """The bin of every confidence: (lo, hi] when closed on the right, [lo, hi) on the left.

    Confidence 0 is always in the first bin and 1 in the last.

    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4)).tolist()
    [0, 0, 3]
    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4), closed="left").tolist()
    [0, 1, 3]
    """
    return torch.bucketize(confidence.double(), edges[1:-1], right=closed == "left")


def tally(confidence: Tensor, hits: Tensor, *, bins: int, binning: str, closed: str) -> Tally:
    """Counts, hits and confidence sums per bin; `hits` is 0/1 or a probability per sample."""
    edges = edges_of(confidence, bins, binning)
    index = bin_index(confidence, edges, closed)
    counts = torch.bincount(index, minlength=bins)
    right = torch.bincount(index, weights=hits.double(), minlength=bins)
    if not hits.is_floating_point():
        right = right.round().long()
    total = torch.bincount(index, weights=confidence.double(), minlength=bins)
    return Tally(edges, counts, right, total)


def check_options(bins, binning: str, closed: str) -> int:
    """`bins` as a plain integer, once all three options are known to be good."""
    validate.choice("binning", binning, BINNINGS)
    validate.choice("closed", closed, SIDES)
    return validate.integer("bins", bins, 1)
