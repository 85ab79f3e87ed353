"""Focal loss."""

import math

import torch
from scipy.special import lambertw

from calibkit import theory
from calibkit.course.check.engine import exercise

# fmt: off
SHARES = torch.tensor([0.03, 0.1, 0.2, 0.37, 0.5, 0.8, 0.97], dtype=torch.float64)
FOCAL_CASES = {f"gamma = {gamma}": (SHARES, gamma) for gamma in (2.0, 1.0, 3.0, 0.5, 0.0)} | {
    "probabilities close to 0 and to 1": (torch.tensor([1e-4, 1e-3, 0.99, 0.999], dtype=torch.float64), 2.0),
    "one probability": (torch.tensor([0.25], dtype=torch.float64), 2.0),
    "probabilities in no order": (SHARES.flip(0).roll(3), 5.0),
    "200 probabilities": (torch.linspace(0.02, 0.98, 200, dtype=torch.float64), 1.5),
}

def _slope(p, gamma, *, factor=1.0, fall=1.0):
    """g(p, gamma) with the second term changed: times `factor`, exponent gamma - `fall`."""
    return (1 - p) ** gamma - factor * gamma * p * (1 - p) ** (gamma - fall) * p.log()

@exercise(cases=FOCAL_CASES, mistakes={
    "you took the weight (1 - p)^gamma for a constant. It depends on p too: use the product rule, which "
    "gives a second term.": lambda p, gamma: (1 - p) ** gamma,
    "the second term has the wrong sign. log p is negative, so that term must come out positive: subtract "
    "it.": lambda p, gamma: _slope(p, gamma, factor=-1),
    "a factor p is missing in the second term: with u = -log p, dp/du = -p.":
        lambda p, gamma: _slope(p, gamma, factor=1 / p),
    "a factor gamma is missing in the second term: the exponent comes down.":
        lambda p, gamma: _slope(p, gamma, factor=1 / gamma),
    "the exponent of the second term falls by one: (1 - p)^(gamma - 1).":
        lambda p, gamma: _slope(p, gamma, fall=0),
    "the exponent of the second term rises in yours. It falls by one: (1 - p)^(gamma - 1).":
        lambda p, gamma: _slope(p, gamma, fall=-1),
    "you took the logarithm to base 2: use the natural one, log.":
        lambda p, gamma: _slope(p, gamma, factor=1 / math.log(2)),
    "you took the logarithm to base 10: use the natural one, log.":
        lambda p, gamma: _slope(p, gamma, factor=1 / math.log(10)),
    "the first term of the product rule is missing: (1 - p)^gamma.":
        lambda p, gamma: _slope(p, gamma) - (1 - p) ** gamma,
    "the first term is (1 - p)^gamma, not p^gamma.":
        lambda p, gamma: _slope(p, gamma) - (1 - p) ** gamma + p**gamma,
    "the factor log p is missing in the second term.": lambda p, gamma: _slope(p, gamma, factor=-1 / p.log()),
    "you took log(1 - p). The second term holds log p.":
        lambda p, gamma: _slope(p, gamma, factor=(1 - p).log() / p.log()),
    "a factor p is too much: the derivative is by u, not by p.":
        lambda p, gamma: p * theory.gradient_ratio(p, gamma),
    "this is the derivative by p. Divide it by that of cross-entropy, -1 / p.":
        lambda p, gamma: -theory.gradient_ratio(p, gamma) / p,
    "this is the loss itself. Asked is its slope, as a multiple of cross-entropy's.":
        lambda p, gamma: -((1 - p) ** gamma) * p.log()})
def gradient_ratio(p, gamma):
    """The slope of focal loss as a multiple of cross-entropy's, for each p (n,): a tensor (n,)."""
    return theory.gradient_ratio(p, gamma)

def _star(s: float, r: float, divide: bool = True) -> float:
    """Proposition 2 with any s and r."""
    lower = -lambertw(-r * math.exp(-r), -1).real
    return ((lower / r if divide else lower) - 1) / s

def _odds_slope(p0: float) -> float:
    return -p0 * math.log(p0) / (1 - p0)

@exercise(cases={f"p0 = {p0}": (p0,) for p0 in (0.1, 0.2, 0.25, 0.4, 0.02, 0.48, 0.003)}, mistakes={
    "you found gamma = 0, which always solves the equation (cross-entropy). Let the solver start above 0. "
    "With Lambert's W, 0 lies on the principal branch; take branch -1: lambertw(y, -1). (If you did: are p0 "
    "and 1 - p0 exchanged?)": lambda p0: 0.0,
    "you stopped at v = 1 + gamma s. Subtract 1 before you divide by s.":
        lambda p0: theory.gamma_star(p0) + 1 / _odds_slope(p0),
    "this is gamma s. Divide by s.": lambda p0: theory.gamma_star(p0) * _odds_slope(p0),
    "this is v = 1 + gamma s. Solve it for gamma.": lambda p0: 1 + theory.gamma_star(p0) * _odds_slope(p0),
    "a sign got lost: W gives -r v, so that v = -W / r.":
        lambda p0: -theory.gamma_star(p0) - 2 / _odds_slope(p0),
    "s lost its denominator: s = -p0 log p0 / (1 - p0).":
        lambda p0: _star(-p0 * math.log(p0), -math.log(1 - p0) / _odds_slope(p0)),
    "r = -log(1 - p0) / s: the division by s is missing.":
        lambda p0: _star(_odds_slope(p0), -math.log(1 - p0)),
    "the division of W by r is missing.":
        lambda p0: _star(_odds_slope(p0), -math.log(1 - p0) / _odds_slope(p0), divide=False),
    "this is s(p0), the first step only.": lambda p0: _odds_slope(p0),
    "this is the rounded rule of FLSD-53. Asked is the exact gamma*.": lambda p0: 5.0 if p0 < 0.2 else 3.0,
    "yours stays between 1 and 10, though gamma* does not: look in a wider range.":
        lambda p0: min(max(theory.gamma_star(p0), 1), 10),
    "s lost its factor p0: s = -p0 log p0 / (1 - p0).":
        lambda p0: _star(-math.log(p0) / (1 - p0), math.log(1 - p0) * (1 - p0) / math.log(p0))})
def gamma_star(p0):
    """The gamma > 0 with g(p0, gamma) = 1, for a threshold p0 < 1/2: one number."""
    return theory.gamma_star(p0)

def _shared_out(first, second):
    return first / (first + second)

@exercise(cases=FOCAL_CASES, mistakes={
    "this is p itself, which is right for gamma = 0 only. Each class needs its own g: g(p) for the one, g(1 "
    "- p) for the other.": lambda p, gamma: p,
    "you multiplied by g. At the minimum q g(p) / p is the same for both classes, so q goes like p / g(p).":
        lambda p, gamma: _shared_out(p * theory.gradient_ratio(p, gamma), (1 - p)
            * theory.gradient_ratio(1 - p, gamma)),
    "the two classes do not sum to 1: divide by p / g(p) + (1 - p) / g(1 - p).":
        lambda p, gamma: p / theory.gradient_ratio(p, gamma),
    "this is g(p). Asked is the probability q.": theory.gradient_ratio,
    "you multiplied by g, and the two classes do not sum to 1: divide by g, then share out.":
        lambda p, gamma: p * theory.gradient_ratio(p, gamma),
    "the second class needs its own g, too: (1 - p) / g(1 - p).":
        lambda p, gamma: _shared_out(p / theory.gradient_ratio(p, gamma), 1 - p),
    "p is missing: each class has the weight p / g(p), not 1 / g(p).":
        lambda p, gamma: _shared_out(1 / theory.gradient_ratio(p, gamma), 1
            / theory.gradient_ratio(1 - p, gamma)),
    "you shared out g itself: each class has the weight p / g(p).":
        lambda p, gamma: _shared_out(theory.gradient_ratio(p, gamma), theory.gradient_ratio(1 - p, gamma)),
    "p stands over the sum of both g. Divide each class by its own g, then share out.":
        lambda p, gamma: p / (theory.gradient_ratio(p, gamma) + theory.gradient_ratio(1 - p, gamma)),
    "this is the way there, from q to p*. Go back: from p to q.": theory.focal_minimiser,
    "you divided by the weight (1 - p)^gamma. The slope of the loss has a second term: divide by the whole "
    "g.": lambda p, gamma: _shared_out(p / (1 - p) ** gamma, (1 - p) / p**gamma)})
def focal_posterior(p, gamma):
    """The probability q that a predicted p of two classes stands for: a tensor (n,)."""
    return theory.focal_posterior(torch.stack([p, 1 - p], -1), gamma)[..., 0]
