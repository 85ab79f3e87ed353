"""Everything that decides one training, as a value."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TypedDict, Unpack

import torch
from torch import Tensor, nn

from calibkit import validate
from calibkit.lab.data import Dataset
from calibkit.lab.training import process
from calibkit.lab.training.recipe import Optimizer, Recipe, Schedule
from calibkit.lab.training.stacking import form_of
from calibkit.prioritization import Selection

CPU = torch.device("cpu")


@dataclass(frozen=True)
class Trial:
    """One training that is still to be run.

    model: a function without arguments that builds the network, called under `seed`, so that the
        initial weights belong to the seed; a network that it hands out twice is trained as a copy.
    train: what it learns from.
    score: datasets whose predictions are wanted at the end, by name.
    recipe: the settings.
    watch: datasets to score after every epoch, by the name their history columns start with.
    keep: names of watched datasets whose logits are kept, epoch by epoch.
    gradients: keep the norm of the last layer's weight gradient, batch by batch.

    Raises ValueError or TypeError naming the argument.
    """

    model: Callable[[], nn.Module]
    train: Dataset
    score: Mapping[str, Dataset] = field(default_factory=dict)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    watch: Mapping[str, Dataset] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    gradients: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.model, nn.Module) or not callable(self.model):
            raise TypeError(
                f"model must be a function that builds one, got {type(self.model).__name__}; "
                "write lambda: models.mlp(64, 10)"
            )
        for name in ("score", "watch"):
            datasets = dict(getattr(self, name) or {})
            if not all(isinstance(dataset, Dataset) for dataset in datasets.values()):
                raise TypeError(f"{name} must map names to datasets, got {datasets!r}")
            object.__setattr__(self, name, datasets)
        for name in self.keep:
            validate.choice("keep", name, tuple(self.watch))
        object.__setattr__(self, "keep", tuple(self.keep))
        object.__setattr__(self, "seed", validate.integer("seed", self.seed, 0))

    def network(self, device: torch.device = CPU) -> nn.Module:
        """The untrained network on the device, after seeding the global random state.

        Call it within `process.own_randomness`.
        """
        process.seed_globally(self.seed, device)
        network = copy.deepcopy(self.model())
        if not isinstance(network, nn.Module):
            raise TypeError(f"model must build a network, got {type(network).__name__}")
        return network.to(device)

    @cached_property
    def shape(self) -> tuple | None:
        """What trials must share to be trained as one stack; None for one that cannot be.

        Seeds, data, loss and augmentation may differ, and how a run mixes; but mixed runs have
        soft labels, so that all mix or none does. What a selection takes may differ, but not how
        much of the data, nor from which epoch on.
        """
        with process.own_randomness(CPU):
            form = form_of(self.network())
        if form is None or self.recipe.autocast:
            return None
        select = self.recipe.select
        return (
            form,
            replace(self.recipe, loss=Recipe.loss, augment=None, mix=None, select=None),
            self.recipe.mix is None,
            None if select is None else (select.share, select.warmup),
            self.train.inputs.shape,
            self.train.num_classes,
            tuple((name, len(dataset)) for name, dataset in self.watch.items()),
            self.keep,
            self.gradients,
        )


class Options(TypedDict, total=False):
    """The keywords of `trial`, for type checkers: fields of a `Trial`, and of its `Recipe`."""

    seed: int
    watch: Mapping[str, Dataset]
    keep: tuple[str, ...]
    gradients: bool
    loss: Callable[..., Tensor]
    epochs: int
    batch_size: int
    optimizer: Optimizer
    lr: float
    momentum: float
    weight_decay: float
    schedule: Schedule
    milestones: tuple[float, ...]
    warmup: float
    augment: Callable[..., Tensor] | None
    mix: Callable[..., tuple[Tensor, Tensor]] | None
    select: Selection | None
    autocast: bool


class FitOptions(Options, total=False):
    """The keywords of `fit`."""

    score: Mapping[str, Dataset]


def trial(
    model: Callable[[], nn.Module],
    train: Dataset,
    score: Mapping[str, Dataset] | None = None,
    recipe: Recipe | None = None,
    **options: Unpack[Options],
) -> Trial:
    """A `Trial`; `options` are its other fields, or changes to the recipe.

    >>> from calibkit.lab import data, models
    >>> train, _, test = data.noisy_digits(300)
    >>> made = trial(lambda: models.mlp(64, 10), train, {"test": test}, seed=3, epochs=5)
    >>> made.seed, made.recipe.epochs
    (3, 5)
    """
    names = {f.name for f in fields(Trial)}
    own = {name: value for name, value in options.items() if name in names}
    changes = {name: value for name, value in options.items() if name not in names}
    return Trial(model, train, score or {}, replace(recipe or Recipe(), **changes), **own)
