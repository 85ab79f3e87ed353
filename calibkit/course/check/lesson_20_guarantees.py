"""Guarantees."""

import math

import torch
from torch import Tensor

from calibkit import conformal
from calibkit.course.check.engine import exercise


# fmt: off
def _drawn(n: int, seed: int) -> Tensor:
    """Scores of true classes in [0, 1], most of them small."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, generator=generator, dtype=torch.float64) ** 2

THRESHOLDS = {
    "24 scores, alpha = 0.1": (_drawn(24, 0), 0.1),
    "57 scores, alpha = 0.25": (_drawn(57, 1), 0.25),
    "12 scores, alpha = 0.5": (_drawn(12, 2), 0.5),
    "9 scores, alpha = 0.1: the largest one": (_drawn(9, 3), 0.1),
    "8 scores, alpha = 0.1: too few": (_drawn(8, 4), 0.1),
    "1 score, alpha = 0.3: too few": (_drawn(1, 5), 0.3),
    "39 scores, alpha = 0.05": (_drawn(39, 6), 0.05),
    "40 scores of which many are equal, alpha = 0.2": (_drawn(40, 7).mul(4).round() / 4, 0.2),
    "1,000 scores, alpha = 0.01": (_drawn(1000, 8), 0.01),
}

def _at(scores: Tensor, place: int) -> Tensor | float:
    """The score at a place, counted from 1; at most the last."""
    return scores.sort().values[min(max(place, 1), len(scores)) - 1]

def _place(scores: Tensor, alpha: float) -> int:
    return math.ceil((len(scores) + 1) * (1 - alpha) - 1e-9)

def _threshold(scores: Tensor, alpha: float) -> float:
    found = conformal.conformal_quantile(scores, alpha)
    return found if math.isfinite(found) else 1.0

@exercise(cases=THRESHOLDS, mistakes={
    "you took n (1 - alpha), or rounded down. The new image is one more: take (n + 1)(1 - alpha), rounded "
    "up (math.ceil).": lambda s, a: _at(s, math.ceil(len(s) * (1 - a) - 1e-9)),
    "torch.quantile takes a point between two scores, and knows no n + 1. Sort the scores, and take the one "
    "at place k.": (lambda s, a: torch.quantile(s, 1 - a), lambda s, a: torch.quantile(s, 1 - a) if
            _place(s, a) <= len(s) else 1.0),
    "with too few scores (k > n) you return the largest one. It promises too little: return 1.":
        lambda s, a: _at(s, _place(s, a)),
    "you rounded to the nearest place. Round up (math.ceil).":
        lambda s, a: _at(s, round((len(s) + 1) * (1 - a))),
    "you are one place too far: the first score has the index 0, the k-th the index k - 1.":
        lambda s, a: _at(s, _place(s, a) + 1) if _place(s, a) <= len(s) else 1.0,
    "the scores are not sorted: sort them before you take the one at place k.":
        lambda s, a: s[min(_place(s, a), len(s)) - 1],
    "you took the place of alpha, not of 1 - alpha: most scores must lie below.":
        lambda s, a: _at(s, math.ceil((len(s) + 1) * a - 1e-9)),
    "you sorted from large to small. The k-th *smallest* score is asked.":
        lambda s, a: -_at(-s, _place(s, a)),
    "this is the probability at which the bars are cut, 1 minus the threshold.":
        lambda s, a: 1 - _threshold(s, a),
    "this is the place k. Return the score that stands there.": lambda s, a: _place(s, a),
    "the mean of the scores promises nothing: take the score at place k.": lambda s, a: s.mean()})
def conformal_threshold(scores, alpha):
    """The k-th smallest of scores (n,), k = (n + 1)(1 - alpha) rounded up; 1 where k > n."""
    return _threshold(scores, alpha)

def _sets(n: int, classes: int, seed: int, share: float = 0.4) -> tuple[Tensor, Tensor, Tensor]:
    """Sets of a reader who is too sure, the exact posterior, and a group of the images."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    noise = torch.randn(n, classes, generator=generator, dtype=torch.float64)
    group = torch.rand(n, generator=generator) < share
    group[0] = True
    return (2 * (logits + noise)).softmax(dim=1) > 0.15, logits.softmax(dim=1), group

def _special() -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    sets, posterior, group = _sets(8, 3, 5)
    every = torch.ones_like(group)
    return {
        "all images are in the group": (sets, posterior, every),
        "one image alone": (sets, posterior, torch.arange(8) == 3),
        "sets of all classes": (torch.ones_like(sets), posterior, group),
        "empty sets": (torch.zeros_like(sets), posterior, group),
        "as many images as classes": _sets(4, 4, 6, share=0.6),
    }

COVERAGES = {
    "30 images, 4 classes": _sets(30, 4, 0),
    "12 images, 3 classes": _sets(12, 3, 1),
    "200 images, 10 classes": _sets(200, 10, 2),
    "a small group": _sets(50, 5, 3, share=0.05),
} | _special()

def _mass(sets: Tensor, posterior: Tensor) -> Tensor:
    return (sets * posterior).sum(dim=1)

@exercise(cases=COVERAGES, slips={
    r"shape of the mask": "posterior[sets] is one long line of numbers, without rows. Multiply: (sets * "
            "posterior).sum(dim=1) has a number for each image, and [group] picks from those."}, mistakes={
    "this is the coverage over all images. Take those of the group alone.":
        lambda s, q, g: _mass(s, q).mean(),
    "you divided by the number of all images. Divide by that of the group.":
        lambda s, q, g: (_mass(s, q) * g).mean(),
    "this grows with the number of images: take the mean over the group.":
        lambda s, q, g: _mass(s, q)[g].sum(),
    "you took the images that are *not* in the group.":
        lambda s, q, g: _mass(s, q)[~g].mean() if bool((~g).any()) else torch.tensor(0.0),
    "you asked whether the most probable class is in the set. The right class is random: add the posterior "
    "of all classes in the set.":
        lambda s, q, g: s.gather(1, q.argmax(dim=1, keepdim=True))[:, 0][g].double().mean(),
    "this is the mean number of classes in a set.": lambda s, q, g: s.double().sum(dim=1)[g].mean(),
    "you averaged the sets alone. Weigh each class with its posterior.": lambda s, q, g: s[g].double().mean(),
    "you averaged over the classes too. Sum over the classes, then take the mean over the images.":
        lambda s, q, g: (s * q)[g].mean(),
    "this is the share that is *not* covered.": lambda s, q, g: 1 - _mass(s, q)[g].mean(),
    "you took the most probable class of the set alone. Sum over all classes in the set.":
        lambda s, q, g: (s * q).amax(dim=1)[g].mean(),
    "this is the share of images whose set holds 90 % or more. The mean of the probabilities is asked.":
        lambda s, q, g: (_mass(s, q)[g] >= 0.9).double().mean()})
def set_coverage(sets, posterior, group):
    """Mean exact probability, over the images of `group` (n,) bool, that the set holds the class.

    sets: (n, K) bool; posterior: (n, K). One number.
    """
    return conformal.exact_coverage(sets, posterior)[group].mean()

def _grouped(sizes: list[int], alpha: float, seed: int) -> tuple[Tensor, Tensor, float]:
    groups = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed))
    scores = _drawn(len(groups), seed) * (groups + 1) / len(sizes)
    return scores[order], groups[order], alpha

GROUPED = {
    "three groups, alpha = 0.1": _grouped([30, 24, 19], 0.1, 0),
    "two groups, alpha = 0.25": _grouped([14, 11], 0.25, 1),
    "four groups, alpha = 0.2": _grouped([40, 12, 25, 9], 0.2, 2),
    "one group of 8, alpha = 0.1: too few": _grouped([20, 8], 0.1, 3),
    "one group only": _grouped([23], 0.1, 4),
    "all groups too small": _grouped([3, 4, 2], 0.1, 5),
    "300 scores, ten groups": _grouped([30] * 10, 0.05, 6),
}

def _each(scores: Tensor, groups: Tensor, one) -> Tensor:
    count = int(groups.max()) + 1
    values = [one(scores[groups == group]) for group in range(count)]
    return torch.tensor([float(value) for value in values], dtype=torch.float64)

@exercise(cases=GROUPED, mistakes={
    "you gave every group the threshold of all scores. Each group has one of its own.":
        lambda s, g, a: _each(s, g, lambda own: _threshold(s, a)),
    "a group with too few scores (k > n) gets its largest one. Return 1 for it.":
        lambda s, g, a: _each(s, g, lambda own: _at(own, _place(own, a))),
    "you took n (1 - alpha) in each group. The new image is one more: n + 1.":
        lambda s, g, a: _each(s, g, lambda own: _at(own, math.ceil(len(own) * (1 - a) - 1e-9))),
    "torch.quantile takes a point between two scores. Use your function of exercise 1.":
        lambda s, g, a: _each(s, g, lambda own: torch.quantile(own, 1 - a)),
    "k is computed from the number of all scores. Take that of the group.":
        lambda s, g, a: _each(s, g, lambda own: _at(own, _place(s, a))),
    "you return a threshold for each image. One for each group is asked: (G,).":
        lambda s, g, a: _each(s, g, lambda own: _threshold(own, a))[g],
    "you divided alpha by the number of groups. Each new image is in one group: alpha stays.":
        lambda s, g, a: _each(s, g, lambda own: _threshold(own, a / (int(g.max()) + 1))),
    "you return the largest threshold alone. One for each group is asked: (G,).":
        lambda s, g, a: _each(s, g, lambda own: _threshold(own, a)).max(),
    "these are probabilities at which bars are cut, 1 minus the thresholds.":
        lambda s, g, a: 1 - _each(s, g, lambda own: _threshold(own, a)),
    "the mean of the scores promises nothing: take the score at place k of the group.":
        lambda s, g, a: _each(s, g, lambda own: own.mean()),
    "the thresholds are in the order of their size. Group 0 comes first, then group 1.":
        lambda s, g, a: _each(s, g, lambda own: _threshold(own, a)).sort().values})
def group_thresholds(scores, groups, alpha):
    """(G,) thresholds: of each group 0 ... G - 1 the k-th smallest of its scores; 1 where k > n."""
    found = conformal.group_quantiles(scores, groups, alpha)
    return torch.where(found.isfinite(), found, 1.0)
