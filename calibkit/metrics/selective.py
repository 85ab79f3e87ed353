"""Handing over the least sure predictions: AURC, and FPR at 95 % TPR."""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics.diagram import confidence_hits
from calibkit.metrics.scores import risk_coverage, risks


def risk_coverage_of(confidence, correct) -> tuple[Tensor, Tensor]:
    """`risk_coverage` from (n,) confidences in [0, 1] and hits alone.

    >>> coverage, risk = risk_coverage_of([0.6, 0.9], [False, True])
    >>> coverage.tolist(), risk.tolist()
    ([0.5, 1.0], [0.0, 0.5])
    """
    return risks(*confidence_hits(confidence, correct))


def aurc(probs, labels) -> float:
    """Area under the risk-coverage curve: the mean risk over all n coverages.

    0 for a model that is always right. A model of error rate e whose confidence sorts its mistakes
    to the end has about e + (1 - e) log(1 - e); one whose confidence says nothing has e.

    Arguments and errors as in `ece`. Source: Geifman, Uziel & El-Yaniv (2019).

    >>> aurc([[0.9, 0.1], [0.6, 0.4]], [0, 1])  # the mean of 0 and 1/2
    0.25
    """
    return float(risk_coverage(probs, labels)[1].mean())


def fpr_at_tpr(in_scores, out_scores, *, tpr: float = 0.95) -> float:
    """Share of the strange samples that pass where `tpr` of the familiar ones do.

    The threshold is the largest score that at least `tpr` of the in-distribution samples reach; the
    value is the share of the others that reach it too. Scores are larger in distribution, as in
    `auroc`; 0 is perfect separation.

    in_scores (n,), out_scores (m,): floating, finite. Raises as `auroc` does.
    Source: Hendrycks & Gimpel (2017); Liang, Li & Srikant (2018).

    >>> fpr_at_tpr([0.9, 0.8, 0.7, 0.2], [0.75, 0.1], tpr=0.75)  # threshold .7, reached by 1 of 2
    0.5
    """
    inside = validate.finite("in_scores", validate.floating("in_scores", in_scores, ndim=1))
    outside = validate.finite("out_scores", validate.floating("out_scores", out_scores, ndim=1))
    validate.same_device("out_scores", outside, inside.device, "the in_scores")
    tpr = validate.number("tpr", tpr, 0, 1, open_low=True)
    ordered = inside.double().sort(descending=True).values
    needed = torch.arange(1, len(ordered) + 1, device=inside.device) / len(ordered) >= tpr - 1e-12
    threshold = ordered[int(needed.nonzero()[0])]
    return int((outside.double() >= threshold).sum()) / len(outside)
