"""Dataset size."""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.cases import ORDINARY
from calibkit.course.check.engine import Mistake, exercise


def _steps(n: int, batch_size: int) -> int:
    return -(-n // batch_size)


@exercise(
    cases={
        f"{n} images, batches of {b}, {steps} steps": (n, b, steps)
        for n, b, steps in (
            (150, 128, 720),
            (900, 128, 720),
            (700, 128, 100),
            (1000, 100, 333),
            (5000, 128, 10),
            (256, 128, 6),
            (100, 128, 4),
            (257, 128, 7),
            (1, 1, 1),
            (1281, 128, 64),
            (200, 128, 78),
            (1700, 600, 10),
            (60000, 64, 93800),
            (65, 32, 8),
            (1000, 1000, 7),
        )
    },
    mistakes=[
        Mistake(
            lambda n, b, steps: max(1, round(steps / (n // b))),
            "you dropped the last, smaller batch. It is a step like any other: "
            "round n / batch_size up.",
        ),
        Mistake(
            lambda n, b, steps: max(1, round(steps * b / n)),
            "this makes the number of *images seen* equal. An epoch takes a whole number of steps: "
            "n / batch_size, rounded up.",
        ),
        Mistake(
            lambda n, b, steps: max(1, steps // _steps(n, b)),
            "you cut off. Take the nearest whole number of epochs.",
        ),
        Mistake(
            lambda n, b, steps: _steps(steps, _steps(n, b)),
            "you rounded the epochs up. Take the nearest whole number.",
        ),
        Mistake(
            lambda n, b, steps: round(steps / _steps(n, b)),
            "nearly: where one epoch already has more steps than wanted, train for one, not for 0.",
        ),
        Mistake(
            lambda n, b, steps: max(1, round(steps / (n // b + 1))),
            "you added a batch where n / batch_size is whole: round up, do not add 1.",
        ),
        Mistake(
            lambda n, b, steps: max(1, round(steps / round(n / b))),
            "you rounded the steps of an epoch to the nearest: round them up.",
        ),
        Mistake(
            lambda n, b, steps: steps * _steps(n, b),
            "you multiplied. Divide `steps` by the steps of one epoch.",
        ),
        Mistake(
            lambda n, b, steps: steps / _steps(n, b),
            "a whole number of epochs was expected: round to the nearest.",
        ),
        Mistake(
            lambda n, b, steps: _steps(n, b),
            "this is the number of steps in an epoch. Divide `steps` by it.",
        ),
    ],
)
def equal_steps(n, batch_size, steps):
    """The whole number of epochs, at least 1, that comes nearest to `steps` steps."""
    return max(1, round(steps / _steps(n, batch_size)))


def _posteriors() -> dict[str, tuple[Tensor, Tensor]]:
    """Predictions beside a posterior that often favours another class; the last are too modest."""
    generator = torch.Generator().manual_seed(5)
    cases = {}
    for (name, (p, _)), sharper in zip(ORDINARY.items(), (1, 1, 9), strict=True):
        other = 2 * torch.randn(p.shape, generator=generator, dtype=torch.float64)
        cases[name] = (p.double(), (sharper * p.double().log() + other).softmax(dim=1))
    first, posterior = next(iter(cases.values()))
    return cases | {
        "one prediction only": (first[:1], posterior[:1]),
        "a posterior that is certain": (
            first[:6],
            torch.eye(3, dtype=torch.float64)[[0, 1, 2] * 2],
        ),
        "predictions that are certain": (
            torch.eye(3, dtype=torch.float64)[[0, 1, 2, 0]],
            posterior[:4],
        ),
        "a model that reports the posterior itself": (posterior[:9], posterior[:9]),
    }


def _excess(probs: Tensor, posterior: Tensor) -> Tensor:
    """Per image, the confidence minus the chance of being right."""
    right = posterior.gather(1, probs.argmax(dim=1, keepdim=True))[:, 0]
    return probs.amax(dim=1).double() - right


@exercise(
    cases=_posteriors(),
    mistakes=[
        Mistake(
            lambda p, q: (p.amax(dim=1).double() - q.amax(dim=1)).mean(),
            "this compares with the best possible reader. "
            "The chance of being right is the posterior of the class that *your model* predicts.",
        ),
        Mistake(
            lambda p, q: -_excess(p, q).mean(),
            "the sign is reversed. Take confidence minus chance of being right.",
        ),
        Mistake(
            lambda p, q: _excess(p, q).abs().mean(),
            "you took absolute values image by image. "
            "The gap is the plain mean of the differences.",
        ),
        Mistake(
            lambda p, q: _excess(p, q).square().mean(),
            "you squared. The gap is the plain mean of the differences.",
        ),
        Mistake(
            lambda p, q: p.amax(dim=1).double().mean() - q[:, p.argmax(dim=1)].mean(),
            "you took every row of the posterior with every predicted class. Row i belongs with "
            "the class predicted for image i: gather, or index with torch.arange(n) too.",
        ),
        Mistake(
            lambda p, q: p.amax(dim=1).double().mean() - (p * q).sum(dim=1).mean(),
            "you took the chance of a class drawn from probs. A model predicts one class: argmax.",
        ),
        Mistake(
            lambda p, q: p.amax(dim=1).double().mean(),
            "this is the mean confidence alone: the chance of being right is still to be "
            "subtracted.",
        ),
        Mistake(
            lambda p, q: p.amax(dim=1).double().mean() - _excess(p, q).mean(),
            "this is the mean chance of being right: subtract it from the mean confidence.",
        ),
        Mistake(
            lambda p, q: _excess(p, q).mean().abs(),
            "you dropped the sign. It is what tells over-confident (+) from under-confident (-).",
        ),
        Mistake(
            lambda p, q: metrics.signed_gap(p, q.argmax(dim=1)),
            "you took the posterior's favourite for the true label. "
            "The posterior says more than that: how likely the predicted class is.",
        ),
    ],
)
def true_gap(probs, posterior):
    """Mean confidence minus mean chance of being right, from probs and posterior (n, K)."""
    return _excess(probs, posterior).mean()
