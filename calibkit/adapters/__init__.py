"""Adapters for scikit-learn and torchmetrics, each imported only when it is used.

`CalibratedClassifier` (in `classifier`) is an estimator of scikit-learn, `CalibrationMetric` (in
`streaming`) a metric of torchmetrics, which `pip install "calibkit[torchmetrics]"` brings.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibkit.adapters.classifier import CalibratedClassifier as CalibratedClassifier
    from calibkit.adapters.streaming import CalibrationMetric as CalibrationMetric

HOMES = {"CalibratedClassifier": "classifier", "CalibrationMetric": "streaming"}


def __getattr__(name: str) -> Any:
    """An adapter, which loads the library that it adapts to."""
    if name in HOMES:
        return getattr(import_module(f"calibkit.adapters.{HOMES[name]}"), name)
    raise AttributeError(f"module 'calibkit.adapters' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(HOMES)
