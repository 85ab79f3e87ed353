"""The guard against judging a map on the very data that it was fitted on."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import torch
from torch import Tensor

ROWS = 4096  # hashed at a time: no second copy of them all


class LeakageError(ValueError):
    """A calibrator was asked to score the data that it was fitted on."""


class Seen(NamedTuple):
    """What a calibrator remembers of the logits it was fitted on: their hash, and no value."""

    shape: torch.Size
    dtype: torch.dtype
    digest: bytes


def seen(logits: Tensor) -> Seen:
    """The shape, the type, and a hash of all values in the order of rows; 0 and -0 are one."""
    digest = hashlib.blake2b(digest_size=16)
    for part in logits.detach().split(ROWS):
        digest.update((part + 0).contiguous().cpu().view(torch.uint8).numpy())
    return Seen(logits.shape, logits.dtype, digest.digest())


def refuse(logits: Tensor, fitted: Seen) -> None:
    """Raises LeakageError for logits that are those of the fit, in its type or a wider one."""
    if logits.shape == fitted.shape and seen(logits.to(fitted.dtype)) == fitted:
        raise LeakageError(
            "logits hold the very data that the calibrator was fitted on, so any score would "
            "flatter it; pass test logits, or allow_fitted=True if that is what you ask for"
        )
