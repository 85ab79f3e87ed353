"""Smooth ECE: a kernel instead of bins, with a bandwidth that it chooses itself."""

from __future__ import annotations

import numpy as np
import torch
from scipy.fft import dct
from scipy.optimize import brentq
from torch import Tensor

from calibkit.metrics.top import Labels, Scored, Weights, weighed

GRID = 1 << 14  # steps of the grid over [0, 1], far below any bandwidth that matters
COARSE = 1 << 11  # steps that suffice to integrate what a wide kernel has smoothed


def smooth_ece(probs: Scored, labels: Labels = None, *, weights: Weights = None) -> float:
    """Smooth calibration error smECE of the predicted class.

        smECE_s = integral over t in [0, 1] of |1/n sum_i K_s(t, conf_i) (conf_i - hit_i)|

    where K_s is the Gaussian kernel of standard deviation s reflected at 0 and 1. smECE_s falls
    as s grows, and the value is the s with smECE_s = s: no bins and no bandwidth to choose.

    The residuals are spread over a grid of 2^14 steps and the kernel is applied in the cosine
    basis, in which it is diagonal. The result is within 1e-6 of the integral. Arguments, weights,
    value and errors as in `ece`. Source: Błasiok & Nakkiran (2024).

    >>> round(smooth_ece([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 4)  # one spot: |0.9 - 0.5|
    0.4
    """
    return smooth_error(*weighed(probs, labels, weights))


def smooth_error(confidence: Tensor, correct: Tensor, weights: Tensor | None = None) -> float:
    """smECE of (n,) confidences and hits, and of their weights: the s at which smECE_s is s."""
    spectrum, smallest = spectrum_of(_residuals(confidence, correct, weights)), 1 / GRID

    def excess(s: float) -> float:
        return _smoothed_error(spectrum, s) - s

    if excess(smallest) <= 0:  # below a grid step the bandwidth no longer matters
        return _smoothed_error(spectrum, smallest)
    # the error is at most 1, so that 2 is safely too wide even where every sample is sure and wrong
    return min(float(brentq(excess, smallest, 2.0, xtol=1e-10)), 1.0)


def _residuals(confidence: Tensor, correct: Tensor, weights: Tensor | None = None) -> np.ndarray:
    """(GRID + 1,) sums of (confidence - hit) / n, each shared by the two nearest grid points."""
    confidence, residual = confidence.double(), confidence.double() - correct.double()
    total = len(confidence) if weights is None else float(weights.sum())
    residual = residual if weights is None else weights * residual
    cell = (confidence * GRID).long()
    above = residual * (confidence * GRID - cell)
    grid = torch.bincount(cell, residual - above, GRID + 2)
    grid += torch.bincount(cell + 1, above, GRID + 2)
    return (grid[:-1] / total).cpu().numpy()


def _smoothed_error(spectrum: np.ndarray, s: float) -> float:
    """smECE_s from the cosine coefficients of the residuals, by the trapezoid rule.

    A wide kernel leaves nothing of the higher coefficients and a curve that is smooth but where it
    crosses zero; there a coarse grid of step h costs an error of about h^2 / 100 s, below 2e-7.
    """
    points = COARSE if s >= 32 / COARSE else GRID
    return float(smoothed(spectrum[: points + 1], np.array(s)))


def spectrum_of(residuals: np.ndarray) -> np.ndarray:
    """The cosine coefficients of residuals at equal steps over [0, 1], the last dimension."""
    mass = residuals.copy()
    mass[..., [0, -1]] *= 2  # an end point is its own mirror image
    return dct(mass, type=1) / 2


def smoothed(spectrum: np.ndarray, width: np.ndarray) -> np.ndarray:
    """smECE_s from (..., points + 1) cosine coefficients, for the s in `width` (...)."""
    points = spectrum.shape[-1] - 1
    frequency = np.pi * np.arange(points + 1)
    size = np.abs(dct(spectrum * np.exp(-0.5 * (width[..., None] * frequency) ** 2), type=1))
    return (size.sum(-1) - (size[..., 0] + size[..., -1]) / 2) / points
