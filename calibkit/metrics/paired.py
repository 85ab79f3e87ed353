"""Two models on one test set: the interval of what they differ by."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics import resampling
from calibkit.metrics.resampling import Groups, Method
from calibkit.metrics.top import Labels, Scored, TopLabel, of_label, rows_of, top
from calibkit.metrics.weighting import Weights, kept

Score = Literal["ece", "nll", "brier", "accuracy"]


def paired_interval(
    probs_a: Scored,
    probs_b: Scored,
    labels: Labels = None,
    *,
    metric: Score = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
    method: Method = "reflected",
    weights: Weights = None,
) -> tuple[float, float]:
    """Paired bootstrap interval of metric(a) - metric(b), both scored on the same samples.

    Every resample draws the same samples for both models, so that what makes a sample easy or hard
    for both cancels. Two separate intervals that overlap say less: they may do so although one
    model is better on nearly every resample. Above n = 4096 up to 4096 random groups of samples of
    equal size are resampled as units.

    The bias of ECE cancels only where neither model is nearly calibrated; "nll" and "brier" have no
    such bias. How often the intervals cover: notebooks/notes_on_measures.md.

    probs_a, probs_b: (n, K) probabilities of the two models; labels: (n,) integers in [0, K). Two
        `TopLabel`s, row by row of the same samples, stand for all three; their "nll" and "brier"
        are those of the two classes "hit" and "miss" (so the Brier score is twice
        (confidence - hit)^2), and "accuracy" is the share of hits.
    metric: "ece", "nll", "brier" or "accuracy".
    bins, level, resamples, seed, method: as in `bootstrap_interval`; bins for "ece" alone.
    weights: (n,) of the rows, as in `ece`; each is drawn like another and brings its weight along.

    Returns (low, high); a loss is lower for b where low > 0. "nll" must be finite for both. Raises
    as `ece` does, and ValueError if the shapes differ. Source: Efron & Tibshirani (1993), section
    13.3; Koehn (2004) for the pairing.

    >>> a, b = [[0.5, 0.5]] * 4, [[0.75, 0.25]] * 4  # right by .5 and by .75 on every sample
    >>> low, high = paired_interval(a, b, [0] * 4, metric="nll")
    >>> round(low, 4), round(high, 4)  # log 2 - log 4/3
    (0.4055, 0.4055)
    """
    validate.choice("metric", metric, get_args(Score))
    method, bins, level, resamples, random = resampling.options(
        method, bins, level, resamples, seed
    )
    first, second, target = _checked(probs_a, probs_b, labels)
    first, second, target, checked = _weighed(first, second, target, weights)
    a, b = (_per_sample(metric, probs, target, bins) for probs in (first, second))
    device = a[0].device
    groups = Groups(len(a[0]), resamples + 1, random, device, with_sample=True, of_rows=checked)
    values = (_totals(*a, groups, bins) - _totals(*b, groups, bins)).cpu().numpy()
    return resampling.bounds(values[1:], float(values[0]), level, method)


def _checked(a, b, labels: Labels):
    """Both predictions, of the same samples and on one device, and the labels as a tensor."""
    if isinstance(a, TopLabel) and isinstance(b, TopLabel):
        validate.same_length("confidence_b", len(b.confidence), len(a.confidence))
        device, of = a.confidence.device, "the first model's confidences"
        validate.same_device("confidence_b", b.confidence, device, of)
        return a, b, labels
    a = validate.probs(a, "probs_a").detach()
    b = validate.floating("probs_b", b, ndim=2).detach()
    validate.same_device("probs_b", b, a.device, "probs_a")
    b = validate.probs(b, "probs_b")
    if a.shape != b.shape:
        raise ValueError(
            f"probs_b must have the shape of probs_a, {tuple(a.shape)}, got {tuple(b.shape)}"
        )
    return a, b, validate.labels(labels, n=len(a), classes=a.shape[1], device=a.device)


def _weighed(a, b, labels, weights: Weights) -> tuple:
    """Both predictions and the labels of the rows of positive weight, and their weights or None."""
    if not isinstance(a, TopLabel):
        return kept(weights, a, b, labels)
    weights = _given_once(a, b, weights)
    *parts, checked = kept(weights, a.confidence, a.correct, b.confidence, b.correct)
    return TopLabel(*parts[:2]), TopLabel(*parts[2:]), labels, checked


def _given_once(a: TopLabel, b: TopLabel, weights: Weights) -> Weights:
    """The weights of both, which may stand beside them or in one of them, or in both alike."""
    own = [top.weights for top in (a, b) if top.weights is not None]
    if len(own) == 2 and not torch.equal(*own):
        raise ValueError("weights must be the same in both, for the samples are; give one")
    if own and weights is not None:
        raise TypeError("weights must be left out: the TopLabel given has its own")
    return own[0] if own else weights


def _per_sample(
    metric: Score, probs: Tensor | TopLabel, labels: Tensor | None, bins: int
) -> tuple[Tensor, Tensor | None]:
    """(n,) what each sample adds, and the bin that it adds it to, where there are several."""
    if metric == "nll":
        return _nll(*rows_of(probs, labels)[:2]), None
    if metric == "brier":
        return _brier(*rows_of(probs, labels)[:2]), None
    confidence, correct = top(probs, labels)
    if metric == "accuracy":
        return correct.double(), None
    index = _bins.bin_index(confidence, _bins.width_edges(bins, confidence.device))
    return confidence.double() - correct.double(), index


def _totals(values: Tensor, index: Tensor | None, groups: Groups, bins: int) -> Tensor:
    """(resamples,) means of the values, or of bins the ECE."""
    if index is None:
        return groups.means(values)
    return groups.sums(values, index, bins).abs().sum(1) / groups.drawn


def _nll(probs: Tensor, labels: Tensor) -> Tensor:
    each = -of_label(probs, labels).log()
    if not bool(each.isfinite().all()):
        raise ValueError(
            "metric 'nll' is infinite: a label was given probability 0 "
            f"in row {int(each.argmax())}; compare 'brier'"
        )
    return each


def _brier(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.double().square().sum(1) - 2 * of_label(probs, labels) + 1
