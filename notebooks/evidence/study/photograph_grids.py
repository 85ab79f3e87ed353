"""The experiments on photographs: what each one varies, and what it claims."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from calibkit import augmentation, curation, losses, metrics, mixing, prioritization
from calibkit.course.experiments.ways import changes
from calibkit.lab import sweep
from calibkit.lab.data import Dataset
from study import photographs
from study.photographs import BY_TARGET, DEEP, DEPTHS, HALF, Photographs

# By their names in tables, ways of training at one strength. MMCE is weighed twice: as its own
# authors do, and squared, as those of focal loss do.
_NAMED = {
    "cross-entropy": ("cross-entropy", 0.0),
    **{f"focal, gamma {gamma:g}": ("focal", gamma) for gamma in (1.0, 2.0, 3.0)},
    "FLSD-53": ("FLSD-53", 0.0),
    "label smoothing .05": ("smoothing", 0.05),
    "label smoothing .1": ("smoothing", 0.1),
    "confidence penalty .1": ("penalty", 0.1),
    "Brier": ("Brier", 0.0),
    "MMCE, weight 2": ("MMCE, weighted", 2.0),
    "MMCE, squared, weight 2": ("MMCE, squared", 2.0),
    "mixup, alpha .1": ("mixup", 0.1),
    "mixup, alpha 0.1": ("mixup", 0.1),  # the same, as the table of the nights calls it
    "mixup, alpha 0.3": ("mixup", 0.3),
    "mixup, alpha 1": ("mixup", 1.0),
    "images alone, alpha 0.3": ("mixup of inputs", 0.3),
}
NAMED = {name: changes(*way) for name, way in _NAMED.items()}
NAMED |= {
    "FLSD-532": {"loss": functools.partial(losses.flsd, gammas="5-3-2")},
    "focal, gamma 5-3-1": {"loss": losses.ScheduledFocal("5-3-1")},
    "focal, gamma 5-3-2": {"loss": losses.ScheduledFocal("5-3-2")},
    "labels alone, alpha 0.3": {"mix": functools.partial(mixing.mixup, alpha=0.3, mix="labels")},
}
# beside cross-entropy, the losses that its authors compare focal loss with
BASELINES = ("label smoothing .05", "Brier", "MMCE, squared, weight 2")
FOCAL = tuple(NAMED)[:5]
SOFT = ("cross-entropy", *tuple(NAMED)[5:10])
AUGMENTATIONS = {
    "none": None,
    "crops": functools.partial(augmentation.crop_flip, flip=False),
    "flips": functools.partial(augmentation.crop_flip, padding=0),
    "crops and flips": augmentation.crop_flip,
}
PARTS = {
    "all": None,
    "30 % of highest entropy": prioritization.MaxEntropy(0.3),
    "30 % by chance": prioritization.RandomPart(0.3),
    "10 % of highest entropy": prioritization.MaxEntropy(0.1),
    "10 % by chance": prioritization.RandomPart(0.1),
}
WAYS: dict[str, dict[str, Any]] = {  # strengths between those of Tata et al. 2022
    "cross-entropy": {},
    "label smoothing": changes("smoothing", 0.05),
    "mixup": changes("mixup", 0.15),
    "focal": changes("focal", 3.0),
}
WHO: dict[str, Callable[[float], prioritization.Selection]] = {
    "entropy": prioritization.MaxEntropy,
    "the target's entropy": functools.partial(prioritization.MaxEntropy, target=BY_TARGET),
    "chance": prioritization.RandomPart,
}
CHOSEN: dict[str, tuple[str, float, str]] = {
    **{f"{way}, all": (way, 1.0, "") for way in WAYS},
    **{
        f"{way}, {share:.0%} by {who}": (way, share, who)
        for who in WHO
        for way in (tuple(WAYS) if who != "chance" else ("cross-entropy",))
        for share in (0.1, 0.2, 0.3)
    },
}
TARGETS = {"laptop": "ConvNet-24", "night": "ConvNet-24", "gpu": "ResNet-34", "paper": "ResNet-50"}
GUIDED = tuple(  # the own choice, and the target's
    (f"{way}, {share:.0%} by entropy", f"{way}, {share:.0%} by the target's entropy")
    for way in WAYS
    for share in (0.1, 0.2, 0.3)
)
CURED = tuple(  # without a cure, and with one
    (f"cross-entropy, {share:.0%} by entropy", f"{way}, {share:.0%} by entropy")
    for way in tuple(WAYS)[1:]
    for share in (0.1, 0.2, 0.3)
)
PEOPLE = {"three votes": "aggregate", "one person": "random1", "worst": "worst"}
A_LITTLE = "mixup, alpha .1"
# Mukhoti et al. 2020; the weight decay is that of the authors' code, the paper's text has none
MUKHOTI = {"epochs": 350, "milestones": (150 / 350, 250 / 350), "weight_decay": 5e-4}
ON_TINY = {"epochs": 100, "milestones": (40 / 100, 60 / 100), "batch_size": 64}  # appendix E
# whose images are strange to a network of the first
STRANGERS = {"cifar10": "svhn", "cifar100": "svhn", "svhn": "cifar10", "mnist": "notmnist"}
LETTERS = dict.fromkeys(("cifar10", "cifar100", "svhn", "mnist"), "notmnist")
# With the rate and the weight decay of least NLL after T on the calibration photographs of three
# seeds that nothing is judged on: `selection.ON_PHOTOGRAPHS`.
FORMS: dict[str, tuple[str, float, float]] = {
    "convolution": ("ConvNet-24", 0.003, 1.0),
    "attention": ("ViT", 0.001, 0.1),
    "Mixer": ("MLP-Mixer", 0.003, 1.0),
}


def changing(option: str, choices: Mapping[Any, Any]) -> Callable:
    """A change of one option of the training: to what the value stands for."""
    return lambda train, value, seed: (train, {option: choices[value]})


def _as_it_is(train: Dataset, value: Any, seed: int):
    return train, {}


def _network(train: Dataset, network: str, seed: int):
    return train, {} if network == DEEP else {"network": network}


def form(network: str, rate: float, decay: float) -> dict[str, Any]:
    """How an architecture is trained: as transformers usually are, each at its own settings."""
    options = {"optimizer": "adamw", "lr": rate, "weight_decay": decay}
    return {"network": network, **options, "schedule": "cosine", "warmup_share": 0.2}


def _form(train: Dataset, kind: str, seed: int):
    return train, form(*FORMS[kind])


def named(train: Dataset, name: str, seed: int):
    """A change to one of `NAMED`."""
    return train, NAMED[name]


def _mixup(train: Dataset, alpha: float, seed: int):
    return train, changes("mixup", alpha) if alpha else {}


def _chosen(train: Dataset, value: str, seed: int):
    way, share, who = CHOSEN[value]
    return train, WAYS[way] | ({"select": WHO[who](share)} if who else {})


def _size(train: Dataset, fraction: float, seed: int):
    """Equal numbers of steps: a tenth of the images is passed over ten times as often."""
    chosen = curation.subset(train.labels, fraction, seed=seed, stratified=False)
    return train[chosen], {"times": 1 / fraction}


def _noise(train: Dataset, rate: float, seed: int):
    noisy = curation.symmetric_noise(train.labels, rate, classes=train.num_classes, seed=seed)
    return train.with_labels(noisy.labels), {}


def _noise_by_class(train: Dataset, highest: float, seed: int):
    """Rates that rise evenly from 0 to the highest one, in the seed's order of the classes."""
    rates = torch.empty(train.num_classes)
    rates[class_order(train, seed)] = torch.linspace(0, highest, train.num_classes)
    noisy = curation.classwise_noise(train.labels, rates, classes=train.num_classes, seed=seed)
    return train.with_labels(noisy.labels), {}


def class_order(dataset: Dataset, seed: int) -> Tensor:
    """The order of the classes in which a seed makes them rarer, or noisier."""
    return curation.imbalance(dataset.labels, 1, seed=seed, classes=dataset.num_classes).order


def _by_class(first: str, last: str) -> Callable[..., dict[str, float]]:
    """ECE of the test images *of* the first and the last class in the seed's order, and the gap."""

    def measures(outcome: sweep.Outcome, row: Mapping[str, float]) -> dict[str, float]:
        test = outcome.predictions["test"]
        order = class_order(outcome.trial.score["test"], outcome.setting["seed"])
        by_class = metrics.ece_by_group(test.probs, test.labels, test.labels)
        low, high = by_class[order[0]], by_class[order[-1]]
        return {f"{first}_ece": low, f"{last}_ece": high, "class_gap": high - low}

    return measures


MITIGATIONS = ("sampling", "weighted", "label smoothing .1", "focal, gamma 2", "class-balanced")
Shape = Literal["exponential", "step"]
IMBALANCES: dict[str, tuple[Shape, float, str]] = {
    "balanced": ("exponential", 1, "none"),
    "exponential, rho 10": ("exponential", 10, "none"),
    **{f"{shape}, none": (shape, 100, "none") for shape in get_args(Shape)},
    **{f"{shape}, {way}": (shape, 100, way) for shape in get_args(Shape) for way in MITIGATIONS},
}


WEIGHTS: dict[str, Callable[[Tensor], Tensor]] = {
    "weighted": losses.inverse_frequency_weights,
    "class-balanced": functools.partial(losses.class_balanced_weights, beta=0.9999),
}


def _imbalance(train: Dataset, value: str, seed: int):
    """Equal numbers of steps: what is thinned out is passed over more often."""
    shape, rho, way = IMBALANCES[value]
    classes = train.num_classes
    thin = curation.imbalance(train.labels, rho, seed=seed, kind=shape, classes=classes)
    thinned, loss = train[thin.indices], NAMED.get(way, NAMED["cross-entropy"])["loss"]
    if way == "sampling":
        thinned = thinned[curation.resample(thinned.labels, seed=seed, strategy="oversample")]
    elif way in WEIGHTS:
        weights = WEIGHTS[way](thin.counts)
        loss = functools.partial(losses.cross_entropy, class_weights=weights)
    return thinned, {"times": len(train) / len(thinned), "loss": loss}


def _at_a_severity(test: Dataset, severity: int, statistics: photographs.Statistics):
    return {"test": photographs.corrupted(test, severity, statistics)}


_POSTER = {"network": "ResNet-34", "epochs": 200, "lr": 0.01, "schedule": "cosine"}
POSTER: dict[str, dict] = {"paper": _POSTER | {"weight_decay": 5e-4}}  # Tata et al. 2022

# What a lesson shows first and what tells most in the least time comes first: half an hour of a
# large GPU is meant for the first four with three seeds each.
_IN_ORDER = {
    "noise": Photographs(
        varies="share of labels shuffled",
        values=(0.0, 0.1, 0.2, 0.3, 0.4),
        values_at={"laptop": (0.0, 0.2, 0.4), "night": (0.0, 0.1, 0.2, 0.4)},
        change=_noise,
        claim=("D3", "label noise .4 gives a larger ECE than none"),
        between=(0.0, 0.4),
        ordered=True,
        setting_changes={},
    ),
    "focal": Photographs(
        varies="loss",
        values=FOCAL,
        values_at={"laptop": ("cross-entropy", "focal, gamma 3")},
        change=named,
        claim=("F5", "focal loss with gamma 3 gives a smaller ECE than cross-entropy"),
        between=("cross-entropy", "focal, gamma 3"),
        expect="below",
        setting_changes=HALF | {"paper": MUKHOTI, ("paper", "tiny-imagenet"): ON_TINY},
    ),
    "mixup": Photographs(
        varies="alpha",
        values=(0.0, 0.1, 0.3, 1.0),
        values_at={"laptop": (0.0, 0.1, 1.0)},
        change=_mixup,
        claim=("X1", "mixup with alpha .1 gives a smaller ECE than none"),
        between=(0.0, 0.1),
        expect="below",
        setting_changes=POSTER,
    ),
    "size": Photographs(
        varies="fraction of the training images",
        values=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        values_at={"laptop": (0.1, 1.0), "night": (0.1, 0.2, 0.4, 1.0)},
        change=_size,
        claim=("D1", "a tenth of the images gives a larger ECE than all, at equal steps"),
        between=(1.0, 0.1),
        ordered=True,
    ),
    "augmentation": Photographs(
        varies="augmentation",
        values=tuple(AUGMENTATIONS),
        change=changing("augment", AUGMENTATIONS),
        claim=("D2", "without crops and flips ECE is larger than with both"),
        between=("crops and flips", "none"),
        setting_changes={},
    ),
    "people": Photographs(
        varies="labels",
        values=("true labels", *PEOPLE),
        change=_as_it_is,
        people=PEOPLE,
        claim=("D3", "the worst of three people's labels give a larger ECE than the true ones"),
        between=("true labels", "worst"),
    ),
    "class-noise": Photographs(
        varies="highest rate of the classes' label noise",
        values=(0.0, 0.5),
        change=_noise_by_class,
        measures=_by_class("clean", "noisy"),
        claim=(
            "D4",
            "what the noisiest class's ECE has above the cleanest's is larger at rates of 0 "
            "to .5 than without noise",
        ),
        between=(0.0, 0.5),
        compared=("class_gap", "the noisiest class's ECE less the cleanest's"),
    ),
    "imbalance": Photographs(
        varies="imbalance and mitigation (rho 100 where none is named)",
        values=tuple(IMBALANCES),
        values_at={
            "laptop": ("balanced", "exponential, none", "exponential, weighted", "step, none"),
            "night": tuple(value for value in IMBALANCES if value != "exponential, rho 10"),
        },
        change=_imbalance,
        measures=_by_class("common", "rare"),
        claim=(
            "D5",
            "what the rarest class's ECE has above the commonest's is larger at rho 100 than at 1",
        ),
        between=("balanced", "exponential, none"),
        compared=("class_gap", "the rarest class's ECE less the commonest's"),
    ),
    "soft": Photographs(
        varies="loss",
        values=SOFT,
        change=named,
        claim=("T2", "label smoothing .05 gives a smaller ECE than cross-entropy"),
        between=("cross-entropy", "label smoothing .05"),
        expect="below",
        other_claims={"confidence penalty .1": "T3", "Brier": "T4", "MMCE, weight 2": "T4"},
    ),
    "rivals": Photographs(
        varies="cure",
        values=(A_LITTLE, *SOFT[:4]),
        change=named,
        claim=("X4", "label smoothing .1 gives a larger ECE than mixup with alpha .1"),
        between=(A_LITTLE, "label smoothing .1"),
        setting_changes=HALF | POSTER,
    ),
    "parts": Photographs(
        varies="images of an epoch, after a twentieth of the epochs on all",
        values=tuple(PARTS),
        values_at={"laptop": ("all", "10 % of highest entropy", "10 % by chance")},
        change=changing("select", PARTS),
        claim=("P1", "epochs on the 10 % of highest entropy give a larger ECE than epochs on all"),
        between=("all", "10 % of highest entropy"),
        setting_changes=HALF | POSTER,
    ),
    "guided": Photographs(
        varies="loss, images of an epoch (after a twentieth of the epochs on all)",
        values=tuple(CHOSEN),
        values_at={
            "laptop": (
                "cross-entropy, all",
                *(f"{way}, 10% by entropy" for way in WAYS),
                "cross-entropy, 10% by the target's entropy",
            )
        },
        change=_chosen,
        target={scale: {"network": one, **WAYS["mixup"]} for scale, one in TARGETS.items()},
        claim=(
            "P3",
            "cross-entropy, 10 %: what the target chooses gives a smaller ECE than the own choice",
        ),
        between=("cross-entropy, 10% by entropy", "cross-entropy, 10% by the target's entropy"),
        expect="below",
        steps=GUIDED + CURED,
        other_claims={value: "P2" for _, value in CURED},
        setting_changes={"night": {"train": 20_000, "network": "ConvNet-12"}} | POSTER,
    ),
    "shift": Photographs(
        varies="severity of the corruptions of the test images",
        values=(0, 1, 2, 3, 4, 5),
        change=_as_it_is,
        one_network=True,
        shows=_at_a_severity,
        measures=photographs.more_measures,
        claim=("S3", "with corruptions of severity 5 ECE is larger than with none"),
        between=(0, 5),
        ordered=True,
    ),
    "strange": Photographs(
        varies="cure",
        values=(
            "cross-entropy",
            "focal, gamma 3",
            "FLSD-53",
            *BASELINES,
            A_LITTLE,
            "mixup, alpha 1",
        ),
        values_at={"laptop": ("cross-entropy", "FLSD-53", A_LITTLE)},
        change=named,
        shows=photographs.strange_images,
        strangers=LETTERS,
        measures=photographs.on_strange_images,
        claim=(
            "S1",
            "Gaussian noise of severity 5: entropy's AUROC is higher for FLSD-53 than for "
            "cross-entropy",
        ),
        between=("cross-entropy", "FLSD-53"),
        compared=("gaussian_auroc", "the AUROC of entropy"),
    ),
    "depth": Photographs(
        varies="network",
        values=("LeNet-5", DEEP),
        change=_network,
        claim=("O1", "the deep network has a larger ECE than LeNet-5"),
        between=("LeNet-5", DEEP),
        setting_changes=HALF | {"paper": {"network": "ResNet-110"}},
    ),
    "form": Photographs(
        varies="architecture",
        values=tuple(FORMS),
        change=_form,
        claim=("O10", "attention has a smaller ECE than convolution"),
        between=("convolution", "attention"),
        expect="below",
        setting_changes={"night": {"train": 5_000, "autocast": False}},
    ),
    "convolutions": Photographs(
        varies="network",
        values=(*(f"CNN-{depth}" for depth in DEPTHS), "CNN-4, no norm"),
        change=_network,
        claim=("O2", "eight convolutions have a larger ECE than two"),
        between=("CNN-2", "CNN-8"),
    ),
    "width": Photographs(
        varies="network",
        values=("ConvNet-6", "ConvNet-12", "ConvNet-24"),
        change=_network,
        claim=("O2", "the widest network has a larger ECE than the narrowest"),
        between=("ConvNet-6", "ConvNet-24"),
        ordered=True,
    ),
    "elsewhere": Photographs(
        varies="cure",
        values=("cross-entropy", "FLSD-53", A_LITTLE),
        change=named,
        strangers=STRANGERS,
        measures=photographs.on_strange_images,
        claim=(
            "S1",
            "images of another dataset: entropy's AUROC is higher for FLSD-53 than for "
            "cross-entropy",
        ),
        between=("cross-entropy", "FLSD-53"),
        compared=("elsewhere_auroc", "the AUROC of entropy"),
        setting_changes=HALF | {"paper": {"network": "ResNet-110", **MUKHOTI}},
    ),
}
# as `strange`, at the weight decay of least NLL on calibration photographs, of all its cures
_IN_ORDER["strange-at-best"] = replace(
    _IN_ORDER["strange"],
    setting_changes={
        **{scale: {"weight_decay": 5e-3} for scale in ("laptop", "gpu", "paper")},
        "night": {"train": 20_000, "weight_decay": 5e-3},
    },
)
EXPERIMENTS = {name: replace(experiment, name=name) for name, experiment in _IN_ORDER.items()}
