"""The stored runs on photographs: a row of each, and the logits of some.

They lie in notebooks/results/night/runs, whose README says how they were made; `night_runs` makes
what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from calibkit.course import checkout

NAME = "nights"
FOLDER = Path("night") / "runs"
MORE = Path("night") / "runs-40000"  # of `on_40_000`
TABLE = "runs.csv"  # of `NETWORK`, as lessons read it
OTHERS = "networks.csv"  # of the other networks
PARTS = ("cal", "cal_labels", "test", "test_labels")
NETWORK = "ConvNet-24"  # of all runs where no other is named
KEY = ["network", "loss", "decay", "seed"]
# what a row has besides, as fractions and nats; the README says what each part of a name stands for
MEASURES = [
    *("train_accuracy", "train_confidence", "train_nll"),
    *("calibration_accuracy", "calibration_confidence", "calibration_ece", "calibration_nll"),
    *("test_accuracy", "test_confidence", "test_ece", "test_nll"),
    *("scaled_temperature", "scaled_ece", "scaled_nll", "scaled_brier"),
    *("grid_temperature", "grid_ece", "grid_nll", "grid_brier"),
    *("test_ada_ece", "test_classwise_ece", "test_smooth_ece", "test_brier"),
    *("test_overconfidence_error", "test_s99", "test_s99_accuracy"),
    "calibration_scaled_nll",  # by which settings are chosen that are compared after T
]
COLUMNS = [*KEY, *MEASURES, "seconds", "revision"]


def table(network: str | None = NETWORK, folder: Path | None = None) -> pd.DataFrame:
    """One row a run, as they were finished; the README beside it says what the columns are.

    network: whose runs; None stands for all. folder: notebooks/results of the course by default.
        Where nothing is stored yet there are no rows.
    """
    names = {None: (TABLE, OTHERS), NETWORK: (TABLE,)}.get(network, (OTHERS,))
    paths = [path for name in names if (path := _home(folder) / name).exists()]
    rows = pd.concat([pd.read_csv(path) for path in paths] or [pd.DataFrame(columns=COLUMNS)])
    wanted = rows if network is None else rows[rows.network == network]
    return wanted.reset_index(drop=True)


def on_40_000(folder: Path | None = None) -> pd.DataFrame:
    """The runs of ConvNet-24 on 40,000 photographs, a row each, with the columns of `table`.

    Mixup and cross-entropy at two weight decays. Those of `table` have 20,000: between
    the two the number of images differs as well as the loss. folder: as in `table`.
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
AGAIN = {  # by column of an experiment's table, that of a run
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

    part: "epochs" for one row an epoch. folder: as in `table`.

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


def at_best(by: str, rows: pd.DataFrame | None = None) -> tuple[pd.DataFrame, list[str]]:
    """The runs of each loss at its best weight decay, and the losses that still lack some.

    by: the column whose mean over the seeds is least there: "calibration_nll" for what is compared
        as trained, "calibration_scaled_nll" after one temperature each.
    rows: of `table`, by default those stored of ConvNet-24.

    A loss lacks runs where another one has a decay, or a seed, that it has not: it is compared with
    none, as it would have fewer decays to choose from.
    """
    rows = table() if rows is None else rows
    means = rows.pivot_table(index="loss", columns="decay", values=by, sort=False)
    runs = rows.pivot_table(index="loss", columns=["decay", "seed"], values=by, sort=False)
    lacking = runs.index[runs.isna().any(axis=1)]
    best = means.drop(index=lacking).idxmin(axis=1)
    kept = rows[rows.decay == rows.loss.map(best)]
    return kept.reset_index(drop=True), list(lacking)


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

    loss: as the table names it. Keys: cal, cal_labels, test, test_labels. Raises ValueError for a
    run whose logits are not stored.
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


def keep(
    row: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    history: pd.DataFrame,
    folder: Path | None = None,
) -> None:
    """Store a finished run: its logits and epochs, and then its row, after which it counts as done.

    row: of `COLUMNS`. arrays: of `PARTS`. history: one row an epoch. Whatever ends the process, the
    files are the old ones or the new ones: each is written beside its place and moved there.
    """
    home = _home(folder)
    home.mkdir(parents=True, exist_ok=True)
    name = stem(row["loss"], row["seed"], row["decay"], row["network"])
    packed: dict[str, Any] = dict(arrays)
    _in_place(home / f"{name}.npz", lambda file: np.savez_compressed(file, **packed))
    told = history.round(5).to_csv(index=False, lineterminator="\n")
    _in_place(home / f"{name}-epochs.csv", lambda file: file.write(told.encode()))
    line = pd.DataFrame([row])[COLUMNS].round(dict.fromkeys(MEASURES, 6))
    path = home / (TABLE if row["network"] == NETWORK else OTHERS)
    # the rows that are there stay as they are, byte for byte
    before = path.read_bytes() if path.exists() else _header().encode()
    after = line.to_csv(index=False, header=False, lineterminator="\n").encode()
    _in_place(path, lambda file: file.write(before + after))


def _home(folder: Path | None) -> Path:
    return (checkout.results() if folder is None else Path(folder)) / FOLDER


def _header() -> str:
    return ",".join(COLUMNS) + "\n"


def _in_place(path: Path, write: Callable[[Any], Any]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            write(file)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
