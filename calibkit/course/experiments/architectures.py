"""Four architectures on noisy digits, few and many, each with a rate and a weight decay of its own.

`python -m calibkit.course.experiments.architectures` trains every setting on three seeds that
nothing is judged on, and keeps the table from which lesson 04 takes its settings.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor, nn

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.lab import data, models, sweep, training
from calibkit.metrics import plane

K = 10
KINDS = ("attention", "Mixer", "convolution", "dense")  # the slowest first
WIDTHS = {"small": 8, "large": 32}
PLACES = ("few", "usual", "many")  # numbers of training images
CONTEST = ("kind", "width", "place", "pixels")  # what is compared; each has its own settings
NOISE = 0.4
NOISES = (0.5, 0.6, 0.7)  # of shifted test images
BATCH = 125
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
DECAYS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)


def images(size: scale.Budget) -> dict[str, int]:
    """The numbers of training images, by name.

    >>> images(scale.budget("laptop"))
    {'few': 250, 'usual': 1500, 'many': 6000}
    """
    return dict(zip(PLACES, (size.train // 6, size.train, 4 * size.train), strict=True))


def steps(size: scale.Budget) -> int:
    """Of every training, whatever its number of images."""
    return 192 if size.epochs >= 60 else 8


def epochs(size: scale.Budget, n: int) -> int:
    """Passes over n images that come nearest to `steps`."""
    return max(1, round(steps(size) / math.ceil(n / BATCH)))


def network(kind: str, width: int) -> Callable[[], nn.Module]:
    """What makes a network for images of 8 x 8 pixels.

    kind: one of `KINDS`. Raises ValueError for another one.
    """
    patches = {"size": 8, "patch": 4, "width": width, "depth": 2, "hidden": 2 * width}
    if kind == "attention":
        return functools.partial(models.vit, 1, K, heads=2, **patches)
    if kind == "Mixer":
        return functools.partial(models.mlp_mixer, 1, K, tokens=16, **patches)
    if kind == "convolution":
        return functools.partial(models.cnn, 1, K, width=width, depth=3)
    if kind == "dense":
        return functools.partial(models.mlp, 64, K, width=4 * width)
    raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")


def weights(kind: str, width: int) -> int:
    """How many a network has."""
    return sum(weight.numel() for weight in network(kind, width)().parameters())


# --- digits ---------------------------------------------------------------------------------------


@functools.cache
def digits(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(images(size)["many"], noise=NOISE, seed=seed, test=2 * size.test // 5)


@functools.cache
def noisier(size: scale.Budget, seed: int) -> dict[str, data.Dataset]:
    """New images with more noise than those of the training, as noise 0.5 and so on."""
    n = 3 * size.test // 20
    return {f"noise {noise}": data.NoisyDigits(noise).draw(n, seed=2000 + seed) for noise in NOISES}


def exchanged(part: data.Dataset) -> data.Dataset:
    """The same images with their pixels exchanged, in all of them in the same way.

    The exact posterior of each stays what it was.
    """
    order = torch.randperm(64, generator=torch.Generator().manual_seed(0))
    inputs = part.inputs.flatten(1)[:, order].view(part.inputs.shape)
    return replace(part, inputs=inputs, source=None)


# --- trainings ------------------------------------------------------------------------------------


def trial(
    size: scale.Budget,
    kind: str,
    width: int,
    place: str,
    pixels: str,
    rate: float,
    decay: float,
    seed: int,
    *,
    shifted: bool = False,
) -> training.Trial:
    """A network scored on `train`, `cal` and `test`, and with `shifted` on `noisier` images.

    place: one of `PLACES`. AdamW with one-cycle rates: up for 30 % of the steps, then down to 0.
    """
    splits = digits(size, seed)
    learn = splits.train[: images(size)[place]]
    score = {"train": learn, "cal": splits.calibration, "test": splits.test}
    if shifted:
        score |= noisier(size, seed)
    if pixels == "exchanged":
        learn, score = exchanged(learn), {name: exchanged(part) for name, part in score.items()}
    passes = epochs(size, len(learn))
    return training.trial(
        network(kind, width),
        learn,
        score,
        seed=seed,
        epochs=passes,
        batch_size=BATCH,
        optimizer="adamw",
        lr=rate,
        weight_decay=decay,
        schedule="cosine",
        warmup=0.3 * passes,
    )


def contests(kinds: Iterable[str] = KINDS) -> list[dict[str, Any]]:
    """What is compared: a kind, a width, a number of images, pixels in place or exchanged."""
    large, small = WIDTHS["large"], WIDTHS["small"]
    forms = [(large, place, "in place") for place in PLACES]
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
    return trial(size, rate=strength, **setting)


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
    return sweep.run(functools.partial(trial, size, shifted=shifted), grid, **options)


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
