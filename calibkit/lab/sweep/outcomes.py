"""What a sweep returns: one outcome per grid point, and all of them as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch

from calibkit import metrics, validate
from calibkit.lab.data import Predictions
from calibkit.lab.training import Run, Trial


@dataclass(frozen=True)
class Outcome:
    """One finished run of a sweep: its values of the grid, what was trained, and what came of it.

    What the run has, the outcome has too: `outcome.history` is `outcome.run.history`.
    """

    setting: Mapping[str, Any]
    trial: Trial = field(repr=False)
    run: Run

    def __getattr__(self, name: str) -> Any:
        if name == "run" or name.startswith("__"):  # while it is being copied or unpickled
            raise AttributeError(name)
        return getattr(self.run, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self.run) if name[0] != "_")})


class Sweep:
    """The outcomes of a grid, in its order.

    table: one row a run: the grid's columns, train_loss and train_accuracy of the last epoch, and
        per scored dataset NAME_accuracy, NAME_confidence, NAME_gap (confidence - accuracy),
        NAME_ece (15 equal bins) and NAME_nll. Of the history only train_loss and train_accuracy
        come here; `measure` adds more. These NAME_* are of `score`, a history's of `watch`.
    """

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = list(outcomes)
        self.keys = list(self.outcomes[0].setting)
        self.table = pd.DataFrame([_row(outcome) for outcome in self.outcomes])

    def __repr__(self) -> str:
        named = f"{len(self.outcomes)} runs over {', '.join(self.keys)}"
        scored = ", ".join(self.outcomes[0].trial.score)
        return f"Sweep of {named}" + (f"; scored: {scored}" if scored else "")

    def where(self, **setting) -> list[Outcome]:
        """The outcomes with these grid values; raises ValueError when there is none."""
        for name in setting:
            validate.choice("setting", name, tuple(self.keys))
        chosen = [o for o in self.outcomes if all(o.setting[k] == v for k, v in setting.items())]
        if not chosen:
            there = {k: sorted({o.setting[k] for o in self.outcomes}, key=str) for k in setting}
            raise ValueError(f"no run has {setting}; the grid has {there}")
        return chosen

    def one(self, **setting) -> Outcome:
        """The single outcome with these grid values."""
        chosen = self.where(**setting)
        if len(chosen) > 1:
            free = [key for key in self.keys if key not in setting]
            raise ValueError(f"{len(chosen)} runs have {setting}; give {', '.join(free)} too")
        return chosen[0]

    def pooled(self, name: str, **setting) -> Predictions:
        """The predictions of several runs, one after the other, as if they were one."""
        runs = [outcome.predictions[name] for outcome in self.where(**setting)]
        known = all(one.posterior is not None for one in runs)
        posterior = torch.cat([one.posterior for one in runs]) if known else None
        logits, labels = (torch.cat([getattr(o, f) for o in runs]) for f in ("logits", "labels"))
        return Predictions(logits, labels, posterior)

    def measure(self, column: str, function: Callable[[Outcome], float]) -> Sweep:
        """Add a column to the table: `function(outcome)` of every run."""
        self.table[column] = [float(function(outcome)) for outcome in self.outcomes]
        return self

    def values(self, column: str, **setting) -> np.ndarray:
        """A column's values in the runs with this setting, in the grid's order."""
        self.where(**setting)  # raises where there is none
        validate.choice("column", column, tuple(map(str, self.table.columns)))
        chosen = np.ones(len(self.table), dtype=bool)
        for key, value in setting.items():
            chosen &= np.array([outcome.setting[key] == value for outcome in self.outcomes])
        return self.table.loc[chosen, column].to_numpy()

    def difference(self, column: str, left: Mapping, right: Mapping, **both) -> np.ndarray:
        """Paired differences, left minus right, one per run that both settings have (per seed).

        Raises ValueError when the runs do not pair off one to one.
        """
        sides = []
        for setting in (left, right):
            rest = [key for key in self.keys if key not in {*setting, *both}]
            runs = self.where(**setting, **both)
            values = self.values(column, **setting, **both)
            mates = [tuple(str(run.setting[key]) for key in rest) for run in runs]
            sides.append(dict(zip(mates, values, strict=True)))
        if set(sides[0]) != set(sides[1]) or len(sides[0]) != len(runs):
            raise ValueError(f"the runs of {dict(left)} and {dict(right)} do not pair off")
        return np.array([sides[0][mate] - sides[1][mate] for mate in sides[0]])


def _row(outcome: Outcome) -> dict[str, Any]:
    last = outcome.history.iloc[-1]
    row = dict(outcome.setting)
    row |= {"train_loss": last.train_loss, "train_accuracy": last.train_accuracy}
    for name, predictions in outcome.predictions.items():
        probs, labels = predictions.probs, predictions.labels
        row[f"{name}_accuracy"] = metrics.accuracy(probs, labels)
        row[f"{name}_confidence"] = predictions.confidence.double().mean().item()
        row[f"{name}_gap"] = metrics.signed_gap(probs, labels)
        row[f"{name}_ece"] = metrics.ece(probs, labels)
        row[f"{name}_nll"] = metrics.nll(probs, labels)
    return row
