"""The predicted class of every row: its confidence and whether it is right."""

from __future__ import annotations

from torch import Tensor

from calibkit import validate


def top(probs, labels) -> tuple[Tensor, Tensor]:
    """(n,) confidence of the predicted class and (n,) bool whether that class is the label.

    The predicted class is the lowest one of largest probability. Raises as `ece` does.

    >>> confidence, correct = top([[0.5, 0.5], [0.25, 0.75]], [1, 1])
    >>> confidence.tolist(), correct.tolist()
    ([0.5, 0.75], [False, True])
    """
    probs, labels = validate.predictions(probs, labels)
    confidence, best = probs.detach().max(dim=1)
    return confidence, best == labels
