"""Digits under more noise, and an exact reader of what it sees: lesson 13."""

from __future__ import annotations

import functools

import torch

from calibkit.lab import data

NOISE = 0.4  # of the training images
FAMILIAR = tuple("01234567")  # without 8 and 9


@functools.cache
def clean() -> tuple[torch.Tensor, torch.Tensor]:
    """All 1,797 clean digits, (1797, 1, 8, 8), and their labels (1797,)."""
    parts = data.digits(seed=0)
    return torch.cat([part.inputs for part in parts]), torch.cat([part.labels for part in parts])


def draw(
    n: int,
    seed: int,
    noise: float = NOISE,
    centres: torch.Tensor | None = None,
    owner: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, 1, 8, 8) images and (n,) labels: clean digits, equally likely, plus Gaussian noise.

    A seed gives the same digits and the same pattern of noise at every strength.

    centres, owner: the clean digits (J, 1, 8, 8) and their labels (J,); by default all 1,797.
    """
    digits, labels = clean()
    centres, owner = digits if centres is None else centres, labels if owner is None else owner
    generator = torch.Generator().manual_seed(1000 + seed)
    chosen = torch.randint(len(centres), (n,), generator=generator)
    pattern = torch.randn(n, 1, 8, 8, generator=generator)
    return centres[chosen] + noise * pattern, owner[chosen]


def digit_scores(
    images: torch.Tensor, noise: float, centres: torch.Tensor | None = None
) -> torch.Tensor:
    """(n, J): -distance^2 / (2 noise^2) of each image to each clean digit."""
    x, c = images.flatten(1), (clean()[0] if centres is None else centres).flatten(1)
    squared = x.square().sum(dim=1, keepdim=True) + c.square().sum(dim=1) - 2 * x @ c.T
    return -squared / (2 * noise**2)


def exact(
    images: torch.Tensor,
    noise: float,
    centres: torch.Tensor | None = None,
    one_hot: torch.Tensor | None = None,
) -> torch.Tensor:
    """(n, K) float64: the posterior in a world of these clean digits under this noise.

    one_hot: (J, K), the class of each clean digit.
    """
    if one_hot is None:
        one_hot = torch.nn.functional.one_hot(clean()[1], 10).float()
    probs = digit_scores(images, noise, centres).softmax(dim=1) @ one_hot
    return probs.double().clamp(1e-30, 1)  # no zero, because logarithms are taken


def familiar(n: int, seed: int) -> data.Dataset:
    """`n` noisy images of the digits 0 to 7, drawn with replacement."""
    digits, labels = clean()
    known = labels < len(FAMILIAR)
    return data.Dataset(*draw(n, seed, NOISE, digits[known], labels[known]), FAMILIAR)
