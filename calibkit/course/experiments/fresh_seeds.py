"""The tables of the world of facts once more, on five seeds that no claim was made from.

The claims of lesson 21 and their margins were put down after the tables of seeds 0 to 4 had been
read. Here the same runs have seeds 5 to 9, so that the claims can fail (`study.asking` makes them).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from calibkit import validate
from calibkit.course.experiments import strengths

NAMES = ("answers", "invented")


def path(name: str) -> Path:
    """Where the table stands, below notebooks/results.

    >>> path("answers").as_posix()
    'laptop/facts-answers-again.csv'
    """
    return Path("laptop") / f"facts-{validate.choice('name', name, NAMES)}-again.csv"


def stored(name: str, folder: Path | None = None) -> pd.DataFrame:
    """The table that `study.asking` made; folder: notebooks/results of the course by default."""
    return strengths.stored(path(name), folder)
