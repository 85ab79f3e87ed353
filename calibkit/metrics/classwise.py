"""Classwise ECE: every class's own probability against how often that class occurs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.top import Weights, kept, of_label
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
    n, classes = rows.shape
    of_rows = torch.ones(n, dtype=torch.float64, device=rows.device) if checked is None else checked

    def table(cell: Tensor, values: Tensor) -> Tensor:
        return torch.bincount(cell, values, bins * classes).view(bins, classes).double()

    rows = rows.detach()
    row, column = (rows > 0.5 / bins).nonzero(as_tuple=True)  # half: the edge's rounding has no say
    high, weight = rows[row, column].double(), of_rows[row]
    cell = _cell(high, column, bins, classes)
    counts, total = table(cell, weight), table(cell, weight * high)
    parts = zip(blocks(rows), of_rows.split(_rows(rows)), strict=True)
    counts[0] += of_rows.sum() - counts.sum(0)
    total[0] += sum(part @ block for block, part in parts) - total.sum(0)
    return counts, table(_cell(of_label(rows, target), target, bins, classes), of_rows), total


def _cell(values: Tensor, column: Tensor, bins: int, classes: int) -> Tensor:
    """The place of (bin, class) in a flat (bins, K) table."""
    return _bins.bin_index(values, _bins.width_edges(bins, values.device)) * classes + column


def blocks(probs: Tensor) -> Iterator[Tensor]:
    """Rows in float64, some at a time: ten times faster than a float64 copy of all of them."""
    return (block.double() for block in probs.detach().split(_rows(probs)))


def _rows(probs: Tensor) -> int:
    return max(1, BLOCK // probs.shape[1])
