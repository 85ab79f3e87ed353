"""The predicted class of every row: its confidence and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit import validate
from calibkit.validate import Array


@dataclass(frozen=True, init=False, eq=False)
class TopLabel:
    """The top label of every sample: how confident it is, and whether it is correct.

    Every metric of the predicted class takes one in the place of (probs, labels). So it is the door
    for what is no matrix of classes: a binary score with whether it came true, each label of a
    multilabel model, each pixel of a segmentation, each answer of a language model.

    confidence: (n,) floating in [0, 1]; correct: (n,) bool, or integers 0 and 1, on the same
        device. `TopLabel.of(probs, labels)` reads both from rows of classes.

    Raises ValueError or TypeError naming the argument.

    >>> from calibkit.metrics import ece
    >>> round(ece(TopLabel([0.9, 0.8], [True, False]), bins=1), 4)  # |0.85 - 0.5|
    0.35
    """

    confidence: Tensor
    correct: Tensor

    def __init__(self, confidence: Array, correct: Array):
        sure = validate.floating("confidence", confidence, ndim=1).detach()
        validate.unit_interval("confidence", sure, "it is a fraction, so write 0.9 for 90 %")
        hits = validate.as_tensor("correct", correct, ndim=1)
        validate.same_length("correct", len(hits), len(sure))
        validate.same_device("correct", hits, sure.device, "the confidences")
        if hits.dtype != torch.bool:
            hits = validate.labels(hits, n=len(hits), classes=2, name="correct").bool()
        object.__setattr__(self, "confidence", sure)
        object.__setattr__(self, "correct", hits)

    @classmethod
    def of(cls, probs: Array, labels: Array) -> TopLabel:
        """That of (n, K) probabilities and (n,) labels; raises as `ece` does.

        >>> TopLabel.of([[0.5, 0.5], [0.25, 0.75]], [1, 1]).correct.tolist()
        [False, True]
        """
        return cls(*top(probs, labels))


Scored = Array | TopLabel  # (n, K) probabilities, or the top label of every row
Labels = Array | None  # (n,) of the probabilities; beside a TopLabel there are none


def top(probs: Scored, labels: Labels = None) -> tuple[Tensor, Tensor]:
    """(n,) confidence of the predicted class and (n,) bool whether that class is the label.

    The predicted class is the lowest one of largest probability. Raises as `ece` does, and
    TypeError for labels beside a `TopLabel`.

    >>> confidence, correct = top([[0.5, 0.5], [0.25, 0.75]], [1, 1])
    >>> confidence.tolist(), correct.tolist()
    ([0.5, 0.75], [False, True])
    """
    if isinstance(probs, TopLabel):
        if labels is not None:
            raise TypeError("labels must be left out: the TopLabel given says what is correct")
        return probs.confidence, probs.correct
    probs, labels = validate.predictions(probs, labels)
    confidence, best = probs.detach().max(dim=1)
    return confidence, best == labels


def rows_of(probs: Scored, labels: Labels = None) -> tuple[Tensor, Tensor]:
    """Checked (n, K) probabilities with their (n,) labels; of a `TopLabel`, of "miss" and "hit"."""
    if not isinstance(probs, TopLabel):
        return validate.predictions(probs, labels)
    confidence, correct = top(probs, labels)
    confidence = confidence.double()
    return torch.stack([1 - confidence, confidence], dim=1), correct.long()


def of_label(probs: Tensor, labels: Tensor) -> Tensor:
    """(n,) float64 probability that each row gave its label."""
    return probs.detach().gather(1, labels[:, None])[:, 0].double()
