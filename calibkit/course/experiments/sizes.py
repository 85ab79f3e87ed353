"""Networks on few and on many noisy digits, with labels spent on training or on a temperature, and
with images that are changed at random.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from calibkit import augmentation, curation
from calibkit.course import scale
from calibkit.course.experiments.soft_targets import K, digits
from calibkit.lab import data, models, training

NOISE = 0.4
FRACTIONS = tuple(i / 10 for i in range(1, 11))  # of the pool of training images
BATCH = 128
NETWORK = functools.partial(models.mlp, 64, K)


@functools.cache
def part(size: scale.Budget, fraction: float, seed: int) -> data.Dataset:
    """A random part of a seed's pool; a smaller one always lies within a larger one."""
    pool = digits(size, seed).train
    return pool[curation.subset(pool.labels, fraction, seed=seed, stratified=False)]


def equal_steps(size: scale.Budget, n: int) -> int:
    """Epochs over n images that come nearest to the steps of the whole pool."""
    steps = size.epochs * math.ceil(size.train / BATCH)
    return max(1, round(steps / math.ceil(n / BATCH)))


def trial(
    size: scale.Budget,
    fraction: float,
    seed: int,
    epochs: int | None = None,
    batch_size: int = BATCH,
    **options: Any,
) -> training.Trial:
    """A network with two hidden layers on a part of the pool, scored on that, `cal` and `test`.

    options: more of `training.trial`.
    """
    learn, splits = part(size, fraction, seed), digits(size, seed)
    return training.trial(
        NETWORK,
        learn,
        {"train": learn, "cal": splits.calibration, "test": splits.test},
        seed=seed,
        epochs=size.epochs if epochs is None else epochs,
        batch_size=batch_size,
        **options,
    )


def spent(
    size: scale.Budget, labels: int, kept: int, seed: int, batch_size: int = BATCH
) -> training.Trial:
    """Trained on labels - kept images of a seed's pool, scored on the `kept` ones and on `test`.

    With none kept the images are those of `trial` for as large a fraction.

    Raises ValueError where nothing is left to train on, or the pool has too few images.
    """
    if not 0 <= kept < labels <= size.train:
        raise ValueError(
            f"kept and labels must be 0 <= kept < labels <= {size.train}, got {kept} and {labels}"
        )
    images, splits = part(size, labels / size.train, seed), digits(size, seed)
    order = torch.randperm(labels, generator=torch.Generator().manual_seed(seed))
    learn = images[order[kept:].sort().values]
    score = {"train": learn, "cal": splits.calibration, "test": splits.test}
    score |= {"kept": images[order[:kept].sort().values]} if kept else {}
    return training.trial(
        NETWORK, learn, score, seed=seed, epochs=size.epochs, batch_size=batch_size
    )


# --- images changed at random ---------------------------------------------------------------------


def shift(images: Tensor, generator) -> Tensor:
    """Padded by one pixel and cropped back at random."""
    return augmentation.crop_flip(images, padding=1, flip=False, generator=generator)


def add_noise(images: Tensor, generator, strength: float = NOISE) -> Tensor:
    noise = torch.randn(images.shape, generator=generator, device=images.device)
    return images + strength * noise


def flip(images: Tensor, generator) -> Tensor:
    """Left and right changed, or not."""
    return augmentation.crop_flip(images, padding=0, flip=True, generator=generator)


def shift_and_noise(images: Tensor, generator) -> Tensor:
    return add_noise(shift(images, generator), generator)


CHANGES: dict[str, Callable[[Tensor, torch.Generator], Tensor]] = {
    "shift": shift,
    "added noise": add_noise,
    "flip": flip,
    "fresh noise": add_noise,
    "shift and fresh noise": shift_and_noise,
}
FRESH = ("fresh noise", "shift and fresh noise")  # these begin with the clean originals


@functools.cache
def clean(size: scale.Budget, seed: int) -> data.Dataset:
    """The training digits of the seed (almost) without noise."""
    return data.noisy_digits(size.train, noise=1e-6, seed=seed, calibration=1, test=1).train


def augmented(size: scale.Budget, way: str, seed: int) -> training.Trial:
    """Trained on the whole pool, each image changed anew each time it is shown."""
    splits = digits(size, seed)
    learn = clean(size, seed) if way in FRESH else splits.train
    return training.trial(
        NETWORK,
        learn,
        {"cal": splits.calibration, "test": splits.test},
        seed=seed,
        epochs=size.epochs,
        augment=CHANGES[way],
    )
