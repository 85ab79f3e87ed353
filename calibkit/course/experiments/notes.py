"""Readers of short notes whose exact posterior is known, and ways to train the one of convolutions.

`python -m calibkit.course.experiments.notes` trains the ways on three seeds that nothing is judged
on, and keeps the table from which the evidence of lesson 15 takes its settings.
"""

from __future__ import annotations

import functools
from typing import Any

import pandas as pd
from torch import Tensor

from calibkit import curation, metrics
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, training, translation

CLASSES, LENGTH = 4, 16
WORDS = len(data.Notes().vocabulary)
READERS = {
    "bag of words": functools.partial(models.text_bag, WORDS, CLASSES, embedding=16, width=32),
    "CNN": functools.partial(
        models.text_cnn, WORDS, CLASSES, embedding=16, width=64, depth=1, kernel=3
    ),
    "LSTM": functools.partial(models.text_lstm, WORDS, CLASSES, embedding=16, width=32),
    "transformer": functools.partial(
        models.text_transformer, WORDS, CLASSES, length=LENGTH, width=32, heads=4
    ),
}
# Ways to train the CNN, each with its strengths; a strength of 0 is that of a way that has none.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "focal": (0.5, 1.0, 2.0, 3.0),
    "smoothing": (0.02, 0.05, 0.1, 0.2),
    "mixup": (0.1, 0.2, 0.5, 1.0, 2.0),
}
DECAYS = (1e-2, 1e-1, 3e-1, 1.0, 3.0)  # of AdamW; 1e-2 is the usual one


@functools.cache
def splits(size: scale.Budget, seed: int, notes: int | None = None) -> data.Splits:
    """Notes to train (those of the scale by default), calibrate and test."""
    notes = size.train if notes is None else notes
    return data.notes(notes, seed=seed, test=size.test // 2)


def trial(
    size: scale.Budget,
    reader: str,
    seed: int,
    way: str = "cross-entropy",
    strength: float = 0.0,
    decay: float = 1e-2,
    times: float = 1.0,
    noise: float = 0.0,
) -> training.Trial:
    """A reader, scored on `train`, `cal` and `test`.

    times: how many times the notes of the scale, at equal steps; noise: the share of the training
        labels that is shuffled.
    """
    train, cal, test = splits(size, seed, max(64, round(size.train * times)))
    labels = curation.symmetric_noise(train.labels, noise, classes=CLASSES, seed=seed).labels
    learn = train.with_labels(labels) if noise else train
    epochs = max(1, round(size.epochs // 2 / times))
    return training.trial(
        READERS[reader],
        learn,
        {"train": learn, "cal": cal, "test": test},
        seed=seed,
        optimizer="adamw",
        lr=0.01,
        weight_decay=decay,
        schedule="cosine",
        warmup=0.2 * epochs,
        batch_size=64,
        epochs=epochs,
        **changes("mixup of words" if way == "mixup" else way, strength),
    )


def _of_row(size, **setting) -> training.Trial:
    return trial(size, "CNN", **setting)


STUDY = strengths.Study("notes", _of_row, strengths.settings(WAYS, DECAYS))
stored = STUDY.stored


def chosen(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL after T; see `strengths.chosen`."""
    return strengths.best(table)


def numbers(probs: Tensor, part: Any) -> dict[str, float]:
    """What is judged of probabilities (n, 4); part: their labels and exact posterior."""
    return {
        "accuracy": metrics.accuracy(probs, part.labels),
        "confidence": probs.amax(dim=1).mean().item(),
        "gap": metrics.signed_gap(probs, part.labels),
        "ECE": metrics.ece(probs, part.labels),
        "NLL": metrics.nll(probs, part.labels),
        "distance": translation.distance(probs, part.posterior),
    }


if __name__ == "__main__":
    STUDY.keep()
