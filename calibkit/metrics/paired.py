"""Two models on one test set: the interval of what they differ by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.bootstrap import FORMS, Groups, bounds
from calibkit.metrics.top import top


def paired_interval(
    probs_a,
    probs_b,
    labels,
    *,
    metric: str = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
    form: str = "reflected",
) -> tuple[float, float]:
    """Paired bootstrap interval of metric(a) - metric(b), both scored on the same samples.

    Every resample draws the same samples for both models, so that what makes a sample easy or hard
    for both cancels. Two separate intervals that overlap say less: they may do so although one
    model is better on nearly every resample. Above n = 4096 up to 4096 random groups of samples of
    equal size are resampled as units.

    The bias of ECE cancels between models of like calibration only. The 90 % interval covered the
    true difference of two ECEs in so many per cent of 250 samples of n = 1000:

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
    validate.choice("metric", metric, tuple(_SCORES))
    validate.choice("form", form, FORMS)
    bins = _bins.check_options(bins)
    level = validate.level(level)
    resamples = validate.integer("resamples", resamples, 1)
    random = np.random.default_rng(validate.integer("seed", seed, 0))
    probs_a, probs_b, labels = _checked(probs_a, probs_b, labels)
    groups = Groups(len(labels), resamples + 1, random, labels.device)
    groups.weights[0], groups.drawn[0] = 1, len(labels)  # the sample itself
    of_a, of_b = (_SCORES[metric](probs, labels, groups, bins) for probs in (probs_a, probs_b))
    values = (of_a - of_b).cpu().numpy()
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
    confidence, correct = top(probs, labels)
    index = _bins.bin_index(confidence, _bins.width_edges(bins, probs.device))
    residuals = groups.sums(confidence.double() - correct.double(), index, bins)
    return residuals.abs().sum(1) / groups.drawn


def _mean(score: Callable[[Tensor, Tensor], Tensor]):
    """(resamples,) means of a score that each sample has for itself."""

    def resampled(probs: Tensor, labels: Tensor, groups: Groups, _bins: int) -> Tensor:
        each = score(probs, labels)
        return groups.sums(each, torch.zeros_like(labels), 1)[:, 0] / groups.drawn

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
