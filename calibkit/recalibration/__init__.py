"""Recalibration after training: fit on calibration data, apply to other data.

Every calibrator has one shape. `fit(logits, labels)` returns itself, `transform(logits)` gives
recalibrated logits, `probs(logits)` their softmax. Refused are probabilities, and the logits that
were fitted on. What needs no fit, a change of the prior, is a function.
"""

from calibkit import torch_defaults
from calibkit.recalibration.affine import (
    BiasCorrectedTemperature,
    MatrixScaler,
    ShrunkMatrixScaler,
    StructuredMatrixScaler,
    StructuredVectorScaler,
    VectorScaler,
)
from calibkit.recalibration.calibrator import Calibrator, LeakageError
from calibkit.recalibration.class_prior import change_prior, logit_adjustment
from calibkit.recalibration.modules import restore
from calibkit.recalibration.one_vs_rest import (
    BetaCalibrator,
    HistogramBinning,
    IsotonicCalibrator,
    VennAbersCalibrator,
)
from calibkit.recalibration.temperature import (
    LIMITS,
    Method,
    TemperatureEnsemble,
    TemperatureScaler,
    interval_around,
    temperature_interval,
)

__all__ = [
    "LIMITS", "BetaCalibrator", "BiasCorrectedTemperature", "Calibrator", "HistogramBinning",
    "IsotonicCalibrator", "LeakageError", "MatrixScaler", "Method", "ShrunkMatrixScaler",
    "StructuredMatrixScaler", "StructuredVectorScaler", "TemperatureEnsemble", "TemperatureScaler",
    "VectorScaler", "VennAbersCalibrator", "change_prior", "interval_around", "logit_adjustment",
    "restore", "temperature_interval",
]  # fmt: skip

torch_defaults.guard(globals(), moves=True)
