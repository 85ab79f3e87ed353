"""All networks of the course in one table: where each lies in the plane, and its diagram.

`python -m calibkit reproduce networks` trains them with fresh seeds and keeps what came out under
notebooks/results/plane; the explorer of all networks is drawn from there. The plane is explained in
`calibkit.metrics.plane`. Networks for photographs come from the stored tables of the nights.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import torch

from calibkit.course import checkout
from calibkit.metrics import Reliability, plane
from calibkit.metrics.plane import Kappa, Place

BINS = 10
NAME = "networks"
FOLDER = "plane"
KEYS = ["lesson", "changed", "group", "value", "seed"]
DIAGRAM = ["counts", "hits", "sure"]  # of each bin


def reliability(stored: pd.Series) -> Reliability | None:
    """The diagram of one row of the table, None where no logits were kept."""
    if not isinstance(stored.counts, str):
        return None
    counts, hits, sure = (
        torch.tensor([float(x) if x != "-" else float("nan") for x in stored[part].split()])
        for part in DIAGRAM
    )
    edges = torch.arange(BINS + 1, dtype=torch.float64) / BINS
    return Reliability(edges, counts.long(), hits.double(), sure.double() / 1000)


def kappas(table: pd.DataFrame) -> pd.DataFrame:
    """Value by value the mean place over the seeds, and kappa with its 95 % interval.

    NaN where less than `metrics.plane.LEAST_LOST` is lost, or there is one seed.
    """
    rows = []
    for key, part in table.groupby(KEYS[:-1], sort=False, dropna=False):
        places = [Place(x, y) for x, y in zip(part.lost, part.claimed, strict=True)]
        kappa = plane.kappa(places) if len(places) > 1 else None
        kappa = kappa or Kappa(*(float("nan"),) * 3)
        rows.append([*key, len(part), part.lost.mean(), part.claimed.mean(), *kappa])
    columns = [*KEYS[:-1], "seeds", "lost", "claimed", "kappa", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def stored(folder: str | Path | None = None) -> pd.DataFrame:
    """The table that was kept; raises FileNotFoundError with the command that makes it."""
    path = Path(folder or checkout.results()) / FOLDER / f"{NAME}.csv"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; run  python -m calibkit reproduce {NAME}")
    texts = dict.fromkeys([*KEYS[:-1], *DIAGRAM], str)
    return pd.read_csv(path, dtype=texts).fillna({"value": ""})
