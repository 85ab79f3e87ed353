"""The columns of a table that a reading takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chosen:
    """The columns of a reading.

    of_classes: whether the scores are surely those of all classes, so that numbers of any size are
    logits. event: whether one score is of what a row says, right or wrong; predicted: the column
    that says it, where the label does not tell by itself what is right.
    """

    label: str
    scores: list[str]
    of_classes: bool = False
    predicted: str | None = None
    event: bool = False
