"""What an experiment on photographs costs that nobody here has run: its operations, and the hours.

`python -m calibkit reproduce NAME --scale SCALE --estimate` prints it, and needs no data.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from calibkit import validate
from study.engine import named, setting_of
from study.photographs import NETWORKS, SIZED, Photographs

TERA_A_SECOND = 20.0  # what a large GPU is assumed to get through, with small images in float32
A_CALL = 20e-6  # seconds that each pass through a layer takes at least, however small it is
PASSES = 3  # forward, and backward to the inputs and to the weights
COUNTED = 8  # images of which the operations are counted


class Images(NamedTuple):
    """A dataset: channels, pixels a side, classes, training images."""

    channels: int
    size: int
    classes: int
    train: int


# as `data_scripts` prepares them; of iNaturalist nine tenths of the 268,243 with labels
IMAGES = {
    "cifar10": Images(3, 32, 10, 50_000),
    "cifar100": Images(3, 32, 100, 50_000),
    "fashion-mnist": Images(1, 28, 10, 60_000),
    "mnist": Images(1, 28, 10, 60_000),
    "svhn": Images(3, 32, 10, 73_257),
    "stl10": Images(3, 96, 10, 5_000),
    "eurosat": Images(3, 32, 10, 24_300),
    "tiny-imagenet": Images(3, 64, 200, 100_000),
    "inaturalist2019": Images(3, 64, 6, 241_419),
}


class Effort(NamedTuple):
    """runs: trainings. operations: of all of them, additions and products counted apart.

    calls: passes through a layer, of one batch each.
    """

    runs: int
    operations: float
    calls: float

    def hours(self) -> float:
        """As long as the operations take, and as the calls take besides."""
        return (self.operations / (TERA_A_SECOND * 1e12) + self.calls * A_CALL) / 3600


def effort(
    name: str,
    scale: str,
    *,
    dataset: str | None = None,
    network: str | None = None,
    seeds: int | None = None,
) -> Effort:
    """What `python -m calibkit reproduce NAME` takes, with its options.

    Scoring, which is a few per cent, is not counted; epochs on a part of the images count whole.

    Raises ValueError for what is no experiment on photographs, and for an unknown dataset.
    """
    experiment = named(name, dataset)
    if not isinstance(experiment, Photographs):
        raise ValueError(f"name must be an experiment on photographs, got {name!r}")
    images = IMAGES[validate.choice("dataset", experiment.dataset, tuple(IMAGES))]
    setting = setting_of(experiment, scale, network)
    kept = setting.calibration + (setting.test or 0)
    seen = (setting.train or images.train - kept) * setting.recipe.epochs
    seeds = setting.seeds if seeds is None else validate.integer("seeds", seeds, 1)
    values = experiment.grid(scale)[:1] if experiment.one_network else experiment.grid(scale)
    counted = [operations(_network_of(value, setting.network), images) for value in values]
    each, layers = (sum(column) * PASSES * seen * seeds for column in zip(*counted, strict=True))
    return Effort(len(values) * seeds, each, layers / setting.recipe.batch_size)


def _network_of(value: object, usual: str) -> str:
    """Where the values of a grid are networks: that one."""
    return value if isinstance(value, str) and value in NETWORKS else usual


def operations(network: str, images: Images) -> tuple[float, int]:
    """Those of one image's way through a network, and its layers; nothing is computed.

    >>> operations("LeNet-5", Images(1, 32, 10, 0))  # 2 (117600 + 240000 + 48000 + 10080 + 840)
    (833040.0, 12)
    """
    sized = {"size": images.size} if network in SIZED else {}
    with torch.device("meta"):
        model: nn.Module = NETWORKS[network](images.channels, images.classes, **sized)
        batch = torch.empty(COUNTED, images.channels, images.size, images.size)
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        model.eval()(batch)
    layers = sum(not any(module.children()) for module in model.modules())
    return counter.get_total_flops() / COUNTED, layers


def told(name: str, scale: str, **options) -> str:
    """A line on an experiment; options: those of `effort`."""
    made = effort(name, scale, **options)
    return (
        f"{name} at scale {scale}: {made.runs} trainings, {made.operations:.2g} operations, some "
        f"{made.hours():.2g} hours on one large GPU ({TERA_A_SECOND:g} tera operations a second "
        f"and {A_CALL * 1e6:g} microseconds a layer are assumed, nothing is measured)"
    )
