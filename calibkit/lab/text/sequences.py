"""Sequences of different lengths as one tensor."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from calibkit import validate


def pad(sequences: Sequence[Sequence[int]], length: int | None = None) -> Tensor:
    """Numbers of words as one (n, length) int64 tensor, with 0 after the end of each.

    length: by default that of the longest; longer sequences are cut. Raises ValueError for no
    sequence at all.

    >>> pad([[5, 6, 7], [8]]).tolist(), pad([[5, 6, 7], [8]], length=2).tolist()
    ([[5, 6, 7], [8, 0, 0]], [[5, 6], [8, 0]])
    """
    if not len(sequences):
        raise ValueError("sequences is empty; pass at least one")
    if length is None:
        length = max(1, max(map(len, sequences)))
    length = validate.integer("length", length, 1)
    cut = [list(sequence)[:length] for sequence in sequences]
    return torch.tensor([row + [0] * (length - len(row)) for row in cut], dtype=torch.int64)


def is_word(texts: Tensor) -> Tensor:
    """The mask of a tensor of words: True where there is one, False where there is padding.

    texts: word numbers (..., length), or blends (..., length, 3) of `mixing.word_mixup`, where a
    place counts as soon as one of the two texts has a word there.

    >>> is_word(torch.tensor([[4, 2, 0]])).tolist()
    [[True, True, False]]
    """
    if texts.is_floating_point():
        return (texts[..., :2] != 0).any(dim=-1)
    return texts != 0
