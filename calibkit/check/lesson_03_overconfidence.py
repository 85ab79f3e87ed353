"""Why networks are over-confident."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from calibkit.check.cases import POSITIVE
from calibkit.check.engine import Mistake, exercise


def _losses(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """-log p of each label, and whether the prediction is right."""
    true = probs.double().gather(1, labels[:, None])[:, 0]
    return -true.log(), probs.argmax(dim=1) == labels


def _chance(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.double().gather(1, labels[:, None])[:, 0]


def _split(losses: Tensor, right: Tensor, share: int = 1) -> tuple[Tensor, Tensor]:
    return losses[right].sum() / share, losses[~right].sum() / share


def _parts(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return _split(*_losses(probs, labels), len(labels))


def _own_means(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    losses, right = _losses(probs, labels)
    return losses[right].mean(), losses[~right].mean()


@exercise(
    cases=POSITIVE,
    mistakes=[
        Mistake(
            _own_means,
            "each part is divided by the size of its own group. Divide both by n, the number of "
            "all predictions, so that they add up to the NLL.",
        ),
        Mistake(
            lambda p, y: _parts(p, y)[::-1],
            "the parts are right, their order is not: first the right predictions, then the wrong.",
        ),
        Mistake(
            lambda p, y: _split(*_losses(p, y)),
            "these are sums, which grow with the number of predictions: divide by n.",
        ),
        Mistake(
            lambda p, y: _split(-p.double().amax(dim=1).log(), _losses(p, y)[1], len(y)),
            "you took the logarithm of the confidence. A wrong prediction pays for the probability "
            "that it left to the *label*.",
        ),
        Mistake(
            lambda p, y: _split(-_chance(p, y), _losses(p, y)[1], len(y)),
            "the logarithm is missing: each prediction pays -log p of its label.",
        ),
        Mistake(
            lambda p, y: (_parts(p, y)[0], sum(_parts(p, y))),
            "the second number is the whole NLL: only the wrong predictions belong to it.",
        ),
        Mistake(
            lambda p, y: sum(_parts(p, y)),
            "this is the sum of the two parts, the NLL. Return both parts.",
        ),
        Mistake(
            lambda p, y: [-part for part in _parts(p, y)],
            "the sign is reversed: logarithms of probabilities are negative, losses are not.",
        ),
        Mistake(
            lambda p, y: [part / math.log(10) for part in _parts(p, y)],
            "this is the logarithm to base 10. The NLL uses the natural one, torch.log.",
        ),
    ],
)
def nll_parts(probs, labels):
    """The parts of the NLL that right and wrong predictions pay: two numbers, in this order."""
    return _parts(probs, labels)


def _cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(logits.double(), labels)


def _sign_slip(logits: Tensor, labels: Tensor, a: float) -> Tensor:
    z = (1 + a) * logits.double()
    return -(z.gather(1, labels[:, None])[:, 0] + z.logsumexp(dim=1)).mean()


LOGITS = [
    3 * torch.randn(n, classes, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
    for n, classes in ((12, 3), (30, 5))
]


@exercise(
    cases={
        f"{len(z)} images, a = {a}": (
            z,
            (z.argmax(dim=1) + (torch.arange(len(z)) % 4 == 0)) % z.shape[1],
            a,
        )
        for z, a in zip(LOGITS, (0.5, 2.0), strict=True)
    }
    | {
        "a = 0": (LOGITS[0], LOGITS[0].argmin(dim=1), 0.0),
        "a below 0": (LOGITS[0], LOGITS[0].argmax(dim=1), -0.5),
        "one image": (LOGITS[1][:1], torch.tensor([2]), 0.25),
        "logits 300 times as large": (300 * LOGITS[0], LOGITS[0].argmin(dim=1), 1.0),
        "equal logits": (torch.zeros(4, 3, dtype=torch.float64), torch.tensor([0, 1, 2, 0]), 1.0),
    },
    mistakes=[
        Mistake(
            lambda z, y, a: _cross_entropy(a * z, y),
            "you scaled by a. The factor is 1 + a, so that a = 0 changes nothing.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z, y),
            "this is the loss without scaling. (Adding one number to all logits changes nothing: "
            "the softmax sees differences only. Multiply.)",
        ),
        Mistake(
            lambda z, y, a: (1 + a) * _cross_entropy(z, y),
            "you scaled the loss. Scale the logits, before the softmax.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z, y) - math.log(1 + a),
            "you scaled the probabilities. Scale the logits, before the softmax.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(z / (1 + a), y),
            "you divided, which makes the network less sure. Multiply the logits by 1 + a.",
        ),
        Mistake(
            lambda z, y, a: len(y) * _cross_entropy((1 + a) * z, y),
            "this is the sum over the samples: take the mean.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy(((1 + a) * z).softmax(dim=1), y),
            "the softmax was taken twice: cross_entropy takes logits and has a softmax inside.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy((1 + a) * z.softmax(dim=1), y),
            "cross_entropy takes logits, not probabilities: leave the softmax out.",
        ),
        Mistake(
            lambda z, y, a: -_chance(((1 + a) * z).log_softmax(dim=0), y).mean(),
            "the softmax goes along the wrong axis: dim=1 goes over the classes of an image.",
        ),
        Mistake(
            lambda z, y, a: _cross_entropy((1 + a) * z.log_softmax(dim=0), y),
            "a softmax along the wrong axis (dim=0) was taken first: cross_entropy takes logits.",
        ),
        Mistake(
            lambda z, y, a: -_chance(((1 + a) * z).softmax(dim=1), y).mean(),
            "the logarithm is missing: nll_loss takes log-probabilities, log_softmax.",
        ),
        Mistake(
            lambda z, y, a: -_chance((1 + a) * z, y).mean(),
            "the log-softmax is missing: nll_loss takes log-probabilities, cross_entropy logits.",
        ),
        Mistake(
            _sign_slip,
            "a sign slipped: the loss is -(z_y - log sum exp z). With a plus inside, as misprinted "
            "in places, it is negative and has no lower bound.",
        ),
    ],
)
def scaled_loss(logits, labels, a):
    """The mean cross-entropy after all logits (n, K) were multiplied by 1 + a: one number."""
    return _cross_entropy((1 + a) * logits, labels)
