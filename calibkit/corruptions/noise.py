"""Noise: Gaussian, shot, impulse and speckle, each drawn anew for every value of every image."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

CIFAR = {
    "gaussian_noise": (0.04, 0.06, 0.08, 0.09, 0.10),  # standard deviation
    "shot_noise": (500, 250, 100, 75, 50),  # photons in a white pixel
    "impulse_noise": (0.01, 0.02, 0.03, 0.05, 0.07),  # fraction of values hit
    "speckle_noise": (0.06, 0.10, 0.12, 0.16, 0.20),  # standard deviation in a white pixel
}
IMAGENET = {
    "gaussian_noise": (0.08, 0.12, 0.18, 0.26, 0.38),
    "shot_noise": (60, 25, 12, 5, 3),
    "impulse_noise": (0.03, 0.06, 0.09, 0.17, 0.27),
    "speckle_noise": (0.15, 0.20, 0.35, 0.45, 0.60),
}

# Below this rate Poisson counts are drawn exactly, above it through a normal draw.
SMALL_RATE = 8.0


def gaussian_noise(x: Tensor, sigma: float, generator: Generator) -> Tensor:
    """x + σ z with z standard normal."""
    return normal_like(x, generator).mul_(sigma).add_(x)


def shot_noise(x: Tensor, photons: float, generator: Generator) -> Tensor:
    """Poisson(photons · x) / photons: the counting noise of a dim light."""
    return poisson(x * photons, generator, largest=photons).div_(photons)


def impulse_noise(x: Tensor, amount: float, generator: Generator) -> Tensor:
    """Salt and pepper: half of the fraction `amount` of values becomes 0, half becomes 1."""
    u = uniform_like(x, generator)
    return x.masked_fill(u < amount / 2, 0).masked_fill_(u >= 1 - amount / 2, 1)


def speckle_noise(x: Tensor, sigma: float, generator: Generator) -> Tensor:
    """x + σ x z: noise that grows with the signal."""
    return normal_like(x, generator).mul_(sigma).add_(1).mul_(x)


def normal_like(x: Tensor, generator: Generator) -> Tensor:
    """Standard normal draws with the shape, type and device of x."""
    return torch.empty_like(x).normal_(generator=generator)


def uniform_like(x: Tensor, generator: Generator, low: float = 0, high: float = 1) -> Tensor:
    """Uniform draws from [low, high) with the shape, type and device of x."""
    return torch.empty_like(x).uniform_(low, high, generator=generator)


def poisson(rate: Tensor, generator: Generator, largest: float = math.inf) -> Tensor:
    """Poisson draws at rates up to `largest`, on a CPU several times as fast as `torch.poisson`.

    Rates below 8 are inverted exactly. Above, a normal draw goes through the expansion of the
    Poisson quantile (Giles 2016, ACM TOMS 42(1):7), which is within 8e-4 of the Poisson law in
    total variation at rate 8 and nearer above.
    """
    if largest <= SMALL_RATE:
        return poisson_inverse(rate, uniform_like(rate, generator), largest)
    counts = poisson_quantile(rate, normal_like(rate, generator))
    small = (rate < SMALL_RATE).flatten().nonzero()[:, 0]
    low = rate.flatten()[small]
    counts.view(-1)[small] = poisson_inverse(low, uniform_like(low, generator), SMALL_RATE)
    return counts


def poisson_quantile(rate: Tensor, z: Tensor) -> Tensor:
    """⌊λ + √λ z + 1/3 + z²/6 - (z/36 + z³/72)/√λ⌋, the count at normal score z."""
    root = rate.sqrt()
    correction = (z * z).add_(2).div_(root).mul_(-1 / 72)
    slope = correction.add_(root).add_(z, alpha=1 / 6)
    return slope.mul_(z).add_(rate).add_(1 / 3).floor_().clamp_(min=0)


def poisson_inverse(rate: Tensor, u: Tensor, largest: float) -> Tensor:
    """The smallest k with P(count <= k) >= u, by running up the distribution."""
    mass = torch.exp(-rate)
    short = u - mass
    counts = torch.zeros_like(rate)
    for k in range(1, math.ceil(largest + 6 * math.sqrt(largest) + 4)):
        counts += short.ceil()  # 1 while the sum is short of u, else 0: faster than a comparison
        mass.mul_(rate).mul_(1 / k)
        short -= mass
    return counts
