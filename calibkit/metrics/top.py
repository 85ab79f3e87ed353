"""The predicted class of every row: its confidence and whether it is right, checked in one go."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import max_pool1d

from calibkit import validate

BLOCK = 1 << 20  # entries worked on at a time: temporaries stay in cache and off fresh pages
NARROW = 32  # up to so many classes a row is too short for a vectorised reduction of its own


def top(probs, labels) -> tuple[Tensor, Tensor]:
    """(n,) confidence of the predicted class and (n,) bool whether that class is the label.

    The predicted class is the lowest one of largest probability. Input is checked as by
    `validate.predictions`, and the same errors are raised.

    >>> confidence, correct = top(torch.tensor([[0.5, 0.5], [0.25, 0.75]]), [1, 1])
    >>> confidence.tolist(), correct.tolist()
    ([0.5, 0.75], [False, True])
    """
    probs, labels = validate.shapes(probs, labels)
    if probs.device.type == "cpu":
        found = _checked_on_cpu(probs, labels)
        if found is not None:
            return found
    probs = validate.probs(probs).detach()
    confidence, best = probs.max(dim=1)
    return confidence, best == labels


def _checked_on_cpu(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """`top` in blocks of rows, or None where some value looks wrong and needs the full check."""
    n, classes = probs.shape
    probs = probs.detach()
    if probs.dtype not in (torch.float32, torch.float64):
        probs = probs.float()
    confidence = probs.new_empty(n)
    correct = torch.empty(n, dtype=torch.bool)
    ones = probs.new_ones(classes)
    search = _narrow if classes <= NARROW else _wide
    rows = max(1, BLOCK // classes)
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        block = probs[part].contiguous()
        if not validate.sums_to_one(block, ones):
            return None
        found = search(block, labels[part])
        if found is None:
            return None
        confidence[part], correct[part] = found
    return confidence, correct


def _narrow(block: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """Confidence and hits of a block with few columns."""
    confidence = _row_max(block)
    if not (block.numpy().min() >= 0 and confidence.numpy().max() <= 1):
        return None
    own = block.gather(1, labels[:, None])[:, 0]
    correct = own == confidence
    # another class can share the maximum only where that leaves room for both
    shared = (correct & (confidence < 0.501)).nonzero()[:, 0]
    if len(shared):
        first = block.index_select(0, shared).argmax(1)
        correct[shared] = first == labels.index_select(0, shared)
    return confidence, correct


def _row_max(block: Tensor) -> Tensor:
    """(rows,) maxima: pooling over the flat block vectorises where a short row cannot."""
    rows, classes = block.shape
    stretch = 1000  # rows pooled in one go, few enough for the fastest cache
    whole = rows - rows % stretch
    parts = [
        max_pool1d(piece.view(-1, 1, piece.numel() // groups), classes, classes).view(-1)
        for piece, groups in ((block[:whole], whole // stretch), (block[whole:], 1))
        if len(piece)
    ]
    return torch.cat(parts)


def _wide(block: Tensor, labels: Tensor) -> tuple[Tensor, Tensor] | None:
    """Confidence and hits of a block with many columns.

    As unsigned integers the bits of non-negative floats keep their order, while negative numbers
    and NaN rank above 1, so that one argmax both finds the largest entry and checks the range.
    """
    bits = block.numpy().view(f"u{block.element_size()}")
    best = torch.from_numpy(bits.argmax(1))
    confidence = block.gather(1, best[:, None])[:, 0]
    low, high = torch.aminmax(confidence)
    if not (low > 0 and high <= 1):
        return None
    return confidence, best == labels
