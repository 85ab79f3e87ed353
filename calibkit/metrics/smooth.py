"""Smooth ECE: a kernel instead of bins, with a bandwidth that it chooses itself."""

from __future__ import annotations

import numpy as np
import torch
from scipy.fft import dct, idct
from scipy.optimize import brentq
from torch import Tensor

from calibkit import validate

GRID = 1 << 15  # cells of [0, 1]: their width is far below any bandwidth that matters


def smooth_ece(probs, labels) -> float:
    """Smooth calibration error smECE of the predicted class.

        smECE_s = integral over t in [0, 1] of |1/n sum_i K_s(t, conf_i) (conf_i - hit_i)|

    where K_s is the Gaussian kernel of standard deviation s reflected at 0 and 1. smECE_s falls
    as s grows, and the value is the s with smECE_s = s: no bins and no bandwidth to choose.

    The residuals are spread over a grid of 2^15 cells and the kernel is applied in the cosine
    basis, in which it is diagonal.

    Arguments, value and errors as in `ece`.

    Source: Błasiok & Nakkiran (2024), definition 3 and section 3.

    >>> round(smooth_ece([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 4)  # one spot: |0.9 - 0.5|
    0.4
    """
    confidence, correct = validate.top(probs, labels)
    spectrum = dct(_residuals(confidence, correct), type=2)
    return fixed_point(spectrum)


def _residuals(confidence: Tensor, correct: Tensor) -> np.ndarray:
    """(GRID,) sums of (confidence - hit) / n, each shared by the two nearest cell centres."""
    place = confidence.double() * GRID - 0.5
    cell = place.floor()
    share = place - cell
    residual = confidence.double() - correct.double()
    cell = cell.long()
    grid = torch.bincount(cell + 1, weights=residual * (1 - share), minlength=GRID + 2)
    grid += torch.bincount(cell + 2, weights=residual * share, minlength=GRID + 2)
    grid[1] += grid[0]  # the half cells outside [0, 1] reflect, as the kernel does
    grid[-2] += grid[-1]
    return grid[1:-1].cpu().numpy() / len(confidence)


def fixed_point(spectrum: np.ndarray) -> float:
    """The bandwidth s at which smECE_s equals s."""
    frequency = np.arange(GRID) * np.pi

    def excess(s: float) -> float:
        smoothed = idct(spectrum * np.exp(-0.5 * (frequency * s) ** 2), type=2)
        return float(np.abs(smoothed).sum()) - s

    if excess(0.0) <= 0:
        return 0.0
    if excess(1.0) >= 0:  # every sample sure and wrong
        return 1.0
    return float(brentq(excess, 0.0, 1.0, xtol=1e-10))
