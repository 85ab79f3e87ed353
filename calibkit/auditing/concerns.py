"""Plain warnings: what should make a reader doubt the numbers of an audit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.special import ndtri

from calibkit.auditing.cross_fitted import Cooling
from calibkit.auditing.rows import Rows
from calibkit.auditing.scores import Scores
from calibkit.metrics import reliability

if TYPE_CHECKING:
    import pandas as pd

THIN = 30  # samples that a bin should hold
FEW = 1000  # samples that a test set should hold
NAMED = 8  # groups, or classes, in a warning
ADVISED = 3  # in the advice
LEAST_AGAIN = 0.01  # of the rows may repeat others without a word
TOO_NEAR = 0.01  # standard errors of log T: so near to 1 comes by luck once in 125 test sets


def concerns(
    rows: Rows, cooling: Cooling, *, bins: int, level: float, event: bool = False
) -> Iterator[str]:
    """What the predictions themselves give reason to say; event: every row says class 1."""
    yield from (*_thin(rows, bins), *_labels(rows, event), *cooling.warnings)
    if cooling.misfit:
        yield f"no temperature fits: {cooling.misfit}"
    elif cooling.crossed and _is_one(cooling, level):
        yield (
            "the best temperature on this test set is 1 to within a hundredth of its standard "
            "error. By luck that happens once in 125 times: was the model calibrated on this "
            "very test set? Then every calibration error below is flattered"
        )


def _thin(rows: Rows, bins: int) -> Iterator[str]:
    counts = reliability(rows.top, bins=bins).counts
    thin = int(((counts > 0) & (counts < THIN)).sum())
    if len(rows) < FEW:
        yield (
            f"{len(rows):,} samples are few: below about {FEW:,} a calibration error is mostly the "
            f"luck of the sample; look at the test and at its power"
        )
    if thin:
        yield (
            f"too few samples a bin: {thin} of {int((counts > 0).sum())} filled bins hold fewer "
            f"than {THIN}. Their bars say little, and the MCE may rest on one of them alone"
        )


def _labels(rows: Rows, event: bool) -> Iterator[str]:
    present = torch.bincount(rows.labels, minlength=rows.classes) > 0
    absent = int((~present).sum())
    if absent:
        which = ", ".join(map(str, (~present).nonzero()[:8, 0].tolist()))
        which += " ..." if absent > 8 else ""
        yield (
            f"{absent} of {rows.classes} classes have no sample (number {which}): nothing is said "
            f"about them"
        )
    impossible = int(rows.nll.isinf().sum())
    if impossible:
        yield (
            f"{impossible} labels were given probability 0: the likelihood is infinite. Store "
            f"logits, or probabilities that are not rounded. For the temperature a 0 is taken as "
            f"half the smallest probability that occurs"
        )
    if len(rows.predicted.unique()) == 1 and not event:
        yield f"class {int(rows.predicted[0])} is predicted for every sample"


def off(groups: pd.DataFrame | None, classes: pd.DataFrame) -> Iterator[str]:
    """The groups that are off, and the predicted classes, the furthest first.

    Where half of the classes are off, the gap of the whole says so; where there are two, the event.
    """
    tables = [] if groups is None else [("groups", groups)]
    if len(classes) > 2 and classes["flag"].str.contains("off").mean() < 0.5:
        ordered = classes.sort_values("gap", key=abs, ascending=False, kind="stable")
        tables.append(("predicted classes", ordered))
    for kind, table in tables:
        those = table[table["flag"].str.contains("off")]
        if len(those):
            yield (
                f"{len(those)} of {len(table):,} {kind} are off by more than luck explains: "
                f"{named(those, NAMED)}"
            )


def named(table: pd.DataFrame, most: int) -> str:
    """The first names of a table of groups or classes, with their gaps."""
    words = [f"{row.name} ({row.gap * 100:+.1f} points)" for row in table.head(most).itertuples()]
    return ", ".join(words) + (f" and {len(table) - most} more" if len(table) > most else "")


def not_for_all(further: dict[str, pd.DataFrame]) -> str:
    """What the advice adds: by kind, the groups that are further off with the temperature."""
    parts = [f"{kind} {named(table, ADVISED)}" for kind, table in further.items() if len(table)]
    return f" on average, not for all: further off with it are {'; '.join(parts)}" if parts else ""


def _is_one(cooling: Cooling, level: float) -> bool:
    if cooling.low == 0:  # the data set it no bound
        return True
    error = math.log(cooling.high / cooling.low) / 2 / float(ndtri((1 + level) / 2))
    return abs(math.log(cooling.value)) < TOO_NEAR * error


def repeated(scores: Scores, rows: Rows) -> list[str]:
    """Whether rows repeat earlier ones, scores and label.

    Scores of few values, as of a tree, repeat too, but then with other labels as often as their
    probabilities say. Copies never have another.
    """
    marks = np.unique(np.array(_marks(scores)), return_inverse=True)[1]
    label, confidence = rows.labels.numpy(), rows.confidence.numpy()
    size = np.bincount(marks)
    pairs = np.unique(np.stack([marks, label], 1), axis=0)[:, 0]
    mixed = np.bincount(pairs) > 1
    sure = np.bincount(marks, confidence) / size
    expected = 1 - sure**size - (1 - sure) ** size
    again = len(rows) - len(pairs)
    if again < LEAST_AGAIN * len(rows) or expected.sum() < 3 or mixed.sum() > expected.sum() / 2:
        return []
    return [
        f"{again:,} of {len(rows):,} rows repeat an earlier row, its scores and its label. Copies "
        f"of one sample make every interval and every p-value surer than they are: keep one of "
        f"each, or name the column that says which rows belong together (--cluster COLUMN, "
        f"clusters=)"
    ]


def shared(test: Scores, calibration: Scores) -> list[str]:
    """Whether rows of the calibration data stand in the test set too."""
    seen = set(_marks(calibration))
    both = sum(mark in seen for mark in _marks(test))
    if not both:
        return []
    if both == len(test):
        return [
            "calibrated on the test: every row of the test set stands in the calibration data "
            "too. The temperature has seen the labels that judge it; pass other calibration data"
        ]
    return [
        f"duplicates between calibration and test: {both:,} of {len(test):,} test rows stand in "
        f"the calibration data too. Leave them out of one of the two"
    ]


def _marks(scores: Scores) -> list[int]:
    """A hash of every row, in float32: copies of other types are found too."""
    blocks = (block.float().contiguous().numpy() for _, block in scores.blocks())
    return [hash(row.tobytes()) for block in blocks for row in block]
