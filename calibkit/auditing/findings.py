"""Beyond the measures: the test and its power, classes, groups, mistakes, coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from scipy.special import ndtr, ndtri
from torch import Tensor

from calibkit.auditing.rows import Rows
from calibkit.metrics import CalibrationTest, TopLabel, ece, risk_coverage
from calibkit.metrics.testing import binned_error, drawn_errors, judged, spiegelhalter

SIZES = (0.005, 0.01, 0.02, 0.05, 0.1)  # over-confidence that a test of this size may find
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
ALPHA = 0.05
MISTAKES = 20
FLAGS = ["no sample", "rare, and off", "rare", "off"]


def calibration(
    rows: Rows, *, bins: int, resamples: int, seed: int
) -> tuple[CalibrationTest, dict[float, float]]:
    """The test of calibration, and its power.

    The power is the share of samples in which the test at 5 % finds a model whose chance to be
    right lies below its confidence by so much everywhere.
    """
    confidence, random = rows.confidence.numpy(), np.random.default_rng(seed)
    error = binned_error(confidence, bins)

    def drawn(chance: np.ndarray, times: int) -> np.ndarray:
        return drawn_errors(error, confidence, chance, times, random)

    by_chance = drawn(confidence, resamples)
    z = spiegelhalter(rows.excess, rows.variance.clamp(min=0))
    test = judged(ece(rows.top, bins=bins), by_chance, z)
    threshold, fewer = np.quantile(by_chance, 1 - ALPHA), max(20, resamples // 5)
    chances = {size: (confidence - size).clip(0, 1) for size in SIZES}
    power = {
        size: float((drawn(chance, fewer) > threshold).mean()) for size, chance in chances.items()
    }
    return test, power


def classes(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """A row a class, the worst calibrated first.

    samples, recall: of the images of the class; predicted, said, right: of those predicted as it,
    with their mean confidence and the share that is right; gap = said - right; error: its part of
    the classwise ECE; p: two-sided, that hits drawn from the confidences are as far off as these.
    `flag` where p is below 5 % divided by the number of classes, or where a class is rare.
    """
    k = rows.classes
    samples, predicted, hits = (
        torch.bincount(of, minlength=k).numpy()
        for of in (rows.labels, rows.predicted, rows.labels[rows.correct])
    )
    confidence, p = _surprise(rows, rows.predicted, k)
    rare = (samples < len(rows) / k / 4) | (samples < 10)
    off = p < ALPHA / k
    with np.errstate(invalid="ignore"):  # 0 / 0 of a class without samples
        recall, right = hits / samples, hits / predicted
    table = pd.DataFrame(
        {
            "name": list(names),
            "samples": samples,
            "recall": recall,
            "predicted": predicted,
            "said": confidence,
            "right": right,
            "gap": confidence - right,
            "error": (rows.residual.sum(0).abs().sum(0) / len(rows)).numpy(),
            "p": p,
            "flag": np.select([samples == 0, rare & off, rare, off], FLAGS, ""),
        }
    )
    return table.sort_values("p", kind="stable", ignore_index=True)


def _surprise(rows: Rows, which: Tensor, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean confidence of each group of samples, and the p-value of its hits."""
    each = (rows.confidence, rows.correct.double(), rows.confidence.square())
    confidence, hits, squares = (torch.bincount(which, part, count) for part in each)
    z = (confidence - hits) / (confidence - squares).clamp(min=1e-300).sqrt()
    size = torch.bincount(which, minlength=count)
    return (confidence / size).numpy(), 2 * ndtr(-z.abs().numpy())


def groups(rows: Rows, codes: np.ndarray, names: Sequence[str], bins: int) -> pd.DataFrame:
    """A row a group: samples, accuracy, mean confidence, gap with 95 % interval, and ECE."""
    which = torch.from_numpy(codes)
    members = [which == code for code in range(len(names))]
    lines = [_group(rows.confidence[mine], rows.correct[mine], bins) for mine in members]
    columns = ["samples", "accuracy", "said", "gap", "low", "high", "ece"]
    table = pd.DataFrame(lines, columns=columns)
    table.insert(0, "name", list(names))
    table["p"] = _surprise(rows, which, len(names))[1]
    table["flag"] = np.where(table["p"] < ALPHA / len(names), "off", "")
    return table


def _group(confidence: Tensor, correct: Tensor, bins: int) -> tuple[float, ...]:
    residual, n = confidence - correct.double(), len(confidence)
    gap, accuracy = float(residual.mean()), float(correct.double().mean())
    half = ndtri(0.975) * float(residual.std()) / math.sqrt(n) if n > 1 else math.nan
    error = ece(TopLabel(confidence, correct), bins=bins)
    return n, accuracy, float(confidence.mean()), gap, gap - half, gap + half, error


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


def coverage(rows: Rows) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """The curve, coverage against risk, and a table of some coverages with their thresholds."""
    share, risk = (part.numpy() for part in risk_coverage(rows.top))
    confidence = rows.confidence.sort(descending=True).values.numpy()
    at = [max(0, round(c * len(risk)) - 1) for c in COVERAGES]
    columns = {"coverage": share[at], "threshold": confidence[at], "risk": risk[at]}
    return share, risk, pd.DataFrame(columns)
