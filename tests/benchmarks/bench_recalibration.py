"""Fitting one temperature: against scikit-learn, netcal and a plain loop over the ECE grid."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch
from netcal.scaling import TemperatureScaling
from sklearn.calibration import _TemperatureScaling

from calibkit.recalibration import TemperatureScaler
from tests.benchmarks.timing import Row, interleaved_ms

SIZES = ((10_000, 10), (100_000, 10), (10_000, 100), (1_000_000, 10))


def rows() -> Iterator[Row]:
    """Ratios of CPU time; all three fits minimise the same NLL."""
    for n, classes in SIZES:
        generator = torch.Generator().manual_seed(0)
        logits = torch.randn(n, classes, generator=generator) * 2
        labels = torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]
        yield from _temperature(2.42 * logits, labels)
    yield from _grid(2.42 * logits[:5000], labels[:5000])


def _temperature(logits, labels) -> Iterator[Row]:
    work = f"temperature by NLL, n = {len(logits):.0e}, K = {logits.shape[1]}"
    z, y = logits.double().numpy(), labels.numpy()
    ours, theirs = interleaved_ms(
        lambda: TemperatureScaler().fit(logits, labels), lambda: _TemperatureScaling().fit(z, y)
    )
    yield Row(work, "scikit-learn", theirs / ours, 1, ours_ms=ours)
    if len(logits) == 10_000 and logits.shape[1] == 10:
        probs = logits.double().softmax(1).numpy()
        ours, theirs = interleaved_ms(
            lambda: TemperatureScaler().fit(logits, labels), lambda: _netcal(probs, y), 3
        )
        yield Row(work, "netcal", theirs / ours, 1, ours_ms=ours)


def _netcal(probs, labels) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TemperatureScaling().fit(probs, labels)


def _grid(logits, labels) -> Iterator[Row]:
    from calibkit.metrics import ece

    def loop() -> None:
        for k in range(1, 101):
            ece((logits.double() / (k / 10)).softmax(1), labels)

    scaler = TemperatureScaler("ece_grid")
    ours, theirs = interleaved_ms(lambda: scaler.fit(logits, labels), loop)
    work = f"temperature by ECE grid, n = {len(logits):.0e}, K = {logits.shape[1]}"
    yield Row(work, "softmax and ECE, 100 times", theirs / ours, 1, ours_ms=ours)
