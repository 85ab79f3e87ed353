"""What an experiment is: a grid of values on real data, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import torch

from calibkit.course.verdicts import Direction, Verdict, judge

# Columns that one temperature would change.
AS_TRAINED = ("test_ece", "ece", "class_gap", "gaussian_auroc", "elsewhere_auroc")


def paired(table: pd.DataFrame, column: str, than: Any, value: Any) -> list[float]:
    """What a column of a table of runs has at `value` above what it has at `than`, per seed.

    column: or an expression of columns. Raises ValueError for a table without one of the values.
    """
    measured = table.assign(measured=table.eval(column))
    by_seed = measured.pivot(index="seed", columns="value", values="measured")
    for one in (than, value):
        if one not in by_seed:
            raise ValueError(f"table must hold runs at {one!r}, got {list(by_seed)}")
    return (by_seed[value] - by_seed[than]).tolist()


@dataclass(frozen=True)
class Task:
    """What a run was asked for, and the setting that its scale has for the experiment."""

    scale: str
    setting: Any
    device: torch.device
    root: str | Path | None = None
    network: str | None = None
    vectors: str | Path | None = None


Change = Callable[[Any, Any, int], tuple[Any, Mapping[str, Any]]]
# outcomes, a table of one row a run, and more tables by name
Measured = tuple[list[Any], pd.DataFrame, dict[str, pd.DataFrame]]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A grid on one dataset, and the claims that it tests; the kinds of data say how it is trained.

    change: from training data, a value of the grid and a seed to the data and the settings of the
        training that this value stands for.
    claim: its id, and the statement that something is larger (`expect` "above") at the second value
        in `between` than at the first, or smaller ("below"). The same is claimed of every step of
        the grid: from value to value where it is `ordered`, so that a rise that comes and goes is
        not hidden behind its ends; else of each value against the first in `between`, unless
        `steps` names the pairs. A step to a value in `other_claims` has another claim's id.
    compared: a column of the table of runs, and what it is called.
    values_at: the values that a scale runs, where it does not run all.
    setting_changes: what differs from a scale's setting, or from its recipe, by scale, and then on
        a dataset, by (scale, dataset).
    """

    varies: str
    values: tuple
    change: Change
    claim: tuple[str, str]
    between: tuple[Any, Any]
    expect: Direction = "above"
    compared: tuple[str, str] = ("test_ece", "ECE")
    ordered: bool = False
    steps: tuple[tuple[Any, Any], ...] = ()
    other_claims: Mapping[Any, str] = field(default_factory=dict)
    values_at: Mapping[str, tuple] = field(default_factory=dict)
    setting_changes: Mapping[Any, Mapping[str, Any]] = field(default_factory=dict)
    name: str = ""
    dataset: str = ""

    settings: ClassVar[Mapping[str, Any]]  # by scale; each has a number of `seeds`
    default_dataset: ClassVar[str | None] = None  # file names leave it out
    options: ClassVar[tuple[str, ...]] = ()  # of "dataset" (any prepared one), "network", "vectors"
    step_statement: ClassVar[str] = "{of} at {varies} {value} is {larger} than at {than}"
    least_seeds: ClassVar[int] = 2  # below which nothing is judged

    def grid(self, scale: str) -> tuple:
        """The values that a scale runs."""
        return self.values_at.get(scale, self.values)

    # a kind of data has besides
    prepare: ClassVar[Callable]  # from a task and a seed to what all trainings of a seed share
    run: ClassVar[Callable]  # from a task, what `prepare` gave and a grid to `Measured`

    def main_verdict(self, table: pd.DataFrame) -> Verdict:
        """The claim, judged by the paired differences of a table of runs."""
        return self._judge(*self.claim, table, *self.between)

    def _judge(self, claim: str, statement: str, table: pd.DataFrame, than, value) -> Verdict:
        column = self.compared[0]
        how: dict[str, Any] = {"expect": self.expect, "as_trained": column in AS_TRAINED}
        return judge(claim, statement, paired(table, column, than, value), **how)

    def main_verdicts(self, table: pd.DataFrame) -> list[Verdict]:
        """What is said before the steps."""
        return [self.main_verdict(table)]

    def step_verdicts(self, table: pd.DataFrame) -> list[Verdict]:
        """The claim for every step between the values of the grid that a table has."""
        than, last = self.between
        values = [value for value in self.values if value in set(table.value)]
        if self.steps:
            return [self._step(table, *pair) for pair in self.steps if {*pair} <= {*values}]
        if not self.ordered:
            return [self._step(table, than, value) for value in values if value != than]
        rises = values.index(than) < values.index(last)
        return [self._step(table, *pair) for pair in pairwise(values if rises else values[::-1])]

    def _step(self, table: pd.DataFrame, than: Any, value: Any) -> Verdict:
        larger = "larger" if self.expect == "above" else "smaller"
        words = {"of": self.compared[1], "varies": self.varies, "dataset": self.dataset}
        statement = self.step_statement.format(than=than, value=value, larger=larger, **words)
        claim = self.other_claims.get(value, self.claim[0])
        return self._judge(claim, statement, table, than, value)


@dataclass
class Result:
    """What came of an experiment.

    outcomes: as of a sweep (`sweep.Sweep(result.outcomes)`); of captions runs of `translation`.
    table: one row a run: value, seed and what was measured.
    parts: more tables by name, such as "epochs".
    """

    experiment: Experiment
    task: Task
    outcomes: list[Any]
    table: pd.DataFrame
    parts: dict[str, pd.DataFrame]
