"""Maps of one class's score against the rest: histogram binning and isotonic regression."""

from __future__ import annotations

from typing import get_args

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from calibkit import validate
from calibkit.metrics.bins import Binning, edges_of
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.modules import Map, edges_table, passed, values_table


class HistogramBinning(Calibrator):
    """Histogram binning: a score becomes the share of positives in its bin (lo, hi].

    Class by class against the rest on softmax scores, then rows divided by their sum (two
    classes: on class 1 alone). `binning="width"` or `"mass"` chooses the edges. A bin that held no
    calibration sample keeps its centre. `fit` sets `edges` (C, bins + 1) and `values` (C, bins),
    with C = K, or 1 for two classes. A share of 0 gives a finite logit, the log of the smallest
    normal number. Raises ValueError for less than one bin.
    Source: Zadrozny & Elkan 2001; Guo et al. 2017, section 4.1.

    >>> p = torch.tensor([[0.4, 0.6], [0.3, 0.7], [0.2, 0.8], [0.1, 0.9]])
    >>> binning = HistogramBinning(bins=2).fit(p.log(), [1, 1, 1, 0])  # bin (.5, 1]: 3 of 4
    >>> [round(q, 4) for q in binning.probs(torch.tensor([[0.35, 0.65]]).log())[0].tolist()]
    [0.25, 0.75]
    """

    def __init__(self, *, bins: int = 15, binning: Binning = "width"):
        validate.integer("bins", bins, 1)
        self.bins, self.binning = bins, validate.choice("binning", binning, get_args(Binning))

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        scores, hits = one_vs_rest(logits), targets(labels, logits.shape[1])
        edges = [edges_of(row, self.bins, self.binning, weights) for row in scores]
        self.edges = torch.stack(edges)
        cell = torch.searchsorted(self.edges[:, 1:-1].contiguous(), scores)
        once = torch.ones_like(scores) if weights is None else weights.expand_as(scores)
        count = torch.zeros_like(self.edges[:, 1:]).scatter_add_(1, cell, once)
        positive = torch.zeros_like(count).scatter_add_(1, cell, once * hits)
        centre = (self.edges[:, 1:] + self.edges[:, :-1]) / 2
        self.values = torch.where(count > 0, positive / count, centre)

    def _module(self) -> Map:
        return Steps(edges=edges_table(self.edges[:, 1:-1]), values=self.values)


class Steps(Map):
    """A step function of each class's score s: the value after the last edge below s."""

    edges: Tensor
    values: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        number = passed(one_vs_rest(logits), self.edges.double())
        return to_logits(self.values.double().gather(1, number), logits)


class IsotonicCalibrator(Calibrator):
    """Isotonic regression: the non-decreasing map of a score of the least squared error.

    Class by class against the rest on softmax scores, then rows divided by their sum (two
    classes: on class 1 alone), linear between the fitted points as in scikit-learn. `fit` sets
    `points`, one (x, y) pair of float64 tensors a class. Shares of 0 as in `HistogramBinning`.
    Source: Zadrozny & Elkan 2002.

    >>> p = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8]])
    >>> isotonic = IsotonicCalibrator().fit(p.log(), [0, 1, 0, 1])  # middle two pooled: 1 of 2
    >>> [round(q, 4) for q in isotonic.probs(torch.tensor([[0.5, 0.5]]).log())[0].tolist()]
    [0.5, 0.5]
    """

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        from sklearn.isotonic import IsotonicRegression  # which loads pandas

        scores, hits = one_vs_rest(logits), targets(labels, logits.shape[1])
        maps = [
            IsotonicRegression().fit(x, y, None if weights is None else weights.cpu().numpy())
            for x, y in zip(scores.cpu().numpy(), hits.cpu().numpy(), strict=True)
        ]
        new = scores.new_tensor
        self.points = [(new(m.X_thresholds_), new(m.y_thresholds_)) for m in maps]

    def _module(self) -> Map:
        x, y = zip(*self.points, strict=True)
        edges = edges_table(row[1:-1] for row in x)
        return Lines(edges=edges, x=values_table(x), y=values_table(y))


class Lines(Map):
    """A function of each class's score, linear between points (x, y) and constant beyond them."""

    edges: Tensor
    x: Tensor
    y: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        scores, x, y = one_vs_rest(logits), self.x.double(), self.y.double()
        left = passed(scores, self.edges.double())
        x0, x1, y0, y1 = (part.gather(1, i) for part in (x, y) for i in (left, left + 1))
        share = ((scores - x0) / (x1 - x0).clamp(min=1e-300)).clamp(0, 1)
        return to_logits(y0 + share * (y1 - y0), logits)


def one_vs_rest(logits: Tensor) -> Tensor:
    """Softmax scores by class, (K, n) in float64; (1, n), class 1 alone, for two classes."""
    scores = logits.detach().double().softmax(dim=1).T.contiguous()
    return scores[1:].contiguous() if len(scores) == 2 else scores


def targets(labels: Tensor, classes: int) -> Tensor:
    """1.0 for the class of a sample, else 0, (K, n) in float64; (1, n) for two classes."""
    hits = one_hot(labels, classes).T.double()
    return hits[1:] if classes == 2 else hits


def to_logits(scores: Tensor, like: Tensor) -> Tensor:
    """Scores (C, n) to normalised log-probabilities (n, K), zeros lifted to a finite floor."""
    scores = scores.T
    if scores.shape[1] == 1:
        scores = torch.cat([1 - scores, scores], dim=1)
    total = scores.sum(1, keepdim=True)
    scores = torch.where(total > 0, scores / total, 1 / scores.shape[1])  # all 0: know nothing
    return scores.to(like.dtype).clamp(min=torch.finfo(like.dtype).tiny).log()
