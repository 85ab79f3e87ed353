"""Scores without bins: NLL, Brier, accuracy, entropy, risk and coverage, AUROC."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics.classwise import blocks, class_tally
from calibkit.metrics.top import (
    Labels,
    Scored,
    Weights,
    classes_of,
    mean,
    of_label,
    top,
    weighed,
)
from calibkit.validate import Array


def nll(probs: Array, labels: Array, *, weights: Weights = None) -> float:
    """Negative log likelihood: the mean of -log p(label), in nats.

    Infinite when a label was given probability 0. Arguments, weights and errors as in `ece`.

    >>> round(nll([[0.5, 0.5], [0.25, 0.75]], [0, 0]), 4)  # (log 2 + log 4) / 2
    1.0397
    """
    probs, labels, checked = classes_of(probs, labels, weights)
    return -mean(of_label(probs, labels).log(), checked)


def brier(probs: Array, labels: Array, *, weights: Weights = None) -> float:
    """Brier score: mean over samples of the sum over classes of (p_k - [label = k])^2.

    The value lies in [0, 2]; some packages divide it by K or by 2. Arguments, weights and errors as
    in `ece`. Source: Brier (1950), Monthly Weather Review 78.

    >>> round(brier([[0.8, 0.2]], [0]), 4)  # 0.2^2 + 0.2^2
    0.08
    """
    probs, labels, checked = classes_of(probs, labels, weights)
    return mean(each_brier(probs, labels), checked) + 1


def each_brier(probs: Tensor, labels: Tensor) -> Tensor:
    """(n,) float64 sums of squares of checked rows less twice p(label): their Brier scores - 1."""
    squares = torch.cat([block.square().sum(1) for block in blocks(probs)])
    return squares - 2 * of_label(probs, labels)


class BrierParts(NamedTuple):
    """calibration + refinement + within == Brier score; see `brier_decomposition`."""

    calibration: float
    refinement: float
    within: float


def brier_decomposition(
    probs: Array, labels: Array, *, bins: int = 15, weights: Weights = None
) -> BrierParts:
    """The Brier score as calibration + refinement + within-bin remainder.

    Each class's probability is put into equal-width bins. With n_bk samples of mean probability
    c_bk and label frequency a_bk in bin b of class k,

        calibration = 1/n sum_bk n_bk (c_bk - a_bk)^2
        refinement  = 1/n sum_bk n_bk a_bk (1 - a_bk)
        within      = 1/n sum over samples and classes of (p - c)^2 - 2 (p - c) (y - a)

    and their sum is exactly `brier(probs, labels)`. Murphy's identity Brier = calibration +
    refinement holds exactly where the probabilities in each bin are equal, for then within is 0;
    otherwise within is what binning hides, and it shrinks as bins are added.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K); bins: number of bins.
    weights: (n,) of the rows, as in `ece`; n_bk and n are then sums of weights.

    Source: Murphy (1973); the remainder is Stephenson, Coelho & Jolliffe (2008).

    >>> parts = brier_decomposition([[0.8, 0.2]] * 4, [0, 0, 0, 1])
    >>> [round(part, 4) for part in parts]  # 2 (0.8 - 0.75)^2, 2 * 0.75 * 0.25, nothing
    [0.005, 0.375, 0.0]
    """
    counts, hits, total = class_tally(probs, labels, bins, weights)
    n, filled = counts[:, 0].sum(), torch.where(counts > 0, counts, 1.0)
    calibration = float(((total - hits).square() / filled).sum() / n)
    refinement = float((hits * (1 - hits / filled)).sum() / n)
    whole = brier(probs, labels, weights=weights)
    return BrierParts(calibration, refinement, whole - (calibration + refinement))


def accuracy(probs: Scored, labels: Labels = None, *, weights: Weights = None) -> float:
    """Share of rows whose largest probability is the label's; ties go to the lowest class.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K). A `TopLabel` stands for both.
    weights: (n,) of the rows, as in `ece`.

    Raises as `ece` does.

    >>> accuracy([[0.9, 0.1], [0.5, 0.5]], [0, 1])
    0.5
    """
    _, correct, checked = weighed(probs, labels, weights)
    return mean(correct, checked)


def top_k_accuracy(probs: Array, labels: Array, *, k: int = 5, weights: Weights = None) -> float:
    """Share of rows whose label is among the k largest probabilities.

    Ties go to the lowest class, so k = 1 is `accuracy` and k = K is 1. Arguments and errors as in
    `accuracy`; k outside [1, K] raises ValueError.

    >>> top_k_accuracy([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], [1, 2], k=2)
    0.5
    """
    probs, labels, checked = classes_of(probs, labels, weights)
    k = validate.integer("k", k, 1, probs.shape[1])
    own = probs.gather(1, labels[:, None])
    lower_class = torch.arange(probs.shape[1], device=probs.device) < labels[:, None]
    ahead = (probs > own) | ((probs == own) & lower_class)
    return mean(ahead.sum(1) < k, checked)


def confident_share(
    probs: Scored, labels: Labels = None, *, threshold: float = 0.99, weights: Weights = None
) -> tuple[float, float]:
    """Share of samples with confidence above `threshold`, and the accuracy on them.

    Accuracy is NaN when there is none. Arguments and errors as in `accuracy`; threshold is a
    fraction. Source: Mukhoti et al. (2020), table H.1, where the set is called S99.

    >>> confident_share([[0.995, 0.005], [1.0, 0.0], [0.6, 0.4], [0.1, 0.9]], [0, 1, 0, 1])
    (0.5, 0.5)
    """
    threshold = validate.fraction("threshold", threshold)
    confidence, correct, checked = weighed(probs, labels, weights)
    sure = confidence.double() > threshold
    return mean(sure, checked), mean(correct[sure], checked if checked is None else checked[sure])


def entropy(probs: Array) -> Tensor:
    """Entropy of each row, -sum_k p_k log p_k, in nats: (n,) float64, with 0 log 0 = 0.

    From 0 for a one-hot row to log K for a uniform one. Raises as `ece` does.

    >>> [round(h, 4) for h in entropy([[0.5, 0.5], [1.0, 0.0]]).tolist()]  # log 2, 0
    [0.6931, 0.0]
    """
    return torch.special.entr(validate.probs(probs).detach().double()).sum(1)


def risk_coverage(probs: Scored, labels: Labels = None) -> tuple[Tensor, Tensor]:
    """Error rate among the most confident predictions, for every number of them that is kept.

    coverage_k = k / n and risk_k = share of errors among the k most confident, k = 1 ... n. Of
    predictions with equal confidence each is as likely to be kept as another: risk is its mean over
    their orders. Both (n,) float64. Arguments and errors as in `accuracy`; coverage counts rows, so
    there are no weights. Source: El-Yaniv & Wiener (2010), JMLR 11; Geifman & El-Yaniv (2017).

    >>> coverage, risk = risk_coverage([[0.9, 0.1], [0.6, 0.4]], [0, 1])
    >>> coverage.tolist(), risk.tolist()
    ([0.5, 1.0], [0.0, 0.5])
    """
    confidence, correct = top(probs, labels)
    levels, level, counts = (
        confidence.double().neg().unique(return_inverse=True, return_counts=True)
    )
    errors = torch.zeros_like(levels).index_add_(0, level, (~correct).to(levels.dtype)) / counts
    taken = torch.arange(1, len(level) + 1, dtype=levels.dtype, device=levels.device)
    return taken / len(level), errors[level.sort().values].cumsum(0) / taken


def aurc(probs: Scored, labels: Labels = None) -> float:
    """Area under the risk-coverage curve: the mean risk over all n coverages.

    0 for a model that is always right. A model of error rate e whose confidence sorts its mistakes
    to the end has about e + (1 - e) log(1 - e); one whose confidence says nothing has e.
    Arguments and errors as in `ece`. Source: Geifman, Uziel & El-Yaniv (2019).

    >>> aurc([[0.9, 0.1], [0.6, 0.4]], [0, 1])  # the mean of 0 and 1/2
    0.25
    """
    return float(risk_coverage(probs, labels)[1].mean())


def augrc(probs: Scored, labels: Labels = None) -> float:
    """Area under the generalized risk-coverage curve, AUGRC.

    The generalized risk at coverage k / n is (errors among the k most confident) / n: the chance
    that a prediction is kept *and* wrong. The curve joins these points from (0, 0) by straight
    lines, so that with A the accuracy and AUROC that of telling hits from errors

        AUGRC = (1 - AUROC) A (1 - A) + (1 - A)^2 / 2

    in [0, 1/2]. Unlike in `aurc` an error of high confidence is not weighed by how few are kept.
    Arguments and errors as in `aurc`. Source: Traub et al. (2024), arXiv:2407.01032.

    >>> augrc([[0.9, 0.1], [0.6, 0.4]], [0, 1])  # half an error is kept over half of the axis: 1/8
    0.125
    """
    coverage, risk = risk_coverage(probs, labels)
    errors = coverage * risk
    return float((errors.sum() - errors[-1] / 2) / len(errors))


def auroc(in_scores: Array, out_scores: Array) -> float:
    """Area under the ROC curve for telling in-distribution samples from the others.

        AUROC = P(in > out) + 1/2 P(in = out)

    for a score drawn from each side: 1 is perfect separation, 1/2 none. Scores must be larger in
    distribution, as confidence is; pass -entropy.

    in_scores: (n,) floating, finite; out_scores: (m,) the same on the same device.

    Source: Hanley & McNeil (1982), Radiology 143; Hendrycks & Gimpel (2017) for this use.

    >>> auroc([0.9, 0.8, 0.5], [0.5, 0.4])  # 5 pairs won and 1 tied of 6
    0.9166666666666666
    """
    inside, outside = _both_sides(in_scores, out_scores)
    outside = outside.sort().values
    below = torch.searchsorted(outside, inside)
    up_to = torch.searchsorted(outside, inside, right=True)
    return int(below.sum() + up_to.sum()) / (2 * len(inside) * len(outside))


def fpr_at_tpr(in_scores: Array, out_scores: Array, *, tpr: float = 0.95) -> float:
    """Share of the strange samples that pass where `tpr` of the familiar ones do.

    The threshold is the largest score that at least `tpr` of the in-distribution samples reach; the
    value is the share of the others that reach it too. Scores are larger in distribution, as in
    `auroc`; 0 is perfect separation.

    in_scores, out_scores: (n,) and (m,) floating, finite.

    Raises as `auroc` does. Source: Hendrycks & Gimpel (2017); Liang, Li & Srikant (2018).

    >>> fpr_at_tpr([0.9, 0.8, 0.7, 0.2], [0.75, 0.1], tpr=0.75)  # threshold .7, reached by 1 of 2
    0.5
    """
    inside, outside = _both_sides(in_scores, out_scores)
    tpr = validate.number("tpr", tpr, 0, 1, open_low=True)
    ordered = inside.sort(descending=True).values
    needed = torch.arange(1, len(ordered) + 1, device=inside.device) / len(ordered) >= tpr - 1e-12
    threshold = ordered[int(needed.nonzero()[0])]
    return int((outside >= threshold).sum()) / len(outside)


def _both_sides(in_scores: Array, out_scores: Array) -> tuple[Tensor, Tensor]:
    """Both in float64, finite and on one device."""
    inside = validate.floating("in_scores", in_scores, ndim=1)
    outside = validate.floating("out_scores", out_scores, ndim=1)
    validate.same_device("out_scores", outside, inside.device, "the in_scores")
    validate.finite("in_scores", inside)
    validate.finite("out_scores", outside)
    return inside.double(), outside.double()
