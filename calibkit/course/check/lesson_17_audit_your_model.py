"""Auditing a model: groups."""

from collections.abc import Callable

import torch
from torch import Tensor

from calibkit.course.check.engine import exercise


# fmt: off
def _confidences(n: int, groups: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Confidences, hits whose chance is lower in some groups, and the groups, none empty."""
    generator = torch.Generator().manual_seed(seed)
    confidence = 0.3 + 0.69 * torch.rand(n, generator=generator, dtype=torch.float64)
    which = torch.arange(n) % groups
    which = which[torch.randperm(n, generator=generator)]
    chance = confidence - 0.15 * (which % 3)
    return confidence, torch.rand(n, generator=generator) < chance, which

GROUPED = {
    "40 predictions in 3 groups": _confidences(40, 3, 0),
    "60 predictions in 2 groups": _confidences(60, 2, 1),
    "50 predictions in 5 groups": _confidences(50, 5, 2),
    "one group only": _confidences(12, 1, 3),
    "a group of one prediction": (torch.tensor([0.75, 0.5, 0.9, 0.6], dtype=torch.float64),
            torch.tensor([True, False, True, True]), torch.tensor([0, 0, 0, 1])),
    "groups of 1, 4 and 30 predictions":
        (*_confidences(35, 2, 4)[:2], torch.tensor([2, 1, 2, 2, 0, 1, 1, 2, 1] + [2] * 26)),
    "groups of very sure predictions":
        (torch.tensor([0.999, 0.998, 0.9995, 0.99, 0.9999, 0.96], dtype=torch.float64),
            torch.tensor([True, False, True, True, True, True]), torch.tensor([1, 0, 1, 0, 1, 0])),
    "all predictions wrong": (torch.tensor([0.5, 0.75, 0.6, 0.8], dtype=torch.float64),
            torch.zeros(4, dtype=torch.bool), torch.tensor([0, 1, 1, 0])),
}

def _by_group(c: Tensor, h: Tensor, g: Tensor, of_group: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    c, h = c.double(), h.double()
    count = int(g.max()) + 1
    return torch.stack([of_group(c[g == k], h[g == k]) for k in range(count)])

def _z(c: Tensor, h: Tensor) -> Tensor:
    return (c - h).sum() / (c * (1 - c)).sum().sqrt()

def _added_once(c: Tensor, h: Tensor, g: Tensor) -> Tensor:
    off, variance = torch.zeros(2, int(g.max()) + 1, dtype=torch.float64)
    off[g] += c - h.double()  # of the samples of a group the last one stays
    variance[g] += c * (1 - c)
    return off / variance.sqrt()

def _spread(off: Tensor, free: int) -> Tensor:
    """The standard deviation as torch has it, without its warning; free: 1 to divide by n - 1."""
    square = (off - off.mean()).square().sum()
    return torch.sqrt(square / torch.tensor(len(off) - free, dtype=off.dtype))

@exercise(cases=GROUPED, slips={
    r"bool tensor":
        "`correct` holds True and False, which cannot be subtracted. Turn it into numbers first: "
            "`correct.double()`."}, mistakes={
    "`sums[groups] += x` adds once where a group occurs in `groups` several times. Add up with `torch.bincount`.":
        _added_once,
    "this is the signed gap of each group. Divide the sum of confidence - hit by its standard deviation.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).mean()),
    "this is the sum of confidence - hit. Divide it by its standard deviation.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum()),
    "the sign is reversed: over-confident groups belong above 0. Take confidence - hit.":
        lambda c, h, g: -_by_group(c, h, g, _z),
    "you divided by the root of the number of samples too. The sum of the variances grows with that number "
    "already.": lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum() / (c * (1 - c)).sum().sqrt()
            / len(c) ** 0.5),
    "the mean stands above, the standard deviation of the sum below. Take both of the sum.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).mean() / (c * (1 - c)).sum().sqrt()),
    "you took the standard deviation that the differences happen to have (std, a t test). If the "
    "confidences are right, the variance of a hit is known: c (1 - c). Add those up, and take the root.":
        [lambda c, h, g, free=free, root=root: _by_group(c, h, g, lambda c, h: (c - h).mean()
            / _spread(c - h, free) * len(c) ** root) for free in (1, 0) for root in (0.5, 0.0, -0.5, 1.0)],
    "you divided by the variance. Take its square root.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum() / (c * (1 - c)).sum()),
    "you added up standard deviations. Variances add up: take the root of their sum.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum() / (c * (1 - c)).sqrt().sum()),
    "you divided by the root of the summed confidences. The variance of a hit is c (1 - c): add those up.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum() / c.sum().sqrt()),
    "you added up a z of each sample. Add up above and below first, then divide.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: ((c - h) / (c * (1 - c)).sqrt()).sum()),
    "this is one z of all predictions. Return one for each group.":
        lambda c, h, g: _z(c.double(), h.double()),
    "you took the absolute value. Keep the sign: it tells over- from under-confident.":
        lambda c, h, g: _by_group(c, h, g, _z).abs(),
    "every group has the z of all predictions. Take the predictions of the group alone.":
        lambda c, h, g: _by_group(c, h, g, lambda *_: _z(c.double(), h.double())),
    "you took the variance from the hits. Under the claim that is tested, a hit has the chance c, so its "
    "variance is c (1 - c).": lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum()
            / (len(c) * h.mean() * (1 - h.mean())).sqrt()),
    "this is the p-value of z. Asked is z itself.":
        lambda c, h, g: 2 * torch.special.ndtr(-_by_group(c, h, g, _z).abs()),
    "you took 1/4 for every variance. A hit of chance c has the variance c (1 - c).":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: 2 * (c - h).sum() / len(c) ** 0.5),
    "you took the variance of the mean confidence. Sum the c (1 - c) of the hits.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).sum()
            / (len(c) * c.mean() * (1 - c.mean())).sqrt()),
    "you took absolute values of c - h. The differences are added up with their signs.":
        lambda c, h, g: _by_group(c, h, g, lambda c, h: (c - h).abs().sum() / (c * (1 - c)).sum().sqrt())})
def group_z(confidence, correct, groups):
    """The z of each group, (G,): the sum of confidence - hit over its standard deviation."""
    return _by_group(confidence, correct, groups, _z)
