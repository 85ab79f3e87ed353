"""Temperature."""

from __future__ import annotations

import functools

import torch
from scipy.optimize import brentq
from torch import Tensor

from calibkit.course.check.engine import Mistake, exercise


def _scored(n: int, classes: int, steep: float, seed: int) -> tuple[Tensor, Tensor]:
    """Logits that are too steep by a factor, and labels of which most are the favourite."""
    generator = torch.Generator().manual_seed(seed)
    logits = steep * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    other = torch.randint(classes, (n,), generator=generator)
    return logits, torch.where(torch.rand(n, generator=generator) < 0.7, logits.argmax(1), other)


def _case(n: int, classes: int, steep: float, seed: int, T: float) -> tuple[Tensor, Tensor, float]:
    return (*_scored(n, classes, steep, seed), T)


COOLED = {
    "40 rows, too steep, 4 classes": _case(40, 4, 5.0, 0, 2.5),
    "30 rows, too flat, 3 classes": _case(30, 3, 0.5, 1, 0.4),
    "25 rows at T = 1": _case(25, 5, 2.0, 2, 1.0),
    "one row only": _case(1, 3, 1.0, 3, 3.0),
    "two classes only": _case(12, 2, 3.0, 4, 1.7),
    "logits of hundreds": _case(15, 4, 300.0, 5, 40.0),
    "logits of hundreds at T = 1, whose softmax has zeros": _case(15, 4, 500.0, 6, 1.0),
    "logits of hundreds in float32, at T = 1.5": (
        _scored(20, 5, 200.0, 7)[0].float(),
        _scored(20, 5, 200.0, 7)[1],
        1.5,
    ),
    "300 rows, 10 classes, a T of 0.1": _case(300, 10, 0.3, 8, 0.1),
}


def _nll(log_probs: Tensor, labels: Tensor) -> Tensor:
    return -log_probs.gather(1, labels[:, None])[:, 0].mean()


def _cooled(logits: Tensor, labels: Tensor, T: float) -> Tensor:
    return _nll((logits / T).log_softmax(dim=1), labels)


@exercise(
    cases=COOLED,
    mistakes=[
        Mistake(
            lambda z, y, T: _nll((z * T).log_softmax(dim=1), y),
            "you multiplied by T. Divide: a large T makes the prediction less extreme.",
        ),
        Mistake(
            lambda z, y, T: _nll(z.log_softmax(dim=1), y),
            "T has no effect: divide the logits by it before the softmax.",
        ),
        Mistake(
            lambda z, y, T: _nll(z.log_softmax(dim=1) / T, y),
            "you divided after the softmax: the rows no longer sum to 1. Divide the logits.",
        ),
        Mistake(
            lambda z, y, T: _nll((z.softmax(dim=1) / T).log_softmax(dim=1), y),
            "a softmax was taken of probabilities. Divide the logits by T, then one softmax.",
        ),
        Mistake(
            lambda z, y, T: _nll((z / T).softmax(dim=1).log_softmax(dim=1), y),
            "the softmax was taken twice (cross_entropy has one inside).",
        ),
        Mistake(
            lambda z, y, T: _cooled(z, z.argmax(dim=1), T),
            "you took the predicted class in place of the label.",
        ),
        Mistake(
            lambda z, y, T: -(z / T).softmax(dim=1).gather(1, y[:, None]).mean(),
            "the logarithm is missing.",
        ),
        Mistake(
            lambda z, y, T: -(z / T).softmax(dim=1).gather(1, y[:, None]).mean().log(),
            "you took the mean first. Take the logarithm of each row, then the mean.",
        ),
        Mistake(
            lambda z, y, T: T * _cooled(z, y, T),
            "you multiplied the loss by T too, as distillation does; calibration does not.",
        ),
        Mistake(
            lambda z, y, T: -(z / T).gather(1, y[:, None]).mean(),
            "the softmax is missing: logits are no log-probabilities.",
        ),
        Mistake(
            lambda z, y, T: _nll((z / T).log_softmax(dim=0), y),
            "the softmax runs along the wrong axis: dim=1, over the classes.",
        ),
    ],
)
def cooled_nll(logits, labels, T):
    """The mean NLL of labels (n,), in nats, with the logits (n, K) divided by T: one number."""
    return _cooled(logits.double(), labels, T).item()


def _target(n: int, classes: int, steep: float, seed: int, accuracy: float) -> tuple[Tensor, float]:
    return _scored(n, classes, steep, seed)[0], accuracy


MATCHED = {
    "20 rows that are too sure, 4 classes": _target(20, 4, 5.0, 0, 0.65),
    "16 rows that are much too cautious, 3 classes": _target(16, 3, 0.4, 1, 0.8),
    "15 rows that are right already, nearly": _target(15, 5, 2.5, 2, 0.72),
    "one row only": _target(1, 3, 2.0, 3, 0.6),
    "two classes only": _target(10, 2, 4.0, 4, 0.75),
    "logits of hundreds": _target(12, 6, 100.0, 5, 0.55),
    "an accuracy little above chance": _target(14, 10, 3.0, 6, 0.16),
}


def _confidence(logits: Tensor, T: float) -> float:
    return (logits.double() / T).softmax(dim=1).amax(dim=1).mean().item()


def _matching(logits: Tensor, accuracy: float) -> float:
    return brentq(lambda T: _confidence(logits, T) - accuracy, 0.01, 500)


def _median(logits: Tensor, accuracy: float) -> float:
    def gap(T: float) -> float:
        return (logits / T).softmax(dim=1).amax(dim=1).quantile(0.5).item() - accuracy

    return brentq(gap, 0.01, 500)


def _one_by_one(logits: Tensor, accuracy: float) -> float:
    return sum(_matching(row[None], accuracy) for row in logits) / len(logits)


def _of_grid(logits: Tensor, accuracy: float, step: float) -> float:
    """The best T of a grid of this step, from its first value up to 50."""
    grid = [step * place for place in range(1, round(50 / step) + 1)]
    return min(grid, key=lambda T: abs(_confidence(logits, T) - accuracy))


def _of_probabilities(logits: Tensor, accuracy: float) -> float:
    return brentq(
        lambda T: _confidence(logits.softmax(dim=1), T) - accuracy, 1e-4, 500, maxiter=1000
    )


@exercise(
    cases=MATCHED,
    mistakes=[
        Mistake(
            lambda z, a: 1 / _matching(z, a),
            "this is 1 / T: you found the factor by which the logits are multiplied.",
        ),
        Mistake(
            lambda z, a: torch.tensor(_matching(z, a)).log(),
            "this is log T. Take its exponential.",
        ),
        Mistake(
            lambda z, a: _confidence(z, 1.0) / a,
            "this is mean confidence divided by accuracy. The confidence is not proportional "
            "to 1 / T: search for the T.",
        ),
        Mistake(
            lambda z, a: _matching(z, 1 - a),
            "you matched 1 - accuracy, the share of errors.",
        ),
        Mistake(
            lambda z, a: _confidence(z, _matching(z, a)),
            "this is the mean confidence at T. Return T itself.",
        ),
        Mistake(
            lambda z, a: _confidence(z, 1.0) - a,
            "this is the signed gap at T = 1, not a temperature.",
        ),
        Mistake(_median, "you matched the median. Take the mean confidence over the rows."),
        Mistake(
            _one_by_one,
            "you matched every row by itself and took the mean of the temperatures. One T is asked "
            "for which the mean confidence of all rows is right.",
        ),
        *(
            Mistake(
                functools.partial(_of_grid, step=step),
                f"this is the best T of a grid of step {step:g}, which is too coarse: it must be "
                f"right to 1 % of T. Halve the range again and again.",
            )
            for step in (0.1, 0.05, 0.5, 1.0)
        ),
        Mistake(
            _of_probabilities,
            "a softmax was taken of probabilities. Divide the logits by T, then one softmax.",
        ),
    ],
    slips={
        r"different signs": "brentq needs two ends at which the function has different signs: "
        "subtract the accuracy, and search from 0.05 to 50.",
    },
    tolerance=0.01,
    absolute=1e-4,
)
def matching_temperature(logits, accuracy):
    """The T at which softmax(logits / T) of logits (n, K) has this mean confidence: one number."""
    return _matching(logits, accuracy)
