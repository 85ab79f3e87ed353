"""Bins of confidence: edges in float64, the bin of every value, and what falls into each bin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit import validate

BINNINGS = ("width", "mass")
SIDES = ("right", "left")
BLOCK = 1 << 16  # values worked on at a time, so that temporaries stay in cache
LANES = 4  # tables that neighbours are counted in by turns; a power of two


class Tally(NamedTuple):
    """What fell into each bin: how many samples, how many right, the sum of their confidences."""

    edges: Tensor  # (bins + 1,) float64
    counts: Tensor  # (bins,) int64
    hits: Tensor  # (bins,) int64, or float64 where a hit is a probability
    confidence: Tensor  # (bins,) float64


def check_options(bins, binning: str = "width", closed: str = "right") -> int:
    """`bins` as a plain integer, once all three options are known to be good."""
    validate.choice("binning", binning, BINNINGS)
    validate.choice("closed", closed, SIDES)
    return validate.integer("bins", bins, 1)


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
    return _cut_edges(confidence.sort().values, bins)


def _cut_edges(ordered: Tensor, bins: int) -> Tensor:
    """`mass_edges` of values that are sorted already."""
    n = len(ordered)
    cuts = torch.arange(1, bins, device=ordered.device)
    cuts = cuts * (n // bins) + cuts.clamp(max=n % bins)
    below, above = ordered[cuts - 1].double(), ordered[cuts.clamp(max=n - 1)].double()
    inner = torch.where(cuts < n, (below + above) / 2, 1.0)
    return torch.cat([inner.new_zeros(1), inner, inner.new_ones(1)])


def bin_index(values: Tensor, edges: Tensor, closed: str = "right") -> Tensor:
    """The bin of every value: (lo, hi] when closed on the right, [lo, hi) on the left.

    0 is always in the first bin and 1 in the last.

    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4)).tolist()
    [0, 0, 3]
    >>> bin_index(torch.tensor([0.0, 0.25, 1.0]), width_edges(4), closed="left").tolist()
    [0, 1, 3]
    """
    inner = edges[1:-1].contiguous()
    return torch.bucketize(values.double(), inner, right=closed == "left", out_int32=True)


def width_index(values: Tensor, bins: int, closed: str = "right") -> Tensor:
    """`bin_index` for equal-width bins, by arithmetic instead of a search.

    A float32 has 24 bits, so its product with the number of bins is exact in float64 and sits on
    an integer exactly where the value sits on an edge. Products of float64 values are rounded:
    they are compared with the edges once more.

    >>> width_index(torch.tensor([0.0, 0.25, 1.0]), 4).tolist()
    [0, 0, 3]
    """
    scaled = values.double() * bins
    index = scaled.ceil_().int().sub_(1) if closed == "right" else scaled.int()
    index.clamp_(0, bins - 1)
    if values.dtype == torch.float64:
        _repair(index, values, width_edges(bins, values.device), closed)
    return index


def _repair(index: Tensor, values: Tensor, edges: Tensor, closed: str) -> None:
    """Move values that rounding carried across an edge back by one bin, in place."""
    edges[0], edges[-1] = -1, 2  # nothing leaves the first or the last bin outwards
    low, high = edges[index], edges[index + 1]
    if closed == "right":
        index += (values > high).int() - (values <= low).int()
    else:
        index += (values >= high).int() - (values < low).int()


def indexer(confidence: Tensor, bins: int, binning: str, closed: str = "right"):
    """The edges that `binning` gives these confidences, and the function that bins by them."""
    if binning == "width":
        edges = width_edges(bins, confidence.device)
        return edges, lambda part: width_index(part, bins, closed)
    edges = mass_edges(confidence, bins)
    return edges, lambda part: bin_index(part, edges, closed)


def blocks(confidence: Tensor, hits: Tensor):
    """Both vectors cut into pieces that suit the device."""
    step = BLOCK if confidence.device.type == "cpu" else len(confidence)
    return zip(confidence.split(step), hits.split(step), strict=True)


def tally(confidence: Tensor, hits: Tensor, *, bins: int, binning: str, closed: str) -> Tally:
    """Counts, hits and confidence sums per bin; `hits` is bool or a probability per sample."""
    if binning == "mass" and hits.dtype == torch.bool:
        return _tally_sorted(confidence, hits, bins, closed)
    edges, index_of = indexer(confidence, bins, binning, closed)
    return tally_blocks(blocks(confidence, hits), edges, index_of)


def spread(cell: Tensor, cells: int) -> Tensor:
    """Int32 cells of neighbours moved, in place, into tables of their own for `histogram`.

    An addition to a number in memory waits for the one before it. Where most samples share a bin,
    turns between a few tables let the additions overlap.
    """
    turn = torch.arange(len(cell), dtype=torch.int32, device=cell.device).bitwise_and_(LANES - 1)
    return cell.add_(turn, alpha=cells)


def histogram(cell: Tensor, cells: int, weights: Tensor | None = None) -> Tensor:
    """(cells,) counts, or sums of `weights`, of cells that were `spread`."""
    return torch.bincount(cell, weights, minlength=LANES * cells).view(LANES, cells).sum(0)


def tally_blocks(parts, edges: Tensor, index_of) -> Tally:
    """`tally` of confidences and hits that come in parts."""
    bins, soft = len(edges) - 1, None
    counts = torch.zeros(2 * bins, dtype=torch.int64, device=edges.device)
    total = torch.zeros(2 * bins, dtype=torch.float64, device=edges.device)
    for part, hit in parts:
        cell = index_of(part).mul_(2)
        if hit.dtype == torch.bool:
            cell += hit
        spread(cell, 2 * bins)
        if hit.dtype != torch.bool:
            soft = histogram(cell, 2 * bins, hit.double()) + (0 if soft is None else soft)
        counts += histogram(cell, 2 * bins)
        total += histogram(cell, 2 * bins, part.double())
    counts, total = counts.view(bins, 2), total.view(bins, 2).sum(1)
    hits = counts[:, 1] if soft is None else soft.view(bins, 2).sum(1)
    return Tally(edges, counts.sum(1), hits, total)


def _tally_sorted(confidence: Tensor, hits: Tensor, bins: int, closed: str) -> Tally:
    """`tally` for equal-mass bins, from one sort of confidences that carry their hit along."""
    ordered, hit = _sorted_pairs(confidence, hits)
    edges = _cut_edges(ordered, bins)
    ordered = ordered.double()
    ends = torch.searchsorted(ordered, edges[1:-1].contiguous(), right=closed == "right")
    counts = torch.diff(ends, prepend=ends.new_zeros(1), append=ends.new_full((1,), len(hits)))
    right = torch.segment_reduce(hit.double(), "sum", lengths=counts, initial=0).long()
    total = torch.segment_reduce(ordered, "sum", lengths=counts, initial=0)
    return Tally(edges, counts, right, total)


def _sorted_pairs(confidence: Tensor, hits: Tensor) -> tuple[Tensor, Tensor]:
    """Confidences in rising order and their hits.

    The bits of a non-negative float keep its order as an integer, and the top one is free: shifted
    by it, the integer has room for the hit, so that numbers are sorted and not indices.
    """
    if confidence.dtype not in (torch.float32, torch.float64):
        confidence = confidence.float()
    integer = torch.int64 if confidence.dtype == torch.float64 else torch.int32
    key = (confidence.contiguous().view(integer) << 1) | hits
    on_cpu = key.device.type == "cpu"  # where numpy's sort is several times faster
    key = torch.from_numpy(np.sort(key.numpy())) if on_cpu else key.sort().values
    return (key >> 1).view(confidence.dtype), key & 1
