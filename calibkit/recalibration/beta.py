"""Beta calibration: a map of each score for scores that follow beta distributions."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from calibkit.recalibration.binned import targets
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.least_nll import ALL, least, need_all_classes, start_scale
from calibkit.recalibration.modules import Map
from calibkit.threads import SEVERAL_THREADS, one_thread


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
