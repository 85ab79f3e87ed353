"""Strengths and weight decays of ways of training, chosen on seeds that nothing is judged on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from calibkit.course import checkout

SELECTION = (100, 101, 102)  # seeds


def settings(
    ways: Mapping[str, Iterable[float]], decays: Iterable[float], seeds: Iterable[int] = SELECTION
) -> list[dict[str, Any]]:
    """Every way with each of its strengths, each weight decay and each seed.

    >>> settings({"plain": (0.0,)}, (1, 2), (7,))[1]
    {'way': 'plain', 'strength': 0.0, 'decay': 2, 'seed': 7}
    """
    return [
        {"way": way, "strength": strength, "decay": decay, "seed": seed}
        for way, values in ways.items()
        for strength in values
        for decay in decays
        for seed in seeds
    ]


def keep(table: pd.DataFrame, path: Path) -> None:
    """Write a table below notebooks/results of the course."""
    target = checkout.results() / path
    target.parent.mkdir(exist_ok=True)
    table.to_csv(target, index=False)


def stored(path: Path, folder: Path | None = None) -> pd.DataFrame:
    """The table that was kept there; folder: notebooks/results of the course by default."""
    return pd.read_csv((checkout.results() if folder is None else folder) / path)


def best(table: pd.DataFrame, column: str) -> dict[str, dict[str, float]]:
    """Strength and weight decay of each way, as `chosen` finds them."""
    return chosen(table, column).set_index("way")[["strength", "decay"]].to_dict("index")


def chosen(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Strength and weight decay of each way with the least mean of `column` over the seeds.

    table: one row a training, with columns way, strength, decay, seed and `column`. Returns one row
    a way, in the table's order: way, strength, decay, the mean, and edge: whether the strength or
    the decay is the first or the last that was tried, so that a better one may lie beyond.

    >>> rows = [("plain", 0.0, d, s, abs(d - 2) + s) for d in (1, 2, 3) for s in (0, 1)]
    >>> table = pd.DataFrame(rows, columns=["way", "strength", "decay", "seed", "nll"])
    >>> chosen(table, "nll").iloc[0].to_dict()
    {'way': 'plain', 'strength': 0.0, 'decay': 2, 'nll': 0.5, 'edge': False}
    """
    means = table.groupby(["way", "strength", "decay"], sort=False)[column].mean()
    rows = []
    for way in table.way.unique():
        strength, decay = means[way].idxmin()
        tried = means[way].index
        edge = any(
            _at_edge(value, tried.get_level_values(name))
            for name, value in (("strength", strength), ("decay", decay))
        )
        least = means[way, strength, decay]
        rows.append({"way": way, "strength": strength, "decay": decay, column: least, "edge": edge})
    return pd.DataFrame(rows)


def _at_edge(value: float, tried: pd.Index) -> bool:
    return tried.nunique() > 1 and value in (tried.min(), tried.max())
