"""Everything that decides one training, as a value: the settings, the network and the data."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, TypedDict, Unpack, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit import devices, validate
from calibkit.lab.data.dataset import Dataset
from calibkit.lab.training.device import own_randomness, seed_globally
from calibkit.lab.training.stacking import Form, form_of
from calibkit.prioritization import Selection

CPU = torch.device("cpu")
Optimizer = Literal["sgd", "adamw"]
Schedule = Literal["step", "cosine", "constant"]


@dataclass(frozen=True)
class Recipe:
    """The settings of one training.

    loss: maps logits (b, K) and labels (b,), or soft labels (b, K) under `mix`, to a scalar. A
        loss that changes with the epoch has a method `at(epoch, epochs)` that returns the loss of
        that epoch, counted from 0 (`losses.ScheduledFocal`). A setting of the loss is bound by
        `functools.partial(losses.focal, gamma=2.0)`; tensors that are bound so, or that a module
        holds, move to the device of the training, once. What a function holds in its closure does
        not.
    epochs, batch_size, weight_decay: as everywhere.
    optimizer: "sgd" with `momentum`, or "adamw" (betas .9 and .999, eps 1e-8, decoupled weight
        decay; `momentum` plays no part).
    lr: the highest learning rate.
    warmup: epochs (or a part of one) in which the rate first rises from 0 in a straight line.
    schedule: what it does then. "step" divides by 10 at each of `milestones`, fractions of the
        epochs; "cosine" falls to 0 along half a cosine, step by step ("one-cycle" after a warm-up
        of some 30 % of the epochs); "constant" stays.
    augment: maps images (b, c, h, w) and `generator=` to images, batch by batch
        (`augmentation.crop_flip`).
    mix: maps inputs, labels, `classes=` and `generator=` to inputs and soft labels
        (`functools.partial(mixing.mixup, alpha=0.2)`).
    select: which samples an epoch trains on (`prioritization.MaxEntropy`, `MaxLoss`, `RandomPart`);
        None takes all.
    autocast: bfloat16 where torch holds it safe; pays on a GPU, costs on most CPUs.

    Raises ValueError or TypeError that names the setting.

    >>> Recipe(epochs=4).lr
    0.1
    """

    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    epochs: int = 60
    batch_size: int = 128
    optimizer: Optimizer = "sgd"
    lr: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 1e-4
    schedule: Schedule = "step"
    milestones: tuple[float, ...] = (0.5, 0.75)
    warmup: float = 0.0
    augment: Callable[..., Tensor] | None = None
    mix: Callable[..., tuple[Tensor, Tensor]] | None = None
    select: Selection | None = None
    autocast: bool = False

    def __post_init__(self) -> None:
        validate.integer("epochs", self.epochs, 1)
        validate.integer("batch_size", self.batch_size, 1)
        validate.choice("optimizer", self.optimizer, get_args(Optimizer))
        validate.number("lr", self.lr, 0, math.inf, open_low=True, open_high=True)
        validate.number("momentum", self.momentum, 0, 1, open_high=True)
        validate.number("weight_decay", self.weight_decay, 0, math.inf, open_high=True)
        validate.choice("schedule", self.schedule, get_args(Schedule))
        validate.number("warmup", self.warmup, 0, self.epochs, open_high=True)
        for milestone in self.milestones:
            validate.fraction("milestones", milestone)
        object.__setattr__(self, "milestones", tuple(self.milestones))
        if not (self.select is None or isinstance(self.select, Selection)):
            name = type(self.select).__name__
            raise TypeError(f"select must be a prioritization.Selection, got {name}")
        for name in ("loss", "augment", "mix"):
            value = getattr(self, name)
            if not callable(value) and not (value is None and name != "loss"):
                raise TypeError(f"{name} must be a function, got {type(value).__name__}")

    def rate(self, done: float) -> float:
        """Learning rate after `done` epochs, a fraction within an epoch.

        >>> [round(Recipe(epochs=4, lr=1.0).rate(done), 2) for done in range(4)]
        [1.0, 1.0, 0.1, 0.01]
        """
        if done < self.warmup:
            return self.lr * done / self.warmup
        if self.schedule == "cosine":
            part = (done - self.warmup) / (self.epochs - self.warmup)
            return self.lr * (1 + math.cos(math.pi * part)) / 2
        if self.schedule == "step":
            # 1e-9: 150 / 350 * 350 is meant to be 150, whatever rounding says
            steps = [max(1, int(share * self.epochs + 1e-9)) for share in self.milestones]
            return self.lr * 0.1 ** sum(done >= step for step in steps)
        return self.lr

    def rate_of_step(self, epoch: int, step: int, steps: int) -> float:
        """Learning rate of one of the `steps` of an epoch, both counted from 0.

        It changes within the epoch only where the schedule or the warm-up asks for it.
        """
        smooth = self.schedule == "cosine" or self.warmup > 0
        return self.rate(epoch + (step + 1) / steps if smooth else epoch)

    def loss_at(self, epoch: int) -> Callable[[Tensor, Tensor], Tensor]:
        """The loss of an epoch, counted from 0."""
        return self.loss.at(epoch, self.epochs) if hasattr(self.loss, "at") else self.loss


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
    train: Dataset = field(repr=False)
    score: Mapping[str, Dataset] = field(default_factory=dict, repr=False)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    watch: Mapping[str, Dataset] = field(default_factory=dict, repr=False)
    keep: tuple[str, ...] = ()
    gradients: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.model, nn.Module) or not callable(self.model):
            raise TypeError(
                f"model must be a function that builds one, got {type(self.model).__name__}; "
                "write lambda: models.mlp(64, 10)"
            )
        if not isinstance(self.train, Dataset):
            raise TypeError(
                f"train must be a Dataset, got {type(self.train).__name__}; "
                "write data.Dataset(inputs, labels, class_names)"
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

        Call it within `own_randomness`.
        """
        seed_globally(self.seed, device)
        network = copy.deepcopy(self.model())
        if not isinstance(network, nn.Module):
            raise TypeError(f"model must build a network, got {type(network).__name__}")
        if "architecture" not in vars(self):  # so that none is built for it alone
            vars(self)["architecture"] = form_of(network)
        return network.to(device)

    def on_cpu(self) -> Trial:
        """The same with its data, and what its loss is bound to, on the CPU."""
        score, watch = (
            {name: data.to(CPU) for name, data in datasets.items()}
            for datasets in (self.score, self.watch)
        )
        recipe = replace(self.recipe, loss=devices.moved(self.recipe.loss, CPU))
        return replace(self, train=self.train.to(CPU), score=score, watch=watch, recipe=recipe)

    def untrained(self) -> tuple[nn.Module, Tensor]:
        """The network as it is built on the CPU, and the random state that this leaves."""
        with own_randomness(CPU):
            return self.network(), torch.get_rng_state()

    @cached_property
    def architecture(self) -> Form | None:
        """What of the network its stack must share; None where it cannot be stacked."""
        return form_of(self.untrained()[0])

    @cached_property
    def shape(self) -> tuple | None:
        """What trials must share to be trained as one stack; None for one that cannot be.

        Seeds, data, loss and augmentation may differ, and how a run mixes; but mixed runs have
        soft labels, so that all mix or none does. What a selection takes may differ, but not how
        much of the data, nor from which epoch on.
        """
        if self.architecture is None or self.recipe.autocast:
            return None
        select = self.recipe.select
        return (
            self.architecture,
            replace(self.recipe, loss=Recipe.loss, augment=None, mix=None, select=None),
            self.recipe.mix is None,
            None if select is None else (select.share, select.warmup),
            self.train.inputs.shape,
            self.train.num_classes,
            tuple((name, len(dataset)) for name, dataset in self.watch.items()),
            self.keep,
            self.gradients,
        )

    def parts(self) -> dict[str, Any]:
        """All that decides the run but the built network; of data what a training sees of it."""

        def seen(data: Dataset) -> tuple:
            return data.inputs, data.labels, data.num_classes

        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        parts |= {**vars(self.recipe), "recipe": type(self.recipe), "train": seen(self.train)}
        for name in ("score", "watch"):
            parts[name] = [(key, seen(data)) for key, data in sorted(parts[name].items())]
        return parts


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
    given: Mapping[str, Any] = options
    settings = {name: value for name, value in given.items() if name in names}
    changes = {name: value for name, value in given.items() if name not in names}
    return Trial(model, train, score or {}, replace(recipe or Recipe(), **changes), **settings)
