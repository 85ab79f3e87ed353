"""What a metric looks at: rows of classes or their top label, each with its weight.

A row of weight 2 gives the estimates of two such rows, one of weight 0 those without it, and only
the ratios of weights matter (but for the bins of equal mass, see `ada_ece`). Intervals and tests
draw rows with their weights, and not copies of them, so that no repetition makes anything surer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.validate import Array

Kind = Literal["logits", "probs"]
Weights = Array | None  # (n,) of the rows, 0 or more; None counts every row once


def kept(weights: Weights, *parts: Any) -> tuple[Any, ...]:
    """The rows of positive weight: of every part (n, ...), and last their float64 weights.

    Without weights all rows, and None.

    >>> [part.tolist() for part in kept([2, 0], torch.tensor([0.5, 0.75]))]
    [[0.5], [2.0]]
    """
    if weights is None:
        return (*parts, None)
    checked = validate.weights(weights, n=len(parts[0]), device=parts[0].device)
    positive = checked > 0
    if bool(positive.all()):
        return (*parts, checked)
    return tuple(part[positive] for part in (*parts, checked))


def mean(values: Tensor, weights: Tensor | None) -> float:
    """The weighted mean of (n,) values, summed in float64.

    >>> mean(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 1.0]))
    0.75
    """
    values = values.double()
    return float(values.mean() if weights is None else (weights * values).sum() / weights.sum())


def effective(total: Tensor, squares: Tensor) -> Tensor:
    """How many equal rows say as much: (sum w)^2 / sum w^2, at most the number of rows; 0 of none.

    Source: Kish (1965), Survey Sampling.

    >>> effective(torch.tensor([8.0, 4.0]), torch.tensor([16.0, 10.0])).tolist()  # 2, 2, 2, 2; 3, 1
    [4.0, 1.600000023841858]
    """
    return torch.where(total > 0, total.square() / squares, 0.0)


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


def pixels(
    scores: Array, labels: Array, *, kind: Kind = "logits", ignore_index: int | None = None
) -> TopLabel:
    """The top label of every pixel of maps, for every metric that takes a `TopLabel`.

    scores: (B, K, ...) the classes second, as networks give them: (B, K, H, W) for images, also
        (B, K, D, H, W) or (B, K, L).
    labels: (B, ...) integers in [0, K), or `ignore_index`, such as 255 or -100: pixels without a
        label, which are left out.
    kind: "logits", whose softmax is taken map by map, or "probs".

    Neighbouring pixels are not independent: errors and gaps are what they are, but intervals and
    tests, which draw pixels one by one, are too sure. For those take few pixels of every map.
    Raises ValueError or TypeError as `ece` does, for "logits" that are probabilities, and where
    every pixel is ignored.

    >>> scores = torch.tensor([[[[0.75, 0.5]], [[0.25, 0.5]]]])  # one map, 2 classes, 1 x 2 pixels
    >>> top = pixels(scores, torch.tensor([[[0, 255]]]), kind="probs", ignore_index=255)
    >>> top.confidence.tolist(), top.correct.tolist()
    ([0.75], [True])
    """
    validate.choice("kind", kind, get_args(Kind))
    maps = validate.floating("scores", scores)
    truth = validate.as_tensor("labels", labels)
    if maps.ndim < 3:
        raise ValueError(
            f"scores must be maps (B, K, ...), got shape {tuple(maps.shape)}; rows (n, K) need no "
            "pixels: pass probabilities and labels to the metric"
        )
    validate.shape("labels", truth, (maps.shape[0], *maps.shape[2:]), "scores without its classes")
    validate.same_device("labels", truth, maps.device, "the scores")
    parts = [
        _of_map(one, of, kind, ignore_index) for one, of in zip(maps.detach(), truth, strict=True)
    ]
    confidence, correct = (torch.cat(part) for part in zip(*parts, strict=True))
    if not len(confidence):
        raise ValueError(f"labels must hold a label, got ignore_index {ignore_index} everywhere")
    return TopLabel(confidence, correct)


def _of_map(
    scores: Tensor, labels: Tensor, kind: Kind, ignore_index: int | None
) -> tuple[Tensor, Tensor]:
    """(m,) confidences and hits of the pixels of one map (K, ...) that have a label."""
    rows, target = scores.flatten(1).T, labels.flatten()
    if ignore_index is not None:
        labelled = target != ignore_index
        rows, target = rows[labelled], target[labelled]
    if not len(rows):
        return rows.new_zeros(0), target.bool()
    if kind == "logits":
        rows = validate.logits(rows, "scores")
        validate.refuse_probs("scores", rows)
        rows = (rows.double() if rows.dtype in validate.HALVES else rows).softmax(1)
    return top(validate.probs(rows, "scores"), target)
