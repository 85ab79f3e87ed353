"""The list of runs on photographs, and what trains those of them that are not stored yet.

`python -m calibkit reproduce nights` goes through the list in the order of what lessons show first.
What it leaves is read by `table`, and by `photograph_runs`.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import torch

from calibkit import validate
from calibkit.course import checkout
from calibkit.course.experiments import photograph_runs
from calibkit.lab import training
from study import classifiers, photographs
from study.photograph_grids import NAMED

DATASET = "cifar10"
SEEDS = 3
DECAYS = (0.0, 5e-4, 5e-3)
SETTING = replace(photographs.SETTINGS["night"], train=20_000)
OTHERS = "networks.csv"  # of the other networks
KEY = ["network", "loss", "decay", "seed"]  # of a `Run`
COLUMNS = [*KEY, *classifiers.MEASURES, "seconds", "revision"]

HALVES = ("images alone, alpha 0.3", "labels alone, alpha 0.3")  # of mixup
MIXUPS = ("mixup, alpha 0.1", "mixup, alpha 0.3", "mixup, alpha 1")
CURES = (
    *("focal, gamma 1", "focal, gamma 2", "label smoothing .1", "label smoothing .05"),
    *("confidence penalty .1", "Brier", "MMCE, weight 2"),
)
LATER = ("MMCE, squared, weight 2", "FLSD-532", "focal, gamma 5-3-1", "focal, gamma 5-3-2")


class Run(NamedTuple):
    """One training of the list: a network in `photographs.NETWORKS`, a loss in `NAMED`."""

    network: str
    loss: str
    decay: float
    seed: int

    def __str__(self) -> str:
        return f"{self.network}, {self.loss}, weight decay {self.decay:g}, seed {self.seed}"


def runs(seeds: int = SEEDS) -> list[Run]:
    """The whole list, in the order in which it is trained.

    >>> len(runs()), str(runs()[0])
    (201, 'ConvNet-24, cross-entropy, weight decay 0, seed 0')
    """
    numbers = range(validate.integer("seeds", seeds, 1))

    def block(networks: Sequence[str], names: Sequence[str], decays=DECAYS) -> Iterator[Run]:
        """All of the first seed before the second one."""
        for seed in numbers:
            for network in networks:
                for loss in names:
                    yield from (Run(network, loss, decay, seed) for decay in decays)

    here = (photograph_runs.NETWORK,)
    return [
        *block(here, ("cross-entropy", "focal, gamma 3", "FLSD-53")),
        *block(("ResNet-8", "LeNet-5"), ("cross-entropy",)),
        *(run for loss in CURES for run in block(here, (loss,))),
        *block(here, MIXUPS),
        *block(here, LATER),
        *block(here, HALVES, DECAYS[1:]),
        *block(("ConvNet-12", "ConvNet-6"), ("cross-entropy",)),
    ]


def table(network: str | None = photograph_runs.NETWORK, folder: Path | None = None):
    """One row a run, as they were finished; the README beside it says what the columns are.

    network: whose runs; None stands for all. folder: notebooks/results of the course by default.
        Where nothing is stored yet there are no rows.
    """
    paths = [_home(folder) / name for name in (photograph_runs.TABLE, OTHERS)]
    stored = [pd.read_csv(path) for path in paths if path.exists()]
    rows = pd.concat(stored or [pd.DataFrame(columns=COLUMNS)])
    wanted = rows if network is None else rows[rows.network == network]
    return wanted.reset_index(drop=True)


def keep(
    row: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    history: pd.DataFrame,
    folder: Path | None = None,
) -> None:
    """Store a finished run: its logits and epochs, and then its row, after which it counts as done.

    row: of `COLUMNS`. arrays: of `photograph_runs.PARTS`. history: one row an epoch.
    """
    home = _home(folder)
    home.mkdir(parents=True, exist_ok=True)
    name = photograph_runs.stem(row["loss"], row["seed"], row["decay"], row["network"])
    packed: dict[str, Any] = dict(arrays)
    in_place(home / f"{name}.npz", lambda file: np.savez_compressed(file, **packed))
    told = history.round(5).to_csv(index=False, lineterminator="\n")
    in_place(home / f"{name}-epochs.csv", lambda file: file.write(told.encode()))
    line = pd.DataFrame([row])[COLUMNS].round(dict.fromkeys(classifiers.MEASURES, 6))
    path = home / (photograph_runs.TABLE if row["network"] == photograph_runs.NETWORK else OTHERS)
    # the rows that are there stay as they are, byte for byte
    before = path.read_bytes() if path.exists() else (",".join(COLUMNS) + "\n").encode()
    after = line.to_csv(index=False, header=False, lineterminator="\n").encode()
    in_place(path, lambda file: file.write(before + after))


def _home(folder: Path | None) -> Path:
    return (checkout.results() if folder is None else Path(folder)) / photograph_runs.FOLDER


def in_place(path: Path, write: Callable[[Any], Any]) -> None:
    """Write a file beside its place and move it there: it is the old one or the whole new one."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            write(file)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def left(seeds: int = SEEDS, network: str | None = None, folder: Path | None = None) -> list[Run]:
    """The runs of the list that are not stored, of one network or of all.

    folder: of the tables, notebooks/results of the course by default.
    """
    if network is not None:
        validate.choice("network", network, tuple(photographs.NETWORKS))
    done = set(table(None, folder)[KEY].itertuples(index=False, name=None))
    wanted = (run for run in runs(seeds) if network in (None, run.network))
    return [run for run in wanted if run not in done]


def run_all(
    seeds: int | None = None,
    network: str | None = None,
    *,
    setting: photographs.Setting = SETTING,
    jobs: int | None = None,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
    folder: Path | None = None,
) -> int:
    """Train what `left` names and store each run as it ends; returns how many failed.

    jobs: processes; 1 by default. Ctrl-C loses the runs that are being trained, and none that is
    finished: the next call goes on with what is left. One call at a time for a folder.
    """
    waiting = left(SEEDS if seeds is None else seeds, network, folder)
    jobs = validate.integer("jobs", jobs or 1, 1)
    told = revision()
    print(f"{len(waiting)} runs are left." if waiting else "Every run of the list is stored.")
    call = joblib.delayed(_attempted)
    work = (call(run, setting, root, device) for run in waiting)
    at_once = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs)
    failed, rest = 0, list(waiting)
    for run, made in at_once(work):
        rest.remove(run)
        if isinstance(made, str):
            failed, text = failed + 1, f"failed: {made}"
        else:
            row, arrays, history = made
            keep({**row, "revision": told}, arrays, history, folder)
            text = f"accuracy {row['test_accuracy']:.3f}; {row['seconds']:.0f} s"
        print(f"{time.strftime('%H:%M:%S')} {run}: {text}; left: {len(rest)}", flush=True)
    return failed


def _attempted(run: Run, setting: photographs.Setting, root, device) -> tuple[Run, Any]:
    """The run, and what came of it; the error's text where the loss stopped being finite."""
    try:
        return run, trained(run, setting, root=root, device=device)
    except RuntimeError as error:
        return run, str(error)


def trained(
    run: Run,
    setting: photographs.Setting = SETTING,
    *,
    root: str | Path | None = None,
    device: str | torch.device | None = None,
) -> tuple[dict[str, Any], dict[str, np.ndarray], pd.DataFrame]:
    """A run: its row without the revision, its logits in half precision, its epochs."""
    splits = photographs.splits_of(DATASET, setting, run.seed, root)
    changes = {"network": run.network, "weight_decay": run.decay, **NAMED[run.loss]}
    trial = photographs.changed(setting, splits, run.seed, changes)
    made = training.train_trials([trial], device=training.as_device(device), progress=False)[0]
    if made.interrupted:
        raise KeyboardInterrupt
    parts = {**made.predictions, "train": made.predict(splits.train)}
    row = run._asdict()
    row |= classifiers.measures(parts["train"], parts["calibration"], parts["test"])
    history = made.history[["epoch", "lr", *EPOCHS]]
    for place, key in enumerate(KEY[1:]):
        history.insert(place, key, row[key])
    arrays = {}
    for name, part in {"cal": parts["calibration"], "test": parts["test"]}.items():
        arrays[name] = part.logits.cpu().numpy().astype(np.float16)
        arrays[f"{name}_labels"] = part.labels.cpu().numpy().astype(np.uint8)
    return {**row, "seconds": round(made.seconds, 1)}, arrays, history


# of an epoch, after its number and rate
EPOCHS = ["train_loss", "train_accuracy", "head_norm"]
EPOCHS += [f"test_{what}" for what in ("accuracy", "nll", "confidence", "entropy")]
EPOCHS += ["test_nll_correct", "test_nll_wrong", "test_entropy_correct", "test_entropy_wrong"]
EPOCHS += ["test_feature_norm"]


def revision() -> str:
    """The commit of the code, with a + where the package differs from it; "unknown" outside git."""

    def git(*words: str) -> str:
        here = Path(__file__).parent
        return subprocess.run(
            ["git", *words], cwd=here, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        package = git("rev-parse", "--show-toplevel") + "/calibkit"
        changed = git("status", "--porcelain", "--", package)
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
