"""Maps of one class's score against the rest: bins, isotonic, Venn-Abers and beta calibration."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import torch
from scipy.optimize import isotonic_regression
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from calibkit import validate
from calibkit.metrics.bins import Binning, edges_of
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.least_nll import ALL, least, need_all_classes, start_scale
from calibkit.recalibration.modules import Map, edges_table, passed, values_table
from calibkit.threads import SEVERAL_THREADS, one_thread

Step = tuple[np.ndarray, np.ndarray]


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


class VennAbersCalibrator(Calibrator):
    """Inductive Venn-Abers: p = p1 / (1 - p0 + p1), of two isotonic regressions for each score.

    p0 is isotonic regression with the test score added as a negative, p1 as a positive, so that
    one of the two is calibrated whatever comes, and p is never 0 or 1. Class by class against the
    rest on softmax scores, then rows divided by their sum (two classes: on class 1 alone). `fit`
    sets `steps`, a pair (p0, p1) of step functions a class, each a pair of float64 tensors: the
    scores where it steps (m,), and its values (m + 1,).
    Source: Vovk, Petej & Fedorova 2015, section 2 and equation 7.

    >>> p = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8]])
    >>> venn = VennAbersCalibrator().fit(p.log(), [0, 1, 0, 1])  # at .9: p0 = 2 / 4, p1 = 1
    >>> [round(q, 4) for q in venn.probs(torch.tensor([[0.1, 0.9]]).log())[0].tolist()]
    [0.3333, 0.6667]
    """

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        scores, hits = one_vs_rest(logits), targets(labels, logits.shape[1])
        classes = zip(scores.cpu().numpy(), hits.cpu().numpy(), strict=True)
        on_device = scores.new_tensor
        self.steps = [
            tuple((on_device(at), on_device(values)) for at, values in _both(*one))
            for one in classes
        ]

    def _module(self) -> Map:
        numbers: dict[str, Tensor] = {}
        for name, steps in enumerate(zip(*self.steps, strict=True)):
            at, values = zip(*steps, strict=True)
            numbers |= {f"edges_{name}": edges_table(at), f"values_{name}": values_table(values)}
        return TwoSteps(**numbers)


class TwoSteps(Map):
    """Venn-Abers' p1 / (1 - p0 + p1), of two step functions of each class's score."""

    edges_0: Tensor
    values_0: Tensor
    edges_1: Tensor
    values_1: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        scores = one_vs_rest(logits)
        p0 = self.values_0.double().gather(1, passed(scores, self.edges_0.double(), at=True))
        p1 = self.values_1.double().gather(1, passed(scores, self.edges_1.double()))
        return to_logits(p1 / (1 - p0 + p1), logits)


def _both(scores: np.ndarray, hits: np.ndarray) -> list[Step]:
    """p0 and p1 of one class as step functions: where they step, and their values."""
    at, place = np.unique(scores, return_inverse=True)
    counts, right = np.bincount(place).astype(float), np.bincount(place, hits)
    with_label = [
        [_regressed(right, counts, k, label) for k in range(len(at))] for label in (0.0, 1.0)
    ]
    # a negative below all scores is the only one there, as is a positive above them
    p0, p1 = np.array([0.0, *with_label[0]]), np.array([*with_label[1], 1.0])
    changes = [(values, np.diff(values) != 0) for values in (p0, p1)]
    return [(at[new], values[np.append(True, new)]) for values, new in changes]


def _regressed(right: np.ndarray, counts: np.ndarray, k: int, label: float) -> float:
    """Isotonic regression at the k-th score, one more sample of this label added there."""
    right, counts = right.copy(), counts.copy()
    right[k] += label
    counts[k] += 1
    return float(isotonic_regression(right / counts, weights=counts).x[k])


class BetaCalibrator(Calibrator):
    """Beta calibration: log q / (1 - q) = a log s - b log(1 - s) + c of a score s, a and b >= 0.

    This is the map for scores that follow a beta distribution in either group; a = b = 1, c = 0
    changes nothing. Class by class against the rest on softmax scores, with the least NLL of "is it
    this class", then rows divided by their sum (two classes: on class 1 alone). `fit` sets
    `weights` (C, 3), the a, b and c of each class, with C = K, or 1 for two classes; float64.
    Source: Kull, Silva Filho & Flach 2017.

    >>> p = torch.tensor([[0.2, 0.8], [0.8, 0.2]]).repeat_interleave(4, dim=0)
    >>> beta = BetaCalibrator().fit(p.log(), [1, 1, 1, 0, 0, 0, 0, 1])  # 3 of 4 right either way
    >>> [round(q, 4) for q in beta.probs(torch.tensor([[0.2, 0.8]]).log())[0].tolist()]
    [0.25, 0.75]
    """

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        parts, hits = _log_odds_parts(logits), targets(labels, logits.shape[1])
        scale = start_scale(logits.double(), labels, weights).expand(len(hits))
        start = torch.stack([scale, scale, torch.zeros_like(scale)])

        def loss(abc: Tensor, rows: slice = ALL) -> Tensor:
            odds = _log_odds(parts[:, :, rows], abc)
            share = None if weights is None else weights[rows] / weights[rows].mean()
            return binary_cross_entropy_with_logits(odds, hits[:, rows], share)

        need_all_classes(labels, logits.shape[1])
        with one_thread(logits.numel() < SEVERAL_THREADS):
            self.weights = least(loss, start, len(labels), positive=2 * len(hits)).T

    def _module(self) -> Map:
        return Beta(weights=self.weights)


class Beta(Map):
    """log q / (1 - q) = a log s - b log(1 - s) + c, class by class against the rest."""

    weights: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        odds = _log_odds(_log_odds_parts(logits), self.weights.double().T)
        odds = torch.cat([-odds, odds]) if len(odds) == 1 else odds
        log_q = -torch.logaddexp(-odds, torch.zeros_like(odds))  # ONNX underflows in logsigmoid
        return log_q.log_softmax(dim=0).T.to(logits.dtype)


def _log_odds_parts(logits: Tensor) -> Tensor:
    """log s and -log(1 - s) of the softmax scores s, (2, C, n): exact where s is near 1."""
    log_s = logits.detach().double().log_softmax(dim=1)
    top = log_s.argmax(dim=1, keepdim=True)
    others = log_s.scatter(1, top, -math.inf).logsumexp(dim=1, keepdim=True)
    log_rest = torch.log1p(-log_s.exp()).scatter(1, top, others)
    parts = torch.stack([log_s.T, -log_rest.T])
    return parts[:, 1:] if logits.shape[1] == 2 else parts


def _log_odds(parts: Tensor, weights: Tensor) -> Tensor:
    """Recalibrated log-odds (C, n) from `_log_odds_parts` and rows a, b, c: (3, C)."""
    return (weights[:2, :, None] * parts).sum(0) + weights[2][:, None]


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
