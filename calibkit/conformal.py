"""Conformal sets of classes, and the exact coverage of sets where the posterior is known.

A score s(x, y) says how badly a class y fits an image x, such as 1 minus its probability; the set
of x holds every class whose score is at most a threshold. Here are the thresholds (split, by
group, weighted), the laws of the coverage that they give, and coverage without sampling. Ready-made
scores and sets are in MAPIE, which the tests compare with.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from scipy import stats
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.validate import Array

ROUNDING = 1e-9  # (n + 1) (1 - alpha) may lie a little above the whole number that it is


def conformal_quantile(scores: Array, alpha: float) -> float:
    """The k-th smallest calibration score, k = ceil((n + 1)(1 - alpha)); infinity where k > n.

    scores: (n,) finite, of the true class of each calibration image. A new image whose score is
    exchangeable with them has one at or below this threshold with probability >= 1 - alpha.
    Raises ValueError for scores that are none or not finite, and for alpha outside (0, 1).
    Source: Vovk, Gammerman & Shafer 2005; Angelopoulos & Bates 2021, section 1.

    >>> conformal_quantile([0.1, 0.2, 0.3, 0.4], 0.4)  # k = ceil(5 * .6) = 3
    0.3
    >>> conformal_quantile([0.1, 0.2, 0.3, 0.4], 0.1)  # k = 5: four scores cannot promise 90 %
    inf
    """
    values = _scores(scores)
    place = _place(len(values), _alpha(alpha))
    return values.sort().values[place - 1].item() if place <= len(values) else math.inf


def group_quantiles(
    scores: Array, groups: Array, alpha: float, *, count: int | None = None
) -> Tensor:
    """(G,) float64: the conformal quantile of each group's own scores ("Mondrian").

    scores: (n,) finite; groups: (n,) integers in [0, G), such as the scanner or the true class of
        each calibration image. count: G, by default the largest group + 1. A group without enough
        scores has infinity: its sets hold every class.

    The promise then holds in each group. Raises ValueError as `conformal_quantile` does, and for
    groups of another length or outside [0, G).
    Source: Vovk, Gammerman & Shafer 2005, chapter 4; Vovk 2012.

    >>> group_quantiles([0.25, 0.5, 0.75, 1.0], [0, 0, 0, 1], 0.4).tolist()
    [0.75, inf]
    """
    values, alpha = _scores(scores), _alpha(alpha)
    of = validate.as_tensor("groups", groups)
    count = int(of.max()) + 1 if count is None else validate.integer("count", count, 1)
    named = {"name": "groups", "of": "the scores"}
    of = validate.labels(of, n=len(values), classes=count, device=values.device, **named)
    own = (values[of == group] for group in range(count))
    found = [conformal_quantile(one, alpha) if len(one) else math.inf for one in own]
    return torch.tensor(found, dtype=torch.float64, device=values.device)


def weighted_quantiles(scores: Array, weights: Array, new_weights: Array, alpha: float) -> Tensor:
    """(m,) float64: the threshold of each new image, where new images differ from calibration ones.

    scores: (n,) finite; weights: (n,) density of each calibration image among the new ones over
        that among the calibration ones, up to a factor; new_weights: (m,) the same of the new
        images. The threshold is the least score t with

        sum of the weights of scores <= t  >=  (1 - alpha) (sum of all weights + own new weight),

    and infinity where no score reaches it. Equal weights give `conformal_quantile`. With the exact
    ratio the promise holds for the new images (covariate shift: p(y | x) stays). Raises ValueError
    as `conformal_quantile` does, for weights of another length, negative or not finite ones, and
    where all are 0. Source: Tibshirani, Barber, Candès & Ramdas 2019, corollary 1.

    >>> weighted_quantiles([0.25, 0.5, 0.75, 1.0], [1, 1, 1, 1], [1, 9], 0.4).tolist()
    [0.75, inf]
    """
    values, alpha = _scores(scores), _alpha(alpha)
    own = validate.weights(weights, n=len(values), device=values.device, of="the scores")
    new = validate.as_tensor("new_weights", new_weights, ndim=1).double().to(values.device)
    validate.finite("new_weights", new)
    if bool((new < 0).any()):
        raise ValueError(f"new_weights must be 0 or more, got {new.min().item():g}")
    ordered, order = values.sort()
    reached = own[order].cumsum(0)
    wanted = (1 - alpha) * (reached[-1] + new)
    at = torch.searchsorted(reached * (1 + ROUNDING), wanted)
    return torch.cat([ordered, ordered.new_full((1,), math.inf)])[at]


def exact_coverage(sets: Array, posterior: Array) -> Tensor:
    """(n,) float64: how probable it is that the set of each image holds its true class.

    The sum of the exact posterior over the classes of the set.

    sets: (n, K) bool; posterior: (n, K) exact p(class | image). Nothing is sampled. The mean over
    images of a group is the coverage in this group, if the group is chosen without the labels. That
    of the true class k is (sets * posterior).sum(0)[k] / posterior.sum(0)[k].
    Raises ValueError for another shape and a posterior that is none, TypeError for sets that are
    not bool.

    >>> exact_coverage([[True, True, False]], [[0.5, 0.25, 0.25]]).tolist()
    [0.75]
    """
    inside, exact = validate.as_tensor("sets", sets, ndim=2), validate.probs(posterior, "posterior")
    if inside.dtype != torch.bool:
        raise TypeError(f"sets must be bool, true where a class is in the set, got {inside.dtype}")
    validate.shape("sets", inside, tuple(exact.shape), "the posterior")
    return torch.where(inside, exact.double(), 0.0).sum(dim=1)


def coverage_at(scores: Array, posterior: Array, thresholds: Array) -> Tensor:
    """(m,) float64: the exact coverage, mean over images, of the sets at each of m thresholds.

    scores: (n, K) of every class of every image; posterior: (n, K). Equals the mean of
    `exact_coverage` of `scores <= t`, for many t at once.
    Raises ValueError as `exact_coverage` does, and for scores that are not finite.

    >>> coverage_at([[0.25, 0.75]], [[0.75, 0.25]], [0.0, 0.25, 1.0]).tolist()
    [0.0, 0.75, 1.0]
    """
    exact = validate.probs(posterior, "posterior").double()
    values = validate.finite("scores", validate.floating("scores", scores, ndim=2)).double()
    validate.shape("scores", values, tuple(exact.shape), "the posterior")
    levels = validate.as_tensor("thresholds", thresholds, ndim=1).double()
    ordered, order = values.flatten().sort()
    mass = torch.cat([exact.new_zeros(1), exact.flatten()[order].cumsum(0) / len(exact)])
    return mass[torch.searchsorted(ordered, levels, right=True)]


def smallest_sets(posterior: Array, level: float) -> Tensor:
    """(n, K) bool: for each image the fewest classes that hold it with probability >= level.

    posterior: (n, K) exact p(class | image). Without randomising, no sets keep the promise on every
    image and are smaller; nobody can compute them without the posterior. Of equal classes the first
    is taken.
    Raises ValueError for a posterior that is none and a level outside (0, 1).

    >>> smallest_sets([[0.5, 0.25, 0.25], [0.0, 0.95, 0.05]], 0.7).tolist()
    [[True, True, False], [False, True, False]]
    """
    exact = validate.probs(posterior, "posterior").double()
    level = 1 - _alpha(1 - validate.number("level", level, 0, 1, open_low=True, open_high=True))
    ordered, order = exact.sort(dim=1, descending=True, stable=True)
    before = ordered.cumsum(dim=1) - ordered  # what the classes before it hold
    return torch.zeros_like(exact, dtype=torch.bool).scatter(1, order, before < level - ROUNDING)


def coverage_law(n: int, alpha: float) -> Any:
    """The law of the coverage over calibration sets of n images: a frozen Beta of scipy.

    Beta(k, n + 1 - k) with k = ceil((n + 1)(1 - alpha)), for scores without ties: its mean is
    k / (n + 1) >= 1 - alpha. What is random is the calibration set; new images are infinitely many.
    Raises ValueError where k > n: each set then holds all classes, and covers always.
    Source: Vovk 2012; Angelopoulos & Bates 2021, section 3.2.

    >>> law = coverage_law(99, 0.1)  # k = 90
    >>> f"{law.mean():.3f} {law.std():.4f}"
    '0.900 0.0299'
    """
    return stats.beta(*_shapes(n, alpha))


def _shapes(n: int, alpha: float) -> tuple[int, int]:
    n, alpha = validate.integer("n", n, 1), _alpha(alpha)
    place = _place(n, alpha)
    if place > n:
        least = math.ceil(1 / alpha - 1 - ROUNDING)  # the fewest scores with a finite threshold
        raise ValueError(
            f"n must be at least {least} for alpha = {alpha:g}, got {n}: fewer scores promise "
            "nothing, and every set holds all classes"
        )
    return place, n + 1 - place


def _place(n: int, alpha: float) -> int:
    """Which of n sorted scores is the threshold, counted from 1; n + 1 stands for infinity."""
    return math.ceil((n + 1) * (1 - alpha) - ROUNDING)


def _alpha(alpha: float) -> float:
    return validate.number("alpha", alpha, 0, 1, open_low=True, open_high=True)


def _scores(scores: Array) -> Tensor:
    values = validate.finite("scores", validate.floating("scores", scores, ndim=1)).double()
    if not len(values):
        raise ValueError("scores must hold at least one score, got none")
    return values


torch_defaults.guard(globals(), moves=True)
