"""Classwise ECE: every class's own probability against how often that class occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins

BLOCK = 1 << 18  # entries read several times while they stay in cache, and turned into float64
BLOCKS = 8  # so many blocks are scanned before what was found in them is looked up


class ClassTally(NamedTuple):
    """(bins, K) float64 tables: samples, samples of the class, and sums of its probability."""

    counts: Tensor
    hits: Tensor
    total: Tensor


def classwise_ece(probs, labels, *, bins: int = 15) -> float:
    """Mean over classes of the ECE of that class's probability.

        1/K sum_k sum_b |B_bk| / n * |mean of p_k over B_bk - share of label k in B_bk|

    where B_bk holds the samples whose p_k falls into bin b. K is the number of columns: a class
    that never occurs counts too, and zeros are kept. Bins are (lo, hi] of equal width.

    Parameters
    ----------
    probs : (n, K) probabilities; labels : (n,) integers in [0, K); bins : number of bins.

    Returns a fraction in [0, 1]. Raises as `ece` does.

    Source: Kull et al. (2019); Nixon et al. (2019) call it SCE.

    >>> round(classwise_ece([[0.9, 0.1], [0.8, 0.2]], [0, 1], bins=1), 4)  # |0.85 - 0.5|, twice
    0.35
    """
    tallied = class_tally(probs, labels, bins)
    return float((tallied.total - tallied.hits).abs().sum() / tallied.counts.sum())


def class_tally(probs, labels, bins: int) -> ClassTally:
    """What falls into each equal-width bin of each class's probability.

    Nearly all of the n K entries lie in the first bin. Only the others are looked up one by one;
    the first bin is what they leave of the column sums.
    """
    bins = _bins.check_options(bins)
    probs, labels = validate.shapes(probs, labels)
    tallied = _tally_on_cpu(probs, bins) if probs.device.type == "cpu" else None
    if tallied is None:
        tallied = _tally_all(validate.probs(probs), bins)
    counts, total = tallied
    return ClassTally(counts, _hits(probs, labels, bins), total)


def _hits(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    """(bins, K) samples of each class by the bin of that class's probability."""
    classes = probs.shape[1]
    own = probs.gather(1, labels[:, None])[:, 0]
    cell = _bins.width_index(own, bins).long() * classes + labels
    return torch.bincount(cell, minlength=bins * classes).view(bins, classes).double()


def _tally_all(probs: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    """(bins, K) counts and sums from a look at every entry."""
    classes = probs.shape[1]
    column = torch.arange(classes, device=probs.device)
    cell = (_bins.width_index(probs, bins).long() * classes + column).flatten()
    counts = torch.bincount(cell, minlength=bins * classes).double()
    total = torch.bincount(cell, weights=probs.flatten().double(), minlength=bins * classes)
    return counts.view(bins, classes), total.view(bins, classes)


def _tally_on_cpu(probs: Tensor, bins: int) -> tuple[Tensor, Tensor] | None:
    """`_tally_all` by blocks of rows, or None where some value needs the full check."""
    probs = probs.detach()
    if probs.dtype not in (torch.float32, torch.float64):
        probs = probs.float()
    n, classes = probs.shape
    counts, total = np.zeros((2, bins * classes))
    columns = torch.zeros(classes, dtype=torch.float64)
    rows = max(1, BLOCK // classes)
    for part in probs.split(BLOCKS * rows):
        part = part.contiguous()
        scanned = _scanned(part.split(rows), bins)
        if scanned is None:
            return None
        columns += scanned[0]
        where = scanned[1].numpy()
        high = part.view(-1).index_select(0, scanned[1]).numpy()
        if len(high) and not (high.min() >= 0 and high.max() <= 1):
            return None
        column = where - where // classes * classes  # numpy's % is several times slower
        cell = _bins.width_index(torch.from_numpy(high), bins).numpy() * classes + column
        counts += np.bincount(cell, minlength=len(counts))
        total += np.bincount(cell, weights=high, minlength=len(total))
    counts, total = (torch.from_numpy(x).view(bins, classes) for x in (counts, total))
    counts[0] = n - counts[1:].sum(0)
    total[0] = columns - total[1:].sum(0)
    return counts, total


def _scanned(blocks: Sequence[Tensor], bins: int) -> tuple[Tensor, Tensor] | None:
    """Column sums in float64 and the places `_beyond_first_bin` of blocks that follow each other.

    None where some row may not sum to 1.
    """
    columns, where, start = 0, [], 0
    ones = blocks[0].new_ones(blocks[0].shape[1])
    for block in blocks:
        if not validate.sums_to_one(block, ones):
            return None
        columns = columns + block.double().t().mv(torch.ones(len(block), dtype=torch.float64))
        where.append(_beyond_first_bin(block.view(-1), bins) + start)
        start += block.numel()
    return columns, torch.cat(where)


def _beyond_first_bin(flat: Tensor, bins: int) -> Tensor:
    """Where values lie above the first bin, or outside [0, 1].

    Compared as unsigned integers, whose order is that of the floats but for negative numbers and
    NaN, which rank above all.
    """
    values = flat.numpy()
    edge = values.dtype.type(1 / bins)
    if (
        float(edge) > 1 / bins
    ):  # rounded up to float32: a value of exactly `edge` lies above the bin
        edge = np.nextafter(edge, values.dtype.type(0))
    bits = f"u{values.itemsize}"
    return torch.from_numpy(np.flatnonzero(values.view(bits) > edge.view(bits)))
