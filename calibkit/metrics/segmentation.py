"""Maps of labels, such as segmentations: every pixel is a sample."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics.top import TopLabel, top
from calibkit.validate import Array

Kind = Literal["logits", "probs"]


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
        _top(one, of, kind, ignore_index) for one, of in zip(maps.detach(), truth, strict=True)
    ]
    confidence, correct = (torch.cat(part) for part in zip(*parts, strict=True))
    if not len(confidence):
        raise ValueError(f"labels must hold a label, got ignore_index {ignore_index} everywhere")
    return TopLabel(confidence, correct)


def _top(
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
