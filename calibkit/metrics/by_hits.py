"""Metrics by their other names: `ece_of(confidence, correct)` is `ece` of their `TopLabel`.

Each takes confidence, (n,) floating in [0, 1], and correct, (n,) bool or integers 0 and 1, then the
options of the metric that it is named after, and raises as `TopLabel` and that metric do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from calibkit.metrics.diagram import reliability
from calibkit.metrics.errors import debiased_ece, ece
from calibkit.metrics.intervals import bootstrap_interval, paired_interval
from calibkit.metrics.scores import risk_coverage
from calibkit.metrics.smooth import smooth_ece
from calibkit.metrics.testing import calibration_test
from calibkit.metrics.top import TopLabel
from calibkit.validate import Array

Measured = TypeVar("Measured")


def _of(metric: Callable[..., Measured]) -> Callable[..., Measured]:
    """`metric` of (n,) confidences and hits in the place of a `TopLabel`."""

    def of_hits(confidence: Array, correct: Array, **options: Any) -> Measured:
        return metric(TopLabel(confidence, correct), **options)

    name = metric.__name__
    of_hits.__name__ = of_hits.__qualname__ = f"{name}_of"
    of_hits.__doc__ = f"`{name}` from (n,) confidences and hits alone; options and errors as there."
    return of_hits


reliability_of, ece_of, debiased_ece_of = _of(reliability), _of(ece), _of(debiased_ece)
smooth_ece_of, risk_coverage_of = _of(smooth_ece), _of(risk_coverage)
calibration_test_of, bootstrap_interval_of = _of(calibration_test), _of(bootstrap_interval)


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
