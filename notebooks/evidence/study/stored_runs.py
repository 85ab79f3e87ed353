"""A registered statement about photographs or texts, from the stored runs: a number a seed.

`stored` in its row of the register says which: `table` (an experiment's, or "runs" or "runs-40000",
those of the nights), `column`, `of` (a value of the table, or two whose difference counts), perhaps
`dataset`, `epochs` (two, whose difference counts) and, where the table has several, `decay`: one
weight decay, one a side, or "best" (each side's of the least NLL after T on `cal`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calibkit import metrics, recalibration
from calibkit.course import checkout
from calibkit.course.experiments import photograph_runs
from calibkit.course.experiments import tables as tables_of
from study import night_runs

AT = {"strange": {5e-4: "strange", 5e-3: "strange-at-best"}}  # two tables, alike but for the decay
APART = "interval"  # in place of a column: how far one interval of the ECE lies below another


def numbers(stored: Mapping[str, Any], decay: float | None = None) -> np.ndarray | None:
    """A number a seed, in their order; None where there are no such runs.

    decay: of both sides, in place of the row's own.
    """
    own = stored.get("decay") if decay is None else decay
    decays = own if isinstance(own, list) else [own] * len(stored["of"])
    sides = [_side(stored, *one) for one in zip(stored["of"], decays, strict=True)]
    if any(side is None for side in sides):
        return None
    if stored["column"].endswith(APART):
        (low, high), (rival_low, rival_high) = (np.transpose(side) for side in sides)
        return np.maximum(rival_low - high, 0) - np.maximum(low - rival_high, 0)
    return sides[0] - sides[1] if len(sides) > 1 else sides[0]


def decays(stored: Mapping[str, Any]) -> list[float]:
    """The weight decays at which all its sides have runs; none where the table has but one."""
    known = sorted(table(stored["table"], stored.get("dataset")).decay.dropna().unique())
    return [one for one in known if numbers(stored, one) is not None]


def _side(stored: Mapping[str, Any], value: Any, decay: Any) -> np.ndarray | None:
    rows = table(stored["table"], stored.get("dataset"))
    rows = rows[rows.value == value].sort_values("seed")
    if decay == "best":
        decay = rows.groupby("decay").calibration_scaled_nll.mean().idxmin()
    rows = rows if decay is None else rows[rows.decay == decay]
    column = stored["column"]
    if "epochs" in stored:
        start, end = (rows[rows.epoch == one][column].to_numpy() for one in stored["epochs"])
        return end - start if len(start) else None
    if column in rows:
        return rows[column].to_numpy() if len(rows) else None
    try:
        return np.array([of_logits(value, seed, decay)[column] for seed in rows.seed])
    except ValueError:  # whose logits are not stored
        return None


@functools.cache
def table(name: str, dataset: str | None = None) -> pd.DataFrame:
    """Runs of a table, or their epochs: value, decay (NaN where it has but one), seed, columns."""
    if name == "runs":
        rows = night_runs.table(None)
        rows = rows[(rows.network == photograph_runs.NETWORK) | (rows.loss == "cross-entropy")]
        here = rows.network == photograph_runs.NETWORK
        return rows.assign(value=rows.loss.where(here, rows.network))
    if name == "runs-40000":
        films = sorted((checkout.results() / photograph_runs.MORE).glob("*-epochs.csv"))
        return pd.concat(map(pd.read_csv, films)).rename(columns={"loss": "value"})
    parts = AT.get(name, {np.nan: name})
    read = functools.partial(tables_of.on_photographs, scale="laptop", dataset=dataset)
    return pd.concat([read(one).assign(decay=decay) for decay, one in parts.items()])


@functools.cache
def of_logits(loss: str, seed: int, decay: float) -> dict[str, Any]:
    """Columns from the logits of a night's run: S99 after T, and bootstrap intervals of the ECE.

    Raises ValueError where its logits are not stored.
    """
    kept = photograph_runs.logits(loss, seed, decay)
    scaler = recalibration.TemperatureScaler().fit(kept["cal"], kept["cal_labels"])
    said = {"test": kept["test"].softmax(dim=1), "scaled": scaler.probs(kept["test"])}
    labels, made = kept["test_labels"], {}
    for part, probs in said.items():
        interval = metrics.bootstrap_interval(probs, labels, metric="ece", resamples=1000)
        made[f"{part}_s99"] = metrics.confident_share(probs, labels)[0]
        made[f"{part}_{APART}"] = interval
    return made
