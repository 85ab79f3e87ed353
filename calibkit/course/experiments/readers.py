"""Readers of noisy digits whose truth is known: the exact posterior, made bolder or more cautious,
or coarse; and test sets whose labels are drawn afresh from it.
"""

from __future__ import annotations

import functools

import numpy as np
import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course import scale
from calibkit.lab import data

NOISE = 0.6
RESAMPLES = 99  # of a calibration test


@functools.cache
def population(size: scale.Budget, seed: int) -> data.Dataset:
    """2 * size.test noisy digits with their exact posterior, (n, 10)."""
    return data.NoisyDigits(noise=NOISE).draw(2 * size.test, seed=seed)


def tempered(posterior: Tensor, T: float) -> Tensor:
    """The posterior at temperature T: itself at 1, more cautious above, bolder below."""
    return (posterior.log() / T).softmax(dim=1)


def coarse(posterior: Tensor) -> Tensor:
    """Each row is the mean posterior of all images with the same favourite: canonically calibrated.

    >>> coarse(torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]]))
    tensor([[0.8000, 0.2000],
            [0.8000, 0.2000],
            [0.2000, 0.8000]])
    """
    favourite = posterior.argmax(dim=1)
    rows = torch.empty_like(posterior)
    for k in range(posterior.shape[1]):
        rows[favourite == k] = posterior[favourite == k].mean(dim=0)
    return rows


def test_set(posterior: Tensor, n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Indices (n,) of images, drawn with replacement, and labels (n,) from their posterior."""
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randint(len(posterior), (n,), generator=generator)
    return chosen, torch.multinomial(posterior[chosen], 1, generator=generator)[:, 0]


def rejected(probs: Tensor, posterior: Tensor, n: int, tests: int, block: int = 0) -> np.ndarray:
    """(3,) shares of test sets that reject: the ECE test, the z test, both at half the level.

    tests: how many test sets of n images; each block has test sets of its own.
    """
    found = []
    for seed in range(tests):
        number = 1000 * block + seed
        chosen, labels = test_set(posterior, n, number)
        # draws of its own: with those of another test set the two would reject together
        made = metrics.calibration_test(probs[chosen], labels, resamples=RESAMPLES, seed=number)
        either = min(made.p_value, made.p_value_z) <= 0.025
        found.append((made.p_value <= 0.05, made.p_value_z <= 0.05, either))
    return np.mean(found, axis=0)


def squares(probs: Tensor, labels: Tensor) -> Tensor:
    """(n,) Brier scores, one an image."""
    rows = torch.nn.functional.one_hot(labels, probs.shape[1])
    return (probs - rows).square().sum(dim=1)


def middle(scores: Tensor, wide: float = 1.645) -> tuple[float, float]:
    """90 % interval of the mean of scores (n,), from a normal distribution."""
    half = wide * scores.std().item() / len(scores) ** 0.5
    return scores.mean().item() - half, scores.mean().item() + half


def named(
    better: Tensor, worse: Tensor, posterior: Tensor, n: int, tests: int, block: int = 0
) -> np.ndarray:
    """(4,) shares of test sets on which a number names the better reader.

    The lower ECE, the lower mean Brier score, the 90 % interval of the paired difference of the
    Brier scores, and the two separate intervals where they do not overlap.
    """
    found: list[tuple] = []
    for seed in range(tests):
        chosen, labels = test_set(posterior, n, 1000 * block + seed)
        one, other = better[chosen], worse[chosen]
        good, bad = squares(one, labels), squares(other, labels)
        found.append(
            (
                metrics.ece(one, labels) < metrics.ece(other, labels),
                good.mean() < bad.mean(),
                middle(bad - good)[0] > 0,
                middle(bad)[0] > middle(good)[1],
            )
        )
    return np.mean(found, axis=0)


def parts(probs: Tensor, known: Tensor) -> tuple[float, float]:
    """Calibration part and refinement of the Brier score.

    known: (n, K), the mean posterior of all images that get the same row of `probs`.
    """
    calibration = (probs - known).square().sum(dim=1).mean().item()
    return calibration, (known * (1 - known)).sum(dim=1).mean().item()
