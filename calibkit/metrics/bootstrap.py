"""Bootstrap intervals from per-bin statistics, without touching the samples again."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from numpy.random import Generator
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics import resampling
from calibkit.metrics.bins import Binning
from calibkit.metrics.classwise import classwise_ece
from calibkit.metrics.diagram import Reliability, diagram
from calibkit.metrics.errors import FROM_BINS
from calibkit.metrics.resampling import Groups, Method
from calibkit.metrics.top import Labels, Scored, TopLabel, classes_of, weighed
from calibkit.metrics.weighting import Weights

MetricOf = Literal["ece", "mce", "ada_ece", "overconfidence_error", "signed_gap", "accuracy"]
Metric = Literal[MetricOf, "classwise_ece"]


def bootstrap_interval(
    probs: Scored,
    labels: Labels = None,
    *,
    metric: Metric = "ece",
    bins: int = 15,
    level: float = 0.9,
    resamples: int = 1000,
    seed: int = 0,
    method: Method = "reflected",
    weights: Weights = None,
) -> tuple[float, float]:
    """Bootstrap interval of a metric: what resampling the samples would give.

    The metric depends on the drawn samples only through three numbers per bin, so those are drawn:

    - how many samples of each cell, a (bin, right or wrong) pair: one multinomial draw, exact;
    - the sum of their confidences: by drawing members of the cell where it has at most 16, exact,
      and above that from a normal of the cell's mean and variance.

    The bins of "ada_ece" stay those of the full sample, so its interval is that of the adaptive
    bins once chosen. "classwise_ece" depends on K bins per sample, which are not independent:
    there samples are resampled by multinomial weights, above n = 4096 in up to 4096 random groups.
    So are weighted samples, for every metric: each is as likely to be drawn as another, and brings
    its weight along. Weights of 2 for all therefore leave an interval as wide as it is.

    probs: (n, K) probabilities; labels: (n,) integers in [0, K). A `TopLabel` stands for both,
        but for "classwise_ece", which needs all classes.
    metric: "ece", "mce", "ada_ece", "classwise_ece", "overconfidence_error", "signed_gap" or
        "accuracy".
    bins: number of bins; level: coverage aimed at, in (0, 1).
    resamples: number of resamples; seed: integer seed of the draws.
    weights: (n,) of the rows, as in `ece`.
    method: "percentile" for the (1 - level) / 2 and (1 + level) / 2 quantiles [l, h] of the
        resamples; "reflected" for [2 v - h, 2 v - l] about the value v of the sample.

    ECE is biased upwards in a sample and the more so in a resample, and reflection takes that bias
    off again, so it is the default; near 0 neither method is to be trusted, and `calibration_test`
    is the tool there. How often they cover: notebooks/notes_on_measures.md. A reflected end may lie
    below 0. Returns (low, high). Raises as `ece` does. Source: Efron (1979); Efron & Tibshirani
    (1993); Davison & Hinkley (1997), section 5.2, for the reflected form, there called basic.

    >>> bootstrap_interval([[0.875, 0.125]] * 50, [0] * 50)  # always right, at 0.875
    (0.125, 0.125)
    """
    alone = isinstance(probs, TopLabel)
    validate.choice("metric", metric, get_args(MetricOf if alone else Metric))
    method, bins, level, resamples, random = resampling.options(
        method, bins, level, resamples, seed
    )
    values, here = resampled(probs, labels, metric, bins, resamples, random, weights)
    return resampling.bounds(values.cpu().numpy(), here, level, method)


def resampled(
    probs: Scored,
    labels: Labels,
    metric: str,
    bins: int,
    resamples: int,
    random: Generator,
    weights: Weights = None,
) -> tuple[Tensor, float]:
    """(resamples,) values of a metric, and that of the sample itself."""
    if metric == "classwise_ece":
        probs, labels, checked = classes_of(probs, labels, weights)  # type: ignore[arg-type]
        values = _classwise(probs.detach(), labels, bins, resamples, random, checked)
        return values, classwise_ece(probs, labels, bins=bins, weights=checked)
    confidence, correct, checked = weighed(probs, labels, weights)
    binning: Binning = "mass" if metric == "ada_ece" else "width"
    whole = diagram(confidence, correct, bins, binning, "right", checked)
    value = FROM_BINS[metric]
    if checked is not None:
        groups = Groups(len(correct), resamples, random, correct.device, of_rows=checked)
        index, one = _bins.bin_index(confidence, whole.edges), torch.ones_like(checked)
        parts = one, correct.double(), confidence.double()
        counts, hits, sums = (groups.sums(part, index, bins) for part in parts)
        return value(Reliability(whole.edges, counts, hits, sums / counts)), float(value(whole))
    # a bin's wrong ones and its right ones are two cells
    cell = 2 * _bins.bin_index(confidence, whole.edges) + correct
    cells, sums = resampling.draw_cells(confidence, cell, 2 * bins, resamples, random)
    counts, hits = cells[:, ::2] + cells[:, 1::2], cells[:, 1::2]
    return value(Reliability(whole.edges, counts, hits, sums / counts)), float(value(whole))


def _classwise(
    probs: Tensor,
    labels: Tensor,
    bins: int,
    resamples: int,
    random: Generator,
    weights: Tensor | None,
) -> Tensor:
    """(resamples,) classwise ECE of resampled groups of samples."""
    n, classes = probs.shape
    groups = Groups(n, resamples, random, probs.device, of_rows=weights)
    edges = _bins.width_edges(bins, probs.device)
    error = torch.zeros(resamples, dtype=torch.float64, device=probs.device)
    for k in range(classes):
        residual = probs[:, k].double() - (labels == k).double()
        error += groups.sums(residual, _bins.bin_index(probs[:, k], edges), bins).abs().sum(-1)
    return error / ((n if weights is None else groups.drawn) * classes)
