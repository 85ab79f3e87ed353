"""Bins and ECE."""

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.cases import BINNED
from calibkit.course.check.engine import exercise
from calibkit.metrics.bins import width_edges


# fmt: off
def _inner(bins: int) -> Tensor:
    return width_edges(bins)[1:-1]

def _bin(confidence: Tensor, bins: int) -> Tensor:
    return torch.bucketize(confidence.double(), _inner(bins))

def _left_closed(confidence: Tensor, bins: int) -> Tensor:
    return torch.bucketize(confidence.double(), _inner(bins), right=True)

def _rounded_up(confidence: Tensor, bins: int) -> Tensor:
    return (confidence.double() * bins).ceil() - 1

# Exact in binary, then hundredths, which are not: there the rounding of c * 100 shows.
EDGES = torch.tensor([0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.8, 0.99, 1.0])
HUNDREDTHS = torch.arange(101, dtype=torch.float64) / 100
SEVENTHS = torch.arange(8, dtype=torch.float64) / 7
NEAR = torch.cat([SEVENTHS[:-1] + 1e-10, SEVENTHS, SEVENTHS[1:] - 1e-10])

@exercise(cases={
    "4 bins": (EDGES, 4),
    "2 bins": (EDGES, 2),
    "8 bins": (EDGES, 8),
    "hundredths in 100 bins": (HUNDREDTHS, 100),
    "confidences in no order, 4 bins": (EDGES.flip(0).roll(3), 4),
    "tenths stored in float32, in 10 bins": (torch.arange(11) / 10, 10),
    "numbers just above and just below the edges of 7 bins": (NEAR, 7),
    "a single bin": (EDGES, 1)}, mistakes={
    "your bins are closed on the left, and confidence 1.0 falls into an extra bin of its own, number "
    "`bins`. Bins are (lo, hi]: 0.5 belongs below the edge 0.5, 1.0 to the last bin.":
        lambda confidence, bins: (confidence.double() * bins).floor(),
    "your bins are closed on the left: [lo, hi). In (lo, hi] a confidence of exactly 0.5 belongs to the bin "
    "that ends at 0.5.": _left_closed,
    "your bins are closed on the left, and 1.0 got a bin of its own. In (lo, hi] a confidence of exactly "
    "0.5 belongs to the bin that ends at 0.5, and 1.0 to the last.":
        lambda c, bins: _left_closed(c, bins) + (c == 1).long(),
    "the side is right, the rounding is not: 0.07 * 100 is 7.000000000000001, so that 0.07 falls into bin 7 "
    "in place of 6. Compare with the edges themselves: torch.bucketize.":
        lambda c, bins: _rounded_up(c, bins).clamp(min=0),
    "you compared in float32. 0.2 stored in float32 lies a little above the edge 0.2; with edges in float32 "
    "nobody sees it. Compare in double precision: confidence.double().":
        lambda c, bins: torch.bucketize(c.float(), _inner(bins).float()),
    "the bins are counted from the top. Number 0 is the bin that begins at confidence 0.":
        lambda c, bins: bins - 1 - _bin(c, bins),
    "nearly; linspace does not place every edge on the number nearest to m / bins (with 100 bins it misses "
    "0.56). Divide: torch.arange(1, bins, dtype=torch.float64) / bins.":
        lambda c, bins: torch.bucketize(c.double(), torch.linspace(0, 1, bins + 1,
            dtype=torch.float64)[1:-1]),
    "you compared with the outer edges too, so every bin is one too high. Pass bucketize the inner edges "
    "only: [1:-1].": lambda c, bins: torch.bucketize(c.double(), width_edges(bins)),
    "confidence 0 got bin -1. It belongs to the first bin, number 0: clamp it.": _rounded_up,
    "you count bins from 1. Python counts from 0: the first bin is number 0.":
        lambda c, bins: _bin(c, bins) + 1,
    "you rounded to the nearest edge. A bin is an interval between two edges: find the one that contains "
    "the confidence.": lambda c, bins: (c.double() * bins).round()})
def bin_index(confidence, bins):
    """The number of the bin (lo, hi] of each confidence (n,), counted from 0: a tensor (n,)."""
    return _bin(confidence, bins)

def _gaps(probs: Tensor, labels: Tensor, bins: int) -> tuple[Tensor, Tensor]:
    counted = metrics.reliability(probs, labels, bins=bins)
    full = counted.counts > 0
    return counted.gap[full], counted.counts[full] / len(labels)

def _left_in_float32(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    """Bins [lo, hi) with edges in float32, on which tenths in float32 lie exactly."""
    confidence = probs.amax(dim=1).float()
    gap = confidence.double() - (probs.argmax(dim=1) == labels).double()
    index = torch.bucketize(confidence, _inner(bins).float(), right=True)
    return torch.bincount(index, weights=gap).abs().sum() / len(labels)

def _without_ones(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    """Bins [lo, hi) in which a confidence of 1 finds no place."""
    confidence = probs.amax(dim=1)
    kept = confidence < 1
    gap = confidence.double() - (probs.argmax(dim=1) == labels).double()
    sums = torch.bincount(_left_closed(confidence[kept], bins), weights=gap[kept])
    return sums.abs().sum() / len(labels)

def _added_once(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    gap = probs.amax(dim=1).double() - (probs.argmax(dim=1) == labels).double()
    sums = torch.zeros(bins, dtype=torch.float64)
    sums[_bin(probs.amax(dim=1), bins)] += gap  # of the samples of a bin the last one stays
    return sums.abs().sum() / len(labels)

def _equal_mass(probs: Tensor, labels: Tensor, bins: int) -> Tensor | float:
    gap = probs.amax(dim=1).double() - (probs.argmax(dim=1) == labels).double()
    ranked = gap[probs.amax(dim=1).argsort()]
    return sum(part.sum().abs() for part in ranked.tensor_split(bins)) / len(labels)

def _from_the_middle(probs: Tensor, labels: Tensor, bins: int) -> Tensor:
    counted = metrics.reliability(probs, labels, bins=bins)
    middle = (torch.arange(bins) + 0.5) / bins
    return ((middle - counted.accuracy).abs() * counted.counts).nansum() / len(labels)

def _ece_of(confidence: Tensor, right: Tensor, bins: int) -> Tensor:
    """The binned error of any confidence against any hits."""
    counted = metrics.reliability_of(confidence, right, bins=bins)
    return (counted.gap.abs() * counted.counts).nansum() / len(right)

@exercise(cases=BINNED, mistakes={
    "your bins are closed on the left. In (lo, hi] a confidence of exactly 0.5 belongs to the bin that ends "
    "at 0.5.": (lambda p, y, bins: metrics.ece(p, y, bins=bins, closed="left"), _left_in_float32),
    "samples with confidence 1.0 fell out of your last bin. Bins are (lo, hi]: 1.0 belongs to the last.":
        _without_ones,
    "`sums[index] += gap` adds once where a bin occurs in `index` several times. Add up with `torch.bincount`.":
        _added_once,
    "your bins hold the same number of samples each. Here they have equal width: edges 0, 1/bins, 2/bins, "
    "..., 1.": _equal_mass,
    "you took the middle of the bin for its confidence. Take the mean confidence of the samples in it.":
        _from_the_middle,
    "you counted the wrong ones: the accuracy is the share of right predictions (==).":
        lambda p, y, bins: _ece_of(p.amax(1), p.argmax(1) != y, bins),
    "you binned the probability of the true class. The confidence is that of the predicted class: the "
    "largest in the row.": lambda p, y, bins: _ece_of(p.gather(1, y[:, None])[:, 0], p.argmax(1) == y, bins),
    "you took absolute values sample by sample, without bins: average within each bin first.":
        lambda p, y, bins: (p.amax(1).double() - (p.argmax(1) == y).double()).abs().mean(),
    "this is the classwise-ECE. ECE looks at the predicted class only.":
        lambda p, y, bins: metrics.classwise_ece(p, y, bins=bins),
    "this is the ECE with bins of equal mass (AdaECE). Here they have equal width.":
        lambda p, y, bins: metrics.ada_ece(p, y, bins=bins),
    "you counted over-confident bins only: take the absolute value of each gap.":
        lambda p, y, bins: metrics.overconfidence_error(p, y, bins=bins),
    "you ignored the argument `bins` and took 15.": lambda p, y, bins: metrics.ece(p, y, bins=15),
    "you ignored the argument `bins` and took 10.": lambda p, y, bins: metrics.ece(p, y, bins=10),
    "this is in per cent. The course computes with fractions and prints per cent.":
        lambda p, y, bins: 100 * metrics.ece(p, y, bins=bins),
    "this grows with the number of samples: divide by n.":
        lambda p, y, bins: len(y) * metrics.ece(p, y, bins=bins),
    "every bin counts the same in yours. Weigh each gap by the share of samples in its bin, |B| / n.":
        lambda p, y, bins: _gaps(p, y, bins)[0].abs().mean(),
    "you divided by the number of bins. Weigh each gap by the share of samples in its bin, |B| / n.":
        lambda p, y, bins: _gaps(p, y, bins)[0].abs().sum() / bins,
    "gaps of opposite sign cancel. Take the absolute value inside each bin, before summing.":
        lambda p, y, bins: (_gaps(p, y, bins)[0] * _gaps(p, y, bins)[1]).sum(),
    "this is the gap of all samples together: ECE with a single bin.":
        lambda p, y, bins: abs(metrics.signed_gap(p, y)),
    "this is the largest gap (MCE). ECE is the weighted mean of the gaps.":
        lambda p, y, bins: metrics.mce(p, y, bins=bins),
    "you squared the gaps. ECE takes their absolute values.":
        lambda p, y, bins: metrics.ece(p, y, bins=bins, norm="l2")})
def ece(probs, labels, bins):
    """The expected calibration error with `bins` bins of equal width: one number."""
    return metrics.ece(probs, labels, bins=bins)
