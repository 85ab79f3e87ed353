"""Rows of scores of any origin, read a block at a time: logits, or probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from calibkit import validate

BLOCK = 1 << 18  # entries in float64: what is held of a matrix at a time
ROUNDING = 1e-6  # by which a probability may lie outside [0, 1]
SOME = 1000  # rows that tell how numbers were rounded
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
        place = torch.from_numpy(chosen) if isinstance(self.matrix, Tensor) else chosen
        part = _tensor(self.matrix[place])
        part = part.float() if part.dtype in validate.HALVES else part
        return part if self.kind == "logits" else self.log(part)

    def log(self, probs: Tensor) -> Tensor:
        """The logarithm, finite where a probability is 0."""
        least = max(self.floor, torch.finfo(probs.dtype).tiny)
        return probs.clamp(min=least).log()


def slices(n: int, classes: int) -> Iterator[slice]:
    """Runs of rows that hold about a `BLOCK` of entries."""
    step = max(1, BLOCK // classes)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def double(block) -> Tensor:
    """A float64 copy, of an array that may lie on disk too."""
    if isinstance(block, Tensor):
        return block.double()
    return torch.from_numpy(np.array(block, dtype=np.float64))


class Content(NamedTuple):
    """What a walk over a matrix finds: extremes of its finite rows, their sums, the bad rows."""

    low: float
    high: float
    smallest: float  # above 0; infinity if there is none
    sums: np.ndarray  # (n,)
    bad: np.ndarray  # (n,) whether a row holds NaN or infinity
    some: Tensor  # the first finite rows, as they came

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest sum of a finite row."""
        return float(self.sums[~self.bad].min()), float(self.sums[~self.bad].max())

    def off(self, total: float = 1.0) -> float:
        """By which part of it the sum of a finite row misses the total, at most."""
        return float(np.abs(self.sums[~self.bad] / total - 1).max(initial=0.0))

    def sums_to(self, total: float) -> bool:
        """Whether all finite rows are positive and have this sum, but for their rounding."""
        off, (_, classes) = self.off(total), self.some.shape
        if self.low < 0 or self.bad.all() or off > validate.MOST_OFF:
            return False
        if off <= validate.row_sum_tolerance(self.some.dtype, classes):
            return True
        return off <= validate.tolerance_of(self.some / total) * (1 + 1e-6)


def content(matrix) -> Content:
    """Walk over (n, K) scores once, block by block."""
    sums, low, high, smallest = [], np.inf, -np.inf, np.inf
    some = _tensor(matrix[:0])
    for rows in slices(*matrix.shape):
        block = double(matrix[rows])
        sums.append(block.sum(1).numpy())
        kept = np.isfinite(sums[-1])
        good = block if kept.all() else block[kept]
        if not len(good):
            continue
        least, most = (end.item() for end in torch.aminmax(good))
        low, high = min(low, least), max(high, most)
        above = good.where(good > 0, torch.inf).min().item() if least <= 0 else least
        smallest = min(smallest, above)
        some = some if len(some) else _tensor(matrix[rows])[torch.from_numpy(kept)][:SOME]
    every = np.concatenate(sums)
    return Content(low, high, smallest, every, ~np.isfinite(every), some)


def _tensor(part) -> Tensor:
    """Some rows as a tensor of their own type."""
    if isinstance(part, Tensor):
        return part
    own = np.require(part, part.dtype.newbyteorder("="), ["C", "W"])
    return torch.from_numpy(own if own.size else own.copy())  # no rows may still run backwards


def scores_of(value, kind: Kind = "auto") -> tuple[Scores, list[str]]:
    """Checked scores, and what is worth a warning about them.

    value: (n, K), or (n,) scores of class 1 of two: tensor, array, memory map or table.
    kind: what the caller says they are; "auto" looks whether rows are probabilities; "percent"
        from 0 to 100; "logprobs" logarithms; "confidence" one column, that the prediction is right.

    Raises TypeError and ValueError for what is no such matrix.
    """
    if isinstance(value, Scores):  # checked before
        return value, []
    validate.choice("kind", kind, KINDS)
    matrix, lonely = _matrix(value)
    if kind in ("percent", "logprobs"):
        return scores_of(*_as_probs(matrix, kind, lonely))
    found = content(matrix)
    if found.bad.any():
        raise ValueError(
            f"logits must be finite, got NaN or infinity in row {int(found.bad.argmax())}; leave "
            f"such rows out, and look for a diverged training"
        )
    least, most = found.ends
    if -ROUNDING <= found.low < 0 and found.off() <= validate.MOST_OFF:
        found = found._replace(low=0.0)
    low, high = found.low, found.high
    floor = found.smallest / 2 if low == 0 else 0.0
    if lonely:
        return _two_columns(matrix, low, high, kind)
    if kind == "confidence":
        raise ValueError(f"confidence must be one column, got shape {tuple(matrix.shape)}")
    if found.sums_to(1):
        warnings = [PASSED_AS_LOGITS] if kind == "logits" else []
        return Scores(matrix, "probs", floor=floor), warnings
    if low >= 0 and found.off() <= validate.MOST_OFF and kind != "logits":
        return Scores(matrix, "probs", True, floor), [ROUNDED.format(least, most)]
    if low >= 0 and found.off(100) <= validate.MOST_OFF:
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
