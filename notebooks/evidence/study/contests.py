"""The architectures of lesson 04 at settings of their own: what its evidence compares.

`python -m study.contests` trains every setting on three seeds that nothing is judged on, and keeps
the table from which the evidence takes its settings.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pandas as pd
from torch import Tensor

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import architectures, strengths
from calibkit.lab import sweep, training
from calibkit.metrics import plane

CONTEST = ("kind", "width", "place", "pixels")  # what is compared; each has its own settings
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
DECAYS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)


def weights(kind: str, width: int) -> int:
    """How many a network has."""
    return sum(weight.numel() for weight in architectures.network(kind, width)().parameters())


def contests(kinds: Iterable[str] = architectures.KINDS) -> list[dict[str, Any]]:
    """What is compared: a kind, a width, a number of images, pixels in place or exchanged."""
    large, small = architectures.WIDTHS["large"], architectures.WIDTHS["small"]
    forms = [(large, place, "in place") for place in architectures.PLACES]
    forms += [(small, "usual", "in place"), (large, "usual", "exchanged")]
    return [dict(zip(CONTEST, (kind, *form), strict=True)) for kind in kinds for form in forms]


def settings(seeds=strengths.SELECTION) -> list[dict[str, Any]]:
    """Every contest with every rate (as its strength) and weight decay.

    But those whose product is 1 or more: a step of AdamW takes that share of each weight away.
    """
    return [
        contest | one
        for contest in contests()
        for one in strengths.settings({contest["kind"]: RATES}, DECAYS, seeds)
        if one["strength"] * one["decay"] < 1
    ]


def _of_row(size, way, strength, **setting) -> training.Trial:
    return architectures.trial(size, rate=strength, **setting)


STUDY = strengths.Study("architectures", _of_row, settings())
stored = STUDY.stored


def chosen(table: pd.DataFrame, by: Literal["as trained", "after T"]) -> pd.DataFrame:
    """Each contest with its rate and decay of least mean NLL on `cal`.

    table: as of `stored`; by: of the networks as trained, or after the T fitted on `cal`. Returns
    one row a contest: its keys, rate, decay, the mean NLL, and edge: whether a better setting may
    lie beyond those that were tried.
    """
    column, rows = strengths.CHOSEN_BY[by], []
    for keys, part in table.groupby(list(CONTEST), sort=False):
        best = strengths.chosen(part, column).iloc[0]
        found = {"rate": best.strength, "decay": best.decay, "NLL": best[column]}
        rows.append(dict(zip(CONTEST, keys, strict=True)) | found | {"edge": best.edge})
    return pd.DataFrame(rows)


def at_best(
    size: scale.Budget,
    by: Literal["as trained", "after T"],
    seeds: Iterable[int],
    *,
    shifted: bool = False,
    among: Mapping[str, Any] | None = None,
    **options: Any,
) -> sweep.Sweep:
    """The contests at their best settings in the stored table, on other seeds.

    by: as of `chosen`; among: what the contests must have, such as {"width": 32}; options: as
    `sweep.run` takes them.
    """
    best = chosen(stored(), by)
    for name, value in (among or {}).items():
        best = best[best[name].isin(value if isinstance(value, (list, tuple)) else [value])]
    settings = best[[*CONTEST, "rate", "decay"]].to_dict("records")
    grid = [setting | {"seed": seed} for setting in settings for seed in seeds]
    return sweep.run(functools.partial(architectures.trial, size, shifted=shifted), grid, **options)


def judged(outcome: sweep.Outcome, parts: Iterable[str] = ("test",)) -> list[dict[str, Any]]:
    """Rows of a table: what is measured of each part, as trained and after the T of `cal`.

    `distance` is the mean over images of the squared distance to the exact posterior; `lost` and
    `claimed` say where the network lies in the plane.
    """
    scaler, train = strengths.temperature(outcome), outcome.predictions["train"]
    fitted, rows = metrics.accuracy(train.probs, train.labels), []
    for name in parts:
        seen = outcome.predictions[name]
        states = {"as trained": seen.probs.double(), "after T": scaler.probs(seen.logits)}
        for state, probs in states.items():
            row = {**outcome.setting, "seen": name, "state": state, "T": scaler.temperature}
            numbers = described(probs, seen)
            place = plane.place(fitted, numbers["accuracy"], numbers["confidence"])
            rows.append(row | numbers | {"lost": place.lost, "claimed": place.claimed})
    return rows


def described(probs: Tensor, seen: Any) -> dict[str, float]:
    """What is judged of probabilities (n, 10); seen: their labels and exact posterior."""
    return {
        "accuracy": metrics.accuracy(probs, seen.labels),
        "confidence": probs.amax(dim=1).mean().item(),
        "ECE": metrics.ece(probs, seen.labels),
        "gap": metrics.signed_gap(probs, seen.labels),
        "NLL": metrics.nll(probs, seen.labels),
        "distance": (probs - seen.posterior).square().sum(dim=1).mean().item(),
    }


if __name__ == "__main__":
    STUDY.keep()
