"""Metrics: against the fastest peer and a plain loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import calibration
import numpy as np
import relplot
import torch
import torchmetrics.functional.classification as torchmetrics
from relplot.metrics import multiclass_logits_to_confidences

from calibkit import metrics
from tests.benchmarks.timing import Row, cpu_ms, interleaved_ms


def outputs(n: int, classes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities and labels of a net that is right on most samples."""
    torch.manual_seed(0)
    labels = torch.randint(classes, (n,))
    logits = 2 * torch.randn(n, classes)
    logits[torch.arange(n), labels] += 6
    return logits.softmax(1), labels


def rows() -> Iterator[Row]:
    yield from ece_rows()
    yield from adaptive_rows()
    yield from classwise_rows()
    yield from smooth_rows()
    yield from bootstrap_rows()
    yield error_row()


def against(
    work: str, peer: str, ours: Callable, theirs: Callable, target: float, **options
) -> Row:
    """A row that says how many times faster we are."""
    mine, other = interleaved_ms(ours, theirs, **options)
    if mine < 5:  # too short for one call at a time
        mine, other = cpu_ms(ours), cpu_ms(theirs)
    return Row(work, peer, other / mine, target, ours_ms=mine)


def ece_rows() -> Iterator[Row]:
    for n, classes in ((10_000, 10), (100_000, 10), (1_000_000, 10), (100_000, 1000)):
        probs, labels = outputs(n, classes)

        def ours(probs=probs, labels=labels):
            return metrics.ece(probs, labels)

        def theirs(probs=probs, labels=labels, classes=classes):
            return torchmetrics.multiclass_calibration_error(probs, labels, classes, n_bins=15)

        work = f"ECE, checked, n = {n}, K = {classes}"
        yield against(work, "torchmetrics", ours, theirs, 1, repeats=7)


def adaptive_rows() -> Iterator[Row]:
    probs, labels = outputs(1_000_000, 10)
    arrays = probs.numpy(), labels.numpy()
    yield against(
        "AdaECE, n = 1000000, K = 10",
        "uncertainty-calibration",
        lambda: metrics.ada_ece(probs, labels),
        lambda: calibration.get_ece_em(*arrays),
        1,
        repeats=1,
    )


def class_loop(probs: torch.Tensor, labels: torch.Tensor, classes: range, bins: int = 15) -> float:
    """Classwise ECE summed over some classes, bin by bin, as published scripts write it."""
    edges, total = torch.linspace(0, 1, bins + 1), 0.0
    for k in classes:
        confidence, occurs = probs[:, k], labels == k
        for low, high in itertools.pairwise(edges):
            inside = (confidence > low) & (confidence <= high)
            share = inside.float().mean().item()
            if share > 0:
                gap = confidence[inside].mean() - occurs[inside].float().mean()
                total += abs(gap.item()) * share
    return total


def classwise_rows() -> Iterator[Row]:
    sizes = (
        (10_000, 10, 1),
        (100_000, 10, 1),
        (1_000_000, 10, 1),
        (100_000, 100, 1),
        (100_000, 1000, 50),
    )
    for n, classes, target in sizes:
        probs, labels = outputs(n, classes)
        some = range(0, classes, classes // 10)  # the loop's time is that of ten classes, scaled up

        def ours(probs=probs, labels=labels):
            return metrics.classwise_ece(probs, labels)

        loop = cpu_ms(lambda p=probs, y=labels, s=some: class_loop(p, y, s), repeats=3)
        mine = cpu_ms(ours)
        work = f"classwise-ECE, n = {n}, K = {classes}"
        ratio = loop * classes / len(some) / mine
        yield Row(work, "loop over classes and bins", ratio, target, ours_ms=mine)


def smooth_rows() -> Iterator[Row]:
    relplot.config.use_logit_scaling = False
    probs, labels = outputs(1_000_000, 10)
    arrays = probs.numpy(), labels.numpy()
    yield against(
        "smECE, n = 1000000, K = 10",
        "relplot, from the same input",
        lambda: metrics.smooth_ece(probs, labels),
        lambda: relplot.smECE(*multiclass_logits_to_confidences(*arrays, probs=True)),
        1,
        repeats=3,
    )


def textbook_ece(probs: torch.Tensor, labels: torch.Tensor, bins: int = 15) -> float:
    """ECE as published scripts write it: a mask per bin."""
    confidence, best = probs.max(1)
    correct, total = best == labels, 0.0
    edges = torch.linspace(0, 1, bins + 1)
    for low, high in itertools.pairwise(edges):
        inside = (confidence > low) & (confidence <= high)
        share = inside.float().mean().item()
        if share > 0:
            gap = confidence[inside].mean() - correct[inside].float().mean()
            total += abs(gap.item()) * share
    return total


def bootstrap_rows() -> Iterator[Row]:
    for n, measured, target in ((10_000, 30, 300), (1_000_000, 3, 300)):
        probs, labels = outputs(n, 10)

        def resample(probs=probs, labels=labels, n=n, measured=measured):
            for _ in range(measured):
                drawn = torch.randint(n, (n,))
                textbook_ece(probs[drawn], labels[drawn])

        def ours(probs=probs, labels=labels):
            return metrics.bootstrap_interval(probs, labels, resamples=1000)

        mine, loop = cpu_ms(ours), cpu_ms(resample, repeats=3) * 1000 / measured
        work = f"bootstrap of ECE, 1000 resamples, n = {n}"
        yield Row(work, "resample and compute again", loop / mine, target, ours_ms=mine)


def error_row() -> Row:
    """The largest difference of ECE and classwise-ECE from float64 sums, in units of 1e-9."""
    probs, labels = outputs(1_000_000, 10)
    exact, edges = probs.double().numpy(), np.arange(1, 15) / 15

    def gaps(p: np.ndarray, hit: np.ndarray) -> float:
        index = np.searchsorted(edges, p, side="left")
        return sum(abs((p - hit)[index == b].sum()) for b in range(15)) / len(p)

    truth = labels.numpy()
    ece = gaps(exact.max(1), exact.argmax(1) == truth)
    classwise = np.mean([gaps(exact[:, k], truth == k) for k in range(10)])
    worst = max(
        abs(metrics.ece(probs, labels) - ece), abs(metrics.classwise_ece(probs, labels) - classwise)
    )
    return Row("largest error, n = 1000000, in 1e-9", "sums in float64", worst / 1e-9, 1, "lower")
