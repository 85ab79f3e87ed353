import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from calibkit import metrics


def kernel_error(confidence, hits, s, points=20001):
    """smECE_s by summing the mirror images of every Gaussian at every point."""
    t = np.linspace(0, 1, points)
    density = np.zeros(points)
    places, which = np.unique(confidence, return_inverse=True)
    residuals = np.bincount(which, weights=confidence - hits)
    for c, residual in zip(places, residuals, strict=True):
        for image in range(-int(5 * s) - 2, int(5 * s) + 3):
            for centre in (c + 2 * image, -c + 2 * image):
                density += residual * np.exp(-0.5 * ((t - centre) / s) ** 2)
    density /= len(confidence) * s * np.sqrt(2 * np.pi)
    return np.trapezoid(np.abs(density), t)


def solved(confidence, hits, points=20001):
    return brentq(lambda s: kernel_error(confidence, hits, s, points) - s, 1e-4, 2)


def ours(confidence, hits):
    return metrics.smooth_ece_of(torch.tensor(confidence), torch.tensor(hits))


@pytest.mark.parametrize("n", [1, 3, 12])
@pytest.mark.parametrize("right", [0.3, 0.7])
def test_kernel_integral(n, right):
    generator = np.random.default_rng(1)
    confidence, hits = generator.uniform(0, 1, n), generator.random(n) < right
    assert ours(confidence, hits) == pytest.approx(solved(confidence, hits), abs=1e-6)


@pytest.mark.parametrize("spread", [0.005, 0.1])
def test_kernel_integral_where_the_residuals_change_sign(spread):
    # three of five right all around .6: over-confident above it, under-confident below
    confidence = np.repeat(0.6 + spread * np.linspace(-1, 1.1, 9), 5)
    hits = np.tile([1, 1, 1, 0, 0], 9).astype(bool)
    found, expected = ours(confidence, hits), solved(confidence, hits, 100001)
    assert 0.0003 < expected < 0.06
    assert found == pytest.approx(expected, abs=3e-7)


@pytest.mark.parametrize("gap", [0.5, 0.1, 1e-3, 1e-5, 1e-7])
def test_one_confidence_leaves_the_plain_gap(gap):
    # one spot whose samples are all right: the integral is 1 - confidence at any bandwidth
    probs = torch.tensor([[1 - gap, gap]], dtype=torch.float64).repeat(5, 1)
    assert metrics.smooth_ece(probs, [0] * 5) == pytest.approx(gap, abs=1e-7)
