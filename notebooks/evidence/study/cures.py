"""Cures of over-confidence at their best on photographs, from the stored runs, `night_runs`.

Each cure is tried at its strengths and at three weight decays; the pair that has the lowest mean
negative log likelihood on the calibration photographs is the one that is compared: as trained with
the likelihood as trained, after a temperature each with the likelihood after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.course import verdicts
from study import night_runs

PLAIN = "cross-entropy"
STRENGTHS = {  # by cure, the losses of `night_runs.table` that are its strengths
    PLAIN: (PLAIN,),
    "label smoothing": ("label smoothing .05", "label smoothing .1"),
    "confidence penalty": ("confidence penalty .1",),
    "Brier loss": ("Brier",),
    "MMCE": ("MMCE, weight 2", "MMCE, squared, weight 2"),
    "focal loss": ("focal, gamma 1", "focal, gamma 2", "focal, gamma 3"),
    "FLSD": ("FLSD-53", "FLSD-532"),
    "scheduled focal loss": ("focal, gamma 5-3-1", "focal, gamma 5-3-2"),
    "mixup": ("mixup, alpha 0.1", "mixup, alpha 0.3", "mixup, alpha 1"),
}
CHOSEN_BY = {False: "calibration_nll", True: "calibration_scaled_nll"}  # as trained, after T
JUDGED = (  # what is said of a cure, by which column, and whether after a temperature each
    ("has a lower ECE", "test_ece", False),
    ("has a lower ECE", "scaled_ece", True),
    ("has a lower NLL", "scaled_nll", True),
)


def best(rows: pd.DataFrame, losses: Sequence[str], by: str) -> pd.DataFrame:
    """The runs at the loss and weight decay of the least mean `by`, a row a seed in order."""
    own = rows[rows.loss.isin(losses)]
    loss, decay = own.groupby(["loss", "decay"])[by].mean().idxmin()
    return own[(own.loss == loss) & (own.decay == decay)].sort_values("seed", ignore_index=True)


def chosen(cure: str, *, scaled: bool, rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """The runs of a cure at its `best`.

    cure: of `STRENGTHS`. scaled: whether what is compared has a temperature of its own. rows: of
    `night_runs.table`, by default those stored.
    """
    validate.choice("cure", cure, tuple(STRENGTHS))
    return best(night_runs.table() if rows is None else rows, STRENGTHS[cure], CHOSEN_BY[scaled])


def lead(
    cure: str, column: str, *, scaled: bool, rival: str = PLAIN, rows: pd.DataFrame | None = None
) -> np.ndarray:
    """(seeds,) a column of `night_runs.table`, one cure less another, each at its best."""
    one, other = (chosen(name, scaled=scaled, rows=rows)[column] for name in (cure, rival))
    return (one - other).to_numpy()


def judged(claim: str, cure: str, rival: str = PLAIN) -> Iterator[verdicts.Verdict]:
    """What `JUDGED` says of a cure beside another one, each at its best, over the seeds."""
    for words, column, scaled in JUDGED:
        yield verdicts.judge(
            claim,
            f"20,000 photographs, both at their best{', one T each' * scaled}: {cure} {words} than "
            f"{rival}",
            lead(cure, column, scaled=scaled, rival=rival),
            expect="below",
            as_trained=not scaled,
        )


def table(rows: pd.DataFrame | None = None) -> pd.DataFrame:
    """Means over the seeds by cure, at its best as trained and at its best after a temperature.

    Columns: strength and decay, accuracy, signed gap and ECE as trained; strength and decay,
    temperature, ECE and NLL after it.
    """
    found = {}
    for cure in STRENGTHS:
        plain, cooled = (chosen(cure, scaled=scaled, rows=rows) for scaled in (False, True))
        mean, after = plain.mean(numeric_only=True), cooled.mean(numeric_only=True)
        found[cure] = {
            ("as trained", "strength"): plain.loss[0],
            ("as trained", "decay"): mean.decay,
            ("as trained", "accuracy"): mean.test_accuracy,
            ("as trained", "gap"): mean.test_confidence - mean.test_accuracy,
            ("as trained", "ECE"): mean.test_ece,
            ("after T", "strength"): cooled.loss[0],
            ("after T", "decay"): after.decay,
            ("after T", "accuracy"): after.test_accuracy,
            ("after T", "T"): after.scaled_temperature,
            ("after T", "ECE"): after.scaled_ece,
            ("after T", "NLL"): after.scaled_nll,
        }
    return pd.DataFrame(found).T.infer_objects()  # numbers as such, to be rounded
