"""The tables of the world of facts once more, on five seeds that no claim was made from.

The claims of lesson 21 and their margins were put down after the tables of seeds 0 to 4 had been
read. Here the same runs have seeds 5 to 9, so that the claims can fail.
`python -m calibkit.course.experiments.again NAME ...` keeps them; all without a name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from calibkit import validate
from calibkit.course.experiments import answers, invented, rewards, strengths

SEEDS = range(5, 10)
RUNS: dict[str, Callable[..., pd.DataFrame]] = {
    "answers": answers.run,
    "rewards": rewards.run,
    "invented": partial(invented.run, shares=(0.3,)),  # the share that claims were made of
}


def run(name: str, **options: Any) -> pd.DataFrame:
    """The table of one of RUNS, on SEEDS; options as of its own `run`.

    Raises ValueError for another name.
    """
    return RUNS[validate.choice("name", name, tuple(RUNS))](**{"seeds": SEEDS, **options})


def path(name: str) -> Path:
    """Where the table stands, below notebooks/results.

    >>> path("answers").as_posix()
    'laptop/facts-answers-again.csv'
    """
    return Path("laptop") / f"facts-{validate.choice('name', name, tuple(RUNS))}-again.csv"


def stored(name: str, folder: Path | None = None) -> pd.DataFrame:
    """The table that `run` made; folder: notebooks/results of the course by default."""
    return strengths.stored(path(name), folder)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or RUNS:
        strengths.keep(run(chosen, jobs=1), path(chosen))
