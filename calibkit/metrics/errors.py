"""Binned calibration errors of the predicted class."""

from __future__ import annotations

import math
from collections.abc import Callable

from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.bins import Binning, Closed, Norm, weighted_gap
from calibkit.metrics.diagram import Reliability, diagram, reliability
from calibkit.metrics.top import Labels, Scored, Weights, kept, mean, top, weighed
from calibkit.validate import Array


def ece(
    probs: Scored,
    labels: Labels = None,
    *,
    bins: int = 15,
    norm: Norm = "l1",
    binning: Binning = "width",
    closed: Closed = "right",
    weights: Weights = None,
) -> float:
    """Expected calibration error of the predicted class.

        ECE = sum_b |B_b| / n * |conf(B_b) - acc(B_b)|

    with conf the mean confidence in the bin and acc the share of right predictions. `norm="l2"`
    is the square root of the weighted mean of squares, `norm="max"` the largest gap of a
    non-empty bin. Empty bins weigh nothing.

    probs: (n, K) probabilities of any float type; ties in the argmax go to the lowest class.
    labels: (n,) integers in [0, K). A `TopLabel` (confidences and hits alone) stands for both.
    bins: number of bins; binning: "width" or "mass"; closed: "right" for (lo, hi] or "left".
    weights: (n,) of the rows, 0 or more and not all 0; whole numbers give the value of rows that
        are repeated so often. None counts every row once.

    Returns a fraction in [0, 1], summed in float64. Raises ValueError for values outside [0, 1],
    NaN, rows that do not sum to 1, an empty input, lengths or devices that differ, and labels out
    of range; TypeError for wrong dtypes. Source: Naeini et al. (2015); Guo et al. (2017).

    >>> round(ece([[0.9, 0.1], [0.8, 0.2]], [0, 1], bins=1), 4)  # |0.85 - 0.5|
    0.35
    """
    counted = reliability(probs, labels, bins=bins, binning=binning, closed=closed, weights=weights)
    return counted.error(norm)


def ece_by_group(
    probs: Array,
    labels: Array,
    groups: Array | None = None,
    *,
    count: int | None = None,
    bins: int = 15,
    weights: Weights = None,
) -> list[float]:
    """The `ece` of each group of samples; NaN for a group without any.

    By default a group holds the images *of* a class (`groups=labels`). With the predicted classes
    as groups it holds those *predicted as* it, which are calibrated where the model is.

    probs (n, K), labels (n,); groups (n,) integers in [0, count), by default as many as classes;
    weights (n,) as in `ece`. Raises as `ece` does, and for groups out of range.

    >>> ece_by_group([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], [0, 0, 1], [0, 1, 1])
    [0.25, 0.375]
    """
    probs, labels = validate.predictions(probs, labels)
    count = probs.shape[1] if count is None else validate.integer("count", count, 1)
    groups = labels if groups is None else groups
    groups = validate.labels(
        groups, n=len(probs), classes=count, device=probs.device, name="groups"
    )
    rows, target, of_rows, checked = kept(weights, probs, labels, groups)
    members = ((of_rows == group).nonzero()[:, 0] for group in range(count))

    def of(member: Tensor) -> float:
        mine = None if checked is None else checked[member]
        return (
            ece(rows[member], target[member], bins=bins, weights=mine) if len(member) else math.nan
        )

    return [of(member) for member in members]


def mce(
    probs: Scored,
    labels: Labels = None,
    *,
    bins: int = 15,
    closed: Closed = "right",
    weights: Weights = None,
) -> float:
    """Maximum calibration error: the largest gap of a non-empty equal-width bin.

        MCE = max_b |conf(B_b) - acc(B_b)|

    A bin of one sample counts like a bin of thousands. Arguments, value and errors as in `ece`.
    Source: Naeini et al. (2015); Guo et al. (2017).

    >>> round(mce([[0.9, 0.1], [0.6, 0.4]], [0, 1], bins=10), 4)  # gaps 0.1 and 0.6
    0.6
    """
    return ece(probs, labels, bins=bins, norm="max", closed=closed, weights=weights)


def ada_ece(
    probs: Scored, labels: Labels = None, *, bins: int = 15, weights: Weights = None
) -> float:
    """Adaptive ECE: `ece` over bins that hold equally many samples.

    The sorted confidences are cut into `bins` runs, the first n mod bins of them longer by one,
    with the edge half-way between the neighbours of the cut. Equal confidences always share a bin,
    the lower one, so the row order does not matter. With n < bins every sample is a bin.

    Weights that are whole numbers are cut like the copies that they count; others at equal shares
    of their sum, with the row across a cut below it. Arguments, value and errors as in `ece`.
    Source: Nguyen & O'Connor (2015); Mukhoti et al. (2020), section 2.

    >>> probs = [[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.6, 0.4]]
    >>> round(ada_ece(probs, [0, 0, 0, 1], bins=2), 4)  # (|0.85 - 1| + |0.6 - 0.5|) / 2
    0.125
    """
    return ece(probs, labels, bins=bins, binning="mass", weights=weights)


def overconfidence_error(
    probs: Scored, labels: Labels = None, *, bins: int = 15, weights: Weights = None
) -> float:
    """Overconfidence error: gaps where confidence is above accuracy, weighted by confidence.

        OE = sum_b |B_b| / n * conf(B_b) * max(conf(B_b) - acc(B_b), 0)

    Arguments, bins, value and errors as in `ece`. Source: Thulasidasan et al. (2019).

    >>> round(overconfidence_error([[0.9, 0.1], [0.7, 0.3]], [0, 1], bins=1), 4)  # 0.8 * 0.3
    0.24
    """
    return float(_over_error(reliability(probs, labels, bins=bins, weights=weights)))


def signed_gap(probs: Scored, labels: Labels = None, *, weights: Weights = None) -> float:
    """Mean confidence minus accuracy: positive for an over-confident model.

    It needs no bins and has no bias, but cancels where one region is over- and another
    under-confident; |signed gap| <= ECE. Arguments and errors as in `ece`; value in [-1, 1].

    >>> round(signed_gap([[0.9, 0.1], [0.6, 0.4]], [0, 0]), 4)  # 0.75 - 1
    -0.25
    """
    confidence, correct, checked = weighed(probs, labels, weights)
    return mean(confidence.double() - correct.double(), checked)


def debiased_ece(
    probs: Scored, labels: Labels = None, *, bins: int = 15, binning: Binning = "mass"
) -> float:
    """Debiased L2 calibration error of the predicted class.

        sqrt(max(0, sum_b |B_b| / n * [(conf - acc)^2 - acc (1 - acc) / (|B_b| - 1)]))

    The second term removes what the sampling noise of acc adds to the squared gap, exactly where
    the confidences in a bin are equal. Only that square is free of bias: the cut at 0 and the root
    keep a calibrated model above 0, the less the more samples (notebooks/notes_on_measures.md has
    numbers). Bins of fewer than two samples weigh nothing. To be compared with `ece(...,
    norm="l2")`, not with the L1 ECE. It takes no weights: the noise is that of so many independent
    samples, and copies of them are none. Arguments, value and errors as in `ece`; the default bins
    hold equally many samples. Source: Kumar, Liang & Ma (2019).

    >>> probs = [[0.9, 0.1]] * 4  # (0.9 - 0.5)^2 - 0.25 / 3 = 0.0767
    >>> round(debiased_ece(probs, [0, 0, 1, 1], bins=1) ** 2, 4)
    0.0767
    """
    bins = _bins.check_options(bins, binning)
    return float(_debiased(diagram(*top(probs, labels), bins, binning, "right")))


def _error(counted: Reliability) -> Tensor:
    return weighted_gap(counted.gap, counted.share, "l1")


def _over_error(counted: Reliability) -> Tensor:
    return (counted.share * counted.confidence * counted.gap.clamp(min=0)).nansum(-1)


def _debiased(counted: Reliability) -> Tensor:
    square = counted.gap.square()
    noise = counted.accuracy * (1 - counted.accuracy) / (counted.counts - 1)
    noise = noise.where(counted.counts >= 2, square)
    return (counted.share * (square - noise)).nansum(-1).clamp(min=0).sqrt()


# The measures that need the bins alone; their last dimension, so that resamples may come before it.
FROM_BINS: dict[str, Callable[[Reliability], Tensor]] = {
    "ece": _error,
    "ada_ece": _error,
    "mce": lambda counted: weighted_gap(counted.gap, counted.share, "max"),
    "debiased_ece": _debiased,
    "overconfidence_error": _over_error,
    "signed_gap": lambda counted: (counted.share * counted.gap).nansum(-1),
    "accuracy": lambda counted: counted.hits.double().sum(-1) / counted.counts.sum(-1),
    "confidence": lambda counted: (counted.share * counted.confidence).nansum(-1),
}


def true_calibration_error(
    probs: Array,
    posterior: Array,
    *,
    bins: int = 15,
    norm: Norm = "l1",
    binning: Binning = "width",
    weights: Weights = None,
) -> float:
    """ECE against the known posterior instead of sampled labels.

        sum_b |B_b| / n * |conf(B_b) - mean over B_b of posterior(predicted class)|

    Given the inputs, a hit is a coin whose head has the posterior probability of the predicted
    class. With that probability in its place the coin's noise is gone: this is the exact binned
    error of the population formed by the given inputs, and 0 for probs == posterior. For the
    distribution they were drawn from it is still biased upwards at finite n. Like every binned
    error it is a lower bound of the error without bins; `debiased_ece` estimates its "l2" form.

    probs: (n, K) predicted probabilities.
    posterior: (n, K) true p(class | input) of the same inputs.
    bins, norm, binning, weights: as in `ece`.

    Raises as `ece` does, and ValueError if the shapes differ.

    >>> round(true_calibration_error([[0.9, 0.1]], [[0.7, 0.3]]), 4)
    0.2
    """
    bins = _bins.check_options(bins, binning, "right")
    probs = validate.probs(probs)
    posterior = validate.floating("posterior", posterior, ndim=2)
    validate.same_device("posterior", posterior, probs.device)
    posterior = validate.probs(posterior, "posterior")
    if posterior.shape != probs.shape:
        raise ValueError(
            f"posterior must have the shape of probs, {tuple(probs.shape)}, "
            f"got {tuple(posterior.shape)}"
        )
    confidence, best = probs.detach().max(dim=1)
    truth = posterior.detach().gather(1, best[:, None])[:, 0]
    each, truth, checked = kept(weights, confidence, truth)
    return diagram(each, truth, bins, binning, "right", checked).error(norm)
