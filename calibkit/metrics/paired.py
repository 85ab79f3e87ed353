"""Two models on one test set: the interval of what they differ by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.bootstrap import Form, Groups, bounds, options
from calibkit.metrics.diagram import confidence_hits
from calibkit.metrics.top import top

Score = Literal["ece", "nll", "brier", "accuracy"]


def paired_interval(
    probs_a,
    probs_b,
    labels,
    *,
    metric: Score = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
    form: Form = "reflected",
) -> tuple[float, float]:
    """Paired bootstrap interval of metric(a) - metric(b), both scored on the same samples.

    Every resample draws the same samples for both models, so that what makes a sample easy or hard
    for both cancels. Two separate intervals that overlap say less: they may do so although one
    model is better on nearly every resample. Above n = 4096 up to 4096 random groups of samples of
    equal size are resampled as units.

    The bias of ECE cancels only where neither model is nearly calibrated. The 90 % interval covered
    the true difference of two ECEs in so many per cent of 250 samples of n = 1000:

        models (T of each)   difference   reflected   percentile
        1 and 1.1            -.032        51          15
        1 and 1/2            -.206        62          0
        1.1 and 1.2          -.029        88          64
        1/1.5 and 1/2        -.077        95          96

    With "nll" and "brier", which have no such bias, both forms covered 87 to 92 %.

    Parameters
    ----------
    probs_a, probs_b : (n, K) probabilities of the two models; labels : (n,) integers in [0, K).
    metric : "ece", "nll", "brier" or "accuracy".
    bins, level, resamples, seed, form : as in `bootstrap_interval`; bins for "ece" alone.

    Returns (low, high); a loss is lower for b where low > 0. "nll" must be finite for both. Raises
    as `ece` does, and ValueError if the shapes differ.

    Source: Efron & Tibshirani (1993), section 13.3; Koehn (2004) for the pairing.

    >>> a, b = [[0.5, 0.5]] * 4, [[0.75, 0.25]] * 4  # right by .5 and by .75 on every sample
    >>> low, high = paired_interval(a, b, [0] * 4, metric="nll")
    >>> round(low, 4), round(high, 4)  # log 2 - log 4/3
    (0.4055, 0.4055)
    """
    validate.choice("metric", metric, get_args(Score))
    checked = options(form, bins, level, resamples, seed)
    probs_a, probs_b, labels = _checked(probs_a, probs_b, labels)
    score = _SCORES[metric]
    return _interval(score, (probs_a, labels), (probs_b, labels), *checked)


def paired_interval_of(
    confidence_a,
    correct_a,
    confidence_b,
    correct_b,
    *,
    metric: Score = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
    form: Form = "reflected",
) -> tuple[float, float]:
    """`paired_interval` from the confidences and hits of two models, row by row the same samples.

    confidence_a, confidence_b: (n,) in [0, 1]; correct_a, correct_b: (n,) hits. Of two binary
    scores both hits are whether it came true.
    metric: as there, "nll" and "brier" being those of the two classes "hit" and "miss" (so the
    Brier score is twice (confidence - hit)^2), "accuracy" the share of hits. Options as there.

    >>> hits = [True] * 4
    >>> low, high = paired_interval_of([0.5] * 4, hits, [0.75] * 4, hits, metric="brier")
    >>> low, high  # 2 (.25 - .0625)
    (0.375, 0.375)
    """
    validate.choice("metric", metric, get_args(Score))
    checked = options(form, bins, level, resamples, seed)
    a = confidence_hits(confidence_a, correct_a)
    b = confidence_hits(confidence_b, correct_b)
    validate.same_length("confidence_b", len(b[0]), len(a[0]))
    validate.same_device("confidence_b", b[0], a[0].device, "the first model's confidences")
    return _interval(_SCORES_OF[metric], a, b, *checked)


def _interval(score, a, b, form, bins, level, resamples, random) -> tuple[float, float]:
    """The interval of score(a) - score(b) from the checked predictions and targets of both."""
    groups = Groups(len(a[1]), resamples + 1, random, a[1].device)
    groups.weights[0], groups.drawn[0] = 1, len(a[1])  # the sample itself
    values = (score(*a, groups, bins) - score(*b, groups, bins)).cpu().numpy()
    return bounds(values[1:], float(values[0]), level, form)


def _checked(probs_a, probs_b, labels) -> tuple[Tensor, Tensor, Tensor]:
    probs_a = validate.probs(probs_a, "probs_a").detach()
    probs_b = validate.floating("probs_b", probs_b, ndim=2).detach()
    validate.same_device("probs_b", probs_b, probs_a.device, "probs_a")
    validate.probs(probs_b, "probs_b")
    if probs_a.shape != probs_b.shape:
        raise ValueError(
            f"probs_b must have the shape of probs_a, {tuple(probs_a.shape)}, "
            f"got {tuple(probs_b.shape)}"
        )
    n, classes = probs_a.shape
    return probs_a, probs_b, validate.labels(labels, n=n, classes=classes, device=probs_a.device)


def _binned(probs: Tensor, labels: Tensor, groups: Groups, bins: int) -> Tensor:
    """(resamples,) ECE."""
    return _binned_of(*top(probs, labels), groups, bins)


def _binned_of(confidence: Tensor, correct: Tensor, groups: Groups, bins: int) -> Tensor:
    index = _bins.bin_index(confidence, _bins.width_edges(bins, confidence.device))
    residuals = groups.sums(confidence.double() - correct.double(), index, bins)
    return residuals.abs().sum(1) / groups.drawn


def _mean(score: Callable[[Tensor, Tensor], Tensor]):
    """(resamples,) means of a score that each sample has for itself."""

    def resampled(probs: Tensor, labels: Tensor, groups: Groups, _bins: int) -> Tensor:
        each = score(probs, labels)
        return groups.sums(each, torch.zeros_like(groups.of), 1)[:, 0] / groups.drawn

    return resampled


def _nll(probs: Tensor, labels: Tensor) -> Tensor:
    each = -probs.gather(1, labels[:, None])[:, 0].double().log()
    if not bool(each.isfinite().all()):
        raise ValueError(
            "metric 'nll' is infinite: a label was given probability 0 "
            f"in row {int(each.argmax())}; compare 'brier'"
        )
    return each


def _brier(probs: Tensor, labels: Tensor) -> Tensor:
    own = probs.gather(1, labels[:, None])[:, 0].double()
    return probs.double().square().sum(1) - 2 * own + 1


_SCORES = {
    "ece": _binned,
    "nll": _mean(_nll),
    "brier": _mean(_brier),
    "accuracy": _mean(lambda probs, labels: top(probs, labels)[1].double()),
}


def _two(score: Callable[[Tensor, Tensor], Tensor]):
    """A score of rows as one of the confidences of "hit"."""
    return _mean(lambda said, hits: score(torch.stack([1 - said, said], dim=1), hits.long()))


_SCORES_OF = {
    "ece": _binned_of,
    "nll": _two(_nll),
    "brier": _two(_brier),
    "accuracy": _mean(lambda _, hits: hits.double()),
}
