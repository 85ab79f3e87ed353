"""Beyond the measures: the test and its power, classes, groups, mistakes, coverage."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import torch
from scipy.special import ndtr, stdtr
from torch import Tensor

from calibkit.auditing.intervals import of_mean
from calibkit.auditing.labels_and_groups import Units
from calibkit.auditing.measures import Measured, Rows, risks
from calibkit.metrics import CalibrationTest
from calibkit.metrics import bins as _bins
from calibkit.metrics.testing import binned_error, drawn_errors, judged, spiegelhalter

NORMAL_FROM = 30.0  # variance of the number of hits from which its law is taken for a normal one
CHUNK = 256  # chances whose law is taken at once


def p_of_hits(chance: np.ndarray, hit: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Two-sided p-value of the hits of some samples; 1 for none.

    The number of hits of independent samples with (n,) chances has a known law (Poisson's
    binomial). p is the share of the numbers at most as likely as the one observed. Where its
    variance is large, the normal law with the same mean and variance takes its place: few or sure
    samples, of which it would call too many surprising, are counted exactly.

    weight: (n,) of unequal weights the normal law alone is taken.
    """
    weight = np.ones(len(chance)) if weight is None else weight
    variance = float((weight**2 * chance * (1 - chance)).sum())
    even = bool((weight == weight[0]).all()) if len(weight) else True
    if not even or variance / max(float(weight.max(initial=0)) ** 2, 1e-300) >= NORMAL_FROM:
        z = float((weight * (chance - hit)).sum()) / max(variance, 1e-300) ** 0.5
        return float(2 * ndtr(-abs(z)))
    law = law_of_hits(chance)
    return float(min(1.0, law[law <= law[int(hit.sum())] * (1 + 1e-7)].sum()))


def law_of_hits(chance: np.ndarray) -> np.ndarray:
    """(n + 1,) the chance of 0, 1, ... n hits of samples with (n,) chances."""
    if len(chance) <= CHUNK:
        return _law(chance)
    halves, count = np.split(chance, [len(chance) // 2]), len(chance) + 1
    first, second = (np.fft.rfft(law_of_hits(half), count) for half in halves)
    return np.fft.irfft(first * second, count).clip(0)  # the law of a sum of two


def _law(chance: np.ndarray) -> np.ndarray:
    """By the discrete Fourier transform: the law of a sum is the product of those of its parts."""
    count = len(chance) + 1
    turns = np.exp(-2j * np.pi * np.arange(count) / count)
    product = np.prod(1 + chance[:, None] * (turns - 1), axis=0)
    return np.fft.ifft(product).real.clip(0)


SIZES = (0.005, 0.01, 0.02, 0.05, 0.1)  # over-confidence that a test of this size may find
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
ALPHA = 0.05
TESTS = 1000  # draws of a test
MISTAKES = 20
FLAGS = ["no sample", "rare, and off", "rare", "off"]


def calibration(
    of: Measured, sizes: Sequence[float] = SIZES
) -> tuple[CalibrationTest, dict[float, float]]:
    """The test of calibration, and its power.

    Hits are drawn row by row with the chance that the confidence says. Where rows belong to
    clusters, hits within one may depend on each other; then the signs of whole clusters are drawn,
    which keeps whatever dependence there is (the wild bootstrap).

    The power is the share of samples in which the test at 5 % finds a model whose chance to be
    right lies below its confidence by one of `sizes` everywhere.
    """
    draw = _hits if of.units.of is None else _signs
    observed, errors = draw(of.rows, of.units, of.bins, np.random.default_rng(of.seed))
    by_chance = errors(0.0, TESTS)
    test = judged(observed, by_chance, _spiegelhalter(of.rows, of.units))
    threshold = np.quantile(by_chance, 1 - ALPHA)
    power = {size: float((errors(size, TESTS // 5) > threshold).mean()) for size in sizes}
    return test, power


# the ECE of a sample, and (times,) errors of others, too sure by a size everywhere
Drawn = tuple[float, Callable[[float, int], np.ndarray]]


def _hits(rows: Rows, units: Units, bins: int, random: np.random.Generator) -> Drawn:
    confidence, weight = rows.confidence.numpy(), units.weight.numpy()
    error = binned_error(confidence, bins, None if units.plain else weight)

    def errors(size: float, times: int) -> np.ndarray:
        chance = confidence if size == 0 else (confidence - size).clip(0, 1)
        return drawn_errors(error, confidence, chance, times, random)

    return error(confidence, rows.correct.numpy()), errors


def _signs(rows: Rows, units: Units, bins: int, random: np.random.Generator) -> Drawn:
    """Residuals by cluster and bin, whose signs are drawn cluster by cluster."""
    assert units.of is not None
    index = _bins.bin_index(rows.confidence, _bins.width_edges(bins))
    count = int(units.of.max()) + 1
    cell = units.of * bins + index
    each = (rows.confidence - rows.correct.double(), torch.ones_like(rows.confidence))
    table, shares = (
        torch.bincount(cell, units.weight * part, count * bins).view(count, bins).numpy()
        / units.total
        for part in each
    )

    def errors(size: float, times: int) -> np.ndarray:
        signs = random.integers(0, 2, size=(times, count)) * 2.0 - 1
        return np.abs(size * shares.sum(0) + signs @ table).sum(1)

    return float(np.abs(table.sum(0)).sum()), errors


def _spiegelhalter(rows: Rows, units: Units) -> float:
    """Spiegelhalter's z; of clusters with the variance that these show themselves."""
    excess, variance = rows.excess, rows.variance.clamp(min=0)
    if units.of is None:
        return spiegelhalter(units.weight * excess, units.weight.square() * variance)
    return spiegelhalter(units.sums(excess), units.sums(excess).square())


def classes(rows: Rows, units: Units, names: Sequence[str]) -> pd.DataFrame:
    """A row a class, the worst calibrated first.

    samples, recall: of the images of the class; predicted, said, right: of those predicted as it,
    with their mean confidence and the share that is right; gap = said - right; error: its part of
    the classwise ECE; p: two-sided, that hits drawn from the confidences are as far off as these.
    `flag` where p is below 5 % divided by the number of classes, or where a class is rare.
    """
    k = rows.classes
    samples, predicted = (
        torch.bincount(of, minlength=k).numpy() for of in (rows.labels, rows.predicted)
    )
    said, right = _means(rows, units, rows.predicted, k)
    p = _surprise(rows, units, rows.predicted, k)
    right_of = torch.bincount(rows.labels, units.weight * rows.correct, k)
    weight_of = torch.bincount(rows.labels, units.weight, k)
    rare = (samples < len(rows) / k / 4) | (samples < 10)
    off = p < ALPHA / k
    table = pd.DataFrame(
        {
            "name": list(names),
            "samples": samples,
            "recall": (right_of / weight_of).numpy(),
            "predicted": predicted,
            "said": said,
            "right": right,
            "gap": said - right,
            "error": (rows.residual.abs().sum(0) / units.total).numpy(),
            "p": p,
            "flag": np.select([samples == 0, rare & off, rare, off], FLAGS, ""),
        }
    )
    return table.sort_values("p", kind="stable", ignore_index=True)


def _means(rows: Rows, units: Units, which: Tensor, count: int) -> list[np.ndarray]:
    """Mean confidence of each group of samples, and the share of hits."""
    total = torch.bincount(which, units.weight, count)
    return [
        (torch.bincount(which, units.weight * part, count) / total).numpy()
        for part in (rows.confidence, rows.correct.double())
    ]


def _surprise(rows: Rows, units: Units, which: Tensor, count: int) -> np.ndarray:
    """The p-value of the hits of each group of samples."""
    order = which.argsort(stable=True)
    ends = torch.bincount(which, minlength=count).cumsum(0)[:-1].tolist()
    members = order.tensor_split(ends)
    p = [_p_of(rows, units, mine) if len(mine) else 1.0 for mine in members]
    return np.array(p)


def _p_of(rows: Rows, units: Units, mine: Tensor) -> float:
    """The p-value of the hits of some rows; of clusters by the variance that these show."""
    chance, hit, weight = (
        part[mine].numpy() for part in (rows.confidence, rows.correct, units.weight)
    )
    if units.of is None:
        return p_of_hits(chance, hit, weight)
    sums = np.bincount(units.of[mine].numpy(), weight * (chance - hit))
    spread = float(np.square(sums).sum())
    if spread == 0:
        return 1.0
    members = len(np.unique(units.of[mine].numpy()))
    return float(2 * stdtr(max(members - 1, 1), -abs(float(sums.sum())) / math.sqrt(spread)))


def groups(
    of: Measured, cooled: Rows | None, codes: np.ndarray, names: Sequence[str],
    event: Rows | None = None,
) -> pd.DataFrame:  # fmt: skip
    """A row a group: samples, accuracy, mean confidence, gap with its interval, ECE, p and flag.

    event: of a binary model `Measured.event`, for the mean score less the share with the event.

    cooled: the rows with their temperatures, for the gap that is left with its interval; None where
    no temperature fits, and these columns are NaN. No row's temperature knows its own label, so
    that hits about the chance of each are all that errs, as without a temperature.
    """
    rows, units, which, count = of.rows, of.units, torch.from_numpy(codes), len(names)
    members = [(which == code).nonzero()[:, 0] for code in range(count)]

    def gaps(rows: Rows | None) -> list[tuple[float, float, float]]:
        if rows is None:
            return [(math.nan,) * 3] * count
        return [_gap(rows, units.part(mine), mine, of.level) for mine in members]

    said, accuracy = _means(rows, units, which, count)
    samples = list(map(len, members))
    table = pd.DataFrame(
        {"name": list(names), "samples": samples, "accuracy": accuracy, "said": said}
    )
    table[["gap", "low", "high"]] = gaps(rows)
    table[["gap_left", "low_left", "high_left"]] = gaps(cooled)  # with the temperature
    table["ece"] = [_ece(rows, units.part(mine), mine, of.bins) for mine in members]
    table["p"] = _surprise(rows, units, which, count)
    table["flag"] = np.where(table["p"] < ALPHA / count, "off", "")
    if event is not None:
        table[["event_gap", "event_low", "event_high"]] = gaps(event)
    return table


def further_off(
    rows: Rows, cooled: Rows, units: Units, which: Tensor, names: Sequence[str]
) -> pd.DataFrame:
    """The groups that are off with their temperatures, and by more than without; name and gap."""
    count = len(names)
    means = (_means(each, units, which, count) for each in (rows, cooled))
    before, after = (said - right for said, right in means)
    off = _surprise(cooled, units, which, count) < ALPHA / count
    table = pd.DataFrame({"name": list(names), "gap": after})[off & (abs(after) > abs(before))]
    return table.sort_values("gap", key=abs, ascending=False, kind="stable")


def _ece(rows: Rows, units: Units, mine: Tensor, bins: int) -> float:
    confidence, correct = rows.confidence[mine].numpy(), rows.correct[mine].numpy()
    return binned_error(confidence, bins, units.weight.numpy())(confidence, correct)


def _gap(rows: Rows, units: Units, mine: Tensor, level: float) -> tuple[float, float, float]:
    """The signed gap of some rows, and the ends of its interval."""
    residual = rows.confidence[mine] - rows.correct[mine].double()
    low, high = of_mean(units, residual, level) if len(mine) > 1 else (math.nan, math.nan)
    return units.mean(residual), max(low, -1.0), min(high, 1.0)


def surest_mistakes(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """The 20 wrong predictions of largest confidence, by the index of their rows."""
    wrong = (~rows.correct).nonzero()[:, 0]
    order = rows.confidence[wrong].argsort(descending=True, stable=True)[:MISTAKES]
    surest = wrong[order]
    return pd.DataFrame(
        {
            "index": surest.numpy(),
            "predicted": [names[k] for k in rows.predicted[surest].tolist()],
            "label": [names[k] for k in rows.labels[surest].tolist()],
            "confidence": rows.confidence[surest].numpy(),
            "of_label": (-rows.nll[surest]).exp().numpy(),
        }
    )


def coverage(rows: Rows, units: Units) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """The curve, coverage against risk, and a table of some coverages with their thresholds."""
    order, parts, _, found = risks(rows.confidence, rows.correct, units.weight)
    share, risk, confidence = parts.cumsum(0).numpy(), found.numpy(), rows.confidence[order].numpy()
    at = [max(0, round(c * len(risk)) - 1) for c in COVERAGES]
    if not units.plain:
        at = np.searchsorted(share, [c - 1e-9 for c in COVERAGES]).clip(max=len(risk) - 1).tolist()
    columns = {"coverage": share[at], "threshold": confidence[at], "risk": risk[at]}
    return share, risk, pd.DataFrame(columns)
