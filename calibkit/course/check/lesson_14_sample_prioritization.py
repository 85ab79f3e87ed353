"""Sample prioritization."""

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.cases import ORDINARY
from calibkit.course.check.engine import exercise

# fmt: off
CERTAIN = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.75, 0.125, 0.125],
    [0.25, 0.5, 0.25]])
OVER, BOTH, UNDER = ORDINARY
HUNDRED = torch.cat([ORDINARY[OVER][0], ORDINARY[OVER][0].flip(1).sqrt()])
HUNDRED = HUNDRED / HUNDRED.sum(dim=1, keepdim=True)
# Of two rows whose first entries are nearly the same, the smaller slip that is shared out has the
# higher entropy: a number that is added in the logarithm, such as 0.01, exchanges them.
SLIPS = torch.tensor([1e-9, 1.02e-9, 2e-8, 3e-10, 2.03e-8, 1e-10], dtype=torch.float64)
SHARES = torch.tensor([0.5, 0.001, 0.5, 0.2, 0.001, 0.3], dtype=torch.float64)
NEARLY = torch.stack([1 - SLIPS, SLIPS * SHARES, SLIPS * (1 - SHARES)], dim=1)
TOP_CASES = {
    f"{OVER}, a share of 0.1": (ORDINARY[OVER][0], 0.1),
    f"{BOTH}, a share of 0.3": (ORDINARY[BOTH][0], 0.3),
    f"{UNDER}, a share of 0.25, so 2 of 7": (ORDINARY[UNDER][0], 0.25),
    "5 rows with probabilities of exactly 0, a share of 0.4": (CERTAIN, 0.4),
    "7 rows, a share of 0.33, so 2": (ORDINARY[UNDER][0], 0.33),
    "the whole of 7 rows": (ORDINARY[UNDER][0], 1.0),
    "one row of 5": (CERTAIN, 0.2),
    "100 rows, a share of 0.29": (HUNDRED, 0.29),
    "100 rows, a share of 0.07": (HUNDRED, 0.07),
    "7 rows, a share of 0.05, so none": (ORDINARY[UNDER][0], 0.05),
    "rows that are nearly certain": (NEARLY, 0.5),
}

def _top(worth: Tensor, share: float) -> Tensor:
    """Indices, ascending, of the round(share * n) largest."""
    best = worth.argsort(descending=True, stable=True)[: round(share * len(worth))]
    return best.sort().values

def _with_nan(probs: Tensor) -> Tensor:
    return -(probs * probs.log()).sum(dim=1)

@exercise(cases=TOP_CASES, mistakes={
    "you took the rows of lowest entropy. Is the minus sign of the entropy missing?":
        lambda p, share: _top(-metrics.entropy(p), share),
    "the right rows, in the order of their entropy. Asked is the ascending order of the indices: sort them.":
        lambda p, share: metrics.entropy(p).argsort(descending=True)[: round(share * len(p))],
    "where a probability is 0, p log p is NaN in floating point, and NaN sorts as the largest number: you "
    "took certain rows. It should count as 0: torch.special.entr.":
        lambda p, share: _top(_with_nan(p), share),
    "you took the rows of least confidence. Entropy looks at all classes.":
        lambda p, share: _top(1 - p.amax(dim=1), share),
    "you took the smallest distance of the two largest probabilities. Entropy looks at all classes.":
        lambda p, share: _top(-(p.topk(2).values @ torch.tensor([1.0, -1.0])), share),
    "you cut share * n off: round it to the nearest whole number.": lambda p, share:
            metrics.entropy(p).argsort(descending=True, stable=True)[: int(share * len(p))].sort().values,
    "these are the entropies. Asked are the indices of the largest ones.":
        lambda p, share: metrics.entropy(p),
    "this is a mask, 1 for what is chosen and 0 for the rest. Asked are the indices of what is chosen: "
    "mask.nonzero()[:, 0].":
        lambda p, share: torch.zeros(len(p)).index_fill(0, _top(metrics.entropy(p), share), 1),
    "you took the first rows: sort by the entropy first.":
        lambda p, share: torch.arange(round(share * len(p))),
    "you left out as many rows as you were asked to take.":
        lambda p, share: _top(metrics.entropy(p), 1 - share),
    "you took 1 - sum of p^2 (Gini) or a variance. The entropy is -sum of p log p.":
        lambda p, share: _top(-p.square().sum(dim=1), share),
    "you took the largest term of each row. The entropy is the sum of -p log p.":
        lambda p, share: _top(torch.special.entr(p).amax(dim=1), share)})
def top_entropy(probs, share):
    """Indices, ascending, of the round(share * n) rows of probs (n, K) with the highest entropy."""
    return _top(metrics.entropy(probs), share)

def _cost(share: float, warmup: int, epochs: int, scoring: float) -> float:
    return (warmup + (epochs - warmup) * (share + scoring)) / epochs

@exercise(cases={
        f"a share of {share:g}, {warmup} of {epochs} epochs on all, scoring costs {scoring:.2f}":
            (share, warmup, epochs, scoring)
        for share, warmup, epochs, scoring in ((0.1, 10, 200, 1 / 3), (0.3, 10, 200, 1 / 3),
            (0.2, 2, 40, 0.25), (0.1, 10, 200, 0.0), (0.5, 0, 10, 0.5), (0.3, 12, 12, 1 / 3),
            (0.9, 1, 5, 0.4), (0.25, 1, 1, 0.3), (1.0, 3, 8, 0.5))}, mistakes={
    "the scoring is missing: to find the least sure images, all of them go through the network before each "
    "epoch that selects.": lambda share, warmup, epochs, scoring: _cost(share, warmup, epochs, 0.0),
    "the warm-up is missing: its epochs train on all images.":
        lambda share, warmup, epochs, scoring: _cost(share, 0, epochs, scoring),
    "this counts neither the warm-up nor the scoring.": lambda share, warmup, epochs, scoring: share,
    "you scored the chosen images only. All are scored, or one could not choose.":
        lambda share, warmup, epochs, scoring: _cost(share, warmup, epochs, share * scoring),
    "you scored during the warm-up too. There nothing is chosen.":
        lambda share, warmup, epochs, scoring: _cost(share, warmup, epochs, 0.0) + scoring,
    "this is what is saved. Asked is what it costs: 1 minus that.":
        lambda share, warmup, epochs, scoring: 1 - _cost(share, warmup, epochs, scoring),
    "this is the cost in epochs on all images. Divide it by `epochs`.":
        lambda share, warmup, epochs, scoring: epochs * _cost(share, warmup, epochs, scoring),
    "the warm-up's epochs come on top of all others. They are among `epochs`.":
        lambda share, warmup, epochs, scoring: (warmup + epochs * (share + scoring)) / epochs,
    "you scored during the warm-up, where nothing is chosen, and not afterwards.":
        lambda share, warmup, epochs, scoring: (warmup * (1 + scoring) + (epochs - warmup) * share) / epochs,
    "you scored once. All images are scored again before each later epoch.":
        lambda share, warmup, epochs, scoring: _cost(share, warmup, epochs, 0.0) + scoring / epochs,
    "you scored only the images that are not chosen. All of them are scored.":
        lambda share, warmup, epochs, scoring: _cost(share, warmup, epochs, (1 - share) * scoring),
    "the warm-up trains on all images, not on a share of them.": lambda share, warmup, epochs, scoring:
            (warmup * share + (epochs - warmup) * (share + scoring)) / epochs,
    "you divided by the later epochs. Divide by all of them.": lambda share, warmup, epochs, scoring:
            _cost(share, warmup, epochs, scoring) * epochs / (epochs - warmup)})
def selection_cost(share, warmup, epochs, scoring):
    """The cost of a training that selects, as a part of the cost of training on all images."""
    return _cost(share, warmup, epochs, scoring)
