"""The reliability diagram as numbers: per bin, how confident and how often right."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from scipy.special import ndtri
from torch import Tensor

from calibkit import validate
from calibkit.metrics import bins as _bins
from calibkit.metrics.bins import Binning, Closed, Norm
from calibkit.metrics.top import Labels, Scored, Weights, effective, weighed
from calibkit.validate import Numbers


@dataclass(frozen=True)
class Reliability:
    """Bins of confidence with their accuracy; see `reliability`.

    All tensors have length B, the number of bins, but `edges` with B + 1. Empty bins have
    confidence, accuracy, gap and interval NaN. Of weighted rows, `counts` and `hits` are sums of
    weights, and `squares` sums of their squares; otherwise it is None.
    """

    edges: Tensor
    counts: Tensor
    hits: Tensor
    confidence: Tensor
    squares: Tensor | None = None
    accuracy: Tensor = field(init=False)
    gap: Tensor = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "accuracy", self.hits.double() / self.counts)  # 0 / 0 is NaN
        object.__setattr__(self, "gap", self.confidence - self.accuracy)

    @property
    def share(self) -> Tensor:
        """Share of all samples in each bin, in float64; sums to 1."""
        return self.counts.double() / self.counts.sum(-1, keepdim=True)

    @property
    def effective(self) -> Tensor:
        """The samples in each bin: `counts`, or of weighted rows how many equal ones say as much.

        Source: Kish (1965): (sum of weights)^2 / sum of squared weights.
        """
        return self.counts if self.squares is None else effective(self.counts, self.squares)

    def interval(self, level: float = 0.95) -> tuple[Tensor, Tensor]:
        """Wilson interval of the accuracy of each bin; see `wilson_interval`.

        Of weighted rows it is that of `effective` samples, so that weights of 5 for all leave it.
        """
        if self.squares is None:
            return wilson_interval(self.hits, self.counts, level=level)
        samples, rate = self.effective, self.accuracy.clamp(0, 1).nan_to_num()
        low, high = wilson_interval(rate * samples, samples, level=level)
        return low, high

    def error(self, norm: Norm = "l1") -> float:
        """The calibration error of these bins; see `ece`."""
        validate.choice("norm", norm, _bins.NORMS)
        return float(_bins.weighted_gap(self.gap, self.share, norm))

    def __add__(self, other: Reliability) -> Reliability:
        """The bins of both samples together, so that batches can be added up, also by `sum`.

        Raises ValueError where the edges differ; those of equal mass belong to one sample.
        """
        if not torch.equal(self.edges, other.edges):
            raise ValueError("edges must be the same in both; count with binning='width'")
        counts = self.counts + other.counts
        mine, theirs = (r.confidence.nan_to_num() * r.counts for r in (self, other))
        hits, confidence = self.hits + other.hits, (mine + theirs) / counts
        if self.squares is None and other.squares is None:
            return Reliability(self.edges, counts, hits, confidence)
        # a row without a weight has weight 1, whose square is 1
        a, b = (r.counts if r.squares is None else r.squares for r in (self, other))
        return Reliability(self.edges, counts, hits, confidence, a + b)

    def __radd__(self, other: int) -> Reliability:
        """What `sum` begins with is 0."""
        return self if other == 0 else NotImplemented


def reliability(
    probs: Scored,
    labels: Labels = None,
    *,
    bins: int = 15,
    binning: Binning = "width",
    closed: Closed = "right",
    weights: Weights = None,
) -> Reliability:
    """Confidence and accuracy of the predicted class, bin by bin.

    probs: (n, K) probabilities; the confidence of a row is its largest entry, and ties go to the
        lowest class.
    labels: (n,) integers in [0, K). A `TopLabel` stands for both.
    bins: number of bins; binning: "width" for edges i / bins, "mass" for bins of (nearly)
        equally many samples, in which equal confidences share a bin.
    closed: "right" for bins (lo, hi], "left" for [lo, hi). Confidence 0 is in the first bin and
        1 in the last in either case.
    weights: (n,) of the rows, as in `ece`.

    Returns a `Reliability`; its `gap` is confidence minus accuracy, so positive where the model is
    over-confident, and NaN in an empty bin. Raises as `ece` does. Source: DeGroot & Fienberg
    (1983); Niculescu-Mizil & Caruana (2005).

    >>> probs = [[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [1.0, 0.0]]
    >>> r = reliability(probs, [0, 1, 0, 0], bins=2)
    >>> r.counts.tolist(), r.hits.tolist(), round(r.accuracy[1].item(), 2)
    ([0, 4], [0, 3], 0.75)
    """
    bins = _bins.check_options(bins, binning, closed)
    confidence, correct, checked = weighed(probs, labels, weights)
    return diagram(confidence, correct, bins, binning, closed, checked)


def diagram(
    confidence: Tensor,
    hits: Tensor,
    bins: int,
    binning: Binning,
    closed: Closed,
    weights: Tensor | None = None,
) -> Reliability:
    """`reliability` of checked confidences, hits and weights; a hit may be a probability."""
    confidence = confidence.double()
    edges = _bins.edges_of(confidence, bins, binning, weights)
    index = _bins.bin_index(confidence, edges, closed)
    if weights is not None:
        of_rows = weights, weights * hits.double(), weights * confidence, weights.square()
        total, right, sums, squares = (torch.bincount(index, part, bins) for part in of_rows)
        return Reliability(edges, total, right, sums / total, squares)
    counts = torch.bincount(index, minlength=bins)
    right = torch.bincount(index, hits.double(), bins)
    right = right.long() if hits.dtype == torch.bool else right
    return Reliability(edges, counts, right, torch.bincount(index, confidence, bins) / counts)


def wilson_interval(
    hits: Numbers, counts: Numbers, *, level: float = 0.95
) -> tuple[Tensor, Tensor]:
    """Wilson's interval for a proportion: lower and upper end, each shaped like `hits`.

    With p = hits / counts and z the (1 + level) / 2 quantile of the standard normal, the ends are

        (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4 n^2)) / (1 + z^2 / n).

    Unlike p -+ z sqrt(p (1 - p) / n) it stays inside [0, 1] and keeps its width at p = 0 and 1.
    NaN where counts is 0. Raises ValueError for hits outside [0, counts] or level outside (0, 1).
    Source: Wilson (1927), Journal of the American Statistical Association 22.

    >>> low, high = wilson_interval([0], [10])  # high = z^2 / (10 + z^2), z = 1.96
    >>> low.item(), round(high.item(), 4)
    (0.0, 0.2775)
    """
    level = validate.level(level)
    hits = validate.as_tensor("hits", hits).double()
    counts = validate.as_tensor("counts", counts).double()
    validate.same_device("counts", counts, hits.device, "the hits")
    validate.finite("hits", hits)
    validate.finite("counts", counts)
    if hits.shape != counts.shape:
        raise ValueError(
            f"counts must have the shape of hits, {tuple(hits.shape)}, got {tuple(counts.shape)}"
        )
    bad = (hits < 0) | (hits > counts)
    if bool(bad.any()):
        h, c = hits[bad][0].item(), counts[bad][0].item()
        raise ValueError(f"hits must lie in [0, counts], got {h:g} hits of {c:g}")
    z = float(ndtri((1 + level) / 2))
    p = hits / counts
    middle = p + z * z / (2 * counts)
    half = z * (p * (1 - p) / counts + (z / (2 * counts)) ** 2).sqrt()
    scale = 1 + z * z / counts
    low, high = (middle - half) / scale, (middle + half) / scale
    # at p = 0 and p = 1 one end is exact; x - x is 0 but stays NaN where counts is 0
    return torch.where(hits == 0, low - low, low), torch.where(p == 1, high - high + 1, high)
