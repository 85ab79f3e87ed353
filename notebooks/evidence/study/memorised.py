"""How wide a network must be to learn the labels of n digits by heart, random ones and true ones.

`python -m study.memorised` trains the networks and keeps the table that the
evidence of lesson 03 reads. The numbers of images and the margin of the verdict were fixed before
the first run. That run gave all numbers of images the same epochs, which left the smaller ones with
too few steps to learn by heart whatever the width; now all get the same steps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from calibkit import validate
from calibkit.course.experiments import strengths
from calibkit.lab import data, models, sweep, training

NUMBERS = (100, 200, 400, 800, 1600)
WIDTHS = (3, 4, 6, 8, 11, 16, 23, 32, 45)  # a factor of about the root of 2 apart
LABELS = ("random", "true")
SEEDS = (0, 1, 2, 3, 4)
BATCH, STEPS = 100, 8_000
LEARNED = 0.99  # of the labels
PATH = Path("laptop") / "memorised.csv"


@functools.cache
def digits(n: int, labels: str, seed: int) -> data.Dataset:
    """n noisy digits whose labels are their own, or drawn at random from all ten."""
    train = data.noisy_digits(n, noise=0.1, seed=seed, calibration=1, test=1).train
    if validate.choice("labels", labels, LABELS) == "true":
        return train
    return train.with_labels(torch.randint(10, (n,), generator=torch.Generator().manual_seed(seed)))


def trial(n: int, width: int, labels: str, seed: int, steps: int = STEPS) -> training.Trial:
    """A network of four layers, the three hidden ones of one width, without weight decay."""
    train = digits(n, labels, seed)
    return training.trial(
        functools.partial(models.mlp, 64, 10, depth=3, width=width),
        train,
        {"seen": train},
        seed=seed,
        epochs=round(steps / math.ceil(n / BATCH)),
        batch_size=BATCH,
        lr=0.05,
        schedule="cosine",
        weight_decay=0.0,
    )


def trained(
    numbers: Sequence[int] = NUMBERS,
    widths: Sequence[int] = WIDTHS,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    **options,
) -> pd.DataFrame:
    """One row a network: labels, n, width, seed and the share of the labels that it has learned.

    options: `jobs`, `cache`, `progress` of `sweep.run`.
    """
    grid = [
        {"labels": kind, "n": n, "width": width, "seed": seed}
        for kind in LABELS
        for n in numbers
        for width in widths
        for seed in seeds
    ]
    make = functools.partial(trial, steps=steps)
    table = sweep.run(make, grid, device="cpu", how="stacked", **options).table
    return table[["labels", "n", "width", "seed", "seen_accuracy"]].round(6)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `trained` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


def least_width(widths: Sequence[int], learned: Sequence[float]) -> float:
    """The width from which on a network learns `LEARNED` of its labels, between two of a grid.

    widths ascending; learned: the share at each. Between the last width at which it does not and
    the next one, it is where a line over the logarithm of the width crosses. NaN where the widest
    network does not, or all do.

    >>> least_width([4, 8, 16], [0.5, 0.98, 1.0])  # half way between 8 and 16, in logarithms
    11.31
    """
    short = [place for place, share in enumerate(learned) if share < LEARNED]
    if not short or short[-1] == len(widths) - 1:
        return math.nan
    low = short[-1]
    part = (LEARNED - learned[low]) / (learned[low + 1] - learned[low])
    return round(widths[low] * (widths[low + 1] / widths[low]) ** part, 2)


def least_widths(table: pd.DataFrame) -> pd.DataFrame:
    """`least_width` of each kind of labels, number of images and seed, a column a number."""
    found = {
        key: least_width(*rows.sort_values("width")[["width", "seen_accuracy"]].to_numpy().T)
        for key, rows in table.groupby(["labels", "seed", "n"])
    }
    return pd.Series(found).rename_axis(["labels", "seed", "n"]).unstack()


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """By labels and seed, the power of n with which the least width grows.

    The slope of a least-squares line through the logarithms, over the numbers of images for which
    the least width lies within the grid: columns `exponent` and `numbers`.
    """
    rows = {}
    for key, widths in least_widths(table).iterrows():
        known = widths.dropna()
        slope = np.nan
        if len(known) > 1:
            slope = np.polyfit(np.log(known.index.to_numpy(float)), np.log(known.to_numpy()), 1)[0]
        rows[key] = {"exponent": slope, "numbers": len(known)}
    return pd.DataFrame(rows).T.rename_axis(["labels", "seed"])


if __name__ == "__main__":
    strengths.keep(trained(), PATH)
