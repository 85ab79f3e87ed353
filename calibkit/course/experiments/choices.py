"""Networks on a part of the images, which a rule chooses for each epoch.

The evidence of lesson 14 compares more rules, those of `study.rules`.
"""

from __future__ import annotations

import functools
from typing import Any

import pandas as pd

from calibkit import metrics
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.course.experiments.ways import changes as cure
from calibkit.lab import data, models, sweep, training
from calibkit.prioritization import MaxEntropy, MaxLoss, RandomPart

K = 10
NETWORK = functools.partial(models.mlp, 64, K, width=64)
OPTIMIZER: dict[str, Any] = {"batch_size": 50, "lr": 0.05, "schedule": "cosine"}
DECAY = 5e-4  # the usual one, where none was chosen
RULES = {"random": RandomPart, "entropy": MaxEntropy, "loss": MaxLoss}


def epochs(size: scale.Budget) -> int:
    return 2 * size.epochs // 3


def warmup(size: scale.Budget) -> int:
    """Epochs on all images, before there is anything to choose by."""
    return max(1, size.epochs // 30)


@functools.cache
def digits(size: scale.Budget, noise: float, seed: int) -> data.Splits:
    return data.noisy_digits(size.train, noise, seed, test=size.test)


def trial(
    size: scale.Budget,
    choice: str,
    share: float,
    seed: int,
    *,
    noise: float = 0.4,
    way: str = "cross-entropy",
    strength: float = 0.0,
    decay: float = DECAY,
    **changes: Any,
) -> training.Trial:
    """A small network on what a rule chooses, scored on `train`, `cal` and `test`.

    choice: one of `RULES`; share: 1 for all images, whatever the rule. changes: as `training.trial`
        takes them, such as another `select`.
    """
    train, cal, test = digits(size, noise, seed)
    options = {"epochs": epochs(size), **OPTIMIZER, **cure(way, strength)}
    if share < 1 and "select" not in changes:
        options["select"] = RULES[choice](share=share, warmup=warmup(size))
    return training.trial(
        NETWORK,
        train,
        {"train": train, "cal": cal, "test": test},
        seed=seed,
        weight_decay=decay,
        **(options | changes),
    )


def measured(done: sweep.Sweep) -> sweep.Sweep:
    """Adds the temperature of each run's `cal` (T), and ECE and NLL on `test` after it."""
    rows = []
    for one in done.outcomes:
        test, scaler = one.predictions["test"], strengths.temperature(one)
        probs = scaler.probs(test.logits)
        after = {"scaled_ece": metrics.ece(probs, test.labels)}
        after |= {"scaled_nll": metrics.nll(probs, test.labels)}
        rows.append({"T": scaler.temperature, **after})
    done.table[list(rows[0])] = pd.DataFrame(rows, index=done.table.index)
    return done
