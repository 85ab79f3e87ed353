"""Percentile bootstrap intervals from per-bin statistics, without touching the samples again."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.errors import binned_error, over_error
from calibkit.metrics.top import top

METRICS = (
    "ece",
    "mce",
    "ada_ece",
    "classwise_ece",
    "overconfidence_error",
    "signed_gap",
    "accuracy",
)
SMALL = 16  # a cell of at most so many samples is resampled one by one
GROUPS = 4096  # classwise: at most so many units are resampled


def bootstrap_interval(
    probs,
    labels,
    *,
    metric: str = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a metric: what resampling the samples would give.

    Drawing n samples with replacement and computing the metric again costs a pass over the data
    each time. But the metric depends on the drawn samples only through three numbers per bin, so
    those are drawn instead:

    - how many samples of each cell, a (bin, right or wrong) pair: one multinomial draw, exact;
    - the sum of their confidences: by drawing members of the cell where it has at most 16, exact,
      and above that from a normal of the cell's mean and variance.

    The bins of "ada_ece" stay those of the full sample, so its interval is that of the adaptive
    bins once chosen. "classwise_ece" depends on K bins per sample, which are not independent:
    there whole samples are resampled by multinomial weights, exactly up to n = 4096, and above
    that up to 4096 random groups of equal size are resampled as units.

    Parameters
    ----------
    probs : (n, K) probabilities; labels : (n,) integers in [0, K).
    metric : "ece", "mce", "ada_ece", "classwise_ece", "overconfidence_error", "signed_gap" or
        "accuracy".
    bins : number of bins; level : coverage aimed at, in (0, 1).
    resamples : number of resamples; seed : integer seed of the draws.

    Returns (low, high), the (1 - level) / 2 and (1 + level) / 2 quantiles. ECE is biased upwards
    and the more so in a resample, so the interval may lie above the ECE of the sample. Raises as
    `ece` does.

    Source: Efron (1979); Efron & Tibshirani (1993).

    >>> bootstrap_interval([[0.875, 0.125]] * 50, [0] * 50)  # always right, at 0.875
    (0.125, 0.125)
    """
    validate.choice("metric", metric, METRICS)
    bins = _bins.check_options(bins, "width", "right")
    level = validate.number("level", level, 0, 1, open_low=True, open_high=True)
    resamples = validate.integer("resamples", resamples, 1)
    random = np.random.default_rng(validate.integer("seed", seed, 0))
    values = resampled(probs, labels, metric, bins, resamples, random)
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled(
    probs, labels, metric: str, bins: int, resamples: int, random: np.random.Generator
) -> np.ndarray:
    """(resamples,) values of `metric`."""
    if metric == "classwise_ece":
        return _classwise(probs, labels, bins, resamples, random)
    confidence, correct = top(probs, labels)
    binning = "mass" if metric == "ada_ece" else "width"
    cell, moments = _cells(confidence, correct, bins, binning)
    counts, sums = _draw(confidence, cell, moments, resamples, random)
    counts, sums = torch.from_numpy(counts), torch.from_numpy(sums)
    hits = counts[:, 1::2]
    return _METRIC[metric](counts[:, ::2] + hits, hits, sums).numpy()


def _gap(counts: Tensor, hits: Tensor, confidence: Tensor) -> Tensor:
    return (confidence - hits).sum(-1) / counts.sum(-1)


def _accuracy(counts: Tensor, hits: Tensor, confidence: Tensor) -> Tensor:
    return hits.sum(-1).double() / counts.sum(-1)


_METRIC = {
    "ece": lambda *t: binned_error(*t, "l1"),
    "ada_ece": lambda *t: binned_error(*t, "l1"),
    "mce": lambda *t: binned_error(*t, "max"),
    "overconfidence_error": over_error,
    "signed_gap": _gap,
    "accuracy": _accuracy,
}


def _cells(confidence: Tensor, correct: Tensor, bins: int, binning: str):
    """The (bin, right or wrong) cell of every sample; sizes, means and variances of the cells."""
    _, index_of = _bins.indexer(confidence, bins, binning)
    cell = torch.empty(len(confidence), dtype=torch.int32, device=confidence.device)
    power = torch.zeros((3, 2 * bins), dtype=torch.float64, device=confidence.device)
    start = 0
    for part, hit in _bins.blocks(confidence, correct):
        here = 2 * index_of(part) + hit
        cell[start : start + len(here)] = here
        start += len(here)
        value = part.double()
        power[0] += torch.bincount(here, minlength=2 * bins)
        power[1] += torch.bincount(here, weights=value, minlength=2 * bins)
        power[2] += torch.bincount(here, weights=value * value, minlength=2 * bins)
    size, first, second = power.cpu().numpy()
    mean = first / np.maximum(size, 1)
    variance = np.maximum(second / np.maximum(size, 1) - mean * mean, 0)
    return cell, (size.astype(np.int64), mean, variance)


def _draw(confidence: Tensor, cell: Tensor, moments, resamples: int, random):
    """What samples drawn with replacement bring: (resamples, cells) counts, and sums of confidence.

    The sums are those of bins, (resamples, bins): normals of two cells add up to a normal.
    """
    size, mean, variance = moments
    counts = np.zeros((resamples, len(size)), dtype=np.int64)
    filled = size > 0
    share = size[filled] / size.sum()
    counts[:, filled] = random.multinomial(size.sum(), share, size=resamples)
    exact = (size > 1) & (size <= SMALL)
    of_bin = np.repeat(np.eye(len(size) // 2), 2, axis=0) * ~exact[:, None]
    weight = counts.astype(float)
    sums, squares = (weight @ (moment[:, None] * of_bin) for moment in (mean, variance))
    sums += np.sqrt(squares) * random.standard_normal(sums.shape)
    for c in np.flatnonzero(exact):
        members = confidence[cell == c].double().cpu().numpy()
        sums[:, c // 2] += _sums_of_members(members, counts[:, c], random)
    return counts, sums


def _sums_of_members(members: np.ndarray, counts: np.ndarray, random) -> np.ndarray:
    """For each entry of `counts`, the sum of so many members drawn with replacement."""
    owner = np.repeat(np.arange(len(counts)), counts)
    drawn = members[random.integers(len(members), size=len(owner))]
    return np.bincount(owner, weights=drawn, minlength=len(counts))


def _classwise(probs, labels, bins: int, resamples: int, random) -> np.ndarray:
    """(resamples,) classwise ECE of resampled groups of samples."""
    probs, labels = validate.predictions(probs, labels)
    probs = probs.detach()
    n, classes = probs.shape
    groups = _groups(n)
    group = torch.from_numpy(random.permutation(n) % groups).to(probs.device)
    weights = random.multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    weights = torch.from_numpy(weights).double().to(probs.device)
    error = torch.zeros(resamples, dtype=torch.float64, device=probs.device)
    for k in range(classes):
        cell = group * bins + _bins.width_index(probs[:, k], bins)
        residual = probs[:, k].double() - (labels == k).double()
        sums = torch.bincount(cell, weights=residual, minlength=groups * bins)
        error += (weights @ sums.view(groups, bins)).abs().sum(-1)
    return (error / (n * classes)).cpu().numpy()


def _groups(n: int) -> int:
    """At most GROUPS groups of n samples, all but a few of the same size."""
    size = -(-n // GROUPS)  # rounded up
    return n // size
