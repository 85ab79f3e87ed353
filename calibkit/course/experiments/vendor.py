"""The models of lesson 17: five with a fault, one without, which read images of two scanners."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from calibkit import auditing, curation, metrics, recalibration
from calibkit.auditing.luck import p_of_hits
from calibkit.course import scale
from calibkit.course.experiments import readers
from calibkit.lab import data, models, sweep, training

PIXEL_NOISE = {"new": 0.4, "old": 0.6}  # of the scanners
FAULTS = ("too sure", "rare class", "noisy labels", "two scanners", "leak", "none")
KINDS = {"rare class": "rare", "noisy labels": "noisy"}  # how the network was trained; else plain
LETTERS = 1700  # the seed that deals letters to the faults; the first letter is the example
RARE, WRONG = 8, 0.3  # the rare class, and the share of shuffled labels
FEW = np.r_[0:100, 1000:1100]  # of a leak: 100 calibration images of each scanner,
HALF = np.r_[0:500, 1000:1500]  # and half of the test images


def scanner(n: int) -> np.ndarray:
    """(n,) which scanner took each image: the first half the new one."""
    return np.repeat(list(PIXEL_NOISE), n // 2)


class Vendor:
    """Six models with their images: one network of each kind is trained for each seed.

    size: how many images and epochs; seeds: of the trainings and of all images.

    Splits: `train` to learn from, `cal` for the vendor's temperatures, `second` for the calibration
    file, `file` for the file that is audited, `pool` for the true error and many test sets.
    """

    def __init__(
        self, size: scale.Budget, seeds: Sequence[int], device: str | torch.device = "cpu"
    ):
        self.size, self.seeds, self.device = size, list(seeds), device
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
            for place, noise in enumerate(PIXEL_NOISE.values())
        )
        pairs = zip(
            (new.inputs, new.labels, new.posterior),
            (old.inputs, old.labels, old.posterior),
            strict=True,
        )
        inputs, labels, posterior = map(torch.cat, pairs)
        return data.Dataset(inputs, labels, new.classes, posterior)

    def learned(self, kind: str, seed: int) -> data.Dataset:
        """The training images of a kind of network."""
        train = self.scans("train", seed)
        if kind == "rare":  # a fifth of its images
            members = (train.labels == RARE).nonzero()[:, 0]
            keep = torch.ones(len(train), dtype=torch.bool)
            keep[members[len(members) // 5 :]] = False
            return train[keep]
        if kind == "noisy":
            noisy = curation.symmetric_noise(train.labels, WRONG, classes=10, seed=seed)
            return train.with_labels(noisy.labels)
        return train

    @cached_property
    def trained(self) -> sweep.Sweep:
        def recipe(kind: str, seed: int) -> training.Trial:
            epochs = self.size.epochs // 6 if kind == "noisy" else self.size.epochs
            scored = {split: self.scans(split, seed) for split in self.sizes if split != "train"}
            network = lambda: models.mlp(64, 10)  # noqa: E731
            return training.trial(
                network, self.learned(kind, seed), scored, seed=seed, epochs=epochs
            )

        grid = {"kind": ["plain", "rare", "noisy"], "seed": self.seeds}
        return sweep.run(recipe, grid, device=self.device)

    def _logits(self, fault: str, seed: int) -> dict[str, Tensor]:
        """The logits (n, 10) of a model on each split but the training images."""
        splits = [split for split in self.sizes if split != "train"]
        if fault == "none":
            known = {split: self.scans(split, seed).posterior for split in splits}
            return {split: values.clamp(min=1e-30).log() for split, values in known.items()}
        run = self.trained.one(kind=KINDS.get(fault, "plain"), seed=seed)
        z = {split: run.predictions[split].logits.double().cpu() for split in splits}
        cal = self.scans("cal", seed).labels
        if fault == "two scanners":
            T = recalibration.TemperatureScaler().fit(z["cal"], cal).temperature
            return {split: values / T for split, values in z.items()}
        if fault == "rare class":
            rows = z["cal"], cal, scanner(2000)
            return _by_scanner(recalibration.TemperatureScaler, rows, z)
        if fault == "leak":
            return _by_scanner(recalibration.MatrixScaler, self._leaked(z, seed), z)
        return z

    def _leaked(self, z: dict[str, Tensor], seed: int) -> tuple[Tensor, Tensor, np.ndarray]:
        """Calibration data that hold test images: logits, labels, scanners."""
        second, file = self.scans("second", seed), self.scans("file", seed)
        where = np.concatenate([scanner(2000)[FEW], scanner(2000)[HALF]])
        labels = torch.cat([second.labels[FEW], file.labels[HALF]])
        return torch.cat([z["second"][FEW], z["file"][HALF]]), labels, where

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
        return metrics.true_calibration_error(self.probs(fault, seed, "pool"), posterior)

    def p_values(self, fault: str, n: int, seed: int, draws: int) -> np.ndarray:
        """(draws, 3) p of the checks of files of n images: test of the ECE, classes, scanners.

        The labels of a file are drawn from the posterior. The least p of the classes is multiplied
        by their number, and so is that of the scanners.
        """
        posterior = self.scans("pool", seed).posterior
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
        for name in PIXEL_NOISE:
            fitted = make().fit(logits[where == name], labels[where == name])
            here = scanner(len(z[split])) == name
            moved[split][here] = fitted.transform(z[split][here])
    return moved


def _table(logits: Tensor, labels: Tensor) -> pd.DataFrame:
    table = pd.DataFrame(logits.numpy().round(6), columns=[f"logit_{k}" for k in range(10)])
    table["label"] = labels.numpy()
    return table


def diagnosis(found: auditing.Audit) -> str:
    """The fault that an audit by scanner shows; a leak first, as it spoils all other numbers."""
    if any(text.startswith("duplicates between") for text in found.warnings):
        return "leak"
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
