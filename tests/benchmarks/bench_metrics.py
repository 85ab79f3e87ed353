"""Metrics: against the fastest peer and a plain loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import calibration
import relplot
import torch
import torchmetrics.functional.classification as torchmetrics
from relplot.metrics import multiclass_logits_to_confidences

from calibkit import metrics
from tests.benchmarks.timing import Row, cpu_ms, interleaved_ms

SIZES = ((10_000, 10), (100_000, 10), (1_000_000, 10), (100_000, 1000))


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


def against(
    work: str, peer: str, ours: Callable, theirs: Callable, target: float, **options
) -> Row:
    """A row that says how many times faster we are."""
    mine, other = interleaved_ms(ours, theirs, **options)
    if mine < 5:  # too short for one call at a time
        mine, other = cpu_ms(ours), cpu_ms(theirs)
    return Row(work, peer, other / mine, target, ours_ms=mine)


def ece_rows() -> Iterator[Row]:
    for n, classes in SIZES:
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


def by_hand(confidence: torch.Tensor, hits: torch.Tensor, bins: int = 15) -> float:
    """A binned error as published scripts write it: a mask per bin."""
    total = 0.0
    for low, high in itertools.pairwise(torch.linspace(0, 1, bins + 1)):
        inside = (confidence > low) & (confidence <= high)
        share = inside.float().mean().item()
        if share > 0:
            gap = confidence[inside].mean() - hits[inside].float().mean()
            total += abs(gap.item()) * share
    return total


def classwise_rows() -> Iterator[Row]:
    for n, classes in (
        (10_000, 10),
        (100_000, 10),
        (1_000_000, 10),
        (100_000, 100),
        (100_000, 1000),
    ):
        probs, labels = outputs(n, classes)
        some = range(0, classes, classes // 10)  # the loop's time is that of ten classes, scaled up

        def ours(probs=probs, labels=labels):
            return metrics.classwise_ece(probs, labels)

        def loop(probs=probs, labels=labels, some=some):
            return [by_hand(probs[:, k], labels == k) for k in some]

        mine, slow = cpu_ms(ours), cpu_ms(loop, repeats=3)
        work = f"classwise-ECE, n = {n}, K = {classes}"
        ratio = slow * classes / len(some) / mine
        yield Row(
            work, "loop over classes and bins", ratio, 50 if classes == 1000 else 1, ours_ms=mine
        )


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


def bootstrap_rows() -> Iterator[Row]:
    for n, measured, target in ((10_000, 30, 300), (1_000_000, 3, 300)):
        probs, labels = outputs(n, 10)

        def resample(probs=probs, labels=labels, n=n, measured=measured):
            for _ in range(measured):
                drawn = torch.randint(n, (n,))
                confidence, best = probs[drawn].max(1)
                by_hand(confidence, best == labels[drawn])

        def ours(probs=probs, labels=labels):
            return metrics.bootstrap_interval(probs, labels, resamples=1000)

        mine, loop = cpu_ms(ours), cpu_ms(resample, repeats=3) * 1000 / measured
        work = f"bootstrap of ECE, 1000 resamples, n = {n}"
        yield Row(work, "resample and compute again", loop / mine, target, ours_ms=mine)
