"""Bootstrap intervals, of one model and of the difference of two, by drawing samples again."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.bins import Binning
from calibkit.metrics.classwise import classwise_ece
from calibkit.metrics.diagram import Reliability, diagram
from calibkit.metrics.errors import FROM_BINS
from calibkit.metrics.scores import each_brier
from calibkit.metrics.top import (
    Labels,
    Scored,
    TopLabel,
    Weights,
    classes_of,
    kept,
    of_label,
    rows_of,
    top,
    weighed,
)

SMALL = 16  # a cell of at most so many samples is resampled one by one
GROUPS = 4096  # at most so many units are resampled
Method = Literal["reflected", "percentile"]
MetricOf = Literal["ece", "mce", "ada_ece", "overconfidence_error", "signed_gap", "accuracy"]
Metric = Literal[MetricOf, "classwise_ece"]
Score = Literal["ece", "nll", "brier", "accuracy"]


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
    method, bins, level, resamples, random = _options(method, bins, level, resamples, seed)
    values, here = resampled(probs, labels, metric, bins, resamples, random, weights)
    return _bounds(values.cpu().numpy(), here, level, method)


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
    cells, sums = draw_cells(confidence, cell, 2 * bins, resamples, random)
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
    method, bins, level, resamples, random = _options(method, bins, level, resamples, seed)
    first, second, target = _checked(probs_a, probs_b, labels)
    first, second, target, checked = _weighed(first, second, target, weights)
    a, b = (_per_sample(metric, probs, target, bins) for probs in (first, second))
    device = a[0].device
    groups = Groups(len(a[0]), resamples + 1, random, device, with_sample=True, of_rows=checked)
    values = (_totals(*a, groups, bins) - _totals(*b, groups, bins)).cpu().numpy()
    return _bounds(values[1:], float(values[0]), level, method)


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
        return each_brier(*rows_of(probs, labels)[:2]), None
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


# --- drawing ---


def _options(
    method: Method, bins: int, level: float, resamples: int, seed: int
) -> tuple[Method, int, float, int, Generator]:
    """The options of an interval, checked; the seed as a generator."""
    return (
        validate.choice("method", method, get_args(Method)),
        _bins.check_options(bins),
        validate.level(level),
        validate.integer("resamples", resamples, 1),
        np.random.default_rng(validate.integer("seed", seed, 0)),
    )


def _bounds(values: np.ndarray, here: float, level: float, method: Method) -> tuple[float, float]:
    """The interval of either method from resampled values and the sample's own, `here`."""
    low, high = (float(x) for x in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    return (low, high) if method == "percentile" else (2 * here - high, 2 * here - low)


class Groups:
    """Random groups of samples that are resampled as units: the samples up to n = 4096.

    with_sample: whether the first of the resamples is the sample itself.
    of_rows: (n,) weights of the samples, which each brings along when it is drawn.
    """

    def __init__(
        self,
        n: int,
        resamples: int,
        random: Generator,
        device="cpu",
        *,
        with_sample: bool = False,
        of_rows: Tensor | None = None,
    ):
        self.of_rows = of_rows
        self.groups = n // -(-n // GROUPS)  # -(-a // b) rounds up: all but a few of equal size
        self.of = torch.from_numpy(random.permutation(n) % self.groups).to(device)
        drawn = random.multinomial(self.groups, np.full(self.groups, 1 / self.groups), resamples)
        self.weights = torch.from_numpy(drawn).double().to(device)  # how often each is drawn
        if with_sample:
            self.weights[0] = 1
        self.drawn = self.weights @ torch.bincount(self.of, of_rows, self.groups).double()

    def sums(self, values: Tensor, index: Tensor, bins: int) -> Tensor:
        """(resamples, bins) sums of the (n,) values by the bin of each."""
        values = values if self.of_rows is None else values * self.of_rows
        table = torch.bincount(self.of * bins + index, values, self.groups * bins)
        return self.weights @ table.view(self.groups, bins)

    def means(self, values: Tensor) -> Tensor:
        """(resamples,) means of the (n,) values."""
        return self.sums(values, torch.zeros_like(self.of), 1)[:, 0] / self.drawn


def draw_cells(
    values: Tensor, cell: Tensor, cells: int, resamples: int, random: Generator
) -> tuple[Tensor, Tensor]:
    """What samples drawn with replacement bring to an even number of cells, two cells a bin.

    values, cell: (n,) the value of each sample and the cell that it lies in.

    Returns (resamples, cells) counts, one multinomial draw and so exact, and (resamples, cells / 2)
    sums of the values in each bin. Members of a cell of at most 16 are drawn one by one, which is
    exact; the sums of larger ones come from normals of the cell's mean and variance, and those of
    two cells add up to a normal.
    """
    values = values.double()
    size, first, second = (
        torch.bincount(cell, values**power, cells).cpu().numpy() for power in (0, 1, 2)
    )
    mean = first / np.maximum(size, 1)
    variance = np.maximum(second / np.maximum(size, 1) - mean * mean, 0)
    size = size.astype(int)
    counts = np.zeros((resamples, cells), dtype=np.int64)
    filled = size > 0
    share = size[filled] / size.sum()
    counts[:, filled] = random.multinomial(size.sum(), share, size=resamples)
    exact = (size > 1) & (size <= SMALL)
    of_bin = np.repeat(np.eye(cells // 2), 2, axis=0) * ~exact[:, None]
    weight = counts.astype(float)
    sums, squares = (weight @ (moment[:, None] * of_bin) for moment in (mean, variance))
    sums += np.sqrt(squares) * random.standard_normal(sums.shape)
    for c in np.flatnonzero(exact):
        members = values[cell == c].cpu().numpy()
        owner = np.repeat(np.arange(resamples), counts[:, c])
        drawn = members[random.integers(len(members), size=len(owner))]
        sums[:, c // 2] += np.bincount(owner, weights=drawn, minlength=resamples)
    return torch.from_numpy(counts), torch.from_numpy(sums)
