"""Metrics of data that come batch by batch: what a batch gives is a value, and values add up."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit.metrics import bins as _bins
from calibkit.metrics.classwise import class_tally
from calibkit.metrics.diagram import Reliability, diagram
from calibkit.metrics.errors import FROM_BINS
from calibkit.metrics.scores import brier, nll
from calibkit.metrics.top import Labels, Scored, TopLabel, Weights, weighed

TOP = ("ece", "mce", "overconfidence_error", "signed_gap", "accuracy", "confidence")


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over the samples of a batch, or of several that were added; see `tally`.

    top: (4, bins) samples, hits, and sums of confidences and of squared weights, in each bin.
    classes: (3, bins, K) samples, samples of the class, and sums of its probability, in each bin
        of that probability. scores: (2,) sums of -log p(label) and of Brier scores.

    All are float64 sums of weights; without weights each sample has weight 1. Of a `TopLabel`,
    which has no classes, the last two are empty.
    """

    top: Tensor
    classes: Tensor
    scores: Tensor

    def __add__(self, other: Tally) -> Tally:
        """Both together. Raises ValueError for other bins or classes."""
        if self.top.shape != other.top.shape or self.classes.shape != other.classes.shape:
            mine, theirs = ((one.top.shape[1], one.classes.shape[2]) for one in (self, other))
            raise ValueError(
                f"tallies must have the same bins and classes, got {mine} and {theirs}; count all "
                "batches with the same bins and columns"
            )
        pairs = zip(self.sums(), other.sums(), strict=True)
        return Tally(*(mine + theirs for mine, theirs in pairs))

    def __radd__(self, other: int) -> Tally:
        """What `sum` begins with is 0."""
        return self if other == 0 else NotImplemented

    def sums(self) -> tuple[Tensor, Tensor, Tensor]:
        """The three tables, so that they can be stored, sent and added elsewhere."""
        return self.top, self.classes, self.scores

    @property
    def reliability(self) -> Reliability:
        """The reliability diagram; see `reliability`."""
        counts, hits, confidence, squares = self.top
        edges = _bins.width_edges(self.top.shape[1], self.top.device)
        if torch.equal(counts, squares):  # weights of 1
            return Reliability(edges, counts.long(), hits.long(), confidence / counts)
        return Reliability(edges, counts, hits, confidence / counts, squares)

    def measures(self) -> dict[str, float]:
        """Every measure that adds up, by the name of its function; NaN for no sample.

        Beside them `samples`, the sum of weights, and `confidence`, its weighted mean.
        """
        counted, total = self.reliability, self.top[0].sum()
        found = {"samples": float(total)}
        found |= {name: float(FROM_BINS[name](counted)) for name in TOP}
        if self.classes.numel():
            counts, hits, sums = self.classes
            found["classwise_ece"] = float((sums - hits).abs().sum() / counts.sum())
            found |= zip(("nll", "brier"), (self.scores / total).tolist(), strict=True)
        return found


def tally(
    probs: Scored, labels: Labels = None, *, bins: int = 15, weights: Weights = None
) -> Tally:
    """What a batch adds to every binned measure, to `nll`, `brier` and `accuracy`.

    `sum(tally(p, y) for p, y in batches).measures()` are the measures of all batches together, as
    of one call on all rows. Counts are exact, in any order, up to 2^53 samples (or whole weights);
    sums of probabilities are of float64, which rounds each addition by 1.1e-16 of the sum: 10,000
    batches in two orders agree to 1e-12. Bins are of equal width, for those of equal mass
    (`ada_ece`) belong to one sample, and so does `smooth_ece`.

    probs (n, K), labels (n,), weights (n,), bins: as in `ece`, the weights of one scale in all
    batches; a `TopLabel` has no classes, so that there is no "classwise_ece", "nll" or "brier". The
    NLL is infinite where a label was given probability 0. Raises as `ece` does.

    >>> batches = [([[0.9, 0.1]], [0]), ([[0.8, 0.2]], [1])]
    >>> whole = sum(tally(p, y, bins=1) for p, y in batches).measures()
    >>> whole["samples"], round(whole["ece"], 4)  # |0.85 - 0.5|
    (2.0, 0.35)
    """
    bins = _bins.check_options(bins)
    confidence, correct, checked = weighed(probs, labels, weights)
    counted = diagram(confidence, correct, bins, "width", "right", checked)
    squares = counted.counts if counted.squares is None else counted.squares
    sums = torch.nan_to_num(counted.confidence * counted.counts)
    top = torch.stack([part.double() for part in (counted.counts, counted.hits, sums, squares)])
    if isinstance(probs, TopLabel) or labels is None:
        return Tally(top, top.new_zeros(3, bins, 0), top.new_zeros(0))
    classes = torch.stack(class_tally(probs, labels, bins, weights))
    scores = [nll(probs, labels, weights=weights), brier(probs, labels, weights=weights)]
    return Tally(top, classes, top[0].sum() * top.new_tensor(scores))
