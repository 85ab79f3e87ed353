"""Ways of training for strange images, and networks of one cost, each with its weight decays.

`python -m calibkit.course.experiments.shifted` trains them on three seeds that nothing is judged
on, and keeps the table from which the evidence of lesson 13 takes its settings. All are chosen
without a strange or a shifted image, by the NLL on `cal`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from calibkit import losses, metrics, mixing
from calibkit.course import scale
from calibkit.course.experiments import soft_targets, strengths
from calibkit.lab import data, models, sweep, training

NOISE = 0.4  # of the training images
FAMILIAR = tuple("01234567")  # without 8 and 9
# A strength of 0 is that of a way that has none; alpha of mixup.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "FLSD-53": (0.0,),
    "mixup": (0.1, 0.2, 0.4, 1.0),
    "one": (0.0,),
    "5 x epochs": (0.0,),
    "5 x weights": (0.0,),
}
COSTS = ("one", "5 x epochs", "5 x weights")  # these are trained on all ten digits
DECAYS = (1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2)
PATH = Path("strengths") / "shifted.csv"


@functools.cache
def clean() -> tuple[torch.Tensor, torch.Tensor]:
    """All 1,797 clean digits, (1797, 1, 8, 8), and their labels (1797,)."""
    parts = data.digits(seed=0)
    return torch.cat([part.inputs for part in parts]), torch.cat([part.labels for part in parts])


def draw(
    n: int,
    seed: int,
    noise: float = NOISE,
    centres: torch.Tensor | None = None,
    owner: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, 1, 8, 8) images and (n,) labels: clean digits, equally likely, plus Gaussian noise.

    A seed gives the same digits and the same pattern of noise at every strength.

    centres, owner: the clean digits (J, 1, 8, 8) and their labels (J,); by default all 1,797.
    """
    digits, labels = clean()
    centres, owner = digits if centres is None else centres, labels if owner is None else owner
    generator = torch.Generator().manual_seed(1000 + seed)
    chosen = torch.randint(len(centres), (n,), generator=generator)
    pattern = torch.randn(n, 1, 8, 8, generator=generator)
    return centres[chosen] + noise * pattern, owner[chosen]


def digit_scores(
    images: torch.Tensor, noise: float, centres: torch.Tensor | None = None
) -> torch.Tensor:
    """(n, J): -distance^2 / (2 noise^2) of each image to each clean digit."""
    x, c = images.flatten(1), (clean()[0] if centres is None else centres).flatten(1)
    squared = x.square().sum(dim=1, keepdim=True) + c.square().sum(dim=1) - 2 * x @ c.T
    return -squared / (2 * noise**2)


def exact(
    images: torch.Tensor,
    noise: float,
    centres: torch.Tensor | None = None,
    one_hot: torch.Tensor | None = None,
) -> torch.Tensor:
    """(n, K) float64: the posterior in a world of these clean digits under this noise.

    one_hot: (J, K), the class of each clean digit.
    """
    if one_hot is None:
        one_hot = torch.nn.functional.one_hot(clean()[1], 10).float()
    probs = digit_scores(images, noise, centres).softmax(dim=1) @ one_hot
    return probs.double().clamp(1e-30, 1)  # no zero, because logarithms are taken


def familiar(n: int, seed: int) -> data.Dataset:
    """`n` noisy images of the digits 0 to 7, drawn with replacement."""
    digits, labels = clean()
    known = labels < len(FAMILIAR)
    return data.Dataset(*draw(n, seed, NOISE, digits[known], labels[known]), FAMILIAR)


@functools.cache
def all_ten(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(
        size.train, noise=NOISE, seed=seed, test=1
    )  # tests are drawn elsewhere


def options(way: str, strength: float) -> Mapping[str, Any]:
    if way == "FLSD-53":
        return {"loss": losses.flsd}
    if way == "mixup":
        return {"mix": functools.partial(mixing.mixup, alpha=strength)}
    return {}


def trial(
    size: scale.Budget, way: str, strength: float, decay: float, seed: int, member: int = 0
) -> training.Trial:
    """A network of two hidden layers, scored on `cal`; of eight digits on `test` too.

    member: which of the networks of an ensemble; they share their images.
    """
    if way in COSTS:
        train, cal, _ = all_ten(size, seed)
        score = {"cal": cal}
    else:
        train = familiar(size.train, 4000 + seed)
        score = {"cal": familiar(2000, 2000 + seed), "test": familiar(size.test // 5, 3000 + seed)}
    classes, width = train.num_classes, 325 if way == "5 x weights" else 128
    return training.trial(
        functools.partial(models.mlp, 64, classes, width=width),
        train,
        score,
        seed=10 * seed + member,
        epochs=5 * size.epochs if way == "5 x epochs" else size.epochs,
        weight_decay=decay,
        **options(way, strength),
    )


def settings(seeds=strengths.SELECTION) -> list[dict[str, Any]]:
    return strengths.settings(WAYS, DECAYS, seeds)


def train(size: scale.Budget, grid=None, **choices) -> pd.DataFrame:
    """One row a setting and seed: the NLL on `cal` after the temperature that is fitted there."""
    grid = settings() if grid is None else grid
    rows = []
    for one in sweep.run(functools.partial(trial, size), grid, **choices).outcomes:
        cal = one.predictions["cal"]
        T = soft_targets.temperature(one).temperature
        scaled = (cal.logits.double() / T).softmax(dim=1)
        rows.append({**one.setting, "scaled_nll": metrics.nll(scaled, cal.labels)})
    return pd.DataFrame(rows).round(6)


def stored(folder: Path | None = None) -> pd.DataFrame:
    """The table that `train` made; folder: notebooks/results of the course by default."""
    return strengths.stored(PATH, folder)


def chosen(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL after T; see `strengths.chosen`."""
    return strengths.best(table, "scaled_nll")


if __name__ == "__main__":
    strengths.keep(train(scale.budget("laptop"), device="cpu"), PATH)
