"""Cures of over-confidence at their best on photographs, from the stored runs, `night_runs`.

Each cure is tried at its strengths and at three weight decays; the pair that has the lowest mean
negative log likelihood on the calibration photographs is the one that is compared: as trained with
the likelihood as trained, after a temperature each with the likelihood after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pandas as pd

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


def chosen(cure: str, scaled: bool) -> pd.DataFrame:
    """The stored runs of a cure of `STRENGTHS` at its `best`; scaled: after a T."""
    return best(night_runs.table(), STRENGTHS[cure], CHOSEN_BY[scaled])


def judged(claim: str, cure: str, rival: str = PLAIN) -> Iterator[verdicts.Verdict]:
    """What `JUDGED` says of a cure beside another one, each at its best, seed by seed."""
    for words, column, scaled in JUDGED:
        one, other = (chosen(name, scaled)[column] for name in (cure, rival))
        yield verdicts.judge(
            claim,
            f"20,000 photographs, both at their best{', one T each' * scaled}: {cure} {words} than "
            f"{rival}",
            (one - other).to_numpy(),
            expect="below",
            as_trained=not scaled,
        )


SHOWN = {  # by whether after T, the columns of `table` and those of a run
    False: {"accuracy": "test_accuracy", "gap": "test_gap", "ECE": "test_ece"},
    True: {"accuracy": "test_accuracy", "T": "scaled_temperature", "ECE": "scaled_ece",
           "NLL": "scaled_nll"},
}  # fmt: skip


def table() -> pd.DataFrame:
    """By cure and state its strength and decay there, and means over the seeds."""
    found: dict[str, dict] = {cure: {} for cure in STRENGTHS}
    for cure, (scaled, columns) in itertools.product(STRENGTHS, SHOWN.items()):
        runs, state = chosen(cure, scaled), "after T" if scaled else "as trained"
        means = runs.mean(numeric_only=True)
        means["test_gap"] = means.test_confidence - means.test_accuracy
        told = {"strength": runs.loss[0], "decay": means.decay}
        told |= {name: means[column] for name, column in columns.items()}
        found[cure] |= {(state, name): number for name, number in told.items()}
    return pd.DataFrame(found).T.infer_objects()  # numbers as such, to be rounded
