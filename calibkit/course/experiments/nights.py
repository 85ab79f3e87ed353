"""The stored runs on photographs: a row and the logits of each (notebooks/results/night/runs)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import torch

from calibkit.course import checkout

FOLDER = Path("night") / "runs"
PARTS = ("cal", "cal_labels", "test", "test_labels")


def table() -> pd.DataFrame:
    """One row a run, by loss, decay and seed; the README beside it says what the columns are."""
    return pd.read_csv(checkout.results() / FOLDER / "runs.csv")


def stem(loss: str, seed: int, decay: float) -> str:
    """How the files of a run begin.

    >>> stem("focal, gamma 3", 0, 5e-4)
    'focal_gamma_3-0.0005-0'
    """
    return f"{loss.replace(', ', '_').replace(' ', '_')}-{decay:g}-{seed}"


def logits(loss: str, seed: int, decay: float = 5e-4) -> dict[str, torch.Tensor]:
    """A network's logits (n, 10) for its `cal` and `test` photographs, float64, and their labels.

    loss: as the table names it. Keys: cal, cal_labels, test, test_labels. Raises ValueError for a
    run that is not stored.
    """
    path = checkout.results() / FOLDER / f"{stem(loss, seed, decay)}.npz"
    if not path.exists():
        raise ValueError(f"loss, seed and decay must be those of a stored run, got {path.name}")
    with np.load(path) as kept:
        arrays = {part: kept[part] for part in PARTS}
    kinds = {part: np.int64 if "labels" in part else np.float64 for part in PARTS}
    return {part: torch.from_numpy(arrays[part].astype(kinds[part])) for part in PARTS}
