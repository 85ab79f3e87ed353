"""Strengths and weight decays of ways of training, chosen on seeds that nothing is judged on."""

from __future__ import annotations

import pandas as pd


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
