"""Four architectures on noisy digits, few and many, whose pixels may be exchanged.

What the evidence of lesson 04 compares, each at its own settings, is `study.contests`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn

from calibkit.course import scale
from calibkit.lab import data, models, training

K = 10
KINDS = ("attention", "Mixer", "convolution", "dense")  # the slowest first
WIDTHS = {"small": 8, "large": 32}
PLACES = ("few", "usual", "many")  # numbers of training images
NOISE = 0.4
NOISES = (0.5, 0.6, 0.7)  # of shifted test images
BATCH = 125


def images(size: scale.Budget) -> dict[str, int]:
    """The numbers of training images, by name.

    >>> images(scale.budget("laptop"))
    {'few': 250, 'usual': 1500, 'many': 6000}
    """
    return dict(zip(PLACES, (size.train // 6, size.train, 4 * size.train), strict=True))


def steps(size: scale.Budget) -> int:
    """Of every training, whatever its number of images."""
    return 192 if size.epochs >= 60 else 8


def epochs(size: scale.Budget, n: int) -> int:
    """Passes over n images that come nearest to `steps`."""
    return max(1, round(steps(size) / math.ceil(n / BATCH)))


def network(kind: str, width: int) -> Callable[[], nn.Module]:
    """What makes a network for images of 8 x 8 pixels.

    kind: one of `KINDS`. Raises ValueError for another one.
    """
    patches = {"size": 8, "patch": 4, "width": width, "depth": 2, "hidden": 2 * width}
    if kind == "attention":
        return functools.partial(models.vit, 1, K, heads=2, **patches)
    if kind == "Mixer":
        return functools.partial(models.mlp_mixer, 1, K, tokens=16, **patches)
    if kind == "convolution":
        return functools.partial(models.cnn, 1, K, width=width, depth=3)
    if kind == "dense":
        return functools.partial(models.mlp, 64, K, width=4 * width)
    raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")


# --- digits ---------------------------------------------------------------------------------------


@functools.cache
def digits(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(images(size)["many"], noise=NOISE, seed=seed, test=2 * size.test // 5)


@functools.cache
def noisier(size: scale.Budget, seed: int) -> dict[str, data.Dataset]:
    """New images with more noise than those of the training, as noise 0.5 and so on."""
    n = 3 * size.test // 20
    return {f"noise {noise}": data.NoisyDigits(noise).draw(n, seed=2000 + seed) for noise in NOISES}


def exchanged(part: data.Dataset) -> data.Dataset:
    """The same images with their pixels exchanged, in all of them in the same way.

    The exact posterior of each stays what it was.
    """
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
    inputs = part.inputs.flatten(1)[:, order].view(part.inputs.shape)
    return replace(part, inputs=inputs, source=None)


# --- trainings ------------------------------------------------------------------------------------


def trial(
    size: scale.Budget,
    kind: str,
    width: int,
    place: str,
    pixels: str,
    rate: float,
    decay: float,
    seed: int,
    *,
    shifted: bool = False,
) -> training.Trial:
    """A network scored on `train`, `cal` and `test`, and with `shifted` on `noisier` images.

    place: one of `PLACES`. AdamW with one-cycle rates: up for 30 % of the steps, then down to 0.
    """
    splits = digits(size, seed)
    learn = splits.train[: images(size)[place]]
    score = {"train": learn, "cal": splits.calibration, "test": splits.test}
    if shifted:
        score |= noisier(size, seed)
    if pixels == "exchanged":
        learn, score = exchanged(learn), {name: exchanged(part) for name, part in score.items()}
    passes = epochs(size, len(learn))
    return training.trial(
        network(kind, width),
        learn,
        score,
        seed=seed,
        epochs=passes,
        batch_size=BATCH,
        optimizer="adamw",
        lr=rate,
        weight_decay=decay,
        schedule="cosine",
        warmup=0.3 * passes,
    )
