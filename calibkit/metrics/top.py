"""The predicted class of every row: its confidence and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.metrics.weighting import Weights, kept
from calibkit.validate import Array


@dataclass(frozen=True, init=False, eq=False)
class TopLabel:
    """The top label of every sample: how confident it is, and whether it is correct.

    Every metric of the predicted class takes one in the place of (probs, labels). So it is the door
    for what is no matrix of classes: a binary score with whether it came true, each label of a
    multilabel model, each pixel of a segmentation, each answer of a language model.

    confidence: (n,) floating in [0, 1]; correct: (n,) bool, or integers 0 and 1, on the same
        device. `TopLabel.of(probs, labels)` reads both from rows of classes.
    weights: (n,) of the rows, 0 or more and not all 0; None counts every row once.

    Raises ValueError or TypeError naming the argument.

    >>> from calibkit.metrics import ece
    >>> round(ece(TopLabel([0.9, 0.8], [True, False]), bins=1), 4)  # |0.85 - 0.5|
    0.35
    """

    confidence: Tensor
    correct: Tensor
    weights: Tensor | None = None

    @torch_defaults.entry(moves=True)
    def __init__(self, confidence: Array, correct: Array, weights: Weights = None):
        sure = validate.floating("confidence", confidence, ndim=1).detach()
        sure = validate.unit_interval("confidence", sure, "it is a fraction: write 0.9 for 90 %")
        hits = validate.as_tensor("correct", correct, ndim=1)
        validate.same_length("correct", len(hits), len(sure))
        validate.same_device("correct", hits, sure.device, "the confidences")
        if hits.dtype != torch.bool:
            hits = validate.labels(hits, n=len(hits), classes=2, name="correct").bool()
        object.__setattr__(self, "confidence", sure)
        object.__setattr__(self, "correct", hits)
        if weights is not None:
            weights = validate.weights(weights, n=len(sure), device=sure.device)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of(cls, probs: Array, labels: Array, weights: Weights = None) -> TopLabel:
        """That of (n, K) probabilities, (n,) labels and weights; raises as `ece` does.

        >>> TopLabel.of([[0.5, 0.5], [0.25, 0.75]], [1, 1]).correct.tolist()
        [False, True]
        """
        return cls(*top(probs, labels), weights)


Scored = Array | TopLabel  # (n, K) probabilities, or the top label of every row
Labels = Array | None  # (n,) of the probabilities; beside a TopLabel there are none


def top(probs: Scored, labels: Labels = None) -> tuple[Tensor, Tensor]:
    """(n,) confidence of the predicted class and (n,) bool whether that class is the label.

    The predicted class is the lowest one of largest probability. Raises as `ece` does, and
    TypeError for labels beside a `TopLabel`, and for a `TopLabel` with weights: who takes them
    calls `weighed`.

    >>> confidence, correct = top([[0.5, 0.5], [0.25, 0.75]], [1, 1])
    >>> confidence.tolist(), correct.tolist()
    ([0.5, 0.75], [False, True])
    """
    if isinstance(probs, TopLabel):
        if labels is not None:
            raise TypeError("labels must be left out: the TopLabel given says what is correct")
        if probs.weights is not None:
            raise TypeError("weights have no meaning here; pass TopLabel(confidence, correct)")
        return probs.confidence, probs.correct
    probs, labels = validate.predictions(probs, labels)
    confidence, best = probs.detach().max(dim=1)
    return confidence, best == labels


def weighed(
    probs: Scored, labels: Labels = None, weights: Weights = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """`top` of the rows of positive weight, and their (n,) float64 weights; None without weights.

    Raises as `top`, for weights that are none, and TypeError where a `TopLabel` has its own.

    >>> [part.tolist() for part in weighed([[0.5, 0.5], [0.25, 0.75]], [1, 1], [0, 2])]
    [[0.75], [True], [2.0]]
    """
    if isinstance(probs, TopLabel) and probs.weights is not None:
        if weights is not None:
            raise TypeError("weights must be left out: the TopLabel given has its own")
        weights, probs = probs.weights, TopLabel(probs.confidence, probs.correct)
    return kept(weights, *top(probs, labels))


def rows_of(
    probs: Scored, labels: Labels = None, weights: Weights = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Checked (n, K) probabilities, (n,) labels and weights as in `weighed`.

    Those of a `TopLabel` are of the two classes "miss" and "hit".
    """
    if isinstance(probs, TopLabel):
        confidence, correct, checked = weighed(probs, labels, weights)
        confidence = confidence.double()
        return torch.stack([1 - confidence, confidence], dim=1), correct.long(), checked
    return classes_of(probs, labels, weights)


def classes_of(
    probs: Array, labels: Array | None, weights: Weights = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Checked (n, K) probabilities, (n,) labels and weights as in `weighed`."""
    return kept(weights, *validate.predictions(probs, labels))


def of_label(probs: Tensor, labels: Tensor) -> Tensor:
    """(n,) float64 probability that each row gave its label."""
    return probs.detach().gather(1, labels[:, None])[:, 0].double()
