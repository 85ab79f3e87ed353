"""Which intervals an audit may print: those that a simulation has seen to cover as they say."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "coverage.csv"
OFF = 0.05  # a coverage may miss its level by so much
ALWAYS = ("accuracy", "confidence", "gap", "nll", "brier", "temperature")
KINDS = {"two": ("two", "two, sure"), "ten": ("ten", "ten, sure")}  # of models in the table
MOST_CLASSES = 2  # of a sum over more, coverage depends on how sure the model is of the rare ones


def covers(measure: str, classes: int, n: int, level: float, *, paired: bool = False) -> bool:
    """Whether the interval of a measure may be printed for n independent rows.

    It may where its simulated coverage is within 5 points of its level for every true error and
    for sure and unsure models, at the numbers of rows in the table that stand next to n on either
    side; above the largest one, at that one. One standard error of the simulation is granted.
    Accuracy, mean confidence, gap, NLL, Brier score and temperature always have one.

    paired: of the difference between two models on the same rows.

    >>> covers("accuracy", 3, 50, 0.9), covers("mce", 3, 5000, 0.9)
    (True, False)
    """
    if measure in ALWAYS:
        return True
    if measure == "classwise_ece" and classes > MOST_CLASSES:
        return False
    name = f"{measure} paired" if paired else measure
    kinds = KINDS["two" if classes == 2 else "ten"]
    return all(_covers((name, kind, round(level, 6)), n) for kind in kinds)


def _covers(key: tuple[str, str, float], n: int) -> bool:
    """Whether an interval covers for one kind of model, next to n."""
    shares = _shares().get(key, {})
    near = _neighbours(sorted(shares), n)
    return bool(near) and all(_holds(*cell, key[2]) for at in near for cell in shares[at])


def _holds(covered: int, draws: int, level: float) -> bool:
    """Whether a simulated coverage is within 5 points of a level, to one standard error.

    >>> _holds(180, 200, 0.95), _holds(160, 200, 0.95)
    (True, False)
    """
    share = covered / draws
    error = math.sqrt(level * (1 - level) / draws)
    return abs(share - level) <= OFF + error


def _neighbours(sizes: list[int], n: int) -> list[int]:
    """The tabulated sizes next to n; none below the smallest.

    >>> _neighbours([200, 500], 300), _neighbours([200, 500], 900), _neighbours([200, 500], 100)
    ([200, 500], [500], [])
    """
    if not sizes or n < sizes[0]:
        return []
    below = max(size for size in sizes if size <= n)
    above = [size for size in sizes if size >= n]
    return sorted({below, *above[:1]})


@cache
def _shares() -> dict[tuple[str, str, float], dict[int, list[tuple[int, int]]]]:
    """By measure, kind and level, and then by n: how many of how many draws, over all errors."""
    found: dict[tuple[str, str, float], dict[int, list[tuple[int, int]]]] = {}
    for row in rows():
        key = (row["measure"], row["classes"], float(row["level"]))
        cell = int(row["covered"]), int(row["draws"])
        found.setdefault(key, {}).setdefault(int(row["n"]), []).append(cell)
    return found


def rows() -> list[dict[str, str]]:
    """The table as it is stored: a row a measure, number of classes, true error, n and level."""
    if not TABLE.is_file():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
