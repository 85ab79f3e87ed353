"""Ways of training for strange images, and networks of one cost, each with its weight decays.

`python -m study.strangers` trains them on three seeds that nothing is judged on, and keeps the
table from which the evidence of lesson 13 takes its settings. All are chosen without a strange or
a shifted image, by the NLL on `cal`.
"""

from __future__ import annotations

import functools

import pandas as pd

from calibkit.course import scale
from calibkit.course.experiments import shifted, strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, training

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


@functools.cache
def all_ten(size: scale.Budget, seed: int) -> data.Splits:
    return data.noisy_digits(
        size.train, noise=shifted.NOISE, seed=seed, test=1
    )  # tests are drawn elsewhere


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
        train = shifted.familiar(size.train, 4000 + seed)
        score = {
            "cal": shifted.familiar(2000, 2000 + seed),
            "test": shifted.familiar(size.test // 5, 3000 + seed),
        }
    classes, width = train.num_classes, 325 if way == "5 x weights" else 128
    return training.trial(
        functools.partial(models.mlp, 64, classes, width=width),
        train,
        score,
        seed=10 * seed + member,
        epochs=5 * size.epochs if way == "5 x epochs" else size.epochs,
        weight_decay=decay,
        **changes("cross-entropy" if way in COSTS else way, strength),
    )


STUDY = strengths.Study("shifted", trial, strengths.settings(WAYS, DECAYS))
stored = STUDY.stored


def chosen(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Strength and decay of each way with the least mean NLL after T; see `strengths.chosen`."""
    return strengths.best(table)


if __name__ == "__main__":
    STUDY.keep()
