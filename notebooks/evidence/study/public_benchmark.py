"""What lesson 08's evidence says of CalArena, counted from the result files of its authors.

Berta et al. 2026, arXiv:2605.30188; the files lie in the repository probkit/CalArena (commit
a0afa15), folder `results`: for each benchmark a folder, for each map a file, for each model a row.

    python -m study.public_benchmark CalArena/results
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

IMAGES, TABLES = "cv-multiclass", "tabrepo-multiclass"
NOTHING, TEMPERATURE, STRUCTURED = "Base-model", "TS", "SMS"


def losses(folder: Path) -> pd.DataFrame:
    """The log loss of each map (column) on each model of each data set (row).

    Raises ValueError where the folder has no such files.
    """
    found = {}
    for path in sorted(folder.glob("*.csv")):
        table = pd.read_csv(path).set_index(["dataset", "model"])
        found[path.stem] = table[f"{path.stem}_logloss"]
    if not found:
        raise ValueError(f"folder: {folder} holds no CSV; give the folder `results` of CalArena")
    return pd.DataFrame(found)


def win_rates(losses: pd.DataFrame) -> pd.Series:
    """The share of the other maps that a map beats, in the mean over the models; a tie is half.

    >>> win_rates(pd.DataFrame({"good": [0.1, 0.2], "bad": [0.3, 0.2]})).to_dict()
    {'good': 0.75, 'bad': 0.25}
    """
    others = len(losses.columns) - 1
    beaten = losses.rank(axis=1, ascending=False, method="average") - 1
    return (beaten.mean() / others).sort_values(ascending=False)


def harm(losses: pd.DataFrame, name: str) -> float:
    """The share of the models whose log loss is larger with this map than without one."""
    return float((losses[name] > losses[NOTHING]).mean())


def report(results: Path) -> list[str]:
    """The sentences, for the folder `results`."""
    images, tables = losses(results / IMAGES), losses(results / TABLES)
    order = list(win_rates(images).index)
    labels = pd.read_csv(results / IMAGES / f"{NOTHING}.csv")["cal_size"]
    harmed = ", ".join(f"{name} {harm(tables, name):.0%}" for name in (TEMPERATURE, STRUCTURED))
    return [
        f"{IMAGES}, {len(images)} networks, {len(order)} maps by win rate: {', '.join(order)}",
        f"a temperature ({TEMPERATURE}) is number {order.index(TEMPERATURE) + 1}",
        f"labels to fit on: {labels.min():,} to {labels.max():,}, {labels.median():,.0f} in the "
        "median",
        f"{TABLES}, {len(tables)} models, larger log loss than without a map: {harmed}",
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the report; 2 where the folder is not named or holds no results."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        print("\n".join(report(Path(arguments[0]))))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
