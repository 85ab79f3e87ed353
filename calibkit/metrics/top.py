"""The predicted class of every row: its confidence and whether it is right, checked in one go."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import max_pool1d

from calibkit import validate
from calibkit.metrics import bins as _bins

BLOCK = 1 << 20  # entries worked on at a time: temporaries stay in cache and off fresh pages
NARROW = 32  # up to so many classes a row is too short for a vectorised reduction of its own
SURE = 0.501  # no other class can reach so much where a row sums to 1 within the tolerance


def top(probs, labels) -> tuple[Tensor, Tensor]:
    """(n,) confidence of the predicted class and (n,) bool whether that class is the label.

    The predicted class is the lowest one of largest probability. Input is checked as by
    `validate.predictions`, and the same errors are raised.

    >>> confidence, correct = top(torch.tensor([[0.5, 0.5], [0.25, 0.75]]), [1, 1])
    >>> confidence.tolist(), correct.tolist()
    ([0.5, 0.75], [False, True])
    """
    found = list(top_blocks(*validate.shapes(probs, labels)))
    confidence, correct = (torch.cat(pieces) for pieces in zip(*found, strict=True))
    return confidence, correct


def top_tally(probs, labels, *, bins: int, binning: str, closed: str) -> _bins.Tally:
    """What of `top` falls into each bin; where blocks have many rows, counted block by block."""
    probs, labels = validate.shapes(probs, labels)
    if binning == "mass" or probs.shape[1] > NARROW:
        return _bins.tally(*top(probs, labels), bins=bins, binning=binning, closed=closed)
    edges, index_of = _bins.indexer(probs, bins, binning, closed)
    return _bins.tally_blocks(top_blocks(probs, labels), edges, index_of)


def top_blocks(probs: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """`top` of a tensor of known shape, checked and searched by blocks of rows."""
    on_cpu, checked = probs.device.type == "cpu", False
    rows = max(1, BLOCK // probs.shape[1]) if on_cpu else len(probs)
    for block, label in zip(probs.detach().split(rows), labels.split(rows), strict=True):
        found = _searched(block, label) if on_cpu and not checked else None
        if found is None:  # some value looks wrong, and all are looked at with more care
            checked = checked or validate.probs(probs) is not None
            confidence, best = block.max(dim=1)
            found = confidence, best == label
        yield found


def _searched(block: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """Confidence and hits of a block, or None where it may hold something wrong."""
    if block.dtype not in (torch.float32, torch.float64):
        block = block.float()
    block = block.contiguous()
    if not validate.sums_to_one(block, block.new_ones(block.shape[1])):
        return None
    return (_narrow if block.shape[1] <= NARROW else _wide)(block, labels)


def _bits(values: np.ndarray) -> np.ndarray:
    """Floats as unsigned integers.

    The order of non-negative floats is kept, while negative numbers and NaN rank above 1.
    """
    return values.view(f"u{values.itemsize}")


def _narrow(block: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """Confidence and hits of a block with few columns.

    A label with more than half of the probability is the predicted class: only the other rows are
    searched.
    """
    values, classes = block.numpy(), block.shape[1]
    if _bits(values).max() > _bits(values.dtype.type(1)):
        return None
    confidence = block.gather(1, labels[:, None])[
        :, 0
    ].numpy()  # numpy indexes several times faster
    correct = confidence > SURE
    unsure = np.flatnonzero(~correct)
    if len(unsure):
        most = 2 * len(unsure) > len(values)
        unsure, rest = (slice(None), values) if most else (unsure, values.take(unsure, axis=0))
        # pooling over the flat rows vectorises where a short row cannot
        best = max_pool1d(torch.from_numpy(rest).view(1, 1, -1), classes, classes).numpy().ravel()
        correct[unsure] = confidence[unsure] == best
        confidence[unsure] = best
        largest = rest == best[:, None]
        if np.count_nonzero(largest) > len(rest):  # ties
            correct[unsure] = largest.argmax(1) == labels.numpy()[unsure]
    return torch.from_numpy(confidence), torch.from_numpy(correct)


def _wide(block: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """Confidence and hits of a block with many columns: one argmax also checks the range."""
    best = torch.from_numpy(_bits(block.numpy()).argmax(1))
    confidence = block.gather(1, best[:, None])[:, 0]
    low, high = torch.aminmax(confidence)
    if not (low > 0 and high <= 1):
        return None
    return confidence, best == labels
