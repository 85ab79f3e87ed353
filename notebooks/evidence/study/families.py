"""The networks of the course, family by family: what is changed in each, and how it is trained.

A family is a lesson's own experiment: the same networks, data and settings, with fresh seeds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from torch import Tensor
from torch.nn.functional import interpolate

from calibkit import curation, losses, metrics, prioritization
from calibkit.course.experiments import architectures, notes
from calibkit.course.experiments.ways import changes
from calibkit.course.scale import Budget
from calibkit.lab import data, models, sweep, training
from calibkit.lab.data import Dataset, Predictions
from calibkit.lab.training import Trial
from study import contests
from study.tablets import relabelled

K = 10  # digits
STOPS = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60)  # epochs of a path
SHIFTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)  # pixel noise of the new images; trained on 0.4
TEMPERATURES = (0.5, 1.0, 1.5, 2.0, 3.0)


class View(NamedTuple):
    """One dot of a network: what it fits, and what it says of new data."""

    train_accuracy: float
    probs: Tensor
    labels: Tensor


@dataclass(frozen=True)
class Family:
    """Networks that differ in one thing.

    lesson: its number, "06". changed: what differs, "label noise". group: what they share, and
        other families of the same lesson and change do not: "noisy digits".
    values: by its words, what each value changes of `make_trial`.
    make_trial: from a value's changes and a seed to the training. It scores "train", the training
        data with their training labels, and new data.
    views: from a finished training to its dots, by words that are added to the value's.
    joined: whether the values have an order.
    """

    lesson: str
    changed: str
    group: str
    values: Mapping[str, Mapping[str, Any]]
    make_trial: Callable[..., Trial]
    views: Callable[[sweep.Outcome], Mapping[str, View]] = field(default=lambda one: at_end(one))
    joined: bool = True

    @property
    def noise(self) -> dict[str, float]:
        """By the value's words, the share of training labels that were drawn anew."""
        return {words: change.get("labels", 0.0) for words, change in self.values.items()}


# --- how a training becomes dots ------------------------------------------------------------------


def at_end(one: sweep.Outcome) -> dict[str, View]:
    """A dot for each new dataset, under its name; the usual one, "new", has none."""
    fitted = metrics.accuracy(one.predictions["train"].probs, one.predictions["train"].labels)
    return {
        "" if name == "new" else name: View(fitted, new.probs, new.labels)
        for name, new in one.predictions.items()
        if name != "train"
    }


def by_temperature(one: sweep.Outcome) -> dict[str, View]:
    """A dot for each temperature, which leaves the accuracies as they are."""
    new, (view,) = one.predictions["new"], at_end(one).values()
    cooled = {T: (new.logits.double() / T).softmax(dim=1) for T in TEMPERATURES}
    return {f"T = {T:g}": view._replace(probs=probs) for T, probs in cooled.items()}


def by_epoch(one: sweep.Outcome) -> dict[str, View]:
    """A dot for some epochs; the training accuracy is that at the end of each."""
    labels, history = one.trial.watch["new"].labels, one.history.set_index("epoch")
    return {
        f"epoch {epoch}": View(
            history.fitted_accuracy[epoch],
            Predictions(one.logits["new"][epoch - 1], labels).probs,
            labels,
        )
        for epoch in STOPS
        if epoch <= len(history)
    }


def by_class(one: sweep.Outcome) -> dict[str, View]:
    """A dot for each class, the commonest of the training first: images *of* that class alone."""
    train, new = one.predictions["train"], one.predictions["new"]
    counts = train.labels.bincount(minlength=K)
    order = counts.argsort(descending=True, stable=True).tolist()
    views = {}
    for rank, k in enumerate(order, 1):
        of, on = train.labels == k, new.labels == k
        fitted = metrics.accuracy(train.probs[of], train.labels[of])
        words = f"digit {k}" if counts.max() < 2 * counts.min() else f"class of rank {rank}"
        views[words] = View(fitted, new.probs[on], new.labels[on])
    return dict(sorted(views.items())) if "digit 0" in views else views


# --- what is trained ------------------------------------------------------------------------------


def _trial(make, learn: Dataset, new: Dataset, *, labels: float = 0.0, **options) -> Trial:
    """A training, scored on its own and on new data; labels: the share of its own to shuffle."""
    learn = relabelled(learn, labels, options["seed"]) if labels else learn
    return training.trial(make, learn, {"train": learn, "new": new}, **options)


@dataclass(frozen=True)
class Course:
    """The families' recipes at one size: methods, so that what they share is made once."""

    size: Budget

    def digits(self, seed: int, noise: float = 0.4) -> tuple[Dataset, Dataset]:
        """A pool of training images, of which the first ones are taken, and new images."""
        return _digits(int(4.5 * self.size.train), self.size.test // 2, noise, seed)

    def dense(self, seed: int, *, noise: float = 0.4, network=(), **options) -> Trial:
        """The course's plain network, or one changed by `options`, on noisy digits."""
        pool, new = self.digits(seed, noise)
        learn = pool[: options.pop("images", self.size.train)]
        make = functools.partial(models.mlp, 64, K, **dict(network))
        return _trial(make, learn, new, seed=seed, **{"epochs": self.size.epochs} | options)

    def watched(self, seed: int, **options) -> Trial:
        """The same, looked at after every epoch."""
        made = self.dense(seed, **options)
        new = made.score["new"][: self.size.test // 5]
        return replace(made, watch={"fitted": made.train, "new": new}, keep=("new",))

    def convolutional(self, net: str, seed: int) -> Trial:
        """Lesson 03's three."""
        pool, new = self.digits(seed)
        learn, make = pool[: self.size.train], CONVOLUTIONAL[net]
        if net == "LeNet-5":
            learn, new = enlarged(learn), enlarged(new)
        return _trial(make, learn, new, seed=seed, epochs=self.size.epochs)

    def architecture(self, kind: str, seed: int, *, place: int = 1, labels: float = 0.0) -> Trial:
        """Lesson 04's, at equal numbers of steps; place: of the number of images in its list."""
        pool, new = self.digits(seed)
        images, make = self.sizes[place], architectures.network(kind, architectures.WIDTHS["large"])
        lr, decay = _at_best(kind, architectures.PLACES[place])
        epochs = architectures.epochs(self.size, images)
        return _trial(
            make, pool[:images], new, labels=labels, seed=seed, epochs=epochs,
            batch_size=architectures.BATCH, optimizer="adamw", lr=lr, weight_decay=decay,
            schedule="cosine", warmup=0.3 * epochs,
        )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of training images in lesson 04."""
        return tuple(architectures.images(self.size).values())

    def imbalanced(self, seed: int, *, form: str = "exponential", rho: float = 100) -> Trial:
        """Lesson 07's: as many images as elsewhere, of which some classes have few."""
        pool, new = self.digits(seed)
        start = pool[: int((4.5 if form == "exponential" else 2.3) * self.size.train)]
        thinned = start[curation.imbalance(start.labels, rho, kind=form, seed=seed).indices]
        learn = thinned[curation.subset(thinned.labels, self.size.train, seed=seed)]
        plain = functools.partial(models.mlp, 64, K)
        return _trial(plain, learn, new, seed=seed, epochs=2 * self.size.epochs // 3)

    def shifted(self, seed: int, **options) -> Trial:
        """Lesson 13's: one network, shown new images of more pixel noise."""
        made = self.dense(seed, **options)
        shown = {"train": made.train}
        for noise in SHIFTS:
            shown[f"noise {noise:g}"] = _drawn(noise, self.size.test // 4, 1000 + seed)
        return replace(made, score=shown)

    def selected(self, seed: int, *, choice: str, share: float) -> Trial:
        """Lesson 14's: epochs on a part of the images, after two on all."""
        warmup = max(1, self.size.epochs // 30)
        return self.dense(
            seed, network={"width": 64}, epochs=2 * self.size.epochs // 3, batch_size=50, lr=0.05,
            schedule="cosine", weight_decay=5e-4, select=CHOICES[choice](share, warmup),
        )  # fmt: skip

    def clusters(self, seed: int, *, flip: float = 0.1, **options) -> Trial:
        """Lessons 11 and 12: points of two classes, of which a share has the other's label."""
        about = {"flip": flip, "seed": seed, "calibration": 1, "test": self.size.test // 2}
        learn, _, new = data.clusters(256, **about)
        make = functools.partial(models.mlp, 2, 2, width=64)
        return _trial(make, learn, new, seed=seed, epochs=self.size.epochs // 2, **options)

    def notes(self, seed: int, *, reader: str = "CNN", times: float = 1, **options) -> Trial:
        """Lesson 15's readers of notes, at equal numbers of steps."""
        n = max(64, round(self.size.train * times))
        learn, new = _notes(n, self.size.test // 4, seed)
        epochs = max(1, round(self.size.epochs / 2 / times))
        habits = {"optimizer": "adamw", "lr": 0.01, "weight_decay": 0.01, "schedule": "cosine"}
        habits |= {"warmup": 0.2 * epochs, "batch_size": 64, "epochs": epochs}
        return _trial(notes.READERS[reader], learn, new, seed=seed, **habits | options)


@functools.cache
def _at_best(kind: str, place: str) -> tuple[float, float]:
    """The learning rate and weight decay that lesson 04 chooses, from its stored table."""
    best = contests.chosen(contests.stored(), "after T").set_index([*contests.CONTEST])
    found = best.loc[(kind, architectures.WIDTHS["large"], place, "in place")]
    return float(found.rate), float(found.decay)


@functools.cache
def _digits(pool: int, new: int, noise: float, seed: int) -> tuple[Dataset, Dataset]:
    learn, _, test = data.noisy_digits(pool, noise, seed, calibration=1, test=new)
    return learn, test


@functools.cache
def _drawn(noise: float, n: int, seed: int) -> Dataset:
    return data.NoisyDigits(noise).draw(n, seed=seed)


@functools.cache
def _notes(n: int, new: int, seed: int) -> tuple[Dataset, Dataset]:
    learn, _, test = data.notes(n, seed=seed, calibration=1, test=new)
    return learn, test


def enlarged(images: Dataset) -> Dataset:
    """Twice as wide and as high."""
    return replace(
        images, inputs=interpolate(images.inputs, scale_factor=2, mode="bilinear"), source=None
    )


CONVOLUTIONAL = {
    "small": functools.partial(models.cnn, 1, K, width=8, depth=2),
    "LeNet-5": functools.partial(models.lenet5, 1, K, size=16),
    "deep": functools.partial(models.cnn, 1, K, width=16, depth=6, norm="batch"),
}
CHOICES = {
    "highest entropy": prioritization.MaxEntropy,
    "highest loss": prioritization.MaxLoss,
    "by chance": prioritization.RandomPart,
}


def exact_labels(inputs: Tensor, labels: Tensor, **unused: Any) -> tuple[Tensor, Tensor]:
    """A `mix` that puts the exact posterior of noisy digits in place of the labels."""
    return inputs, data.NoisyDigits(noise=0.4).posterior(inputs).float()


# --- the list -------------------------------------------------------------------------------------

DIGITS = "noisy digits"
MORE_LOSSES = {  # beside the ways of the course
    **{f"schedule {s}": {"loss": losses.ScheduledFocal(s)} for s in ("5-3-1", "5-3-2")},
    "FLSD-53": {"loss": losses.flsd},
    "FLSD-532": {"loss": functools.partial(losses.flsd, gammas="5-3-2")},
    "dual focal, gamma 3": {"loss": functools.partial(losses.dual_focal, gamma=3.0)},
}


def each(words: str, numbers: Iterable[Any], option: str, **more: Any) -> dict[str, dict]:
    """Values: an option of the training, which has each of the numbers (or names)."""
    return {words.format(n): {option: n, **more} for n in numbers}


def ways(words: str, way: str, strengths: Iterable[float], **more: Any) -> dict[str, dict]:
    """Values: a way of training at its strengths; a blend of strength 0 is none."""
    blends = way.startswith("mixup")
    return {
        words.format(s): more | ({} if blends and not s else changes(way, s)) for s in strengths
    }


def shuffled(*rates: float) -> dict[str, dict]:
    return {f"{100 * rate:.0f} % of the labels shuffled": {"labels": rate} for rate in rates}


def plain(number: float) -> str:
    """A small number without an exponent.

    >>> plain(1e-5), plain(0.003)
    ('0.00001', '0.003')
    """
    return f"{number:.5f}".rstrip("0")


def families(size: Budget) -> list[Family]:
    """Every family, lesson by lesson."""
    course = Course(size)
    return [*_networks(course), *_data(course), *_losses(course), *_blends_and_later(course)]


def _networks(course: Course) -> list[Family]:
    """Lessons 03 and 04."""
    dense, partial = course.dense, functools.partial
    widths = {f"{2**k:,} units a layer": {"network": {"width": 2**k}} for k in range(3, 11)}
    depths = {
        f"{d} hidden layer{'s' * (d > 1)}": {"network": {"width": 128, "depth": d}}
        for d in (1, 2, 3, 5)
    }
    decays = {
        f"weight decay {plain(d)}": {"weight_decay": d} for d in (1e-5, 1e-4, 1e-3, 3e-3, 1e-2)
    }
    nets = each("{}", CONVOLUTIONAL, "net")
    forms = "convolutional network"
    found = [
        Family("03", "width of the network", DIGITS, widths, dense),
        Family("03", "depth of the network", DIGITS, depths, dense),
        Family("03", forms, DIGITS, nets, course.convolutional, joined=False),
        Family("03", "weight decay", DIGITS, decays, partial(dense, network={"width": 128})),
        Family("03", "epochs", DIGITS, {"": {}}, course.watched, by_epoch),
        Family("03", "epochs", "digits, wrong labels", shuffled(0.3), course.watched, by_epoch),
    ]
    images = {f"{n:,} images": {"place": place} for place, n in enumerate(course.sizes)}
    for changed, values in (("number of images", images), ("label noise", shuffled(0.0, 0.2, 0.4))):
        found += [
            Family(
                "04",
                f"architecture and {changed}",
                kind,
                values,
                partial(course.architecture, kind),
            )
            for kind in architectures.KINDS
        ]
    return found


def _data(course: Course) -> list[Family]:
    """Lessons 05 to 08."""
    dense, texts, n = course.dense, course.notes, course.size.train
    counts = [n // 15, n // 10, n // 5, 2 * n // 5, 3 * n // 5, 4 * n // 5, n, 2 * n, 4 * n]
    parts = {f"{round(n * times):,} notes": {"times": times} for times in (1 / 3, 1, 3)}
    grain = each("pixel noise {:g}", (0.2, 0.3, 0.4, 0.6, 0.8, 1), "noise")
    flips = {
        f"{100 * flip:.0f} % of the labels turned round": {"flip": flip}
        for flip in (0, 0.1, 0.2, 0.3)
    }
    few, text = shuffled(0.0, 0.2, 0.4), "notes, CNN"
    found = [
        Family("05", "number of images", DIGITS, each("{:,} images", counts, "images"), dense),
        Family("05", "number of images", text, parts, texts),
        Family("05", "noise of all images", DIGITS, grain, dense),
        Family("06", "label noise", DIGITS, shuffled(0.0, 0.1, 0.2, 0.3, 0.4, 0.5), dense),
        Family("06", "label noise", "clusters", flips, course.clusters),
        Family("06", "label noise", text, few, texts),
    ]
    rare = course.imbalanced
    for form in ("exponential", "step"):
        values = each("ratio {}", (1, 5, 20, 100), "rho", form=form)
        found.append(Family("07", "class imbalance", form, values, rare))
    for rho, group in ((1, "equally common classes"), (100, "ratio 100, exponential")):
        one = {"": {"rho": rho}}
        found.append(Family("07", "class by class", group, one, rare, by_class, joined=rho > 1))
    cooled = {
        "plain": dense,
        "focal loss, gamma 3": functools.partial(dense, **changes("focal", 3.0)),
        "rare digits": functools.partial(rare, rho=20),
    }
    found += [
        Family("08", "temperature", kind, {"": {}}, make, by_temperature)
        for kind, make in cooled.items()
    ]
    return found


def _losses(course: Course) -> list[Family]:
    """Lessons 09 to 11."""
    dense, partial = course.dense, functools.partial
    narrow = partial(dense, network={"width": 64})
    mmce = {f"MMCE, weight {w:g}": {"loss": partial(losses.mmce, weight=w)} for w in (1.0, 2.0)}
    others = {"Brier": changes("Brier", 0), **mmce, "exact posterior": {"mix": exact_labels}}
    soft = ways("smoothing {:g}", "smoothing", (0.0, 0.02, 0.05, 0.1, 0.3))
    penalties = ways("penalty {:g}", "penalty", (0.0, 0.1, 0.2, 0.3, 0.4))
    gammas = ways("gamma {:g}", "focal", (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0))
    nine = {"cross-entropy": {}, **ways("focal, gamma {:g}", "focal", (1.0, 2.0, 3.0))}
    practice = {"weight_decay": 5e-4, "milestones": (150 / 350, 250 / 350)}
    nine = {words: practice | change for words, change in (nine | MORE_LOSSES).items()}
    found = [
        Family("09", "loss", "label smoothing", soft, narrow),
        Family("09", "loss", "confidence penalty", penalties, narrow),
        Family("09", "loss", "other losses", others, narrow, joined=False),
        Family("10", "focal loss", DIGITS, gammas, dense),
        Family("11", "nine losses", DIGITS, nine, narrow, joined=False),
    ]
    for decay in (0.0, 1e-3, 5e-3, 1e-2):
        more = {"weight_decay": decay, "epochs": 2 * course.size.epochs // 3}
        some = ways("gamma {:g}", "focal", (0.0, 1.0, 3.0, 5.0), **more)
        group = f"weight decay {decay:g}"
        found.append(Family("11", "focal loss and weight decay", group, some, narrow))
    return found


def _blends_and_later(course: Course) -> list[Family]:
    """Lessons 12 to 15."""
    dense, texts, mixed = course.dense, course.notes, functools.partial(ways, "alpha {:g}", "mixup")
    halves = {
        "inputs only, alpha 0.2": changes("mixup of inputs", 0.2),
        "labels only, alpha 0.2": changes("mixup of labels", 0.2),
    }
    half = f"{DIGITS}, half of it"
    seen = {"cross-entropy": {}, "FLSD-53": changes("FLSD-53", 0)}
    seen["mixup, alpha 0.2"] = changes("mixup", 0.2)
    found = [
        Family("12", "mixup", DIGITS, mixed((0.0, 0.05, 0.1, 0.2, 0.4, 1.0, 2.0)), dense),
        Family("12", "mixup", half, halves, dense, joined=False),
        Family("12", "mixup", "clusters", mixed((0.0, 0.1, 0.2, 1.0)), course.clusters),
    ]
    found += [
        Family("13", "noise of the new images", way, {"": change}, course.shifted)
        for way, change in seen.items()
    ]
    for choice in CHOICES:
        parts = {
            f"{100 * share:.0f} % of the images": {"choice": choice, "share": share}
            for share in (0.1, 0.2, 0.3, 1.0)
        }
        changed = "part of the images of an epoch"
        found.append(Family("14", changed, choice, parts, course.selected))
    readers = each("{}", notes.READERS, "reader")
    focal = ways("focal, gamma {:g}", "focal", (0.0, 1.0, 3.0))
    soft = ways("smoothing {:g}", "smoothing", (0.0, 0.05, 0.1))
    words = ways("mixup, alpha {:g}", "mixup of words", (0.0, 0.2, 1.0))
    found += [
        Family("15", "reader of notes", "notes", readers, texts, joined=False),
        Family("15", "cure", "focal loss", focal, texts),
        Family("15", "cure", "label smoothing", soft, texts),
        Family("15", "cure", "mixup of word vectors", words, texts),
    ]
    return found
