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

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset

NOISE = 0.5
DANGEROUS = (8, 9)  # tablets
RATIOS = (1, 2, 3, 5, 10, 20, 30, 50)  # costs of a miss, where a check in vain costs 1
SEEN = 4  # columns of eight that a model of the half image sees
COOLED = 8.0  # temperature of the over-cautious model: about the ECE of the network as trained
LEAST_EPOCHS = 40  # after fewer, at smoke, all networks check everything
scaler = strengths.temperature  # fitted on the `cal` of a network
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
