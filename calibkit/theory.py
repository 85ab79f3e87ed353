"""Closed forms behind the lessons: focal loss, soft targets and the confidence penalty.

Arguments are numbers, arrays or tensors that broadcast against each other; numbers give a float
back. Everything is computed in float64. Logarithms are natural.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy import optimize, special
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.validate import BELOW_HALF, NOT_NEGATIVE, PART, POSITIVE, UNIT, Array, Numbers

HALVINGS = 80  # of an interval of length about 1, which leaves less than a float64 can tell


# --- focal loss: the gradient ----------------------------------------------------------------


def gradient_ratio(p: Numbers, gamma: Numbers):
    """g(p, gamma): the focal gradient of the last layer as a multiple of cross-entropy's.

    g = (1 - p)^gamma - gamma p (1 - p)^(gamma - 1) log p for p in [0, 1] and gamma >= 0, with its
    limits at both ends. Raises ValueError or TypeError naming the argument.
    Source: Mukhoti et al. 2020, proposition 1.

    >>> gradient_ratio(0.5, 1.0) == 0.5 + 0.5 * math.log(2)
    True
    """
    (p, gamma), plain = validate.numbers(p=(p, UNIT), gamma=(gamma, NOT_NEGATIVE))
    return _out(_ratio(p, gamma), plain)


def _ratio(p: Tensor, gamma: Tensor) -> Tensor:
    miss = 1 - p
    slope = torch.where(miss > 0, -torch.xlogy(p, p) / miss, 1.0)  # p log p / (p - 1), 1 at p = 1
    return miss**gamma * (1 + gamma * slope)


def gradient_threshold(gamma: Numbers):
    """The p in (0, 1/2) where g(p, gamma) = 1: below it focal gradients are larger, above smaller.

    gamma > 0. The inverse of `gamma_star`, found by bracketing. Raises ValueError or TypeError
    naming the argument. Source: Mukhoti et al. 2020, figure 3 (a).

    >>> round(gradient_threshold(1.0), 6)  # g = 1 - p - p log p = 1 at p = 1/e
    0.367879
    """
    (gamma,), plain = validate.numbers(gamma=(gamma, POSITIVE))
    roots = [_threshold(value) for value in gamma.flatten().tolist()]
    return _out(gamma.new_tensor(roots).reshape(gamma.shape), plain)


def _threshold(gamma: float) -> float:
    def log_ratio(p):
        return gamma * math.log1p(-p) + math.log1p(-gamma * p * math.log(p) / (1 - p))

    # at 1/2 this is log1p(x) - x <= 0 with x = gamma log 2, at the low end it is positive
    return optimize.brentq(log_ratio, min(0.1, 1 / gamma), 0.5, xtol=1e-300, rtol=1e-15)


def gamma_star(p0: Numbers):
    """The gamma for which g(p0, gamma) = 1; from it on, g(p, gamma) <= 1 at every p >= p0.

    p0 in (0, 1/2); from 1/2 on every gamma > 0 will do. With s = -p0 log(p0) / (1 - p0) and r =
    -log(1 - p0) / s the equation reads log(1 + x) = r x for x = gamma s, so that 1 + x = -W(-r
    exp(-r)) / r on branch -1 of Lambert's W. Raises ValueError or TypeError naming the argument.
    Source: Mukhoti et al. 2020, proposition 2, whose formula this is in fewer symbols.

    >>> round(gamma_star(0.2), 4), round(gamma_star(0.25), 4)
    (4.8506, 3.0702)
    """
    (p0,), plain = validate.numbers(p0=(p0, BELOW_HALF))
    p = p0.numpy(force=True)
    slope = -special.xlogy(p, p) / (1 - p)
    r = -np.log1p(-p) / slope
    x = -special.lambertw(-r * np.exp(-r), -1).real / r - 1
    # towards p0 = 1/2 W nears its branch point and loses half its digits, or all: Newton's method
    # restores them
    x = np.maximum(np.nan_to_num(x), 1e-15)
    for _ in range(2):
        mean = np.log1p(x) / x
        x = x - (mean - r) * x / (1 / (1 + x) - mean)
    return _out(p0.new_tensor(x / slope), plain)


# --- focal loss: where its risk is least ------------------------------------------------------


def focal_minimiser(q: Numbers, gamma: Numbers):
    """The p of the least expected focal loss where the label is 1 with probability q.

    Closer to 1/2 than q for gamma > 0. Root of q g(p) / p = (1 - q) g(1 - p) / (1 - p) with g =
    `gradient_ratio`, by halving, to the last digit. q in [0, 1], gamma >= 0. Raises ValueError or
    TypeError naming the argument.
    Source: Mukhoti et al. 2020, figure B.1.

    >>> focal_minimiser(0.5, 3.0), focal_minimiser(0.25, 0.0)
    (0.5, 0.25)
    """
    (q, gamma), plain = validate.numbers(q=(q, UNIT), gamma=(gamma, NOT_NEGATIVE))

    def falls(p):
        return q * (1 - p) * _ratio(p, gamma) > (1 - q) * p * _ratio(1 - p, gamma)

    return _out(_halve(falls, torch.ones_like(q)), plain)


def focal_minimiser_multiclass(q: Array, gamma: Numbers) -> Tensor:
    """The (..., K) distribution p of the least -sum_k q_k (1 - p_k)^gamma log p_k.

    All classes share one value c = q_k g(p_k) / p_k; c and the p_k are found by nested halving. `q`
    (..., K) with rows that sum to 1, gamma >= 0. Always a tensor. Raises ValueError or TypeError
    naming the argument. Source: Mukhoti et al. 2020, figure B.1, for K classes.

    >>> focal_minimiser_multiclass([0.2, 0.3, 0.5], 0.0)
    tensor([0.2000, 0.3000, 0.5000], dtype=torch.float64)
    """
    (q,), gamma = validate.distributions(gamma, q=q)
    # g <= 1 + gamma, so at c = 1 + gamma the p_k sum to at most 1
    return _one_value(lambda p: q * _ratio(p, gamma), q, 1 + gamma)


def focal_posterior(p: Array, gamma: Numbers) -> Tensor:
    """The class distribution q that a focal minimiser p stands for: q_k ~ p_k / g(p_k, gamma).

    The inverse of `focal_minimiser_multiclass`: it turns the output of a network that is optimal
    for the focal loss back into probabilities. `p` (..., K) with rows that sum to 1, gamma >= 0.
    Always a tensor. Raises ValueError or TypeError naming the argument.
    Source: Charoenphakdee et al. 2021, transformation Psi.

    >>> focal_posterior([0.5, 0.5], 2.0)
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    (p,), gamma = validate.distributions(gamma, p=p)
    ratio = _ratio(p, gamma)
    certain = (ratio <= 0).any(-1, keepdim=True)  # g = 0 at p = 1 alone: then q = p
    q = torch.where(certain, p, p / ratio)
    return q / q.sum(-1, keepdim=True)


def _one_value(falling: Callable[[Tensor], Tensor], q: Tensor, highest: Tensor) -> Tensor:
    """The (..., K) rows p of sum 1 in which `falling(p) / p` is one value, at most `highest`."""

    def shares(c: Tensor) -> Tensor:
        return _halve(lambda p: falling(p) > c * p, torch.ones_like(q))

    high = highest * torch.ones_like(q[..., :1])
    p = shares(_halve(lambda c: shares(c).sum(-1, keepdim=True) > 1, high))
    return p / p.sum(-1, keepdim=True)


def _halve(too_small: Callable[[Tensor], Tensor], high: Tensor) -> Tensor:
    """Where `too_small(x)` turns from true to false in [0, high], elementwise."""
    low = torch.zeros_like(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        up = too_small(middle)
        low, high = torch.where(up, middle, low), torch.where(up, high, middle)
    return (low + high) / 2


# --- label smoothing -------------------------------------------------------------------------


def smoothing_minimiser(classes: int, smoothing: Numbers):
    """The logit of the label where the smoothed loss is least: log(K / smoothing - K + 1).

    There the predicted probability is the smoothed label, 1 - smoothing (K - 1) / K. All other
    logits 0; smoothing in (0, 1]. Raises ValueError or TypeError naming the argument.
    Source: derivative of Dataset Curation Beyond Accuracy, figure 7, set to 0.

    >>> smoothing_minimiser(2, 0.5) == math.log(3)  # p = 3/4
    True
    """
    classes = validate.integer("classes", classes, 2)
    (smoothing,), plain = validate.numbers(smoothing=(smoothing, PART))
    return _out(torch.log1p(classes * (1 - smoothing) / smoothing), plain)


# --- the confidence penalty ------------------------------------------------------------------


def penalty_minimiser(q: Array, weight: Numbers) -> Tensor:
    """The (..., K) distribution p with the lowest expected loss under the confidence penalty.

    It minimises -sum_k q_k log p_k + weight sum_k p_k log p_k. All classes share one value c = q_k
    / p_k - weight log p_k; c and the p_k are found by nested halving. A class with q_k = 0 gets p_k
    > 0, and certainty is never the answer: weight > 0 pulls every row to the uniform one. `q` (...,
    K) with rows that sum to 1, weight >= 0. Always a tensor. Raises ValueError or TypeError naming
    the argument. Source: derivative of Pereyra et al. 2017, section 3, set to 0.

    >>> penalty_minimiser([0.2, 0.3, 0.5], 0.0)
    tensor([0.2000, 0.3000, 0.5000], dtype=torch.float64)
    """
    (q,), weight = validate.distributions(weight, "weight", q=q)
    # summed with the weights p_k, c is 1 + weight H(p), and the entropy is log K at most
    highest = 1 + weight * math.log(q.shape[-1])
    return _one_value(lambda p: q - weight * torch.xlogy(p, p), q, highest)


def penalty_posterior(p: Array, weight: Numbers) -> Tensor:
    """The class distribution q that a minimiser p of the confidence penalty stands for.

    q_k = p_k (1 + weight (H(p) + log p_k)), the inverse of `penalty_minimiser`. Where p is no
    minimiser of any q, because it is too peaked, entries come out below 0: they are set to 0, and
    the rest is divided by its sum. `p` (..., K) with rows that sum to 1, weight >= 0. Always a
    tensor. Raises ValueError or TypeError naming the argument.
    Source: the condition in `penalty_minimiser`, solved for q.

    >>> penalty_posterior([0.5, 0.5], 2.0)
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    (p,), weight = validate.distributions(weight, "weight", p=p)
    surprise = torch.xlogy(p, p)
    entropy = -surprise.sum(-1, keepdim=True)
    q = (p + weight * (p * entropy + surprise)).clamp_min(0)
    return q / q.sum(-1, keepdim=True)


def _out(result: Tensor, plain: bool):
    return result.item() if plain else result


torch_defaults.guard(globals(), moves=True)
