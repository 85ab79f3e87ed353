"""Venn-Abers predictors: isotonic regression asked twice, once for each label that may come."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from torch import Tensor

from calibkit.recalibration.binned import one_vs_rest, targets, to_logits
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.modules import Map, edges_table, passed, values_table

Step = tuple[np.ndarray, np.ndarray]


class VennAbersCalibrator(Calibrator):
    """Inductive Venn-Abers: p = p1 / (1 - p0 + p1), of two isotonic regressions for each score.

    p0 is isotonic regression with the test score added as a negative, p1 as a positive, so that
    one of the two is calibrated whatever comes, and p is never 0 or 1. Class by class against the
    rest on softmax scores, then rows divided by their sum (two classes: on class 1 alone). `fit`
    sets `steps`, a pair (p0, p1) of step functions a class, each a pair of float64 tensors: the
    scores where it steps (m,), and its values (m + 1,).
    Source: Vovk, Petej & Fedorova 2015, section 2 and equation 7.

    >>> import torch
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
