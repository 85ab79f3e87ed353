"""Separable linear maps on images: a matrix for the rows, a matrix for the columns.

Blurs, zooms, box resampling and block transforms all have the form Y = R X Cᵀ, with the treatment
of the border written into R and C, so one pair of batched matrix products serves them all.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

# Smaller taps change nothing in float32, but they would breed subnormal numbers, which are slow.
SMALLEST_TAP = 1e-8


def separable(x: Tensor, rows: Tensor, cols: Tensor) -> Tensor:
    """R X Cᵀ for each (H, W) plane of x (n, C, H, W); R is (H', H) and C is (W', W)."""
    return separable_sum(x, rows[None], cols[None])


def separable_sum(x: Tensor, rows: Tensor, cols: Tensor) -> Tensor:
    """Σ_k R_k X C_kᵀ for each plane of x; R is (K, H', H) and C is (K, W', W)."""
    planes = x.flatten(0, 1)
    # An expanded batch of small products is four times as fast as one tall thin product.
    rows = rows.to(planes)[:, None].expand(-1, len(planes), -1, -1)
    cols = cols.to(planes).mT[:, None].expand(-1, len(planes), -1, -1)
    total = torch.bmm(rows[0], torch.bmm(planes, cols[0]))
    for r, c in zip(rows[1:], cols[1:], strict=True):
        total.baddbmm_(r, torch.bmm(planes, c))
    return total.unflatten(0, x.shape[:2])


def tidy(matrix: np.ndarray) -> Tensor:
    """`matrix` as a tensor, taps too small to matter set to zero."""
    return torch.from_numpy(np.where(np.abs(matrix) < SMALLEST_TAP, 0.0, matrix))


def border_index(index: np.ndarray, size: int, border: str) -> np.ndarray:
    """Indices folded into [0, size): "nearest" aaa|abc, "mirror" cb|abc, "reflect" ba|abc."""
    if border == "nearest":
        return index.clip(0, size - 1)
    period = max(2 * size - 2, 1) if border == "mirror" else 2 * size
    folded = index % period
    return np.minimum(folded, period - folded - (border == "reflect"))


def filter_matrix(taps: np.ndarray, size: int, border: str) -> np.ndarray:
    """(size, size) matrix that correlates a line with an odd number of taps."""
    reach = len(taps) // 2
    line = np.arange(size)
    source = border_index(line[:, None] + np.arange(-reach, reach + 1), size, border)
    matrix = np.zeros((size, size))
    np.add.at(matrix, (line[:, None], source), taps)
    return matrix


def gaussian_taps(reach: int, sigma: float) -> np.ndarray:
    """exp(-k² / 2σ²) for k = -reach ... reach, normalised to sum 1; a lone 1 where sigma is 0."""
    k = np.arange(-reach, reach + 1)
    taps = np.exp(-0.5 * (k / sigma) ** 2) if sigma > 0 else (k == 0).astype(float)
    return taps / taps.sum()


@lru_cache(maxsize=64)
def gaussian_matrix(size: int, sigma: float, truncate: float, border: str) -> Tensor:
    """Gaussian filter of standard deviation `sigma` pixels, cut off at `truncate` sigmas."""
    return tidy(filter_matrix(gaussian_taps(int(truncate * sigma + 0.5), sigma), size, border))


@lru_cache(maxsize=64)
def zoom_matrix(size: int, factor: float) -> Tensor:
    """Magnify the middle of a line by `factor` with linear interpolation, keep `size` samples."""
    crop = int(np.ceil(size / factor))
    zoomed = round(crop * factor)
    trim = (zoomed - size) // 2
    place = np.linspace(0, crop - 1, zoomed)[trim : trim + size]
    matrix = np.zeros((size, size))
    start = (size - crop) // 2
    hats = np.clip(1 - np.abs(place[:, None] - np.arange(crop)), 0, None)
    matrix[:, start : start + crop] = hats
    return tidy(matrix)


@lru_cache(maxsize=64)
def box_matrix(size: int, cells: int) -> Tensor:
    """Average a line over `cells` boxes and stretch it back to `size` samples.

    A box holds the samples whose centre lies in it, so boxes differ by one sample in length.
    """
    width = size / cells
    edges = np.floor(np.arange(cells + 1) * width + 0.5).astype(int)
    box = ((np.arange(size) + 0.5) / width).astype(int)
    sample = np.arange(size)
    inside = (sample >= edges[box, None]) & (sample < edges[box + 1, None])
    return tidy(inside / inside.sum(axis=1, keepdims=True))
