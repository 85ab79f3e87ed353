"""The maps that the arbiter compares: all of the package, and peers where they are installed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from calibkit import recalibration

Probs = Callable[[Tensor], Tensor]  # of logits (n, K)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # of ODIR, off the diagonal and on the intercept
FOLDS = 3


@dataclass(frozen=True)
class Contestant:
    """A map and where it takes part.

    fit: of logits (n, K) float64 and labels (n,), gives the map of logits to probabilities.
    words: what it is, for the page.
    classes: the one number of classes that it is made for; None for any.
    least: labels from which on it takes part.
    package: what must be installed; "" where calibkit is enough.
    """

    fit: Callable[[Tensor, Tensor], Probs]
    words: str
    classes: int | None = None
    least: int = 0
    package: str = ""

    @property
    def there(self) -> bool:
        """Whether its package is installed."""
        return not self.package or importlib.util.find_spec(self.package) is not None


def taking_part(classes: int) -> dict[str, Contestant]:
    """The maps for so many classes whose packages are installed.

    >>> "quadratic" in taking_part(10), "temperature" in taking_part(10)
    (False, True)
    """
    return {name: one for name, one in MAPS.items() if one.classes in (None, classes) and one.there}


def _ours(kind: type[recalibration.Calibrator], **options) -> Callable[[Tensor, Tensor], Probs]:
    return lambda logits, labels: kind(**options).fit(logits, labels).probs


def _nothing(logits: Tensor, labels: Tensor) -> Probs:
    return lambda new: new.softmax(1)


def _odir(logits: Tensor, labels: Tensor) -> Probs:
    """Dirichlet calibration: a matrix on log-probabilities, its penalty chosen by folds."""
    u = logits.log_softmax(1)
    order = torch.randperm(len(u), generator=torch.Generator().manual_seed(0))
    parts = order.tensor_split(FOLDS)

    def fitted(penalty: float, rows: Tensor) -> recalibration.MatrixScaler:
        scaler = recalibration.MatrixScaler(off_diagonal=penalty, intercept=penalty)
        return scaler.fit(u[rows], labels[rows])

    def lost(penalty: float) -> float:
        total = 0.0
        for place, part in enumerate(parts):
            rest = torch.cat([*parts[:place], *parts[place + 1 :]])
            moved = fitted(penalty, rest).transform(u[part], allow_fitted=True)
            total += cross_entropy(moved, labels[part], reduction="sum").item()
        return total

    best = fitted(min(PENALTIES, key=lost), torch.arange(len(u)))
    return lambda new: best.probs(new.log_softmax(1), allow_fitted=True)


def _bbq(logits: Tensor, labels: Tensor) -> Probs:
    """Bayesian binning into quantiles, class by class against the rest, as netcal has it."""
    from netcal.binning import BBQ

    binary = logits.shape[1] == 2

    def taken(z: Tensor):
        probs = z.softmax(1).numpy()
        return probs[:, 1] if binary else probs

    with contextlib.redirect_stderr(io.StringIO()):  # its bars of progress
        peer = BBQ().fit(taken(logits), labels.numpy())

    def probs(new: Tensor) -> Tensor:
        mapped = torch.as_tensor(peer.transform(taken(new))).double()
        return torch.stack([1 - mapped, mapped], 1) if binary else mapped

    return probs


def _quadratic(logits: Tensor, labels: Tensor) -> Probs:
    """Quadratic scaling of the log-odds, as probmetrics has it."""
    from probmetrics.calibrators import BinaryLogisticCalibrator

    peer = BinaryLogisticCalibrator(type="quadratic")
    peer.fit(logits.softmax(1).numpy(), labels.numpy())
    return lambda new: torch.as_tensor(peer.predict_proba(new.softmax(1).numpy())).double()


# Dirichlet calibration leaves the diagonal free: of few labels its fit has no end.
MAPS = {
    "nothing": Contestant(_nothing, "the model as it is"),
    "temperature": Contestant(_ours(recalibration.TemperatureScaler), "one number"),
    "ensemble": Contestant(
        _ours(recalibration.TemperatureEnsemble), "ensemble temperature scaling, four numbers"
    ),
    "shifts": Contestant(
        _ours(recalibration.BiasCorrectedTemperature),
        "bias-corrected temperature; with two classes this is Platt scaling",
    ),
    "vector": Contestant(_ours(recalibration.VectorScaler), "vector scaling"),
    "SVS": Contestant(_ours(recalibration.StructuredVectorScaler), "structured vector scaling"),
    "matrix": Contestant(_ours(recalibration.MatrixScaler), "matrix scaling without a penalty"),
    "shrunk matrix": Contestant(
        _ours(recalibration.ShrunkMatrixScaler), "a matrix near a temperature, penalty by 5 folds"
    ),
    "SMS": Contestant(_ours(recalibration.StructuredMatrixScaler), "structured matrix scaling"),
    "Dirichlet": Contestant(
        _odir, f"Dirichlet calibration, its ODIR penalty one of five by {FOLDS} folds", least=500
    ),
    "beta": Contestant(_ours(recalibration.BetaCalibrator), "beta calibration, against the rest"),
    "quadratic": Contestant(
        _quadratic, "quadratic scaling (probmetrics)", classes=2, package="probmetrics"
    ),
    "histogram": Contestant(
        _ours(recalibration.HistogramBinning, binning="mass"),
        "histogram binning, 15 bins of equal mass, against the rest",
    ),
    "isotonic": Contestant(
        _ours(recalibration.IsotonicCalibrator), "isotonic regression, against the rest"
    ),
    "Venn-Abers": Contestant(
        _ours(recalibration.VennAbersCalibrator),
        "inductive Venn-Abers, against the rest",
        package="venn_abers",
    ),
    "BBQ": Contestant(
        _bbq, "Bayesian binning into quantiles (netcal), against the rest", package="netcal"
    ),
}
