"""Images of three scanners whose posterior is known, networks that read them, and their sets.

`python -m calibkit.course.experiments.scanners` trains the ways of training on three seeds that
nothing is judged on, and keeps the table from which lesson 20 takes its settings: those with the
lowest NLL after one temperature.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor

from calibkit import conformal, recalibration
from calibkit.course import scale
from calibkit.course.experiments import readers, strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, training

SCANNERS = {"clear": 0.3, "usual": 0.5, "noisy": 0.7}  # their pixel noise
SHARES = (0.5, 0.3, 0.2)  # of the images
TUNE, CAL = 1000, 1000  # images for the temperature, and for the threshold
PARTS = ("train", "tune", "cal", "test")
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "focal": (1.0, 2.0, 3.0),  # gamma
    "mixup": (0.1, 0.2, 0.4),  # alpha
}
DECAYS = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
# A group of images: how sure the best possible reader is of them, in per cent.
DIFFICULTY = {"easy": (0.95, 1.01), "medium": (0.6, 0.95), "hard": (0.0, 0.6)}


class Scans(NamedTuple):
    """Images with their labels and exact posterior, and which scanner took each, (n,) int64."""

    data: data.Dataset
    scanner: Tensor


def scans(n: int, seed: int, shares: Sequence[float] = SHARES) -> Scans:
    """`n` images of the three scanners in these shares, in random order.

    The posterior is that of a reader who knows which scanner took the image.
    """
    counts = (np.array(shares) * n).round().astype(int)
    counts[0] += n - counts.sum()
    streams = np.random.SeedSequence(seed).generate_state(len(counts) + 1).tolist()
    drawn = [
        data.NoisyDigits(noise).draw(int(count), seed=stream)
        for noise, count, stream in zip(SCANNERS.values(), counts, streams, strict=False)
        if count
    ]
    parts = zip(*((one.inputs, one.labels, one.posterior) for one in drawn), strict=True)
    inputs, labels, posterior = map(torch.cat, parts)
    order = torch.randperm(n, generator=torch.Generator().manual_seed(streams[-1]))
    taken_by = torch.arange(len(counts)).repeat_interleave(torch.as_tensor(counts))
    whole = data.Dataset(inputs, labels, drawn[0].classes, posterior)
    return Scans(whole[order], taken_by[order])


@functools.cache
def part(size: scale.Budget, name: str, seed: int) -> Scans:
    """The images of one of PARTS; no two parts, and no two seeds, share an image."""
    counts = {"train": size.train, "tune": TUNE, "cal": CAL, "test": size.test}
    return scans(counts[name], len(PARTS) * seed + PARTS.index(name))


def trial(
    size: scale.Budget, way: str, strength: float, decay: float, seed: int, member: int = 0
) -> training.Trial:
    """A network of two hidden layers, scored on `tune`, `cal` and `test`.

    member: which of the networks of an ensemble; they share their images.
    """
    scored = {name: part(size, name, seed).data for name in PARTS[1:]}
    network = functools.partial(models.mlp, 64, 10)
    learn = part(size, "train", seed).data
    return training.trial(
        network,
        learn,
        scored,
        seed=10 * seed + member,
        epochs=size.epochs,
        weight_decay=decay,
        **changes(way, strength),
    )


def fitted(logits: Mapping[str, Tensor], tune: data.Dataset) -> float:
    """The temperature of `tune`."""
    return recalibration.TemperatureScaler().fit(logits["tune"], tune.labels).temperature


def temperature(logits: Mapping[str, Tensor], tune: data.Dataset) -> dict[str, Tensor]:
    """(n, 10) float64 probabilities of each part, with the temperature of `tune`."""
    T = fitted(logits, tune)
    return {name: (values.double() / T).softmax(dim=1) for name, values in logits.items()}


def of_network(outcome: Any) -> dict[str, Tensor]:
    """The logits of each part, as an outcome of a sweep holds them."""
    return {name: found.logits.cpu().double() for name, found in outcome.predictions.items()}


def difficulty(posterior: Tensor) -> dict[str, Tensor]:
    """(n,) masks of the images that are easy, medium and hard for the best possible reader."""
    best = posterior.amax(dim=1)
    return {name: (best >= low) & (best < high) for name, (low, high) in DIFFICULTY.items()}


def thresholds(
    probs: Tensor, posterior: Tensor, n: int, alpha: float, draws: int, seed: int
) -> list[float]:
    """(draws,) thresholds of calibration sets of n images, whose labels are drawn afresh.

    They are of the score 1 - p. probs, posterior: (m, K) of the images from which sets are drawn.
    """
    found = []
    for draw in range(draws):
        chosen, labels = readers.test_set(posterior, n, 100_000 * seed + draw)
        found.append(conformal.conformal_quantile(1 - probs[chosen, labels], alpha))
    return found


def averaged(
    probs: Tensor,
    posterior: Tensor,
    groups: Mapping[str, Tensor],
    alpha: float = 0.1,
    draws: int = 20,
    seed: int = 0,
) -> dict[str, float]:
    """Mean size and exact coverage of the sets, over calibration sets of CAL images.

    probs, posterior: (n, K); groups: (n,) masks. Returns "size", "all" and a coverage for each
    group, so that the luck of one calibration set does not decide.
    """
    limits = torch.tensor(
        thresholds(probs, posterior, CAL, alpha, draws, seed), dtype=torch.float64
    )
    masks = {"all": torch.ones(len(probs), dtype=torch.bool), **groups}
    found = {
        name: conformal.coverage_at(1 - probs[own], posterior[own], limits).mean().item()
        for name, own in masks.items()
    }
    ordered = (1 - probs).flatten().sort().values
    many = torch.searchsorted(ordered, limits, right=True).double() / len(probs)
    return {"size": many.mean().item(), **found}


def on_scanner(
    probs: Mapping[str, Tensor], size: scale.Budget, seed: int, scanner: int, alpha: float = 0.1
) -> tuple[float, float]:
    """Exact coverage on one scanner: with one threshold, and with one for each scanner.

    probs: (n, 10) of `cal` and `test`. Thresholds are those of the labelled images of `cal`.
    """
    cal, taken_by = part(size, "cal", seed)
    test, new_taken_by = part(size, "test", seed)
    assert test.posterior is not None
    scores = 1 - probs["cal"][range(len(cal)), cal.labels]
    limit = conformal.conformal_quantile(scores, alpha)
    one = torch.full((len(SCANNERS),), limit, dtype=torch.float64)
    each = conformal.group_quantiles(scores, taken_by, alpha, count=len(SCANNERS))
    own, new_scores = new_taken_by == scanner, 1 - probs["test"]
    covered = [
        conformal.exact_coverage(new_scores <= limits[new_taken_by][:, None], test.posterior)
        for limits in (one, each)
    ]
    return covered[0][own].mean().item(), covered[1][own].mean().item()


class Stated(ClassifierMixin, BaseEstimator):
    """A classifier whose inputs are its probabilities (n, K), for MAPIE.

    classes: K.
    """

    def __init__(self, classes: int = 10):
        self.classes = classes
        self.classes_ = np.arange(classes)

    def fit(self, X: Any, y: Any) -> Stated:
        """Nothing is learned."""
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, K): what it was given."""
        return np.asarray(X)

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the most probable class."""
        return np.asarray(X).argmax(axis=1)


STUDY = strengths.Study(
    "promised",
    trial,
    strengths.settings(WAYS, DECAYS),
    lambda one: strengths.nll(one.predictions["tune"]),
)
stored = STUDY.stored


def chosen(table: pd.DataFrame | None = None) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the lowest mean NLL after T; see `strengths.chosen`."""
    return strengths.best(stored() if table is None else table)


if __name__ == "__main__":
    STUDY.keep()
