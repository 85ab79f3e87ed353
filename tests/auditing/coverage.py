"""How often intervals of an audit cover the truth, where it is known.

Labels are drawn from a posterior that is known, and the model is that posterior at another
temperature, so that every true error is known.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from calibkit.auditing import binary
from calibkit.auditing.cross_fitted import cross_fitted
from calibkit.auditing.intervals import Ends
from calibkit.auditing.labels_and_groups import units_of
from calibkit.auditing.measures import Measured, rows_of
from calibkit.auditing.scores import Scores
from calibkit.metrics import bins as _bins

BINS = 15
LEVEL = 0.95
CLASSES = {  # how many, and the spread of their logits
    "two": (2, 1.5),
    "two, sure": (2, 2.5),
    "ten": (10, 3.0),
    "ten, sure": (10, 7.0),
}
DRAWS = 300  # of the gaps, for one interval


class Population(NamedTuple):
    """Rows whose labels have known chances, a model of them and a second one."""

    posterior: Tensor
    logits: Tensor
    other: Tensor
    temperature: float


def population(classes: int, spread: float, error: float, rows: int) -> Population:
    """Rows for which the model's ECE is this; it is over-confident where the error is above 0."""
    generator = torch.Generator().manual_seed(0)
    shape = (rows, classes)
    z = torch.randn(shape, generator=generator, dtype=torch.float64) * spread
    stray = torch.randn(shape, generator=generator, dtype=torch.float64) * spread / 3
    posterior = z.softmax(1)
    low, high = (1e-2, 1.0) if error > 0 else (1.0, 20.0)
    for _ in range(40):  # the error falls with the temperature up to 1 and then rises
        middle = (low * high) ** 0.5
        enough = _true_error(z / middle, posterior) > abs(error)
        low, high = (middle, high) if enough == (error > 0) else (low, middle)
    at = 1.0 if error == 0 else middle
    return Population(posterior, z / at, (z + stray) / at, 1 / at)


def _true_error(logits: Tensor, posterior: Tensor) -> float:
    said, place = logits.softmax(1).max(1)
    index = _bin(said)
    off = said - posterior.gather(1, place[:, None])[:, 0]
    return float(torch.bincount(index, off, BINS).abs().sum() / len(said))


def _bin(values: Tensor) -> Tensor:
    return _bins.bin_index(values, _bins.width_edges(BINS))


def truths(of: Population) -> dict[str, float]:
    """Every measure of the whole population, with chances in the place of labels."""
    first, second = (_true_values(z, of.posterior) for z in (of.logits, of.other))
    paired = {f"{name} paired": first[name] - second[name] for name in first}
    known = first | paired | {"temperature": of.temperature}
    if of.logits.shape[1] == 2:
        known |= _true_event(of)
    return known


def _true_values(logits: Tensor, posterior: Tensor) -> dict[str, float]:
    probs = logits.softmax(1)
    said, place = probs.max(1)
    right = posterior.gather(1, place[:, None])[:, 0]
    wide = _bin(said)
    even = said.argsort().argsort() * BINS // len(said)
    gaps = torch.bincount(wide, said - right, BINS) / len(said)
    square = torch.bincount(even, said - right, BINS) / len(said)
    order = said.argsort(descending=True)
    risk = (1 - right)[order].cumsum(0) / torch.arange(1, len(said) + 1)
    level = torch.bincount(wide, said, BINS) / torch.bincount(wide, minlength=BINS)
    return {
        "accuracy": float(right.mean()),
        "confidence": float(said.mean()),
        "gap": float((said - right).mean()),
        "ece": float(gaps.abs().sum()),
        "ada_ece": float(square.abs().sum()),
        "overconfidence_error": float((gaps.clamp(min=0) * level.nan_to_num()).sum()),
        "nll": float(-(posterior * logits.log_softmax(1)).sum(1).mean()),
        "brier": float((probs.square() - 2 * probs * posterior + posterior).sum(1).mean()),
        "aurc": float(risk.mean()),
    }


def _true_event(of: Population) -> dict[str, float]:
    said, chance = of.logits.softmax(1)[:, 1], of.posterior[:, 1]
    index = _bin(said)
    gaps = torch.bincount(index, said - chance, BINS) / len(said)
    order = said.argsort()
    below = (1 - chance)[order].cumsum(0) - (1 - chance)[order] / 2
    auc = (chance[order] * below).sum() / chance.sum() / (1 - chance).sum()
    gap = float((said - chance).mean())
    return {"event_ece": float(gaps.abs().sum()), "event_gap": gap, "auc": float(auc)}


def intervals_of(of: Population, n: int, seed: int) -> dict[str, Ends]:
    """The ends of every interval of an audit of n rows, drawn with `seed`."""
    random = np.random.default_rng([seed, n, round(1e6 * of.temperature), of.logits.shape[1]])
    row = torch.from_numpy(random.integers(len(of.posterior), size=n))
    chance = of.posterior[row].cumsum(1)
    drawn = torch.from_numpy(random.random((n, 1)))
    labels = (chance < drawn).sum(1).clamp(max=chance.shape[1] - 1)
    scores = [Scores(z[row], "logits") for z in (of.logits, of.other)]
    first, second = (
        Measured(rows_of(each, labels, bins=BINS), units_of(n), BINS, LEVEL, DRAWS, seed)
        for each in scores
    )
    found = {name: first.ends(name) for name in first.values}
    less = first.less(second)
    found |= {f"{name} paired": (each.low, each.high) for name, each in less.items()}
    cooling = cross_fitted(scores[0], labels, level=LEVEL, seed=seed)
    found["temperature"] = cooling.low, cooling.high
    if first.rows.classes == 2:
        event = first.event
        auc = binary.auc_estimate(event.rows, event.units, LEVEL)
        found |= {"event_ece": event.ends("ece"), "event_gap": event.ends("gap")}
        found["auc"] = auc.low, auc.high
    return found


def counted(of: Population, n: int, seeds: range) -> dict[str, list[bool]]:
    """By measure whether each interval that was there covered the truth."""
    known, hits = truths(of), defaultdict(list)
    for seed in seeds:
        for name, (low, high) in intervals_of(of, n, seed).items():
            if name in known and not math.isnan(low):
                hits[name].append(low - 1e-12 <= known[name] <= high + 1e-12)
    return hits
