"""Metrics: against the fastest peer and a plain loop."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import calibration
import relplot
import torch
import torchmetrics.functional.classification as torchmetrics
from relplot.metrics import multiclass_logits_to_confidences

from calibkit import metrics
from tests.benchmarks.timing import Row, against, cpu_ms

SIZES = ((10_000, 10), (100_000, 10), (1_000_000, 10), (100_000, 1000))
RESAMPLED = ((10_000, 30), (1_000_000, 3))  # samples, and resamples that are timed


def outputs(n: int, classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities and labels of a net that is right on most samples."""
    torch.manual_seed(0)
    labels = torch.randint(classes, (n,))
    logits = 2 * torch.randn(n, classes)
    logits[torch.arange(n), labels] += 6
    return logits.softmax(1), labels


def rows() -> Iterator[Row]:
    yield from itertools.starmap(_ece, SIZES)
    yield from _of_a_million()
    yield from itertools.starmap(_classwise, (*SIZES, (100_000, 100)))
    yield from itertools.starmap(_bootstrap, RESAMPLED)


def _ece(n: int, classes: int) -> Row:
    probs, labels = outputs(n, classes)
    return against(
        f"ECE, checked, n = {n}, K = {classes}",
        "torchmetrics",
        1,
        lambda: metrics.ece(probs, labels),
        lambda: torchmetrics.multiclass_calibration_error(probs, labels, classes, n_bins=15),
        repeats=7,
    )


def _of_a_million() -> Iterator[Row]:
    relplot.config.use_logit_scaling = False
    probs, labels = outputs(1_000_000, 10)
    arrays = probs.numpy(), labels.numpy()
    yield against(
        "AdaECE, n = 1000000, K = 10",
        "uncertainty-calibration",
        1,
        lambda: metrics.ada_ece(probs, labels),
        lambda: calibration.get_ece_em(*arrays),
        repeats=1,
    )
    yield against(
        "smECE, n = 1000000, K = 10",
        "relplot, from the same input",
        1,
        lambda: metrics.smooth_ece(probs, labels),
        lambda: relplot.smECE(*multiclass_logits_to_confidences(*arrays, probs=True)),
        repeats=3,
    )


def _by_hand(confidence: torch.Tensor, hits: torch.Tensor) -> float:
    """A binned error as published scripts write it: a mask per bin."""
    total = 0.0
    for low, high in itertools.pairwise(torch.linspace(0, 1, 16)):
        inside = (confidence > low) & (confidence <= high)
        share = inside.float().mean().item()
        if share > 0:
            gap = confidence[inside].mean() - hits[inside].float().mean()
            total += abs(gap.item()) * share
    return total


def _classwise(n: int, classes: int) -> Row:
    probs, labels = outputs(n, classes)
    some = range(0, classes, classes // 10)  # the loop's time is that of ten classes, scaled up
    mine = cpu_ms(lambda: metrics.classwise_ece(probs, labels))
    slow = cpu_ms(lambda: [_by_hand(probs[:, k], labels == k) for k in some], repeats=3)
    ratio, target = slow * classes / len(some) / mine, 50 if classes == 1000 else 1
    work = f"classwise-ECE, n = {n}, K = {classes}"
    return Row(work, "loop over classes and bins", ratio, target, ours_ms=mine)


def _bootstrap(n: int, measured: int) -> Row:
    probs, labels = outputs(n, 10)

    def resample():
        for _ in range(measured):
            drawn = torch.randint(n, (n,))
            confidence, best = probs[drawn].max(1)
            _by_hand(confidence, best == labels[drawn])

    mine = cpu_ms(lambda: metrics.bootstrap_interval(probs, labels, resamples=1000))
    loop = cpu_ms(resample, repeats=3) * 1000 / measured
    work = f"bootstrap of ECE, 1000 resamples, n = {n}"
    return Row(work, "resample and compute again", loop / mine, 300, ours_ms=mine)
