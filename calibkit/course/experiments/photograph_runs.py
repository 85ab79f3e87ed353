"""The stored runs on photographs: a row of each, and the logits of some.

They lie in notebooks/results/night/runs, whose README says how they were made; `night_runs` makes
what is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from calibkit.course import checkout

NAME = "nights"
FOLDER = Path("night") / "runs"
MORE = Path("night") / "runs-40000"  # of `on_40_000`
TABLE = "runs.csv"  # of `NETWORK`
PARTS = ("cal", "cal_labels", "test", "test_labels")
NETWORK = "ConvNet-24"  # of all runs where no other is named


def on_40_000(folder: Path | None = None) -> pd.DataFrame:
    """The runs of mixup and cross-entropy at two weight decays on 40,000 photographs, a row each.

    All other runs have 20,000: between the two the number of images differs as well as the loss.
    folder: notebooks/results of the course by default.
    """
    return pd.read_csv((checkout.results() if folder is None else Path(folder)) / MORE / TABLE)


# By experiment where its runs of the scale night lie, one weight decay of a series; the README
# there says what was stored twice before.
SERIES = {"soft": FOLDER, "focal": FOLDER, "rivals": FOLDER, "mixup": MORE}
FOCAL = ("cross-entropy", "focal, gamma 1", "focal, gamma 2", "focal, gamma 3", "FLSD-53")
SMOOTH = ("cross-entropy", "label smoothing .05", "label smoothing .1", "confidence penalty .1")
VALUES: dict[str, tuple] = {  # what each of them varies, in its order
    "soft": (*SMOOTH, "Brier", "MMCE, weight 2"),
    "focal": FOCAL,
    "rivals": ("mixup, alpha .1", *SMOOTH),
    "mixup": (0.0, 0.1, 0.3, 1.0),
}
DECAY = 5e-4
AGAIN = {  # by column of a run, that of an experiment's table
    "test_accuracy": "test_accuracy",
    "test_ece": "test_ece",
    "test_confidence": "test_gap",  # minus the accuracy
    "test_nll": "test_nll",
    "scaled_temperature": "temperature",
    "scaled_ece": "scaled_ece",
    "scaled_nll": "scaled_nll",
    "grid_temperature": "grid_temperature",
    "grid_ece": "grid_ece",
    "test_smooth_ece": "test_smooth_ece",
    "test_classwise_ece": "test_classwise_ece",
    "test_brier": "test_brier",
    "test_overconfidence_error": "test_overconfidence_error",
    "seconds": "seconds",
}


def of_experiment(name: str, part: str = "", folder: Path | None = None) -> pd.DataFrame:
    """The table of an experiment of `SERIES`, one row a run, from the runs of the series.

    part: "epochs" for one row an epoch. folder: as in `on_40_000`.

    The training accuracy is that of the last epoch as it was met, as in all tables of experiments;
    the series has that of the end beside it.
    """
    home = (checkout.results() if folder is None else Path(folder)) / SERIES[name]
    series = pd.read_csv(home / TABLE)
    series = series[(series.decay == DECAY) & (series.network == NETWORK)]
    rows, epochs = [], []
    for value in VALUES[name]:
        runs = series[series.loss == _loss(value)].sort_values("seed")
        for run in runs.to_dict("records"):
            history = pd.read_csv(home / f"{stem(run['loss'], run['seed'], DECAY)}-epochs.csv")
            key = {"value": value, "seed": run["seed"]}
            met = key | {"train_accuracy": history.train_accuracy.iloc[-1]}
            run["test_confidence"] = round(run["test_confidence"] - run["test_accuracy"], 6)
            rows.append(met | {new: run[old] for old, new in AGAIN.items()})
            own = history.drop(columns=["loss", "decay", "lr", "seed"])
            epochs.append(own.assign(value=value, seed=run["seed"]))
    if part == "epochs":
        whole = pd.concat(epochs, ignore_index=True)
        return whole[["value", "seed", *whole.columns.drop(["value", "seed"])]]
    return pd.DataFrame(rows)


def _loss(value: Any) -> str:
    """How the series names what an experiment varies: a loss, or the alpha of mixup.

    >>> _loss("mixup, alpha .1"), _loss(0.3), _loss(0.0)
    ('mixup, alpha 0.1', 'mixup, alpha 0.3', 'cross-entropy')
    """
    if isinstance(value, str):
        return value.replace("alpha .", "alpha 0.")
    return f"mixup, alpha {value:g}" if value else "cross-entropy"


def stem(loss: str, seed: int, decay: float, network: str = NETWORK) -> str:
    """How the files of a run begin.

    >>> stem("focal, gamma 3", 0, 5e-4)
    'focal_gamma_3-0.0005-0'
    >>> stem("cross-entropy", 2, 0, "LeNet-5")
    'LeNet-5-cross-entropy-0-2'
    """
    whose = "" if network == NETWORK else f"{network}-"
    return f"{whose}{loss.replace(', ', '_').replace(' ', '_')}-{decay:g}-{seed}"


def logits(
    loss: str,
    seed: int,
    decay: float = 5e-4,
    network: str = NETWORK,
    folder: Path | None = None,
) -> dict[str, torch.Tensor]:
    """A network's logits (n, K) for its `cal` and `test` photographs, float64, and their labels.

    loss: as a row of the runs names it. Keys: cal, cal_labels, test, test_labels. Raises ValueError
    for a run whose logits are not stored.
    """
    path = _home(folder) / f"{stem(loss, seed, decay, network)}.npz"
    if not path.exists():
        raise ValueError(
            f"loss, seed and decay must be those of a run whose logits are stored, got {path.name}"
        )
    with np.load(path) as kept:
        arrays = {part: kept[part] for part in PARTS}
    kinds = {part: np.int64 if "labels" in part else np.float64 for part in PARTS}
    return {part: torch.from_numpy(arrays[part].astype(kinds[part])) for part in PARTS}


def epochs(
    loss: str,
    seed: int,
    decay: float = 5e-4,
    network: str = NETWORK,
    folder: Path | None = None,
) -> pd.DataFrame:
    """One row an epoch of a stored run; arguments as in `logits`."""
    return pd.read_csv(_home(folder) / f"{stem(loss, seed, decay, network)}-epochs.csv")


def _home(folder: Path | None) -> Path:
    return (checkout.results() if folder is None else Path(folder)) / FOLDER
