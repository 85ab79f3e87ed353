"""Fitting one temperature: against scikit-learn, and a plain loop over the ECE grid."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from sklearn.calibration import _TemperatureScaling

from calibkit.metrics import ece
from calibkit.recalibration import TemperatureScaler
from tests.benchmarks.timing import Row, against

SIZES = ((10_000, 10), (100_000, 10), (10_000, 100), (1_000_000, 10))


def rows() -> Iterator[Row]:
    """Ratios of CPU time; both fits minimise the same NLL."""
    for n, classes in SIZES:
        generator = torch.Generator().manual_seed(0)
        logits = torch.randn(n, classes, generator=generator) * 2
        labels = torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]
        yield _temperature(2.42 * logits, labels)
    yield _grid(2.42 * logits[:5000], labels[:5000])


def _temperature(logits, labels) -> Row:
    z, y = logits.double().numpy(), labels.numpy()
    return against(
        f"temperature by NLL, n = {len(logits):.0e}, K = {logits.shape[1]}",
        "scikit-learn",
        1,
        lambda: TemperatureScaler().fit(logits, labels),
        lambda: _TemperatureScaling().fit(z, y),
    )


def _grid(logits, labels) -> Row:
    def loop() -> None:
        for k in range(1, 101):
            ece((logits.double() / (k / 10)).softmax(1), labels)

    work = f"temperature by ECE grid, n = {len(logits):.0e}, K = {logits.shape[1]}"
    scaler = TemperatureScaler("ece_grid")
    return against(work, "softmax and ECE, 100 times", 1, lambda: scaler.fit(logits, labels), loop)
