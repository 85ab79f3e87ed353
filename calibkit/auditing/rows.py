"""What an audit needs of every row, taken in one walk over the blocks of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from calibkit.auditing.labels_and_groups import Units, units_of
from calibkit.auditing.scores import Scores
from calibkit.metrics import TopLabel
from calibkit.metrics import bins as _bins
from calibkit.metrics.top import of_label


@dataclass(frozen=True)
class Rows:
    """(n,) float64 numbers a row, and one table for the classes."""

    labels: Tensor
    predicted: Tensor
    confidence: Tensor
    nll: Tensor
    brier: Tensor
    excess: Tensor  # sum_k p_k^2 - p_label, the terms of Spiegelhalter's z
    variance: Tensor  # and their variances, if the row is right about itself
    residual: Tensor  # (bins, K): weighted sums of p_k - [label = k]

    @cached_property
    def correct(self) -> Tensor:
        return self.predicted == self.labels

    @cached_property
    def top(self) -> TopLabel:
        return TopLabel(self.confidence, self.correct)

    @property
    def classes(self) -> int:
        return self.residual.shape[-1]

    def __len__(self) -> int:
        return len(self.labels)


def rows_of(
    scores: Scores,
    labels: Tensor,
    *,
    bins: int,
    temperature: Tensor | None = None,
    units: Units | None = None,
) -> Rows:
    """Walk over the blocks once.

    temperature: (n,) what the logits of each row are divided by; None leaves rows as they are.
    units: what is resampled and weighed; by default every row alike.
    """
    units = units_of(len(scores)) if units is None else units
    residual = torch.zeros(bins, scores.classes, dtype=torch.float64)
    each = torch.empty(6, len(scores), dtype=torch.float64)  # small pieces would split the memory
    for rows, block in scores.blocks():
        cooling = None if temperature is None else temperature[rows, None]
        probs, log_of_label = _probs(block, labels[rows], scores, cooling)
        _add(residual, probs, labels[rows], units.weight[rows])
        for column, values in zip(each, _of_rows(probs, log_of_label, scores.event), strict=True):
            column[rows] = values
    predicted, confidence, nll, brier, excess, variance = each
    return Rows(labels, predicted.long(), confidence, nll, brier, excess, variance, residual)


def _probs(block: Tensor, labels: Tensor, scores: Scores, cooling) -> tuple[Tensor, Tensor]:
    """(m, K) probabilities and the (m,) logarithm of the label's."""
    if scores.kind == "probs" and cooling is None:
        return block, of_label(block, labels).clamp(min=0).log()  # -1e-17 is rounding
    z = scores.log(block) if scores.kind == "probs" else block
    log_probs = (z if cooling is None else z / cooling).log_softmax(1)
    log_of_label = log_probs.gather(1, labels[:, None])[:, 0]
    return log_probs.exp_(), log_of_label


def _of_rows(probs: Tensor, log_of_label: Tensor, event: bool) -> tuple[Tensor, ...]:
    """predicted, confidence, nll, brier, excess and variance of each row."""
    confidence, predicted = probs.max(1)
    if event:  # every row says column 1
        confidence, predicted = probs[:, 1], torch.ones_like(predicted)
    square = probs.square()
    second, third = square.sum(1), (square * probs).sum(1)
    given = log_of_label.exp()
    brier, excess = second - 2 * given + 1, second - given
    return predicted, confidence, -log_of_label, brier, excess, third - second.square()


def _add(residual: Tensor, probs: Tensor, labels: Tensor, weight: Tensor) -> None:
    """Add the weighted sums of p_k - [label = k] by bin of p_k and class.

    With many classes nearly all entries lie low in the first bin. Only the others are looked up.
    """
    bins, classes = residual.shape
    edges, flat = _bins.width_edges(bins), residual.view(-1)
    row, column = (probs > 0.5 / bins).nonzero(as_tuple=True)
    high = probs[row, column]
    mass = high * weight[row]
    residual[0] += weight @ probs
    residual[0].index_add_(0, column, mass, alpha=-1)
    flat.index_add_(0, _bins.bin_index(high, edges) * classes + column, mass)
    cell = _bins.bin_index(of_label(probs, labels), edges) * classes + labels
    flat.index_add_(0, cell, weight, alpha=-1)
