"""Rows of scores of any origin, read a block at a time: logits, or probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from calibkit import validate

BLOCK = 1 << 18  # entries in float64: what is held of a matrix at a time
ROUNDING = 1e-6  # by which a probability may lie outside [0, 1]
LOOSE = validate.MOST_OFF  # rows of rounded probabilities may miss the sum of 1 by so much
Kind = Literal["auto", "logits", "probs", "percent", "logprobs", "confidence"]
KINDS = get_args(Kind)
SIGMOIDS = (
    "all scores lie in [0, 1] but their rows do not sum to 1 (from {0:.3g} to {1:.3g}). They are "
    "taken as logits. Sigmoids of one label each are no classifier of one class a row: audit each "
    "column by itself"
)


@dataclass(frozen=True)
class Scores:
    """(n, K) scores; `kind` is "logits" or "probs", `divide` whether rows need their sum of 1.

    event: whether column 1 is what every row says, such as "my answer is right": then its score
    is judged also where it is below one half.
    floor: what a probability of 0 is taken for where its logarithm is needed, half the smallest
    other one. Rounded rows hold many a 0 that was none, and of a logit of -700 there the best
    temperature is 90.
    """

    matrix: Tensor | np.ndarray
    kind: str
    divide: bool = False
    floor: float = 0.0
    event: bool = False

    def __len__(self) -> int:
        return len(self.matrix)

    @property
    def classes(self) -> int:
        return self.matrix.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Some rows at a time in float64, with their places; probabilities of sum 1 if need be."""
        for rows in slices(len(self), self.classes):
            block = double(self.matrix[rows])
            yield rows, block / block.sum(1, keepdim=True) if self.divide else block

    def logits(self, chosen: np.ndarray) -> Tensor:
        """The logits of the chosen rows, a copy: of probabilities their logarithms."""
        if isinstance(self.matrix, Tensor):
            part = self.matrix[torch.from_numpy(chosen)]
        else:
            native = self.matrix.dtype.newbyteorder("=")
            part = torch.from_numpy(np.ascontiguousarray(self.matrix[chosen], native))
        part = part.float() if part.dtype in validate.HALVES else part
        return part if self.kind == "logits" else self.log(part)

    def log(self, probs: Tensor) -> Tensor:
        """The logarithm, finite where a probability is 0."""
        least = max(self.floor, torch.finfo(probs.dtype).tiny)
        return probs.clamp(min=least).log()


def slices(n: int, classes: int) -> Iterator[slice]:
    """Runs of rows that hold about a `BLOCK` of entries.

    >>> [(rows.start, rows.stop) for rows in slices(5, BLOCK // 2)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, BLOCK // classes)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def double(block) -> Tensor:
    """A float64 copy, of an array that may lie on disk too."""
    if isinstance(block, Tensor):
        return block.double()
    return torch.from_numpy(np.array(block, dtype=np.float64))


def scores_of(value, kind: Kind = "auto") -> tuple[Scores, list[str]]:
    """Checked scores, and what is worth a warning about them.

    value: (n, K), or (n,) scores of class 1 of two: tensor, array, memory map or table.
    kind: what the caller says they are; "auto" looks whether rows are probabilities; "percent"
        from 0 to 100; "logprobs" logarithms; "confidence" one column, that the prediction is right.

    Raises TypeError and ValueError for what is no such matrix.

    >>> scores, warnings = scores_of([[0.9, 0.1], [0.2, 0.8]])
    >>> scores.kind, warnings
    ('probs', [])
    """
    if isinstance(value, Scores):  # checked before
        return value, []
    validate.choice("kind", kind, KINDS)
    matrix, lonely = _matrix(value)
    if kind in ("percent", "logprobs"):
        return scores_of(*_as_probs(matrix, kind, lonely))
    low, high, least, most, smallest = _extent(matrix)
    low = 0.0 if -ROUNDING <= low < 0 and max(abs(least - 1), abs(most - 1)) <= LOOSE else low
    floor = smallest / 2 if low == 0 else 0.0
    if lonely:
        return _two_columns(matrix, low, high, kind)
    if kind == "confidence":
        raise ValueError(f"confidence must be one column, got shape {tuple(matrix.shape)}")
    off = max(abs(least - 1), abs(most - 1))
    if low >= 0 and off <= _tolerance(matrix, off):
        warnings = [PASSED_AS_LOGITS] if kind == "logits" else []
        return Scores(matrix, "probs", floor=floor), warnings
    if low >= 0 and least >= 1 - LOOSE and most <= 1 + LOOSE and kind != "logits":
        return Scores(matrix, "probs", True, floor), [ROUNDED.format(least, most)]
    if low >= 0 and least >= 100 - 100 * LOOSE and most <= 100 + 100 * LOOSE:
        return Scores(matrix, "probs", True, floor / 100), [PER_CENT]
    if kind == "probs":
        raise ValueError(
            f"probs must hold rows that sum to 1, got values from {low:.4g} to {high:.4g} and sums "
            f"from {least:.4g} to {most:.4g}; if these are logits, say so"
        )
    inside = low >= 0 and high <= 1
    return Scores(matrix, "logits"), [SIGMOIDS.format(least, most)] if inside else []


PASSED_AS_LOGITS = (
    "probabilities were passed as logits: every row is positive and sums to 1. They are taken as "
    "the probabilities that they are; a softmax of them would have made every row nearly uniform"
)
ROUNDED = (
    "rows do not sum to 1: their sums go from {0:.4g} to {1:.4g}, as rounded probabilities' do. "
    "Every row was divided by its sum"
)
PER_CENT = "rows sum to 100: they are taken as per cent and were divided by their sums"


def _matrix(value) -> tuple[Tensor | np.ndarray, bool]:
    """(n, K) floating scores, and whether they were one column."""
    value = getattr(value, "values", value) if hasattr(value, "columns") else value
    if isinstance(value, Tensor):
        value = value.detach().cpu()
    elif not isinstance(value, np.ndarray):
        value = validate.as_tensor("logits", value).numpy()
    floating = value.is_floating_point() if isinstance(value, Tensor) else value.dtype.kind == "f"
    if not floating:
        raise TypeError(f"logits must be floating point, got {value.dtype}; pass the scores")
    if value.ndim not in (1, 2) or 0 in value.shape:
        raise ValueError(
            f"logits must be a matrix of one row a sample and one column a class, got shape "
            f"{tuple(value.shape)}"
        )
    lonely = value.ndim == 1 or value.shape[1] == 1
    return value.reshape(len(value), -1), lonely


def _dtype(matrix: Tensor | np.ndarray) -> torch.dtype:
    if isinstance(matrix, Tensor):
        return matrix.dtype
    return torch.from_numpy(np.empty(0, matrix.dtype.newbyteorder("="))).dtype


def _tolerance(matrix: Tensor | np.ndarray, off: float) -> float:
    """What rows may miss the sum of 1 by: of rounded ones by their decimals, as in `metrics`."""
    dtype, classes = _dtype(matrix), matrix.shape[1]
    tolerance = validate.row_sum_tolerance(dtype, classes)
    if off <= tolerance or off > LOOSE or dtype in validate.HALVES:
        return tolerance
    some = matrix[next(slices(*matrix.shape))]
    some = some if isinstance(some, Tensor) else torch.from_numpy(np.array(some))
    return validate.tolerance_of(some) * (1 + 1e-6)


def _extent(matrix) -> tuple[float, ...]:
    """Least and largest score, of sums of rows the same, and the least score above 0.

    All must be finite.
    """
    ends, smallest = [], np.inf
    for rows in slices(*matrix.shape):
        block = double(matrix[rows])
        low, high = torch.aminmax(block)
        sums = torch.aminmax(block.sum(1))
        ends.append([low.item(), high.item(), sums.min.item(), sums.max.item()])
        if low == 0:
            smallest = min(smallest, block.where(block > 0, torch.inf).min().item())
        elif low > 0:
            smallest = min(smallest, low.item())
        if not np.isfinite(ends[-1]).all():
            row = rows.start + int((~block.isfinite()).any(1).nonzero()[0])
            raise ValueError(
                f"logits must be finite, got NaN or infinity in row {row}; leave such rows out, "
                f"and look for a diverged training"
            )
    lows, highs, least, most = zip(*ends, strict=True)
    return min(lows), max(highs), min(least), max(most), smallest


def _as_probs(matrix, kind: str, lonely: bool) -> tuple[Tensor, Kind]:
    """Per cent and logarithms as what they stand for, with its kind."""
    scores = double(matrix)
    if kind == "percent":
        return scores / 100, "probs"
    return (scores.exp(), "probs") if lonely else (scores, "logits")


def _two_columns(column, low: float, high: float, kind: str) -> tuple[Scores, list[str]]:
    """Scores of class 1 of two: probabilities where they can be, else logits against 0."""
    score, event = double(column), kind == "confidence"
    if kind != "logits" and low >= -ROUNDING and 1 - ROUNDING <= high <= 1 + ROUNDING:
        score = score.clamp(0, 1)
        low, high = max(low, 0.0), min(high, 1.0)
    if kind == "auto" and low >= 0 and high > 1:
        raise ValueError(
            f"scores of one column must be clear, got values from {low:.4g} to {high:.4g}; pass "
            f"kind='percent' or kind='logits'"
        )
    if event or kind == "probs" or (kind == "auto" and low >= 0 and high <= 1):
        if not (low >= 0 and high <= 1):
            raise ValueError(f"probs must lie in [0, 1], got values from {low:.4g} to {high:.4g}")
        both = torch.cat([1 - score, score], 1)
        least = both[both > 0].min().item()
        floor = least / 2 if both.min() == 0 else 0.0
        return Scores(both, "probs", floor=floor, event=event), []
    return Scores(torch.cat([torch.zeros_like(score), score], 1), "logits"), []
