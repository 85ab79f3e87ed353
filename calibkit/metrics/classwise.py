"""Classwise ECE: every class's own probability against how often that class occurs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.top import of_label
from calibkit.metrics.weighting import Weights, kept
from calibkit.validate import Array

BLOCK = 1 << 20  # entries


def classwise_ece(probs: Array, labels: Array, *, bins: int = 15, weights: Weights = None) -> float:
    """Mean over classes of the ECE of that class's probability.

        1/K sum_k sum_b |B_bk| / n * |mean of p_k over B_bk - share of label k in B_bk|

    where B_bk holds the samples whose p_k falls into bin b. K is the number of columns: a class
    that never occurs counts too, and zeros are kept. Bins are (lo, hi] of equal width.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K); bins: number of bins.
    weights: (n,) of the rows, as in `ece`.

    Returns a fraction in [0, 1]. Raises as `ece` does. Source: Kull et al. (2019); Nixon et al.
    (2019) call it SCE.

    >>> round(classwise_ece([[0.9, 0.1], [0.8, 0.2]], [0, 1], bins=1), 4)  # |0.85 - 0.5|, twice
    0.35
    """
    counts, hits, total = class_tally(probs, labels, bins, weights)
    return float((total - hits).abs().sum() / counts.sum())


def class_tally(
    probs: Array, labels: Array, bins: int, weights: Weights = None
) -> tuple[Tensor, Tensor, Tensor]:
    """(bins, K) float64 tables: samples, samples of the class, sums of the class's probability.

    Each sample counts with its weight.

    With many classes nearly all of the n K entries lie low in the first bin. Only the others are
    looked up, all classes in one scatter; the first bin is what they leave of the column sums.
    """
    bins = _bins.check_options(bins)
    rows, target, checked = kept(weights, *validate.predictions(probs, labels))
    if checked is not None:
        return _weighted_tally(rows, target, checked, bins)
    n, classes = rows.shape
    flat = rows.detach().flatten()
    where = (flat > 0.5 / bins).nonzero()[:, 0]  # half an edge: rounding of the edge has no say
    high = flat[where].double()
    cell = _cell(high, where % classes, bins, classes)
    counts = torch.bincount(cell, minlength=bins * classes).view(bins, classes).double()
    total = torch.bincount(cell, high, bins * classes).view(bins, classes).double()
    counts[0] += n - counts.sum(0)
    total[0] += sum(block.sum(0) for block in blocks(rows)) - total.sum(0)
    cell = _cell(of_label(rows, target), target, bins, classes)
    hits = torch.bincount(cell, minlength=bins * classes)
    return counts, hits.view(bins, classes).double(), total


def _weighted_tally(
    probs: Tensor, labels: Tensor, weights: Tensor, bins: int
) -> tuple[Tensor, Tensor, Tensor]:
    """`class_tally` of checked rows, all of whose entries are looked up."""
    classes = probs.shape[1]
    size, column = bins * classes, torch.arange(classes, device=probs.device)
    counts = total = torch.zeros(size, dtype=torch.float64, device=probs.device)
    for block, of_rows in zip(blocks(probs), weights.split(_rows(probs)), strict=True):
        cell = _cell(block, column, bins, classes).flatten()
        counts = counts + torch.bincount(cell, of_rows.repeat_interleave(classes), size)
        total = total + torch.bincount(cell, (of_rows[:, None] * block).flatten(), size)
    cell = _cell(of_label(probs, labels), labels, bins, classes)
    hits = torch.bincount(cell, weights, size)
    return counts.view(bins, classes), hits.view(bins, classes), total.view(bins, classes)


def _cell(values: Tensor, column: Tensor, bins: int, classes: int) -> Tensor:
    """The place of (bin, class) in a flat (bins, K) table."""
    return _bins.bin_index(values, _bins.width_edges(bins, values.device)) * classes + column


def blocks(probs: Tensor) -> Iterator[Tensor]:
    """Rows in float64, some at a time: ten times faster than a float64 copy of all of them."""
    return (block.double() for block in probs.detach().split(_rows(probs)))


def _rows(probs: Tensor) -> int:
    return max(1, BLOCK // probs.shape[1])
