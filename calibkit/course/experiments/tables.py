"""The stored tables of the experiments on real data, as lessons read them.

`python -m calibkit reproduce NAME --scale SCALE` makes one; what each varies stands in the study
beside the evidence.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from calibkit.course import checkout
from calibkit.course.experiments import photograph_runs

USUAL = {"captions": "Multi30k", "text": None}  # the dataset that file names leave out ...
PHOTOGRAPHS = "cifar10"  # ... and that of all other experiments


def stored(
    name: str,
    scale: str,
    folder: Path | None = None,
    *,
    dataset: str | None = None,
    part: str = "",
) -> pd.DataFrame:
    """The table of an earlier run; raises FileNotFoundError with the command that makes it.

    folder: notebooks/results of the course by default. part: of photographs "epochs", one row an
        epoch of every run; of captions "temperatures".
    """
    folder = checkout.results() if folder is None else folder
    path = folder / scale / f"{stem(name, dataset, part)}.csv"
    if of_a_series(name, scale, dataset) and not path.exists():
        return photograph_runs.of_experiment(name, part, folder)
    if not path.exists():
        of = f" --dataset {dataset}" if dataset else ""
        raise FileNotFoundError(
            f"{path} is not there; run python -m calibkit reproduce {name} --scale {scale}{of}"
        )
    return pd.read_csv(path)


def on_photographs(
    name: str, scale: str, *, device=None, dataset: str | None = None
) -> pd.DataFrame:
    """One row a run of the experiment, for a lesson: trained at "gpu" and "paper", else as stored.

    A laptop would need hours: at the other scales this is the table under notebooks/results/night,
    or /laptop where there is none. Raises as `stored` does.
    """
    if scale in ("gpu", "paper"):
        engine = checkout.study("engine")
        if scale in engine.named(name, dataset).settings:
            return engine.run(name, scale, dataset=dataset, device=device).table
    at_night = checkout.results() / "night" / f"{stem(name, dataset)}.csv"
    there = at_night.exists() or of_a_series(name, "night", dataset)
    return stored(name, "night" if there else "laptop", dataset=dataset)


def on_text(dataset: str, scale: str = "laptop") -> pd.DataFrame:
    """The same of the texts of a dataset."""
    return on_photographs("text", scale, dataset=dataset)


def stem(name: str, dataset: str | None = None, part: str = "", network: str | None = None) -> str:
    """The name of a file.

    >>> stem("noise", "cifar10", "epochs"), stem("noise", "mnist")
    ('noise-epochs', 'noise-mnist')
    """
    dataset = None if dataset == USUAL.get(name, PHOTOGRAPHS) else dataset
    return "-".join(filter(None, (name, dataset, network, part)))


def of_a_series(name: str, scale: str, dataset: str | None = None) -> bool:
    """Whether its runs are among those of `photograph_runs`, where each is stored once."""
    return scale == "night" and stem(name, dataset) in photograph_runs.SERIES
