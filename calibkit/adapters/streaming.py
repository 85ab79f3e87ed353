"""Calibration of a stream of batches, on one machine or on several, as a metric of torchmetrics."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.metrics import Tally, TopLabel, tally
from calibkit.validate import Array

try:
    from torchmetrics import Metric
except ImportError as error:
    raise ImportError(
        "CalibrationMetric needs torchmetrics; install it with pip install torchmetrics, or "
        'calibkit with its extra: pip install "calibkit[torchmetrics]"'
    ) from error


class CalibrationMetric(Metric):
    """The measures of `metrics.tally` for torchmetrics, Lightning and several processes.

    classes: the number K of columns, for (n, K) probabilities and (n,) labels. None for binary
        scores: (n,) confidences and whether each came true, without the measures of all classes.
    bins: number of bins. options: those of `torchmetrics.Metric`.

    `update(probs, labels, weights=None)` adds a batch. `compute()` gives a dictionary of float64
    scalars by the name of the measure: "ece", "accuracy", "nll", ...; over several processes those
    of all batches together. The states are the sums of `Tally`, in float64 (which Apple GPUs
    lack). Raises as `metrics.ece` does.

    >>> metric = CalibrationMetric(2, bins=1)
    >>> metric.update(torch.tensor([[0.9, 0.1]]), torch.tensor([0]))
    >>> metric.update(torch.tensor([[0.8, 0.2]]), torch.tensor([1]))
    >>> round(metric.compute()["ece"].item(), 4)  # |0.85 - 0.5|
    0.35
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False
    top: Tensor
    classes: Tensor
    scores: Tensor

    def __init__(self, classes: int | None = None, *, bins: int = 15, **options: Any):
        super().__init__(**options)
        self.columns = 0 if classes is None else validate.integer("classes", classes, 2)
        self.bins = validate.integer("bins", bins, 1)
        empty = {"top": (4, bins), "classes": (3, bins, self.columns)}
        for name, shape in (empty | {"scores": (2 if self.columns else 0,)}).items():
            zeros = torch.zeros(shape, dtype=torch.float64)
            self.add_state(name, zeros, dist_reduce_fx="sum")

    @torch_defaults.entry(moves=True)
    def update(self, probs: Array, labels: Array, weights: Array | None = None) -> None:
        """Add a batch: probabilities and labels, or confidences and hits without `classes`."""
        if self.columns:
            part = tally(probs, labels, bins=self.bins, weights=weights)
        else:
            part = tally(TopLabel(probs, labels, weights), bins=self.bins)
        self.top, self.classes, self.scores = (self.tally + part).sums()

    @property
    def tally(self) -> Tally:
        """The sums of this process's batches, which also give the `reliability` diagram."""
        return Tally(self.top, self.classes, self.scores)

    def compute(self) -> dict[str, Tensor]:
        """All measures of the batches since the last `reset`; NaN without any."""
        return {name: self.top.new_tensor(value) for name, value in self.tally.measures().items()}
