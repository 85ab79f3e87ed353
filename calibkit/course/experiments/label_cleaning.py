"""The training labels of lesson 17, 30 % of them shuffled, and networks trained without some."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property

import torch
from torch import Tensor

from calibkit import curation, metrics
from calibkit.course import scale
from calibkit.lab import data, models, sweep, training
from calibkit.lab.sweep import Outcome

WRONG = 0.3  # share of the training labels that is shuffled
FOLDS = 5
SUSPECT = 0.05  # below this probability of its label an image is a suspect
WAYS = ("nothing", "at random", "suspects", "wrong labels")


class Cleaning:
    """Digits with noisy labels, judged by networks that have not seen them, and trained on again.

    size: how many images and epochs; seeds: of the images, of their labels and of the trainings.
    """

    def __init__(
        self, size: scale.Budget, seeds: Sequence[int], device: str | torch.device = "cpu"
    ):
        self.size, self.seeds, self.device = size, list(seeds), device
        self.digits = cache(self._digits)
        self.suspects = cache(self._suspects)

    def _digits(self, seed: int) -> data.Splits:
        return data.noisy_digits(self.size.train, noise=0.4, seed=seed, test=self.size.test)

    def given(self, seed: int) -> curation.Noisy:
        """The training labels, 30 % of them shuffled, and which."""
        clean = self.digits(seed).train.labels
        return curation.symmetric_noise(clean, WRONG, classes=10, seed=seed)

    def fold(self, seed: int) -> Tensor:
        """(n,) the fold of each training image."""
        generator = torch.Generator().manual_seed(seed)
        return torch.randperm(self.size.train, generator=generator) % FOLDS

    @cached_property
    def _folds(self) -> sweep.Sweep:
        def recipe(part: int, seed: int) -> training.Trial:
            learn = self.digits(seed).train.with_labels(self.given(seed).labels)
            out = self.fold(seed) == part
            return self._trial(learn[~out], {"out": learn[out]}, seed, self.size.epochs // 6)

        return sweep.run(recipe, {"part": range(FOLDS), "seed": self.seeds}, device=self.device)

    def out_of_fold(self, seed: int) -> Tensor:
        """Logits (n, 10) of every training image, by a network that has not seen it."""
        logits = torch.empty(self.size.train, 10)
        for part in range(FOLDS):
            outcome = self._folds.one(part=part, seed=seed)
            logits[self.fold(seed) == part] = outcome.predictions["out"].logits.cpu()
        return logits

    def _suspects(self, seed: int) -> Tensor:
        """Indices of the training images whose label gets a probability below 0.05."""
        probs = self.out_of_fold(seed).softmax(dim=1)
        return (probs[range(self.size.train), self.given(seed).labels] < SUSPECT).nonzero()[:, 0]

    def is_wrong(self, index: Tensor, seed: int) -> Tensor:
        """Whether the label of each training image named is wrong."""
        return torch.isin(index, self.given(seed).changed)

    def removed(self, way: str, seed: int) -> Tensor:
        """Indices of the training images that one of `WAYS` leaves out."""
        if way == "at random":
            generator = torch.Generator().manual_seed(seed + 99)
            order = torch.randperm(self.size.train, generator=generator)
            return order[: len(self.suspects(seed))]
        if way == "suspects":
            return self.suspects(seed)
        none = torch.empty(0, dtype=torch.long)
        return {"nothing": none, "wrong labels": self.given(seed).changed}[way]

    @cached_property
    def curated(self) -> sweep.Sweep:
        """A network for each way and seed, with its exact error and its ECE on noisy labels."""

        def recipe(removed: str, seed: int) -> training.Trial:
            train, _, test = self.digits(seed)
            keep = torch.ones(len(train), dtype=torch.bool)
            keep[self.removed(removed, seed)] = False
            learn = train.with_labels(self.given(seed).labels)[keep]
            return self._trial(learn, {"test": test}, seed, self.size.epochs)

        result = sweep.run(recipe, {"removed": WAYS, "seed": self.seeds}, device=self.device)
        result.measure("true error", _exact_error)
        return result.measure("ECE, noisy test labels", _by_noisy_labels)

    def change(self, column: str, way: str, control: str):
        """What removing one set of images does to a column, against another, seed by seed."""
        return self.curated.difference(column, {"removed": way}, {"removed": control})

    def _trial(self, learn: data.Dataset, scored: dict, seed: int, epochs: int) -> training.Trial:
        return training.trial(lambda: models.mlp(64, 10), learn, scored, seed=seed, epochs=epochs)


def _exact_error(outcome: Outcome) -> float:
    test = outcome.predictions["test"]
    return metrics.true_calibration_error(test.probs, test.posterior)


def _by_noisy_labels(outcome: Outcome) -> float:
    test, seed = outcome.predictions["test"], outcome.setting["seed"]
    noisy = curation.symmetric_noise(test.labels, WRONG, classes=10, seed=seed + 50)
    return metrics.ece(test.probs, noisy.labels)
