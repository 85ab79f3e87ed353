"""Ways of training for strange images, each with its strengths and weight decays.

`python -m study.strange_images` trains them on three seeds that nothing is judged on, and keeps the
table from which the evidence of lesson 13 takes its settings: chosen without a strange or a shifted
image, by the NLL on `cal` of the state that is compared.
"""

from __future__ import annotations

import functools

from calibkit.course import scale
from calibkit.course.experiments import shifted, strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import models, training

# A strength of 0 is that of a way that has none; alpha of mixup.
WAYS: dict[str, tuple[float, ...]] = {
    "cross-entropy": (0.0,),
    "FLSD-53": (0.0,),
    "mixup": (0.1, 0.2, 0.4, 1.0),
}
DECAYS = (1e-4, 5e-4, 1e-3, 3e-3, 1e-2, 3e-2)


def trial(size: scale.Budget, way: str, strength: float, decay: float, seed: int) -> training.Trial:
    """A network of two hidden layers on eight digits, scored on `cal` and `test`."""
    train = shifted.familiar(size.train, 4000 + seed)
    score = {"cal": shifted.familiar(2000, 2000 + seed)}
    score["test"] = shifted.familiar(size.test // 5, 3000 + seed)
    options = {"seed": 10 * seed, "epochs": size.epochs, "weight_decay": decay}
    network = functools.partial(models.mlp, 64, train.num_classes, width=128)
    return training.trial(network, train, score, **options, **changes(way, strength))


STUDY = strengths.Study("shifted", trial, strengths.settings(WAYS, DECAYS))


if __name__ == "__main__":
    STUDY.keep()
