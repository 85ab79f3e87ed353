"""How surprising the hits of some samples are, if each has the chance that its confidence says."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

NORMAL_FROM = 30.0  # variance of the number of hits from which its law is taken for a normal one
CHUNK = 256  # chances whose law is taken at once


def p_of_hits(chance: np.ndarray, hit: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Two-sided p-value of the hits of some samples; 1 for none.

    The number of hits of independent samples with (n,) chances has a known law (Poisson's
    binomial). p is the share of the numbers at most as likely as the one observed. Where its
    variance is large, the normal law with the same mean and variance takes its place: few or sure
    samples, of which it would call too many surprising, are counted exactly.

    weight: (n,) of unequal weights the normal law alone is taken.
    """
    weight = np.ones(len(chance)) if weight is None else weight
    variance = float((weight**2 * chance * (1 - chance)).sum())
    even = bool((weight == weight[0]).all()) if len(weight) else True
    if not even or variance / max(float(weight.max(initial=0)) ** 2, 1e-300) >= NORMAL_FROM:
        z = float((weight * (chance - hit)).sum()) / max(variance, 1e-300) ** 0.5
        return float(2 * ndtr(-abs(z)))
    law = law_of_hits(chance)
    return float(min(1.0, law[law <= law[int(hit.sum())] * (1 + 1e-7)].sum()))


def law_of_hits(chance: np.ndarray) -> np.ndarray:
    """(n + 1,) the chance of 0, 1, ... n hits of samples with (n,) chances."""
    if len(chance) <= CHUNK:
        return _law(chance)
    halves, count = np.split(chance, [len(chance) // 2]), len(chance) + 1
    first, second = (np.fft.rfft(law_of_hits(half), count) for half in halves)
    return np.fft.irfft(first * second, count).clip(0)  # the law of a sum of two


def _law(chance: np.ndarray) -> np.ndarray:
    """By the discrete Fourier transform: the law of a sum is the product of those of its parts."""
    count = len(chance) + 1
    turns = np.exp(-2j * np.pi * np.arange(count) / count)
    product = np.prod(1 + chance[:, None] * (turns - 1), axis=0)
    return np.fft.ifft(product).real.clip(0)
