"""Photographs: by which networks and settings they are trained on, and what networks are shown."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from calibkit import augmentation, corruptions, metrics, validate
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Splits
from calibkit.lab.training import Recipe, Trial
from calibkit.lab.training.device import bfloat16_on_cpu
from study import classifiers
from study.experiment import Experiment, Measured, Task

DEPTHS = (2, 4, 8)  # convolutions, of equal width
NETWORKS: dict[str, Callable[..., nn.Module]] = {  # from channels and classes to a model
    "LeNet-5": models.lenet5,
    "ConvNet-6": functools.partial(models.convnet, width=6),
    "ConvNet-12": functools.partial(models.convnet, width=12),
    "ConvNet-24": models.convnet,
    **{f"CNN-{n}": functools.partial(models.cnn, width=48, depth=n, norm="batch") for n in DEPTHS},
    "CNN-4, no norm": functools.partial(models.cnn, width=48, depth=4),
    "ResNet-8": functools.partial(models.resnet, 8),
    "ResNet-18": models.resnet18,
    "ResNet-34": models.resnet34,
    "ResNet-50": models.resnet50,
    "ResNet-110": functools.partial(models.resnet, 110),
    "WRN-26-10": functools.partial(models.wide_resnet, 26, 10),
    "DenseNet-121": models.densenet121,
    "ViT": functools.partial(models.vit, width=64, depth=4, hidden=128),
    "MLP-Mixer": functools.partial(models.mlp_mixer, width=96, depth=4, hidden=192),
}
SIZED = ("LeNet-5", "ViT", "MLP-Mixer")  # these are built for one size of images
DEEP = "the deep network"  # the one that the scale's setting names
Statistics = tuple[Tensor, Tensor]  # mean and standard deviation of each channel
BY_TARGET = torch.zeros(1, 1, 1)  # in a `select`: the target's logits take its place


@dataclass(frozen=True)
class Setting:
    """How one scale trains on photographs.

    network: a name in `NETWORKS`.
    train, calibration, test: images; None stands for all that are left, or for the dataset's own
        test set. A number of test images is cut from the training images.
    """

    network: str
    recipe: Recipe
    train: int | None
    calibration: int
    test: int | None
    seeds: int


CROPS = augmentation.crop_flip
# small batches and no augmentation, so that 25 epochs go far in learning the images by heart
SHORT = Recipe(epochs=25, batch_size=32, lr=0.05)
# full size for a laptop left alone; no augmentation here either, so that over-confidence shows
NIGHT = Recipe(epochs=15, schedule="cosine", weight_decay=5e-4, autocast=bfloat16_on_cpu())
LARGE = Recipe(epochs=30, augment=CROPS, autocast=True)
SETTINGS = {
    "laptop": Setting("ResNet-8", SHORT, 2_500, 1_000, 5_000, 3),
    "night": Setting("ConvNet-24", NIGHT, 40_000, 5_000, 5_000, 3),
    "gpu": Setting("ResNet-18", LARGE, None, 5_000, None, 3),
    "paper": Setting("ResNet-50", Recipe(epochs=160, augment=CROPS), None, 5_000, None, 5),
}
HALF: dict[Any, dict] = {"night": {"train": 20_000}}  # where all images would take too many nights


@dataclass(frozen=True, kw_only=True)
class Photographs(Experiment):
    """An experiment on a prepared dataset of photographs.

    people: the split of CIFAR-10N whose labels a value trains on, for those that train on labels
        given by people; calibration and test images keep the true ones.
    shows: from test images, a value and the channels' statistics to datasets by name that the
        trained network is shown too, "test" in place of the test images.
    strangers: from a dataset to another one, whose test images the trained networks are shown too,
        as "elsewhere", on the scale of the first.
    one_network: whether a seed has one network for all values, which differ in what it is shown.
    target: by scale, what is changed in the training of a network that is trained first in each
        seed. It chooses an epoch's images, after as many epochs as the trained one has had, where a
        value's `select` has `BY_TARGET`.
    measures: from an outcome and its row to more columns of the table.
    """

    dataset: str = "cifar10"
    setting_changes: Mapping[Any, Mapping[str, Any]] = field(default_factory=lambda: HALF)
    people: Mapping[Any, str] = field(default_factory=dict)
    shows: Callable[[Dataset, Any, Statistics], dict[str, Dataset]] | None = None
    strangers: Mapping[str, str] = field(default_factory=dict)
    one_network: bool = False
    target: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    measures: Callable[[sweep.Outcome, dict[str, float]], dict[str, float]] | None = None

    settings = SETTINGS
    default_dataset = "cifar10"
    options = ("dataset", "network")

    def prepare(self, task: Task, seed: int) -> tuple[Splits, dict[Any, Tensor], Tensor | None]:
        """What the trainings of a seed share: images, and where an experiment has them by value the
        training labels that people wrote, and the target's logits (epochs, n, K) of the training.
        """
        splits = splits_of(self.dataset, task.setting, seed, task.root)
        if self.strangers:  # what is missing is said before anything is trained
            data.prepared.about(self._stranger(), task.root)
        changes = self.target.get(task.scale)
        target = _target(changes, task, splits, seed) if changes else None
        return splits, self._written(task, splits, seed), target

    def _written(self, task: Task, splits: Splits, seed: int) -> dict[Any, Tensor]:
        """The training labels of values for which people wrote them."""
        if not self.people:
            return {}
        if self.dataset != "cifar10":
            raise ValueError(f"dataset must be 'cifar10' for {self.name!r}, got {self.dataset!r}")

        def written(split: str) -> Tensor:
            return splits_of("cifar10n", task.setting, seed, task.root, split).train.labels

        if not torch.equal(written("clean"), splits.train.labels):
            raise ValueError("the images of cifar10n are not those of cifar10; prepare both again")
        return {value: written(split) for value, split in self.people.items()}

    def run(self, task: Task, prepared: Callable, grid: Sequence[dict], **options: Any) -> Measured:
        """The outcomes of a grid; tables of the runs, and of the epochs of every training."""

        def make_trial(value: Any, seed: int) -> Trial:
            splits, labels, target = prepared(seed)
            if value in labels:
                splits = splits._replace(train=splits.train.with_labels(labels[value]))
            return trial_of(self, task.setting, splits, value, seed, target)

        trained = grid
        if self.one_network:
            trained = [setting for setting in grid if setting["value"] == grid[0]["value"]]
        outcomes = sweep.run(make_trial, trained, device=task.device, **options).outcomes
        epochs = classifiers.epochs(outcomes)
        if self.shows or self.strangers:
            outcomes = self._shown(task, outcomes, grid)
        return outcomes, classifiers.rows(outcomes, self.measures), {"epochs": epochs}

    def _shown(self, task: Task, outcomes: list, grid: Sequence[dict]) -> list[sweep.Outcome]:
        """The outcomes with predictions of the trained networks for what they are shown too."""
        statistics, seen, always = data.channel_statistics(self.dataset, task.root), [], {}
        if self.strangers:
            strange = data.load(self._stranger(), split="test", normalise=False, root=task.root)
            always["elsewhere"] = as_seen(strange, outcomes[0].trial.score["test"], statistics)
        for setting, outcome in zip(grid, itertools.cycle(outcomes), strict=False):
            images = dict(always)
            if self.shows:
                images |= self.shows(outcome.trial.score["test"], setting["value"], statistics)
            trial = replace(outcome.trial, score={**outcome.trial.score, **images})
            state = {name: tensor.to(task.device) for name, tensor in outcome.run.state.items()}
            run = replace(outcome.run, trial=trial, state=state).with_scores()
            seen.append(sweep.Outcome(setting, trial, run))
        return seen

    def _stranger(self) -> str:
        """The dataset from elsewhere; ValueError where there is none."""
        validate.choice("dataset", self.dataset, tuple(self.strangers))
        return self.strangers[self.dataset]


def splits_of(
    dataset: str, setting: Setting, seed: int, root: str | Path | None, train_split: str = "train"
) -> Splits:
    """Training, calibration and test images of a setting."""
    sizes = {"train": setting.train, "calibration": setting.calibration, "test": setting.test}
    own = None if setting.test else "test"
    return data.splits_of(
        dataset, seed, **sizes, train_split=train_split, test_split=own, root=root
    )


def network(name: str, train: Dataset) -> Callable[[], nn.Module]:
    """What builds one of `NETWORKS` for such images."""
    sized = {"size": train.inputs.shape[-1]} if name in SIZED else {}
    return functools.partial(NETWORKS[name], train.inputs.shape[1], train.num_classes, **sized)


def _target(changes: Mapping[str, Any], task: Task, splits: Splits, seed: int) -> Tensor:
    """Logits (epochs, n, K) for the training images, after each epoch of their network's training.

    Its initial weights and its order of images are of another seed.
    """
    one = changed(task.setting, splits, seed + 5000, changes)
    one = replace(one, score={}, watch={"train": splits.train}, keep=("train",))
    return training.train_trials([one], device=task.device, progress=False)[0].logits["train"]


def trial_of(
    experiment: Photographs,
    setting: Setting,
    splits: Splits,
    value: Any,
    seed: int,
    target: Tensor | None = None,
) -> Trial:
    """The training that a value of the grid stands for; the test images are watched."""
    train, changes = experiment.change(splits.train, value, seed)
    return changed(setting, splits._replace(train=train), seed, changes, target)


def changed(
    setting: Setting,
    splits: Splits,
    seed: int,
    changes: Mapping[str, Any],
    target: Tensor | None = None,
) -> Trial:
    """A training of the setting, but for the changes; the test images are watched.

    changes: options of `training.trial`, a `network` by its name, `times` the epochs, and
    `warmup_share` of them. target: what takes the place of `BY_TARGET`.
    """
    train, changes = splits.train, dict(changes)
    epochs = round(setting.recipe.epochs * changes.pop("times", 1))
    if changes.get("select"):  # the source's share of epochs on all images, 10 of 200
        changes["select"] = replace(changes["select"], warmup=max(1, epochs // 20))
        if getattr(changes["select"], "target", None) is BY_TARGET:
            changes["select"] = replace(changes["select"], target=target)
    if "warmup_share" in changes:
        changes["warmup"] = changes.pop("warmup_share") * epochs
    make = network(changes.pop("network", setting.network), train)
    score = {"calibration": splits.calibration, "test": splits.test}
    watch = {"test": splits.test}
    options = {"seed": seed, "watch": watch, "epochs": epochs, **changes}
    return training.trial(make, train, score, setting.recipe, **options)


def corrupted(
    test: Dataset, severity: int, statistics: Statistics, names: Sequence[str] = corruptions.NAMES
) -> Dataset:
    """Images that have one of the corruptions each, in turn; severity 0 has none.

    statistics: mean and standard deviation of each channel, by which the images were normalised.
    """
    if severity == 0:
        return test
    mean, std = (part.to(test.device).view(-1, 1, 1) for part in statistics)
    images = (test.inputs * std + mean).clamp_(0, 1)
    kinds = torch.arange(len(images), device=test.device) % len(names)
    for kind in kinds.unique().tolist():
        chosen, name = kinds == kind, names[kind]
        images[chosen] = corruptions.corrupt(images[chosen], name, severity, generator=severity)
    return replace(test, inputs=(images - mean) / std)


def as_seen(strange: Dataset, test: Dataset, statistics: Statistics) -> Dataset:
    """Images of another dataset, as a network of the test images takes them.

    strange: inputs (n, channels, h, w) in [0, 1]; grey ones become as many channels as the test
        images have, and all as large as these. statistics: as in `corrupted`.
    """
    mean, std = (part.view(-1, 1, 1) for part in statistics)
    _, channels, *size = test.inputs.shape
    images = strange.inputs
    if images.shape[1] == 1:
        images = images.expand(-1, channels, -1, -1)
    if list(images.shape[2:]) != size:
        images = nn.functional.interpolate(images, size=size, mode="bilinear", antialias=True)
    return replace(strange, inputs=((images - mean) / std).to(test.device))


def strange_images(test: Dataset, value: Any, statistics: Statistics) -> dict[str, Dataset]:
    """The test images under Gaussian noise of severity 5, and as many images of noise alone."""
    mean, std = (part.view(-1, 1, 1) for part in statistics)
    n, channels, *size = test.inputs.shape
    noise = corruptions.noise_images(n, size=size, channels=channels, generator=0)
    return {
        "gaussian": corrupted(test, 5, statistics, ("gaussian_noise",)),
        "noise": replace(test, inputs=((noise - mean) / std).to(test.device)),
    }


def on_strange_images(outcome: sweep.Outcome, row: Mapping[str, float]) -> dict[str, float]:
    """Of noisy images, noise alone and images from elsewhere, where a network is shown them.

    AUROC of minus the entropy, against the test images; of elsewhere the share that passes where
    95 % of these do; mean confidence. All as trained and after the temperature.
    """
    columns = {}
    for scaled, temperature in (("", 1.0), ("scaled_", row["temperature"])):
        said = _said(outcome, temperature)
        sure = {name: -metrics.entropy(probs) for name, probs in said.items()}
        for name in {"gaussian", "elsewhere"} & {*said}:
            columns[f"{name}_{scaled}auroc"] = metrics.auroc(sure["test"], sure[name])
        for name in {"noise", "elsewhere"} & {*said}:
            columns[f"{name}_{scaled}confidence"] = said[name].amax(dim=1).mean().item()
        if "elsewhere" in said:
            told = metrics.fpr_at_tpr(sure["test"], sure["elsewhere"])
            columns[f"elsewhere_{scaled}fpr95"] = told
    return {name: columns[name] for name in sorted(columns)}  # in the order of the stored table


def more_measures(outcome: sweep.Outcome, row: Mapping[str, float]) -> dict[str, float]:
    """AdaECE as trained; AdaECE, classwise-ECE and Brier score after the temperature."""
    test, scaled = outcome.predictions["test"], _said(outcome, row["temperature"])["test"]
    return {
        "test_ada_ece": metrics.ada_ece(test.probs, test.labels),
        "scaled_ada_ece": metrics.ada_ece(scaled, test.labels),
        "scaled_classwise_ece": metrics.classwise_ece(scaled, test.labels),
        "scaled_brier": metrics.brier(scaled, test.labels),
    }


def _said(outcome: sweep.Outcome, temperature: float) -> dict[str, Tensor]:
    """Probabilities of all that the network was shown, after the temperature."""
    shown = outcome.predictions.items()
    return {name: (one.logits.double() / temperature).softmax(dim=1) for name, one in shown}
