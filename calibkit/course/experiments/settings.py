"""What each scale of `calibkit.course.scale` trains on photographs, and with which networks."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from calibkit import augmentation, validate
from calibkit.lab import models
from calibkit.lab.training import Recipe
from calibkit.lab.training.device import bfloat16_on_cpu

CROP_FLIP = augmentation.crop_flip
NETWORKS = {  # from channels and classes to a model
    "LeNet-5": models.lenet5,
    "ConvNet-6": functools.partial(models.convnet, width=6),
    "ConvNet-12": functools.partial(models.convnet, width=12),
    "ConvNet-24": models.convnet,
    "ResNet-8": functools.partial(models.resnet, 8),
    "ResNet-18": models.resnet18,
    "ResNet-34": models.resnet34,
    "ResNet-50": models.resnet50,
    "ResNet-110": functools.partial(models.resnet, 110),
    "WRN-26-10": functools.partial(models.wide_resnet, 26, 10),
    "DenseNet-121": models.densenet121,
}


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


SETTINGS = {
    # small batches and no augmentation, so that 25 epochs go far in learning the images by heart
    "laptop": Setting(
        "ResNet-8", Recipe(epochs=25, batch_size=32, lr=0.05), 2_500, 1_000, 5_000, 3
    ),
    # full size for a laptop left alone; no augmentation here either, so that over-confidence shows
    "night": Setting(
        "ConvNet-24",
        Recipe(epochs=15, schedule="cosine", weight_decay=5e-4, autocast=bfloat16_on_cpu()),
        40_000,
        5_000,
        5_000,
        3,
    ),
    "gpu": Setting(
        "ResNet-18", Recipe(epochs=30, augment=CROP_FLIP, autocast=True), None, 5_000, None, 3
    ),
    "paper": Setting("ResNet-50", Recipe(epochs=160, augment=CROP_FLIP), None, 5_000, None, 5),
}


def setting_of(scale: str, changes: Mapping[str, Mapping], network: str | None = None) -> Setting:
    """The setting of a scale, with what an experiment changes of it or of its recipe there.

    network: a name in `NETWORKS` in place of the setting's own; ValueError for another name.
    """
    setting, own = SETTINGS[scale], dict(changes.get(scale, {}))
    if network is not None:
        own["network"] = validate.choice("network", network, tuple(NETWORKS))
    direct = {name: own.pop(name) for name in ("network", "train") if name in own}
    return replace(setting, **direct, recipe=replace(setting.recipe, **own))
