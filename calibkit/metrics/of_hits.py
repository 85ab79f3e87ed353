"""Metrics by their other names: `ece_of(confidence, correct)` is `ece` of their `TopLabel`.

Each takes confidence, (n,) floating in [0, 1], and correct, (n,) bool or integers 0 and 1, then the
options of the metric that it is named after, and raises as `TopLabel` and that metric do.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from calibkit.metrics.bootstrap import bootstrap_interval
from calibkit.metrics.diagram import Reliability, reliability
from calibkit.metrics.errors import debiased_ece, ece
from calibkit.metrics.paired import paired_interval
from calibkit.metrics.scores import risk_coverage
from calibkit.metrics.smooth import smooth_ece
from calibkit.metrics.testing import CalibrationTest, calibration_test
from calibkit.metrics.top import TopLabel
from calibkit.validate import Array


def reliability_of(confidence: Array, correct: Array, **options: Any) -> Reliability:
    """`reliability` from (n,) confidences and hits alone; options as there.

    >>> r = reliability_of([0.6, 0.9, 0.8], [True, True, False], bins=2)
    >>> r.counts.tolist(), r.hits.tolist(), round(r.confidence[1].item(), 4)
    ([0, 3], [0, 2], 0.7667)
    """
    return reliability(TopLabel(confidence, correct), **options)


def ece_of(confidence: Array, correct: Array, **options: Any) -> float:
    """`ece` from (n,) confidences and hits alone; options as there.

    >>> round(ece_of([0.9, 0.8], [True, False], bins=1), 4)  # |0.85 - 0.5|
    0.35
    """
    return ece(TopLabel(confidence, correct), **options)


def debiased_ece_of(confidence: Array, correct: Array, **options: Any) -> float:
    """`debiased_ece` from (n,) confidences and hits alone; options as there.

    >>> round(debiased_ece_of([0.9] * 4, [1, 1, 0, 0], bins=1) ** 2, 4)  # (.9 - .5)^2 - .25 / 3
    0.0767
    """
    return debiased_ece(TopLabel(confidence, correct), **options)


def smooth_ece_of(confidence: Array, correct: Array, **options: Any) -> float:
    """`smooth_ece` from (n,) confidences and hits alone; options as there.

    >>> round(smooth_ece_of([0.9, 0.9], [True, False]), 4)
    0.4
    """
    return smooth_ece(TopLabel(confidence, correct), **options)


def risk_coverage_of(confidence: Array, correct: Array) -> tuple[Tensor, Tensor]:
    """`risk_coverage` from (n,) confidences and hits alone.

    >>> coverage, risk = risk_coverage_of([0.6, 0.9], [False, True])
    >>> coverage.tolist(), risk.tolist()
    ([0.5, 1.0], [0.0, 0.5])
    """
    return risk_coverage(TopLabel(confidence, correct))


def calibration_test_of(confidence: Array, correct: Array, **options: Any) -> CalibrationTest:
    """`calibration_test` from (n,) confidences and hits alone; options as there.

    >>> calibration_test_of([0.75] * 4, [True, True, True, False]).error
    0.0
    """
    return calibration_test(TopLabel(confidence, correct), **options)


def bootstrap_interval_of(confidence: Array, correct: Array, **options: Any) -> tuple[float, float]:
    """`bootstrap_interval` from (n,) confidences and hits alone; options as there.

    >>> bootstrap_interval_of([0.875] * 50, [True] * 50)
    (0.125, 0.125)
    """
    return bootstrap_interval(TopLabel(confidence, correct), **options)


def paired_interval_of(
    confidence_a: Array, correct_a: Array, confidence_b: Array, correct_b: Array, **options: Any
) -> tuple[float, float]:
    """`paired_interval` from (n,) confidences and hits of two models; options as there.

    Row by row the same samples: of two binary scores both hits are whether it came true.

    >>> hits = [True] * 4
    >>> paired_interval_of([0.5] * 4, hits, [0.75] * 4, hits, metric="brier")  # 2 (.25 - .0625)
    (0.375, 0.375)
    """
    a, b = TopLabel(confidence_a, correct_a), TopLabel(confidence_b, correct_b)
    return paired_interval(a, b, **options)
