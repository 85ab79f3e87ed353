"""Ways of training on classes of which some are rare, each with its strengths and weight decays.

`python -m study.rare_classes` trains them on three seeds that nothing is
judged on, and keeps the table from which the evidence of lesson 07 takes its settings.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor

from calibkit import curation, losses, recalibration
from calibkit.course import scale
from calibkit.course.experiments import strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, training
from calibkit.lab.data import Dataset

Form = Literal["exponential", "step"]
K, RHO = 10, 100
# Each strength is 0 where the way is plain cross-entropy. "sampling" and "weighted": the power of
# the class size that is taken away; "class-balanced": beta; "label smoothing": alpha; "focal":
# gamma; "in the loss": the factor of the log prior (Menon et al. 2021, section 5).
WAYS: dict[str, tuple[float, ...]] = {
    "none": (0.0,),
    "sampling": (0.25, 0.5, 0.75, 1.0),
    "weighted": (0.25, 0.5, 0.75, 1.0),
    "class-balanced": (0.9, 0.99, 0.999, 0.9999),
    "label smoothing": (0.02, 0.05, 0.1, 0.2),
    "focal": (1.0, 2.0, 3.0, 5.0),
    "in the loss": (0.5, 1.0, 1.5, 2.0),
}
DECAYS = (0.0, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
RATES = {"exponential": 0.1, "step": 0.05}  # learning rates: at .1 some weighted ones do not train
POOL = {"exponential": 4.5, "step": 2.3}  # images before thinning, for each that is trained on
CHOSEN_BY = {"as trained": "nll", "repaired": "repaired_nll"}


@functools.cache
def digits(size: scale.Budget, seed: int) -> data.Splits:
    pool = int(POOL["exponential"] * size.train)
    return data.noisy_digits(pool, noise=0.4, seed=seed, calibration=pool, test=size.test)


@functools.cache
def thinned(
    size: scale.Budget, split: str, form: Form, rho: float, seed: int
) -> tuple[Dataset, Tensor]:
    """size.train images of which some classes are rare, and the classes from common to rare."""
    start = getattr(digits(size, seed), split)[: int(POOL[form] * size.train)]
    kept = curation.imbalance(start.labels, rho, kind=form, seed=seed)
    learn = start[kept.indices]
    return learn[curation.subset(learn.labels, size.train, seed=seed)], kept.order


def shares(size: scale.Budget, form: Form, rho: float, seed: int) -> Tensor:
    """The prior of the training set, (K,)."""
    labels = thinned(size, "train", form, rho, seed)[0].labels
    return labels.bincount(minlength=K).double() / len(labels)


def trial(
    size: scale.Budget, way: str, strength: float, decay: float, form: Form, seed: int
) -> training.Trial:
    """A network of two hidden layers at ratio 100, scored on `cal` (as unequal) and `test`."""
    learn, _ = thinned(size, "train", form, RHO, seed)
    score = {
        "train": learn,
        "cal": thinned(size, "calibration", form, RHO, seed)[0],
        "test": digits(size, seed).test,
    }
    epochs, sizes = 2 * size.epochs // 3, learn.labels.bincount(minlength=K).double()
    if way == "sampling":
        # four times the images, so that few of the commonest class are lost; a quarter of epochs
        wanted = sizes ** (1 - strength)
        wanted = (4 * size.train * wanted / wanted.sum()).round().long()
        learn = learn[curation.resample(learn.labels, counts=wanted, seed=seed)]
        epochs //= 4
    options: dict[str, Any] = {"lr": RATES[form], "weight_decay": decay, "epochs": epochs}
    network = functools.partial(models.mlp, 64, K)
    return training.trial(
        network, learn, score, seed=seed, loss=_loss(way, strength, sizes), **options
    )


def _loss(way: str, strength: float, sizes: Tensor):
    if way in ("label smoothing", "focal"):
        return changes(way.removeprefix("label "), strength)["loss"]
    if way == "in the loss":
        shift = strength * (sizes / sizes.sum()).log().float()
        return functools.partial(with_prior, shift=shift)
    if way == "weighted":
        weights = sizes**-strength
        weights = weights * sizes.sum() / (weights * sizes).sum()  # of mean 1 over the images
        return functools.partial(losses.cross_entropy, class_weights=weights.float())
    if way == "class-balanced":
        weights = losses.class_balanced_weights(sizes.long(), beta=strength)
        return functools.partial(losses.cross_entropy, class_weights=weights)
    return losses.cross_entropy


def with_prior(logits: Tensor, target: Tensor, *, shift: Tensor, **options) -> Tensor:
    """Cross-entropy of logits to which the log prior is added; alone they are of even shares."""
    return losses.cross_entropy(logits + shift.to(logits), target, **options)


def fitted(kind: type[recalibration.Calibrator], outcome) -> recalibration.Calibrator:
    """A map of its own for a network, fitted on its `cal`, which may lack the rarest classes."""
    cal = outcome.predictions["cal"]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="labels hold no sample of class")
        return kind().fit(cal.logits, cal.labels)


def repaired(outcome, new: Tensor, split: str = "test") -> Tensor:
    """Probabilities under the prior `new` after temperature and shifts, both fitted on `cal`."""
    scaler = fitted(recalibration.BiasCorrectedTemperature, outcome)
    old = outcome.predictions["cal"].labels.bincount(minlength=K).double().clamp(min=0.5)
    logits = scaler._apply(outcome.predictions[split].logits.double())
    return recalibration.logit_adjustment(logits, old=old / old.sum(), new=new).softmax(dim=1)


def class_nll(probs: Tensor, labels: Tensor) -> float:
    """The mean over the classes of each one's mean NLL (nats), of those that have an image."""
    lost = -probs.double().clamp(min=1e-300).log()[range(len(labels)), labels]
    return torch.stack([lost[labels == k].mean() for k in labels.unique()]).mean().item()


def nll(outcome) -> dict[str, float]:
    """The NLL on `cal` with classes of equal weight, as trained and repaired."""
    cal, even = outcome.predictions["cal"], torch.full((K,), 1 / K, dtype=torch.float64)
    return {
        "nll": class_nll(cal.probs, cal.labels),
        "repaired_nll": class_nll(repaired(outcome, even, "cal"), cal.labels),
    }


GRID = [
    {**one, "form": form} for form in RATES for one in strengths.settings(WAYS, DECAYS)
]  # every way for each form
STUDY = strengths.Study("rare_classes", trial, GRID, nll)
stored = STUDY.stored


def chosen(table: pd.DataFrame, form: Form, by: Literal["as trained", "repaired"]) -> pd.DataFrame:
    """The setting of each way with the least mean over the selection seeds; see `strengths`."""
    return strengths.chosen(table[table.form == form], CHOSEN_BY[by])


if __name__ == "__main__":
    STUDY.keep()
