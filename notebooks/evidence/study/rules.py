"""Rules that choose a part of the images for each epoch, for the evidence of lesson 14."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import choices
from calibkit.lab import data, training
from calibkit.prioritization import MaxEntropy, Selection

RULES = (
    "random",
    "entropy",
    "loss",
    "elsewhere",
    "doubtful half",
    "error",
    "lowest entropy",
    "reducible",
    "most to learn",
)


@dataclass(frozen=True)
class MinEntropy(Selection):
    """Takes the samples of lowest entropy: those that the network finds clear."""

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        return -metrics.entropy(logits.softmax(dim=1))


@dataclass(frozen=True)
class MaxError(Selection):
    """Takes the samples whose probabilities lie farthest from the label, by Euclidean distance.

    Source: Paul et al. 2021, EL2N (there once, early in the training).
    """

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        target = nn.functional.one_hot(labels, logits.shape[1])
        return (logits.softmax(dim=1) - target).norm(dim=1)


@dataclass(frozen=True, kw_only=True)
class Doubtful(Selection):
    """Takes a random part of the half of the samples whose exact posterior has the highest entropy.

    posterior: (n, K), the exact one. Blind to the labels and to the network.
    """

    posterior: Tensor

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        entropy = metrics.entropy(self.posterior)
        chance = torch.rand(len(logits), generator=generator)
        return chance + (entropy > entropy.median())


@dataclass(frozen=True, kw_only=True)
class MostToLearn(Selection):
    """Takes the samples on which the network is farthest (by KL) from the exact posterior.

    posterior: (n, K). The loss that is left to learn, in the mean over labels; blind to the labels.
    """

    posterior: Tensor

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        exact = self.posterior.to(logits.device, logits.dtype)
        return -metrics.entropy(exact) - (exact * logits.log_softmax(dim=1)).sum(dim=1)


@dataclass(frozen=True, kw_only=True)
class Reducible(Selection):
    """Takes the samples whose loss exceeds most what another network loses on them.

    other: (n,) losses of a network that was trained on other images.

    Source: Mindermann et al. 2022, RHO-LOSS.
    """

    other: Tensor

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        loss = nn.functional.cross_entropy(logits, labels, reduction="none")
        return loss - self.other.to(loss.device, loss.dtype)


@functools.cache
def elsewhere(size: scale.Budget, noise: float, seed: int) -> Tensor:
    """Logits (epochs, n, K) on the seed's training images of a network trained on other images."""
    own = choices.digits(size, noise, seed).train
    other = data.noisy_digits(size.train, noise, seed + 5000, test=1).train
    one = training.trial(
        choices.NETWORK,
        other,
        {},
        seed=seed,
        epochs=choices.epochs(size),
        weight_decay=1e-2,
        watch={"own": own},
        keep=("own",),
        **choices.OPTIMIZER,
    )
    return training.train_trials([one], device="cpu", progress=False)[0].logits["own"]


def rule(size: scale.Budget, name: str, share: float, noise: float, seed: int) -> Selection:
    """One of `RULES`.

    "elsewhere": by the entropy of a network trained on other images, after the same epoch.

    Raises ValueError for another name.
    """
    options: dict[str, Any] = {"share": share, "warmup": choices.warmup(size)}
    kinds = choices.RULES | {"error": MaxError, "lowest entropy": MinEntropy}
    if name in kinds:
        return kinds[name](**options)
    train = choices.digits(size, noise, seed).train
    assert train.posterior is not None  # noisy digits have one
    if name == "elsewhere":
        return MaxEntropy(**options, target=elsewhere(size, noise, seed))
    if name == "doubtful half":
        return Doubtful(**options, posterior=train.posterior)
    if name == "most to learn":
        return MostToLearn(**options, posterior=train.posterior)
    if name == "reducible":
        last = elsewhere(size, noise, seed)[-1]
        return Reducible(
            **options, other=nn.functional.cross_entropy(last, train.labels, reduction="none")
        )
    raise ValueError(f"name must be one of {', '.join(RULES)}, got {name!r}")
