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
from calibkit.metrics import CalibrationTest, reliability_of
from calibkit.metrics.scores import risks
from calibkit.metrics.testing import errors_by_chance

SIZES = (0.005, 0.01, 0.02, 0.05, 0.1)  # over-confidence that a test of this size may find
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)
ALPHA = 0.05
MISTAKES = 20


def calibration(
    rows: Rows, *, bins: int, resamples: int, seed: int
) -> tuple[CalibrationTest, dict[float, float]]:
    """The test of calibration, and its power.

    The power is the share of samples in which the test at 5 % finds a model whose chance to be
    right lies below its confidence by so much everywhere.
    """
    said = rows.confidence.numpy()
    random = np.random.default_rng(seed)
    observed = reliability_of(rows.confidence, rows.correct, bins=bins).error()
    drawn = errors_by_chance(said, said, bins, resamples, random)
    as_large = int((drawn >= observed - 1e-12).sum())
    spread = float(rows.variance.clamp(min=0).sum())
    excess = float(rows.excess.sum())
    z = excess / math.sqrt(spread) if spread > 0 else math.inf if excess > 0 else 0.0
    p_value = (1 + as_large) / (1 + resamples)
    found = CalibrationTest(observed, float(drawn.mean()), p_value, z, float(2 * ndtr(-abs(z))))
    return found, _power(said, drawn, bins, max(20, resamples // 5), random)


def _power(said: np.ndarray, by_chance: np.ndarray, bins: int, resamples: int, random) -> dict:
    threshold = np.quantile(by_chance, 1 - ALPHA)
    found = {}
    for size in SIZES:
        drawn = errors_by_chance(said, (said - size).clip(0, 1), bins, resamples, random)
        found[size] = float((drawn > threshold).mean())
    return found


def classes(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """A row a class, the worst calibrated first.

    samples, recall: of the images of the class; predicted, said, right: of those predicted as it,
    with their mean confidence and the share that is right; gap = said - right; error: its part of
    the classwise ECE; p: two-sided, that hits drawn from the confidences are as far off as these.
    `flag` where p is below 5 % divided by the number of classes, or where a class is rare.
    """
    k = rows.classes
    each = {"of": rows.labels, "as": rows.predicted}
    count = {side: torch.bincount(of, minlength=k).double() for side, of in each.items()}
    hits = torch.bincount(rows.labels[rows.correct], minlength=k).double()
    said, p = _surprise(rows, rows.predicted, k)
    table = pd.DataFrame(
        {
            "name": list(names),
            "samples": count["of"].long().numpy(),
            "recall": (hits / count["of"]).numpy(),
            "predicted": count["as"].long().numpy(),
            "said": said.numpy(),
            "right": (hits / count["as"]).numpy(),
            "error": (rows.residual.sum(0).abs().sum(0) / len(rows)).numpy(),
            "p": p.numpy(),
        }
    )
    table.insert(6, "gap", table["said"] - table["right"])
    mean = len(rows) / k
    rare = (table["samples"] < mean / 4) | (table["samples"] < 10)
    off = table["p"] < ALPHA / k
    words = np.select([table["samples"] == 0, rare & off, rare, off], FLAGS, "")
    table["flag"] = words
    return table.sort_values("p", kind="stable", ignore_index=True)


FLAGS = ["no sample", "rare, and off", "rare", "off"]


def _surprise(rows: Rows, which: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Mean confidence of each group of samples, and the p-value of its hits."""
    size = torch.bincount(which, minlength=count).double()
    sums = [
        torch.bincount(which, values, count)
        for values in (rows.confidence, rows.correct.double(), rows.confidence.square())
    ]
    spread = (sums[0] - sums[2]).clamp(min=1e-300).sqrt()
    z = (sums[0] - sums[1]) / spread
    p = torch.from_numpy(2 * ndtr(-z.abs().numpy()))
    return sums[0] / size, p.where(size > 0, 1.0)


def groups(rows: Rows, codes: np.ndarray, names: Sequence[str], bins: int) -> pd.DataFrame:
    """A row a group: samples, accuracy, mean confidence, gap with 95 % interval, and ECE."""
    which = torch.from_numpy(codes)
    _, p = _surprise(rows, which, len(names))
    found = []
    for code, name in enumerate(names):
        mine = which == code
        said, right = rows.confidence[mine], rows.correct[mine]
        residual = said - right.double()
        n = len(said)
        half = ndtri(0.975) * float(residual.std()) / math.sqrt(n) if n > 1 else math.nan
        gap, ece = float(residual.mean()), reliability_of(said, right, bins=bins).error()
        accuracy = float(right.double().mean())
        found.append((name, n, accuracy, float(said.mean()), gap, gap - half, gap + half, ece))
    columns = ["name", "samples", "accuracy", "said", "gap", "low", "high", "ece"]
    table = pd.DataFrame(found, columns=columns)
    table["p"] = p.numpy()
    table["flag"] = np.where(table["p"] < ALPHA / len(names), "off", "")
    return table


def surest_mistakes(rows: Rows, names: Sequence[str]) -> pd.DataFrame:
    """The 20 wrong predictions of largest confidence, by the index of their rows."""
    wrong = (~rows.correct).nonzero()[:, 0]
    order = rows.confidence[wrong].argsort(descending=True, stable=True)[:MISTAKES]
    found = wrong[order]
    return pd.DataFrame(
        {
            "index": found.numpy(),
            "predicted": [names[k] for k in rows.predicted[found].tolist()],
            "label": [names[k] for k in rows.labels[found].tolist()],
            "confidence": rows.confidence[found].numpy(),
            "of_label": (-rows.nll[found]).exp().numpy(),
        }
    )


def coverage(rows: Rows) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
    """The curve, coverage against risk, and a table of some coverages with their thresholds."""
    share, risk = (part.numpy() for part in risks(rows.confidence, rows.correct))
    said = rows.confidence.sort(descending=True).values.numpy()
    at = [max(0, round(c * len(risk)) - 1) for c in COVERAGES]
    columns = {"coverage": share[at], "threshold": said[at], "risk": risk[at]}
    return share, risk, pd.DataFrame(columns)
