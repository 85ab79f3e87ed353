"""Rules that choose a part of the images for each epoch, and networks on what they chose."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.course.experiments.ways import changes as cure
from calibkit.lab import data, models, sweep, training
from calibkit.prioritization import MaxEntropy, MaxLoss, RandomPart, Selection

K = 10
NETWORK = functools.partial(models.mlp, 64, K, width=64)
OPTIMIZER: dict[str, Any] = {"batch_size": 50, "lr": 0.05, "schedule": "cosine"}
DECAY = 5e-4  # the usual one, where none was chosen
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


def epochs(size: scale.Budget) -> int:
    return 2 * size.epochs // 3


def warmup(size: scale.Budget) -> int:
    """Epochs on all images, before there is anything to choose by."""
    return max(1, size.epochs // 30)


# --- rules ----------------------------------------------------------------------------------------


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


# --- networks -------------------------------------------------------------------------------------


@functools.cache
def digits(size: scale.Budget, noise: float, seed: int) -> data.Splits:
    return data.noisy_digits(size.train, noise, seed, test=size.test)


@functools.cache
def elsewhere(size: scale.Budget, noise: float, seed: int) -> Tensor:
    """Logits (epochs, n, K) on the seed's training images of a network trained on other images."""
    own = digits(size, noise, seed).train
    other = data.noisy_digits(size.train, noise, seed + 5000, test=1).train
    one = training.trial(
        NETWORK,
        other,
        {},
        seed=seed,
        epochs=epochs(size),
        weight_decay=1e-2,
        watch={"own": own},
        keep=("own",),
        **OPTIMIZER,
    )
    return training.train_trials([one], device="cpu", progress=False)[0].logits["own"]


def rule(size: scale.Budget, name: str, share: float, noise: float, seed: int) -> Selection:
    """One of `RULES`.

    "elsewhere": by the entropy of a network trained on other images, after the same epoch.

    Raises ValueError for another name.
    """
    options: dict[str, Any] = {"share": share, "warmup": warmup(size)}
    kinds = {
        "random": RandomPart,
        "entropy": MaxEntropy,
        "loss": MaxLoss,
        "error": MaxError,
        "lowest entropy": MinEntropy,
    }
    if name in kinds:
        return kinds[name](**options)
    train = digits(size, noise, seed).train
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


def trial(
    size: scale.Budget,
    choice: str,
    share: float,
    seed: int,
    *,
    noise: float = 0.4,
    way: str = "cross-entropy",
    strength: float = 0.0,
    decay: float = DECAY,
    **changes: Any,
) -> training.Trial:
    """A small network on what a rule chooses, scored on `train`, `cal` and `test`.

    share: 1 for all images, whatever the rule. changes: as `training.trial` takes them.
    """
    train, cal, test = digits(size, noise, seed)
    select = None if share == 1 else rule(size, choice, share, noise, seed)
    options = {"epochs": epochs(size), "select": select, **OPTIMIZER, **cure(way, strength)}
    return training.trial(
        NETWORK,
        train,
        {"train": train, "cal": cal, "test": test},
        seed=seed,
        weight_decay=decay,
        **(options | changes),
    )


def measured(done: sweep.Sweep) -> sweep.Sweep:
    """Adds the temperature of each run's `cal` (T), and ECE and NLL on `test` after it."""
    rows = []
    for one in done.outcomes:
        test, scaler = one.predictions["test"], strengths.temperature(one)
        probs = scaler.probs(test.logits)
        after = {"scaled_ece": metrics.ece(probs, test.labels)}
        after |= {"scaled_nll": metrics.nll(probs, test.labels)}
        rows.append({"T": scaler.temperature, **after})
    done.table[list(rows[0])] = pd.DataFrame(rows, index=done.table.index)
    return done
