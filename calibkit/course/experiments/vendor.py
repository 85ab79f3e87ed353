"""The models of lesson 17: five with a fault, one without, which read images of two scanners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from calibkit import auditing, curation, metrics, mixing, recalibration
from calibkit.auditing.findings import p_of_hits
from calibkit.course import scale
from calibkit.course.experiments import readers
from calibkit.lab import data, models, sweep, training

SCANNERS = ("new", "old")
FAULTS = ("too sure", "rare class", "noisy labels", "two scanners", "leak", "none")
KINDS = {"rare class": "rare", "noisy labels": "noisy"}  # how the network was trained; else plain
LETTERS = 1700  # the seed that deals letters to the faults; the first letter is the example


@dataclass(frozen=True)
class Making:
    """How the faults are made.

    noise: of the pixels, by scanner. rare, kept: the rare class, and the share of its images.
    wrong, neighbours: the share of wrong labels, shuffled or each the next digit; early: the part
    of the epochs after which that training is stopped. few, leaked: of a leak, how many calibration
    images and how many test images of each scanner. leaking: the map that is fitted on them.
    """

    noise: tuple[float, float] = (0.4, 0.6)
    rare: int = 8
    kept: float = 0.2
    wrong: float = 0.3
    neighbours: bool = False
    early: int = 6
    few: int = 100
    leaked: int = 500
    leaking: type[recalibration.Calibrator] = recalibration.MatrixScaler


SEEN = Making()  # those for which `diagnosis` was written
UNSEEN = Making((0.3, 0.5), 3, 0.1, 0.4, True, 10, 200, 100, recalibration.VectorScaler)
# Faults that `diagnosis` has no name for.
NAMELESS = ("much mixup", "two digits exchanged", "always as sure")


def scanner(n: int) -> np.ndarray:
    """(n,) which scanner took each image: the first half the new one."""
    return np.repeat(SCANNERS, n // 2)


class Vendor:
    """Six models with their images: one network of each kind is trained for each seed.

    size: how many images and epochs; seeds: of the trainings and of all images; making: how the
    faults are made.

    Splits: `train` to learn from, `cal` for the vendor's temperatures, `second` for the calibration
    file, `file` for the file that is audited, `pool` for the true error and many test sets.
    """

    def __init__(
        self,
        size: scale.Budget,
        seeds: Sequence[int],
        device: str | torch.device = "cpu",
        making: Making = SEEN,
    ):
        self.size, self.seeds, self.device, self.making = size, list(seeds), device, making
        parts = {"train": size.train, "cal": 2000, "second": 2000, "file": 2000}
        self.sizes = {**parts, "pool": size.test}
        self.scans = cache(self._scans)
        self.logits = cache(self._logits)

    def first_draw(self, split: str, seed: int) -> int:
        """The seed of the new scanner's images of a split; the old one's is the next.

        Each pair of split and seed has ten of its own, so that no two draw the same images.
        """
        return 10 * (list(self.sizes).index(split) + len(self.sizes) * seed)

    def _scans(self, split: str, seed: int) -> data.Dataset:
        """The images of a split with their exact posterior; no two splits share an image."""
        first = self.first_draw(split, seed)
        new, old = (
            data.NoisyDigits(noise).draw(self.sizes[split] // 2, seed=first + place)
            for place, noise in enumerate(self.making.noise)
        )
        pairs: Any = zip(
            (new.inputs, new.labels, new.posterior),
            (old.inputs, old.labels, old.posterior),
            strict=True,
        )
        inputs, labels, posterior = map(torch.cat, pairs)
        return data.Dataset(inputs, labels, new.classes, posterior)

    def learned(self, kind: str, seed: int) -> data.Dataset:
        """The training images of a kind of network."""
        train = self.scans("train", seed)
        made = self.making
        if kind == "rare":
            members = (train.labels == made.rare).nonzero()[:, 0]
            keep = torch.ones(len(train), dtype=torch.bool)
            keep[members[round(made.kept * len(members)) :]] = False
            return train[keep]
        if kind == "noisy":
            noisy = curation.symmetric_noise(train.labels, made.wrong, classes=10, seed=seed)
            if not made.neighbours:
                return train.with_labels(noisy.labels)
            labels = train.labels.clone()
            labels[noisy.flipped] = (labels[noisy.flipped] + 1) % 10
            return train.with_labels(labels)
        return train

    @cached_property
    def trained(self) -> sweep.Sweep:
        def recipe(kind: str, seed: int) -> training.Trial:
            epochs = self.size.epochs // (self.making.early if kind == "noisy" else 1)
            scored = {split: self.scans(split, seed) for split in self.sizes if split != "train"}
            network = lambda: models.mlp(64, 10)  # noqa: E731
            mix: dict = {"mix": partial(mixing.mixup, alpha=2.0)} if kind == "mixed" else {}
            learned = self.learned(kind, seed)
            return training.trial(network, learned, scored, seed=seed, epochs=epochs, **mix)

        kinds = ["plain", "rare", "noisy"] + ["mixed"] * (self.making is not SEEN)
        grid: dict[str, Any] = {"kind": kinds, "seed": self.seeds}
        return sweep.run(recipe, grid, device=self.device)

    def _logits(self, fault: str, seed: int) -> dict[str, Tensor]:
        """The logits (n, 10) of a model on each split but the training images."""
        splits = [split for split in self.sizes if split != "train"]
        if fault == "none":
            known: dict[str, Any] = {one: self.scans(one, seed).posterior for one in splits}
            return {split: values.clamp(min=1e-30).log() for split, values in known.items()}
        kinds = KINDS | {"much mixup": "mixed"}
        run = self.trained.one(kind=kinds.get(fault, "plain"), seed=seed)
        z = {split: run.predictions[split].logits.double().cpu() for split in splits}
        cal = self.scans("cal", seed).labels
        if fault == "two scanners":
            T = recalibration.TemperatureScaler().fit(z["cal"], cal).temperature
            return {split: values / T for split, values in z.items()}
        if fault == "rare class":
            rows = z["cal"], cal, scanner(2000)
            return _by_scanner(recalibration.TemperatureScaler, rows, z)
        if fault == "leak":
            return _by_scanner(self.making.leaking, self._leaked(z, seed), z)
        if fault == "two digits exchanged":  # of a calibrated model, the columns of two classes
            order = torch.tensor([0, 1, 2, 3, 9, 5, 6, 7, 8, 4])
            return {split: values[:, order] for split, values in self.logits("none", seed).items()}
        if fault == "always as sure":  # as sure as it is right on average, of every image
            right = metrics.accuracy(z["cal"].softmax(dim=1), cal)
            return {split: _as_sure(values, right) for split, values in z.items()}
        return z

    def _leaked(self, z: dict[str, Tensor], seed: int) -> tuple[Tensor, Tensor, np.ndarray]:
        """Calibration data that hold test images: logits, labels, scanners."""
        second, file = self.scans("second", seed), self.scans("file", seed)
        few, known = ((np.r_[:n, 1000 : 1000 + n]) for n in (self.making.few, self.making.leaked))
        where = np.concatenate([scanner(2000)[few], scanner(2000)[known]])
        labels = torch.cat([second.labels[few], file.labels[known]])
        return torch.cat([z["second"][few], z["file"][known]]), labels, where

    def calibration(self, fault: str, seed: int) -> tuple[Tensor, Tensor]:
        """The vendor's calibration file of a model: logits (n, 10) and labels (n,)."""
        z = self.logits(fault, seed)
        if fault == "leak":
            logits, labels, _ = self._leaked(z, seed)
            return logits, labels
        return z["second"], self.scans("second", seed).labels

    def probs(self, fault: str, seed: int, split: str) -> Tensor:
        """The probabilities (n, 10) of a model on a split."""
        return self.logits(fault, seed)[split].softmax(dim=1)

    def true_error(self, fault: str, seed: int) -> float:
        """Of a model against the exact posterior, on fresh images."""
        posterior = self.scans("pool", seed).posterior
        assert posterior is not None
        return metrics.true_calibration_error(self.probs(fault, seed, "pool"), posterior)

    def p_values(self, fault: str, n: int, seed: int, draws: int) -> np.ndarray:
        """(draws, 3) p of the checks of files of n images: test of the ECE, classes, scanners.

        The labels of a file are drawn from the posterior. The least p of the classes is multiplied
        by their number, and so is that of the scanners.
        """
        posterior = self.scans("pool", seed).posterior
        assert posterior is not None
        confidence, predicted = self.probs(fault, seed, "pool").max(dim=1)
        old = torch.from_numpy(scanner(len(posterior)) == "old").long()
        rows = []
        for draw in range(draws):
            chosen, labels = test_set(posterior, n, seed, draw)
            sure, named = confidence[chosen], predicted[chosen]
            whole = metrics.calibration_test_of(sure, named == labels, resamples=99).p_value
            groups = ((10, named), (2, old[chosen]))
            least = [k * p_of_groups(sure, named == labels, group, k).min() for k, group in groups]
            rows.append((whole, *least))
        return np.array(rows)

    def diagnosed(self, fault: str, seed: int) -> str:
        """What `diagnosis` says of the audit of a model's file."""
        labels = self.scans("file", seed).labels
        found = auditing.audit(
            self.logits(fault, seed)["file"],
            labels,
            groups=scanner(len(labels)),
            calibration=self.calibration(fault, seed),
            resamples=20,  # for the intervals, which the rule does not read
        )
        return diagnosis(found)

    def write(self, folder: Path, seed: int) -> dict[str, str]:
        """Two files for each letter, LETTER.csv and LETTER_calibration.csv; the fault of each."""
        order = np.random.default_rng(LETTERS).permutation(FAULTS[1:]).tolist()
        fault_of = dict(zip("ABCDEF", [FAULTS[0], *order], strict=True))
        labels = self.scans("file", seed).labels
        for letter, fault in fault_of.items():
            table = _table(self.logits(fault, seed)["file"], labels)
            table["scanner"] = scanner(len(labels))
            table.to_csv(folder / f"{letter}.csv", index=False)
            calibration = _table(*self.calibration(fault, seed))
            calibration.to_csv(folder / f"{letter}_calibration.csv", index=False)
        return fault_of


def _by_scanner(make, rows: tuple[Tensor, Tensor, np.ndarray], z: dict[str, Tensor]) -> dict:
    """All splits but `cal` through a map for each scanner, fitted on (logits, labels, where)."""
    logits, labels, where = rows
    moved = {}
    for split in ("second", "file", "pool"):
        moved[split] = torch.empty_like(z[split])
        for name in SCANNERS:
            fitted = make().fit(logits[where == name], labels[where == name])
            here = scanner(len(z[split])) == name
            moved[split][here] = fitted.transform(z[split][here])
    return moved


def _as_sure(logits: Tensor, confidence: float) -> Tensor:
    """Logits (n, K) with the same predictions, all of this confidence."""
    rest = (1 - confidence) / (logits.shape[1] - 1)
    probs = torch.full_like(logits, rest)
    return probs.scatter(1, logits.argmax(dim=1, keepdim=True), confidence).log()


def _table(logits: Tensor, labels: Tensor) -> pd.DataFrame:
    table = pd.DataFrame(logits.numpy().round(6), columns=[f"logit_{k}" for k in range(10)])
    table["label"] = labels.numpy()
    return table


def diagnosis(found: auditing.Audit) -> str:
    """The fault that an audit by scanner shows; a leak first, as it spoils all other numbers."""
    if any(text.startswith("duplicates between") for text in found.warnings):
        return "leak"
    assert found.groups is not None
    gaps = found.groups.gap
    if (found.groups.flag == "off").all() and gaps.min() < 0 < gaps.max():
        return "two scanners"
    if found.test.p_value <= 0.01:
        return "too sure" if found.measures["gap"].value > 0 else "noisy labels"
    return "rare class" if found.classes.flag.str.contains("off").any() else "none"


def p_of_groups(confidence: Tensor, correct: Tensor, groups: Tensor, count: int) -> np.ndarray:
    """(count,) two-sided p of the hits of each group, were it calibrated; 1 of an empty one."""
    chance, hit, of = confidence.numpy(), correct.numpy(), groups.numpy()
    return np.array([p_of_hits(chance[of == k], hit[of == k]) for k in range(count)])


def test_set(posterior: Tensor, n: int, seed: int, draw: int) -> tuple[Tensor, Tensor]:
    """(n,) indices of images, drawn with replacement, and labels from their posterior (N, K)."""
    return readers.test_set(posterior, n, 100_000 * seed + draw)
