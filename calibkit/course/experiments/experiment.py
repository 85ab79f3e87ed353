"""What an experiment is: a grid of values on real data, and what is claimed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import torch

from calibkit.course.verdicts import Direction, Verdict, judge


@dataclass(frozen=True)
class Comparison:
    """A claim: something measured is larger, or smaller, at one value of the grid than at another.

    of: a column of the table of runs, or an expression of columns, and what it is called.
    """

    claim: str
    statement: str
    than: Any
    value: Any
    expect: Direction = "above"
    of: tuple[str, str] = ("test_ece", "ECE")

    def verdict(self, table: pd.DataFrame) -> Verdict:
        """The claim, judged by the differences of a table of runs, paired by seed.

        Raises ValueError for a table without one of the values, or with a single seed.
        """
        compared = table.assign(compared=table.eval(self.of[0]))
        by_seed = compared.pivot(index="seed", columns="value", values="compared")
        for value in (self.than, self.value):
            if value not in by_seed:
                raise ValueError(f"table must hold runs at {value!r}, got {list(by_seed)}")
        differences = (by_seed[self.value] - by_seed[self.than]).tolist()
        return judge(self.claim, self.statement, differences, expect=self.expect)


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
Measured = tuple[list[Any], dict[str, pd.DataFrame]]  # outcomes, and tables by name


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A grid on one dataset, and the claims that it tests; the kinds of data say how it is trained.

    change: from training data, a value of the grid and a seed to the data and the settings of the
        training that this value stands for.
    claim: its id, and what is claimed of the second value in `between` against the first.
    expect, of: of the `Comparison` of the two. The same is claimed of every step of the grid: from
        value to value where the grid is `ordered`, so that a rise that comes and goes is not hidden
        behind its ends; else of each value against the first in `between`. A step to a value in
        `others` has another claim's id.
    figure: what the source found.
    fewer: the values that a scale runs, where it does not run all.
    changes: what differs from a scale's setting, or from its recipe, by scale.
    """

    varies: str
    values: tuple
    change: Change
    claim: tuple[str, str]
    between: tuple[Any, Any]
    expect: Direction = "above"
    of: tuple[str, str] = ("test_ece", "ECE")
    ordered: bool = False
    others: Mapping[Any, str] = field(default_factory=dict)
    figure: str
    fewer: Mapping[str, tuple] = field(default_factory=dict)
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = ""
    dataset: str = ""

    settings: ClassVar[Mapping[str, Any]]  # by scale; each has a number of `seeds`
    usual: ClassVar[str | None] = None  # the dataset where none is named; file names leave it out
    options: ClassVar[tuple[str, ...]] = ()  # of "dataset" (any prepared one), "network", "vectors"
    again: ClassVar[str] = "--scale {scale} --dataset {dataset}"
    step: ClassVar[str] = "{of} at {varies} {value} is {larger} than at {than}"
    seeds_first: ClassVar[bool] = True  # whether the rows stand by seed, and then by value
    least: ClassVar[int] = 2  # seeds below which nothing is judged
    side_by_side: ClassVar[bool] = False  # whether runs share a CPU, with one thread each
    below: ClassVar[str] = (  # what a report says below its table
        "Mean ± standard deviation over {seeds} seeds. Training accuracy is that of the last epoch "
        "as it was met"
    )

    def grid(self, scale: str) -> tuple:
        """The values that a scale runs."""
        return self.fewer.get(scale, self.values)

    def prepare(self, task: Task, seed: int) -> Any:
        """What all trainings of a seed share."""
        raise NotImplementedError

    def run(
        self, task: Task, prepared: Callable[[int], Any], grid: Sequence[dict], **options: Any
    ) -> Measured:
        """Train and measure every setting {"value", "seed"} of a grid; the table "" has a row each.

        prepared: gives what `prepare` made. options: `jobs`, `cache`, `progress` of `sweep.run`.
        """
        raise NotImplementedError

    def trained(self, result: Result) -> list[str]:
        """What a report says of the data and of the training, a point each."""
        raise NotImplementedError

    @property
    def whole(self) -> Comparison:
        """The claim of the experiment as a whole."""
        return Comparison(*self.claim, *self.between, self.expect, self.of)

    def wholes(self) -> list[Comparison]:
        """What is judged before the steps."""
        return [self.whole]

    def steps(self, present: Iterable) -> list[Comparison]:
        """The claim of every step between the values of the grid that are present."""
        than, last = self.between
        there = set(present)
        values = [value for value in self.values if value in there]
        if not self.ordered:
            return [self._step(than, value) for value in values if value != than]
        rises = values.index(than) < values.index(last)
        return [self._step(*pair) for pair in pairwise(values if rises else values[::-1])]

    def _step(self, than: Any, value: Any) -> Comparison:
        larger = "larger" if self.expect == "above" else "smaller"
        words = {"of": self.of[1], "varies": self.varies, "dataset": self.dataset}
        statement = self.step.format(than=than, value=value, larger=larger, **words)
        claim = self.others.get(value, self.claim[0])
        return Comparison(claim, statement, than, value, self.expect, self.of)


@dataclass
class Result:
    """What came of an experiment: its runs, and tables by name; `table` has one row a run.

    outcomes: as of a sweep (`sweep.Sweep(result.outcomes)`); of captions runs of `translation`.
    """

    experiment: Experiment
    task: Task
    outcomes: list[Any]
    tables: dict[str, pd.DataFrame]

    @property
    def table(self) -> pd.DataFrame:
        """One row a run: value, seed and what was measured."""
        return self.tables[""]
