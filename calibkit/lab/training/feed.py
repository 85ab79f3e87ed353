"""The batches of one run: shuffled, augmented and mixed, each draw belonging to its seed."""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit import validate
from calibkit.lab.data import Dataset
from calibkit.lab.training.recipe import Recipe


class Feed:
    """Batches of one run."""

    def __init__(self, train: Dataset, recipe: Recipe, seed: int):
        self.train, self.recipe = train, recipe
        self.order = validate.generator(seed)
        self.changes = validate.generator(seed, train.device)  # augmentation and mixing

    def epoch(self, chosen: Tensor | None = None) -> list[Tensor]:
        """Index tensors of one shuffled pass over all samples, or over the `chosen` ones.

        The last may be short; a single sample joins the batch before it, as batch norm cannot
        train on one.
        """
        n = len(self.train) if chosen is None else len(chosen)
        order = torch.randperm(n, generator=self.order).to(self.train.device)
        parts = list((order if chosen is None else chosen[order]).split(self.recipe.batch_size))
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts[-2:] = [torch.cat(parts[-2:])]
        return parts

    def batch(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs and targets as the model meets them, and the labels as they stand."""
        inputs, labels = (t.index_select(0, index) for t in (self.train.inputs, self.train.labels))
        if self.recipe.augment is not None:
            inputs = self.recipe.augment(inputs, generator=self.changes)
        if self.recipe.mix is None:
            return inputs, labels, labels
        mixed = self.recipe.mix(
            inputs, labels, classes=self.train.num_classes, generator=self.changes
        )
        return *mixed, labels
