"""What each experiment varies, and what it claims."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from calibkit import augmentation, curation, losses, mixing, prioritization
from calibkit.lab.data import Dataset

STEPS_OF_C = (150 / 350, 250 / 350)
POSTER = {  # Tata et al. 2022
    "network": "ResNet-34",
    "epochs": 200,
    "lr": 0.01,
    "schedule": "cosine",
    "weight_decay": 5e-4,
}
HALF = {"train": 20_000}
DEEP = "the deep network"  # the one that the scale's setting names


@dataclass(frozen=True)
class Experiment:
    """One lesson's grid on photographs, and the claim that it tests.

    values: the grid; `fewer` has the part of it that a scale runs, where it does not run all.
    change: from the training images, a value of the grid and a seed to the images and settings
        that this value stands for; among them "times", a factor of the epochs, and "network".
    statement: what is claimed of ECE at `last` against ECE at `first`; `expect` is its direction.
    people: the split of CIFAR-10N whose labels a value trains on, for those that train on labels
        given by people; calibration and test images keep the true ones.
    ordered: whether the claim is made of every step of the grid; if not, each value is compared
        with `first`.
    changes: what this experiment changes of a scale's setting, by scale: at "paper" what the source
        paper has, at "night" half of the images where all would take too many nights.
    judged: the column of the table that the claim is made of, and what it is called.
    by_class: what the first and the last class of the seed's order are called, where the table has
        the ECE of the test images *of* each, and the second less the first.
    claims: the claim that a value is judged for, where it is another one.
    corrupts: whether a value is the severity at which the test images are corrupted; one network a
        seed is then trained and tested at all of them.
    strange: whether the networks are shown strange images too, see `runs.with_strange_images`.
    """

    lesson: str
    claim: str
    varies: str
    values: tuple
    change: Callable[[Dataset, Any, int], tuple[Dataset, Mapping[str, Any]]]
    statement: str
    first: Any
    last: Any
    expect: str
    figure: str
    fewer: Mapping[str, tuple] = field(default_factory=dict)
    people: Mapping[Any, str] = field(default_factory=dict)
    ordered: bool = True
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    judged: tuple[str, str] = ("test_ece", "ECE")
    by_class: tuple[str, str] | None = None
    claims: Mapping[Any, str] = field(default_factory=dict)
    corrupts: bool = False
    strange: bool = False

    def grid(self, scale: str) -> tuple:
        """The values that a scale runs."""
        return self.fewer.get(scale, self.values)


def _network(train: Dataset, network: str, seed: int):
    return train, {} if network == DEEP else {"network": network}


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


def _as_it_is(train: Dataset, value, seed: int):
    return train, {}


PEOPLE = {
    "true labels": None,
    "three votes": "aggregate",
    "one person": "random1",
    "worst": "worst",
}
AUGMENTATIONS = {
    "none": None,
    "crops": functools.partial(augmentation.crop_flip, flip=False),
    "flips": functools.partial(augmentation.crop_flip, padding=0),
    "crops and flips": augmentation.crop_flip,
}


def _augmentation(train: Dataset, name: str, seed: int):
    return train, {"augment": AUGMENTATIONS[name]}


LOSSES = {
    "cross-entropy": nn.functional.cross_entropy,
    "focal, gamma 1": functools.partial(losses.focal, gamma=1.0),
    "focal, gamma 2": functools.partial(losses.focal, gamma=2.0),
    "focal, gamma 3": functools.partial(losses.focal, gamma=3.0),
    "FLSD-53": losses.flsd,
    "label smoothing .05": functools.partial(losses.label_smoothing, alpha=0.05),
    "label smoothing .1": functools.partial(losses.label_smoothing, alpha=0.1),
    "confidence penalty .1": functools.partial(losses.confidence_penalty, weight=0.1),
    "Brier": losses.brier,
    "MMCE, weight 2": functools.partial(losses.mmce, weight=2.0),
}
FOCAL = tuple(LOSSES)[:5]
SOFT = ("cross-entropy", *tuple(LOSSES)[5:])


def _loss(train: Dataset, loss: str, seed: int):
    return train, {"loss": LOSSES[loss]}


FORMS = ("exponential", "step")
MITIGATIONS = ("sampling", "weighted", "label smoothing .1", "focal, gamma 2", "class-balanced")
IMBALANCES = {
    "balanced": ("exponential", 1, "none"),
    "exponential, rho 10": ("exponential", 10, "none"),
    **{f"{form}, none": (form, 100, "none") for form in FORMS},
    **{f"{form}, {way}": (form, 100, way) for form in FORMS for way in MITIGATIONS},
}


def _imbalance(train: Dataset, value: str, seed: int):
    """Equal numbers of steps: what is thinned out is passed over more often."""
    form, rho, way = IMBALANCES[value]
    options = {"seed": seed, "form": form, "classes": train.num_classes}
    kept = curation.imbalance(train.labels, rho, **options)
    thinned = train[kept.indices]
    if way == "sampling":
        again = curation.resample(thinned.labels, seed=seed, strategy="oversample")
        thinned = thinned[again]
    return thinned, {"times": len(train) / len(thinned), "loss": _mitigated(way, kept.counts)}


def _mitigated(way: str, counts: Tensor) -> Callable:
    """The loss of a mitigation; counts (K,) are the training images of each class."""
    if way == "weighted":
        weights = losses.inverse_frequency_weights(counts)
    elif way == "class-balanced":
        weights = losses.class_balanced_weights(counts, beta=0.9999)
    else:
        return LOSSES.get(way, nn.functional.cross_entropy)
    return functools.partial(_weighted, weights=tuple(weights.tolist()))


def _weighted(logits: Tensor, target: Tensor, *, weights: tuple[float, ...]) -> Tensor:
    """Weights that follow the logits to their device."""
    return losses.cross_entropy(logits, target, class_weights=logits.new_tensor(weights))


def _mixup(train: Dataset, alpha: float, seed: int):
    return train, {"mix": functools.partial(mixing.mixup, alpha=alpha) if alpha else None}


A_LITTLE = "mixup, alpha .1"
RIVALS = (A_LITTLE, *SOFT[:4])
DOUBTERS = ("cross-entropy", "FLSD-53", A_LITTLE)


def _loss_or_mixup(train: Dataset, name: str, seed: int):
    return _mixup(train, 0.1, seed) if name == A_LITTLE else _loss(train, name, seed)


PARTS = {
    "all": None,
    "30 % of highest entropy": prioritization.MaxEntropy(0.3),
    "30 % by chance": prioritization.RandomPart(0.3),
    "10 % of highest entropy": prioritization.MaxEntropy(0.1),
    "10 % by chance": prioritization.RandomPart(0.1),
}


def _part(train: Dataset, part: str, seed: int):
    return train, {"select": PARTS[part]}


EXPERIMENTS = {
    "depth": Experiment(
        lesson="03",
        claim="O1",
        varies="network",
        values=("LeNet-5", DEEP),
        change=_network,
        statement="the deep network has a larger ECE than LeNet-5",
        first="LeNet-5",
        last=DEEP,
        expect="above",
        figure="CIFAR-100 (`--dataset cifar100`): ECE 4.85 % for LeNet-5, 16.53 % for ResNet-110 "
        "(Guo et al. 2017, table 1)",
        changes={"paper": {"network": "ResNet-110"}, "night": HALF},
    ),
    "width": Experiment(
        lesson="03",
        claim="O2",
        varies="network",
        values=("ConvNet-6", "ConvNet-12", "ConvNet-24"),
        change=_network,
        statement="the widest network has a larger ECE than the narrowest",
        first="ConvNet-6",
        last="ConvNet-24",
        expect="above",
        figure="curves only (Guo et al. 2017, figure 2: ResNet-14 on CIFAR-100)",
        changes={"night": HALF},
    ),
    "size": Experiment(
        lesson="05",
        claim="D1",
        varies="fraction of the training images",
        values=(0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        fewer={"laptop": (0.1, 1.0), "night": (0.1, 0.2, 0.4, 1.0)},
        change=_size,
        statement="a tenth of the images gives a larger ECE than all, at equal steps",
        first=1.0,
        last=0.1,
        expect="above",
        figure="curves only (Dataset Curation Beyond Accuracy, figure 4)",
        changes={"night": HALF},
    ),
    "augmentation": Experiment(
        lesson="05",
        claim="D2",
        varies="augmentation",
        values=tuple(AUGMENTATIONS),
        change=_augmentation,
        statement="without crops and flips ECE is larger than with both",
        first="crops and flips",
        last="none",
        expect="above",
        ordered=False,
        figure="curves only (Dataset Curation Beyond Accuracy, figure 5)",
    ),
    "noise": Experiment(
        lesson="06",
        claim="D3",
        varies="share of labels shuffled",
        values=(0.0, 0.1, 0.2, 0.3, 0.4),
        fewer={"laptop": (0.0, 0.2, 0.4), "night": (0.0, 0.1, 0.2, 0.4)},
        change=_noise,
        statement="label noise .4 gives a larger ECE than none",
        first=0.0,
        last=0.4,
        expect="above",
        figure="curves only (Dataset Curation Beyond Accuracy, figure 2)",
    ),
    "class-noise": Experiment(
        lesson="06",
        claim="D4",
        varies="highest rate of the classes' label noise",
        values=(0.0, 0.5),
        change=_noise_by_class,
        statement="what the noisiest class's ECE has above the cleanest's is larger at rates of 0 "
        "to .5 than without noise",
        first=0.0,
        last=0.5,
        expect="above",
        judged=("class_gap", "the noisiest class's ECE less the cleanest's"),
        by_class=("clean", "noisy"),
        figure="curves only (Dataset Curation Beyond Accuracy, figure 3)",
        changes={"night": HALF},
    ),
    "people": Experiment(
        lesson="06",
        claim="D3",
        varies="labels",
        values=tuple(PEOPLE),
        change=_as_it_is,
        people={value: split for value, split in PEOPLE.items() if split},
        statement="the worst of three people's labels give a larger ECE than the true ones",
        first="true labels",
        last="worst",
        expect="above",
        ordered=False,
        figure="the share of wrong labels is 9.0 % after a vote, 17.2 % for one person, 40.2 % for "
        "the worst (Wei et al. 2022, CIFAR-10N); source A has no labels given by people",
        changes={"night": HALF},
    ),
    "imbalance": Experiment(
        lesson="07",
        claim="D5",
        varies="imbalance and mitigation (rho 100 where none is named)",
        values=tuple(IMBALANCES),
        fewer={
            "laptop": ("balanced", "exponential, none", "exponential, weighted", "step, none"),
            "night": (
                "balanced",
                "exponential, none",
                "exponential, sampling",
                "exponential, weighted",
                "exponential, class-balanced",
                "step, none",
            ),
        },
        change=_imbalance,
        statement="what the rarest class's ECE has above the commonest's is larger at rho 100 "
        "than at 1",
        first="balanced",
        last="exponential, none",
        expect="above",
        ordered=False,
        judged=("class_gap", "the rarest class's ECE less the commonest's"),
        by_class=("common", "rare"),
        figure="ResNet-50, CIFAR-10, rho 100, ECE of the commonest and of the rarest class: "
        "exponential .12 and .48, weighted .10 and .35, class-balanced .09 and .34; step .04 and "
        ".63, weighted .08 and .34 (Dataset Curation Beyond Accuracy, table 1)",
        changes={"night": HALF},
    ),
    "soft": Experiment(
        lesson="09",
        claim="T2",
        varies="loss",
        values=SOFT,
        change=_loss,
        statement="label smoothing .05 gives a smaller ECE than cross-entropy",
        first="cross-entropy",
        last="label smoothing .05",
        expect="below",
        ordered=False,
        claims={"confidence penalty .1": "T3", "Brier": "T4", "MMCE, weight 2": "T4"},
        figure="ResNet-56, CIFAR-100: ECE .150 to .024 with label smoothing .05 (Müller et al. "
        "2019, table 3)",
        changes={"night": HALF},
    ),
    "focal": Experiment(
        lesson="10",
        claim="F5",
        varies="loss",
        values=FOCAL,
        fewer={"laptop": ("cross-entropy", "focal, gamma 3")},
        change=_loss,
        statement="focal loss with gamma 3 gives a smaller ECE than cross-entropy",
        first="cross-entropy",
        last="focal, gamma 3",
        expect="below",
        ordered=False,
        figure="table 1, all datasets and networks: T, by a grid on ECE, 2.0 to 2.8 for "
        "cross-entropy and MMCE, mostly .9 to 1.1 for sample-dependent focal loss (Mukhoti et al. "
        "2020, section 5); the T above minimises the NLL",
        # the weight decay is that of the authors' code; the paper's text has none
        changes={
            "paper": {"epochs": 350, "milestones": STEPS_OF_C, "weight_decay": 5e-4},
            "night": HALF,
        },
    ),
    "mixup": Experiment(
        lesson="12",
        claim="X1",
        varies="alpha",
        values=(0.0, 0.1, 0.3, 1.0),
        fewer={"laptop": (0.0, 0.1, 1.0)},
        change=_mixup,
        statement="mixup with alpha .1 gives a smaller ECE than none",
        first=0.0,
        last=0.1,
        expect="below",
        ordered=False,
        figure="ResNet-34, CIFAR-10, alpha .1: ECE 4.1 to 2.1 %, accuracy 94.1 to 95.1 % "
        "(Tata et al. 2022, table 1)",
        changes={"paper": POSTER},
    ),
    "rivals": Experiment(
        lesson="12",
        claim="X4",
        varies="cure",
        values=RIVALS,
        change=_loss_or_mixup,
        statement="label smoothing .1 gives a larger ECE than mixup with alpha .1",
        first=A_LITTLE,
        last="label smoothing .1",
        expect="above",
        ordered=False,
        figure="plots only (Thulasidasan et al. 2019)",
        changes={"paper": POSTER, "night": HALF},
    ),
    "parts": Experiment(
        lesson="14",
        claim="P1",
        varies="images of an epoch, after a twentieth of the epochs on all",
        values=tuple(PARTS),
        fewer={"laptop": ("all", "10 % of highest entropy", "10 % by chance")},
        change=_part,
        statement="epochs on the 10 % of highest entropy give a larger ECE than epochs on all",
        first="all",
        last="10 % of highest entropy",
        expect="above",
        ordered=False,
        figure="ResNet-34, CIFAR-10, 200 epochs of which 10 on all: ECE 4.1 % for all images, "
        "5.2 % for the 10 % of highest entropy (Tata et al. 2022, table 1)",
        changes={"paper": POSTER, "night": HALF},
    ),
    "shift": Experiment(
        lesson="13",
        claim="S3",
        varies="severity of the corruptions of the test images",
        values=(0, 1, 2, 3, 4, 5),
        change=_as_it_is,
        corrupts=True,
        statement="with corruptions of severity 5 ECE is larger than with none",
        first=0,
        last=5,
        expect="above",
        figure="curves only (Ovadia et al. 2019: CIFAR-10, ImageNet; Minderer et al. "
        "2021: ImageNet-C)",
        changes={"night": HALF},
    ),
    "strange": Experiment(
        lesson="13",
        claim="S1",
        varies="cure",
        values=DOUBTERS,
        change=_loss_or_mixup,
        strange=True,
        statement="Gaussian noise of severity 5: entropy's AUROC is higher for FLSD-53 than for "
        "cross-entropy",
        first="cross-entropy",
        last="FLSD-53",
        expect="above",
        ordered=False,
        judged=("gaussian_auroc", "the AUROC of entropy"),
        figure="focal losses have the higher AUROC, CIFAR-10 against SVHN and against CIFAR-10-C "
        "with Gaussian noise of severity 5 (Mukhoti et al. 2020, table 3); mixup is less confident "
        "of pure noise (Thulasidasan et al. 2019, histograms)",
        changes={"night": HALF},
    ),
}

# What a lesson shows first and what tells most in the least time comes first: half an hour of a
# large GPU is meant for the first four with three seeds each.
ORDER = (
    "noise",
    "focal",
    "mixup",
    "size",
    "augmentation",
    "people",
    "class-noise",
    "imbalance",
    "soft",
    "rivals",
    "parts",
    "shift",
    "strange",
    "depth",
    "width",
)
