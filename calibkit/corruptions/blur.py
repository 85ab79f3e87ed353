"""Blur: defocus, glass, motion, zoom and Gaussian."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Generator, Tensor

from calibkit.corruptions.separable import (
    SMALLEST_TAP,
    filter_matrix,
    gaussian_matrix,
    gaussian_taps,
    separable,
    separable_sum,
    tidy,
    zoom_matrix,
)

CIFAR = {
    # radius of the disk, sigma that softens its rim
    "defocus_blur": ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
    # sigma, reach of a swap, rounds of swapping
    "glass_blur": ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
    # radius, sigma
    "motion_blur": ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
    # end and step of the zoom factors, which start at 1
    "zoom_blur": ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
    "gaussian_blur": (0.4, 0.6, 0.7, 0.8, 1),  # sigma
}
IMAGENET = {
    "defocus_blur": ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
    "glass_blur": ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
    "motion_blur": ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
    "zoom_blur": ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
    "gaussian_blur": (1, 2, 3, 4, 6),
}

# Up to this many pixels one dense matrix over all pixels beats a dozen separable products.
DENSE_PIXELS = 1024
DENSE_TERMS = 12


def gaussian_blur(x: Tensor, sigma: float, generator: Generator | None = None) -> Tensor:
    """Gaussian filter cut off at four sigmas, border repeated."""
    rows, cols = (gaussian_matrix(size, sigma, 4.0, "nearest") for size in x.shape[2:])
    return separable(x, rows, cols)


def defocus_blur(
    x: Tensor, constants: tuple[float, float], generator: Generator | None = None
) -> Tensor:
    """Filter with a softened disk, the picture of a point that is out of focus."""
    rows, cols = (defocus_matrices(size, *constants)[axis] for axis, size in enumerate(x.shape[2:]))
    return separable_sum(x, rows, cols)


@lru_cache(maxsize=64)
def defocus_matrices(size: int, radius: float, softness: float) -> tuple[Tensor, Tensor]:
    """Row and column filters whose products sum to the disk: its singular value decomposition."""
    left, values, right = np.linalg.svd(disk(radius, softness))
    count = int((values > SMALLEST_TAP * values[0]).sum())
    down, across = (
        torch.stack([tidy(filter_matrix(taps, size, "mirror")) for taps in family[:count]])
        for family in ((left * values).T, right)
    )
    return down, across


def disk(radius: float, softness: float) -> np.ndarray:
    """A flat disk of `radius` pixels and sum 1, its rim softened by a narrow Gaussian."""
    reach, soft_reach = (8, 1) if radius <= 8 else (int(radius), 2)
    line = np.arange(-reach, reach + 1)
    flat = (line[:, None] ** 2 + line**2 <= radius**2).astype(float)
    soften = filter_matrix(gaussian_taps(soft_reach, softness), len(line), "mirror")
    return soften @ (flat / flat.sum()) @ soften.T


def zoom_blur(
    x: Tensor, constants: tuple[float, float], generator: Generator | None = None
) -> Tensor:
    """Mean of the image and of its magnifications about the centre."""
    height, width = x.shape[2:]
    rows, cols = zoom_matrices(height, *constants), zoom_matrices(width, *constants)
    if len(rows) > DENSE_TERMS and height * width <= DENSE_PIXELS:
        dense = zoom_dense(height, width, *constants, x.dtype, x.device)
        return (x.flatten(2) @ dense).view_as(x)
    return separable_sum(x, rows, cols)


@lru_cache(maxsize=64)
def zoom_matrices(size: int, end: float, step: float) -> Tensor:
    """(K, size, size): a matrix a zoom factor, scaled so that products of two sum to a mean."""
    factors = [1.0, *np.arange(1, end, step)]  # the image itself counts once more
    matrices = torch.stack([zoom_matrix(size, factor) for factor in factors])
    return matrices / len(factors) ** 0.5


@lru_cache(maxsize=8)
def zoom_dense(height: int, width: int, end: float, step: float, dtype, device) -> Tensor:
    """(H·W, H·W): the whole mean of zooms as one matrix that acts from the right."""
    rows, cols = zoom_matrices(height, end, step), zoom_matrices(width, end, step)
    dense = torch.einsum("kij,klm->jmil", rows, cols)
    return dense.reshape(height * width, -1).to(device, dtype)


def motion_blur(x: Tensor, constants: tuple[int, float], generator: Generator) -> Tensor:
    """Streaks in a direction within 45 degrees of the horizontal, one direction an image."""
    return streak(x, uniform_angles(x, -45, 45, generator), *constants)


def uniform_angles(x: Tensor, low: float, high: float, generator: Generator) -> Tensor:
    """(n,) angles in radians from bounds in degrees."""
    return torch.empty_like(x[:, 0, 0, 0]).uniform_(low, high, generator=generator).deg2rad_()


def streak(x: Tensor, angles: Tensor, radius: int, sigma: float) -> Tensor:
    """Trail every pixel along its image's angle with half-Gaussian weights, border repeated.

    Tap k of 2 radius + 1 weighs exp(-k² / 2σ²) and stands k pixels away, rounded to the grid.
    """
    taps = gaussian_taps(2 * radius, sigma)[2 * radius :]
    taps = taps[taps > SMALLEST_TAP] / taps.sum()
    across, down = angles.cos(), angles.sin()
    out = x * taps[0]
    for k, tap in enumerate(taps[1:], start=1):
        rows, cols = (
            torch.arange(size, device=x.device) + (k * part[:, None] - 0.5).ceil().long()
            for size, part in zip(x.shape[2:], (down, across), strict=True)
        )
        out.add_(take(x, rows, cols), alpha=tap)
    return out


def take(x: Tensor, rows: Tensor, cols: Tensor) -> Tensor:
    """x[i, :, rows[i], cols[i]] of every image i, with the border repeated outside."""
    n, channels, height, width = x.shape
    rows, cols = rows.clamp(0, height - 1), cols.clamp(0, width - 1)
    pixels = (rows[:, :, None] * width + cols[:, None, :]).view(n, 1, -1)
    return x.flatten(2).gather(2, pixels.expand(-1, channels, -1)).view_as(x)


def glass_blur(x: Tensor, constants: tuple[float, int, int], generator: Generator) -> Tensor:
    """Swap pixels with near neighbours between two Gaussian filters."""
    sigma, reach, rounds = constants
    n, channels, height, width = x.shape
    place = torch.arange(height * width, device=x.device)[:, None]
    source = place.repeat(1, n)
    for _ in range(rounds):
        steps = torch.empty((2, height * width, n), dtype=torch.int64, device=x.device)
        down, across = steps.random_(-reach, reach, generator=generator)
        swap_neighbours(source, down.mul_(width).add_(across).add_(place), width, reach)
    pixels = source.T.contiguous()[:, None, :].expand(-1, channels, -1)
    shuffled = gaussian_blur(x, sigma).flatten(2).gather(2, pixels).view_as(x)
    return gaussian_blur(shuffled, sigma)


def swap_neighbours(source: Tensor, partner: Tensor, width: int, reach: int) -> None:
    """Swap rows of source (H·W, n) in place, pixel by pixel from the bottom right.

    A pixel changes places with partner[pixel], at most `reach` away in both directions. The order
    matters, because a pixel may be carried along, yet all pixels (h, w) with one value of
    2 reach · h + w are out of each other's way: they are swapped at once, and the result is that
    of the plain loop.
    """
    for wave in waves(len(source) // width, width, reach):
        there = partner[wave]
        mine = source[wave].clone()
        source[wave] = source.gather(0, there)
        source.scatter_(0, there, mine)


@lru_cache(maxsize=16)
def waves(height: int, width: int, reach: int) -> tuple[slice, ...]:
    """Pixel numbers of the swaps that may run together, in order: evenly spaced ones."""
    h, w = np.mgrid[reach + 1 : height - reach + 1, reach + 1 : width - reach + 1]
    when, pixel = (2 * reach * h + w).ravel(), (h * width + w).ravel()
    members = [pixel[when == t] for t in np.unique(when)[::-1]]
    spacing = width - 2 * reach  # one row down and 2 reach to the left
    return tuple(slice(int(m[0]), int(m[-1]) + 1, spacing) for m in members)
