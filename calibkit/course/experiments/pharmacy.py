"""A machine that reads a dose in tablets, and what its decisions cost: lesson 19.

An image is a noisy digit, the number of tablets. From eight tablets on the dose is dangerous, and
somebody must check it. The exact posterior of each image is known, and so are exact costs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor

from calibkit import curation, losses, metrics, mixing, recalibration
from calibkit.course import scale
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset

NOISE = 0.5
DANGEROUS = (8, 9)  # tablets
RATIOS = (1, 2, 3, 5, 10, 20, 30, 50)  # costs of a miss, where a check in vain costs 1
SEEN = 4  # columns of eight that a model of the half image sees
COOLED = 8.0  # temperature of the over-cautious model: about the ECE of the network as trained
LEAST_EPOCHS = 40  # after fewer, at smoke, all networks check everything
Sees = Literal["whole image", "left half"]


@functools.cache
def splits(size: scale.Budget, seed: int) -> data.Splits:
    """size.train images to train on, as many to fit maps on, and size.test to judge on."""
    n = size.train
    return data.noisy_digits(n, NOISE, seed, calibration=n, test=size.test)


def left_half(images: Dataset) -> Dataset:
    """The same images, whose right half is blank; their posterior stays that of the whole."""
    kept = images.inputs.clone()
    kept[..., SEEN:] = 0
    return replace(images, inputs=kept)


def trial(
    size: scale.Budget, seed: int, sees: Sees = "whole image", **options: Any
) -> training.Trial:
    """The course's plain network for this noise; options: more of `training.trial`."""
    parts = splits(size, seed)
    learn, cal, test = parts if sees == "whole image" else map(left_half, parts)
    learn = options.pop("learn", learn)
    made = functools.partial(models.mlp, 64, 10, width=options.pop("width", 128))
    options = {"epochs": max(size.epochs, LEAST_EPOCHS)} | options
    return training.trial(made, learn, {"cal": cal, "test": test}, seed=10 * seed, **options)


def event(rows: Tensor) -> Tensor:
    """(n, 2) probabilities of a harmless and of a dangerous dose from (n, 10) of the digits.

    >>> event(torch.tensor([[0.05] * 8 + [0.2, 0.4]])).round(decimals=2).tolist()
    [[0.4, 0.6]]
    """
    yes = rows[:, list(DANGEROUS)].double().sum(dim=1).clamp(0, 1)
    return torch.stack([1 - yes, yes], dim=1)


def dangerous(labels: Tensor) -> Tensor:
    """(n,) whether each digit is a dangerous dose."""
    return torch.isin(labels, torch.tensor(DANGEROUS))


def truth(outcome: sweep.Outcome) -> Tensor:
    """(n, 2) exact probabilities of the test images of a finished training."""
    posterior = outcome.trial.score["test"].posterior
    assert posterior is not None
    return event(posterior)


def scaler(outcome: sweep.Outcome) -> recalibration.TemperatureScaler:
    """The temperature of a network, fitted on its `cal`."""
    cal = outcome.predictions["cal"]
    return recalibration.TemperatureScaler().fit(cal.logits, cal.labels)


def four(whole: sweep.Outcome, half: sweep.Outcome) -> dict[str, Tensor]:
    """What the four models of the lesson say of the test images, (n, 2) each.

    A: the network as trained. B: one that sees half of each image, after its temperature. C: the
    share of dangerous doses in `cal`, whatever the image. D: that of A at a temperature of 8.
    """
    logits = whole.predictions["test"].logits.double()
    share = dangerous(whole.predictions["cal"].labels).double().mean()
    constant = torch.stack([1 - share, share]).expand(len(logits), 2)
    return {
        "A": event(logits.softmax(dim=1)),
        "B": event(scaler(half).probs(half.predictions["test"].logits.double())),
        "C": constant,
        "D": event((logits / COOLED).softmax(dim=1)),
    }


def cost(rows: Tensor, known: Tensor, ratio: float) -> float:
    """Exact cost of 100 images where `rows` decide, in checks in vain; known: as `truth`."""
    return 100 * metrics.decision_cost(rows, known, metrics.alarm_costs(ratio))


def regret(rows: Tensor, known: Tensor, ratio: float) -> float:
    """By how much `cost` is above that of the exact posterior."""
    return 100 * metrics.regret(rows, known, metrics.alarm_costs(ratio))


def event_ece(rows: Tensor, labels: Tensor) -> float:
    """ECE of the probability of a dangerous dose, with 15 bins."""
    return metrics.ece(metrics.TopLabel(rows[:, 1], dangerous(labels)))


def reading_costs(wrong: float = 10, passed: float = 50, ask: float = 1) -> Tensor:
    """(11, 10) costs of typing each digit, and last of asking somebody, by the true digit.

    wrong: a wrong number. passed: a dangerous dose that is typed as a harmless one.

    >>> costs = reading_costs()
    >>> costs[3, [3, 5, 9]].tolist(), costs[9, [3, 8, 9]].tolist(), costs[10].unique().tolist()
    ([0.0, 10.0, 50.0], [10.0, 10.0, 0.0], [1.0])
    """
    costs = wrong * (1 - torch.eye(10, dtype=torch.float64))
    harmless = [k for k in range(10) if k not in DANGEROUS]
    for digit in DANGEROUS:
        costs[harmless, digit] = passed
    return torch.cat([costs, torch.full((1, 10), float(ask), dtype=torch.float64)])


def as_words(costs: Mapping[str, float]) -> str:
    """Costs in a line: "A 14, B 19".

    >>> as_words({"A": 14.2, "B": 19.4})
    'A 14, B 19'
    """
    return ", ".join(f"{name} {cost:.0f}" for name, cost in costs.items())


# --- more networks, for the evidence --------------------------------------------------------------

# By the lesson that has them, what is changed of `trial`.
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
        return trial(size, seed, "left half")
    if name == "06 label noise":
        return trial(size, seed, learn=relabelled(splits(size, seed).train, 0.3, seed))
    if name == "07 rare classes":
        pool = data.noisy_digits(5 * size.train, NOISE, seed, calibration=1, test=1).train
        kept = pool[curation.imbalance(pool.labels, 100, kind="exponential", seed=seed).indices]
        return trial(size, seed, learn=kept[: size.train])
    if name in MEMBERS:
        return replace(trial(size, seed), seed=1000 * (1 + MEMBERS.index(name)) + seed)
    options: dict[str, dict[str, Any]] = {
        "03 as trained": {},
        "09 smoothing": {"loss": functools.partial(losses.label_smoothing, alpha=0.1)},
        "11 focal loss": {"loss": functools.partial(losses.focal, gamma=3.0)},
        "12 mixup": {"mix": functools.partial(mixing.mixup, alpha=1.0)},
        "weight decay": {"weight_decay": 1e-2},
    }
    return trial(size, seed, **options[name])


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


def best_threshold(rows: Tensor, known: Tensor, ratio: float) -> tuple[float, float]:
    """The threshold on what the rows say with the least exact cost of 100 images, and that cost.

    >>> rows = torch.tensor([[0.99, 0.01], [0.9, 0.1], [0.8, 0.2]])
    >>> known = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
    >>> [round(x, 4) for x in best_threshold(rows, known, 20)]  # (0 + .5 + .5) / 3
    [0.055, 33.3333]
    """
    said, order = rows[:, 1].sort(descending=True)
    truth = known[order, 1]
    nothing = torch.zeros(1, dtype=truth.dtype)
    in_vain = torch.cat([nothing, (1 - truth).cumsum(0)])  # of the k highest, which are checked
    missed = truth.sum() - torch.cat([nothing, truth.cumsum(0)])
    each = (in_vain + ratio * missed) / len(truth)
    apart = torch.cat([said[:1] >= 0, said[1:] < said[:-1], said[-1:] >= 0])  # no cut in a tie
    place = int(torch.where(apart, each, torch.inf).argmin())
    ends = torch.cat([torch.ones(1, dtype=said.dtype), said, torch.zeros(1, dtype=said.dtype)])
    return float((ends[place] + ends[place + 1]) / 2), 100 * float(each[place])
