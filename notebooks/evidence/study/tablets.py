"""Eight ways to train the machine of lesson 19, none of them tuned, for its evidence."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from calibkit import curation
from calibkit.course import scale
from calibkit.course.experiments import pharmacy
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, training
from calibkit.lab.data import Dataset

WAYS = (
    "03 as trained",
    "03 half image",
    "06 label noise",
    "07 rare classes",
    "09 smoothing",
    "11 focal loss",
    "12 mixup",
    "weight decay",
)
MEMBERS = ("member 2", "member 3")  # of an ensemble with "03 as trained"


def relabelled(learn: Dataset, share: float, seed: int) -> Dataset:
    """The same images, of which a share has shuffled labels."""
    classes = learn.num_classes
    noisy = curation.symmetric_noise(learn.labels, share, classes=classes, seed=seed)
    return learn.with_labels(noisy.labels)


def way(size: scale.Budget, name: str, seed: int) -> training.Trial:
    """One of `WAYS` or `MEMBERS`, each of one strength that was not tuned."""
    if name == "03 half image":
        return pharmacy.trial(size, seed, "left half")
    if name == "06 label noise":
        return pharmacy.trial(
            size, seed, learn=relabelled(pharmacy.splits(size, seed).train, 0.3, seed)
        )
    if name == "07 rare classes":
        pool = data.noisy_digits(5 * size.train, pharmacy.NOISE, seed, calibration=1, test=1).train
        kept = pool[curation.imbalance(pool.labels, 100, kind="exponential", seed=seed).indices]
        return pharmacy.trial(size, seed, learn=kept[: size.train])
    if name in MEMBERS:
        return replace(pharmacy.trial(size, seed), seed=1000 * (1 + MEMBERS.index(name)) + seed)
    options = {
        "03 as trained": {},
        "09 smoothing": changes("smoothing", 0.1),
        "11 focal loss": changes("focal", 3.0),
        "12 mixup": changes("mixup", 1.0),
        "weight decay": {"weight_decay": 1e-2},
    }
    return pharmacy.trial(size, seed, **options[name])


def refinement(rows: Tensor, known: Tensor, together: int = 50) -> float:
    """Refinement of the event's Brier score, from the exact truth of images with near scores.

    Images are sorted by what the rows say, and so many together have their mean truth r: the mean
    of r (1 - r), the part of (p - y)^2 that no map of p removes.

    >>> known = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])
    >>> round(refinement(known, known, 2), 3)  # .1 .9 / 2 + .8 .2 / 2
    0.125
    """
    sorted_truth = known[rows[:, 1].argsort(stable=True), 1]
    groups = sorted_truth.split(together)
    means = torch.stack([group.mean() for group in groups])
    weights = torch.tensor([float(len(group)) for group in groups])
    return float((weights * means * (1 - means)).sum() / weights.sum())
