"""Fitted maps as `nn.Module`s: to stand behind a network, to be saved and to be exported."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from calibkit.recalibration.binned import (
    HistogramBinning,
    IsotonicCalibrator,
    one_vs_rest,
    to_logits,
)
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.linear import (
    BetaCalibrator,
    BiasCorrectedTemperature,
    MatrixScaler,
    ShrunkMatrixScaler,
    VectorScaler,
    beta_odds,
)
from calibkit.recalibration.structured import (
    StructuredMatrixScaler,
    StructuredVectorScaler,
    smoothed,
)
from calibkit.recalibration.temperature import TemperatureEnsemble, TemperatureScaler, mixed
from calibkit.recalibration.venn_abers import VennAbersCalibrator

EXTRA = "_extra_state"  # PyTorch's key


class Map(nn.Module):
    """A fitted map of logits (n, K) to logits (n, K), whose numbers are float64 buffers.

    Its `state_dict` holds the name of the map beside them, so that `restore` needs nothing else.
    """

    def __init__(self, **numbers: Tensor | float):
        super().__init__()
        for name, value in numbers.items():
            kept = torch.as_tensor(value, dtype=torch.float64).detach().clone()
            self.register_buffer(name, kept)

    def get_extra_state(self) -> dict[str, str]:
        return {"map": type(self).__name__}

    def set_extra_state(self, state: Mapping[str, str]) -> None:
        if state != self.get_extra_state():
            raise ValueError(f"state_dict must be of {type(self).__name__}, got one of {state}")


class Affine(Map):
    """W z / T + b; the weight W is one number a class, or a matrix."""

    temperature: Tensor
    weight: Tensor
    bias: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        cooled = logits / self.temperature.to(logits.dtype)
        return _affine(cooled, self.weight, self.bias)


class Structured(Map):
    """W u + b of a temperature's smoothed log-probabilities u."""

    temperature: Tensor
    smoothing: Tensor
    weight: Tensor
    bias: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        u = smoothed(logits, self.temperature.double(), self.smoothing.double())
        return _affine(u, self.weight, self.bias).to(logits.dtype)


class Mixture(Map):
    """The logarithm of w_1 softmax(z / T) + w_2 softmax(z) + w_3 / K."""

    temperature: Tensor
    weights: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        return mixed(logits, self.temperature.double(), self.weights.double())


class Beta(Map):
    """log q / (1 - q) = a log s - b log(1 - s) + c, class by class against the rest."""

    weights: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        odds = beta_odds(logits, self.weights.double())
        log_q = -torch.logaddexp(-odds, torch.zeros_like(odds))  # ONNX underflows in logsigmoid
        return log_q.log_softmax(dim=0).T.to(logits.dtype)


class Steps(Map):
    """A step function of each class's score s: the value after the last edge below s."""

    edges: Tensor
    values: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        scores = one_vs_rest(logits)
        stepped = self.values.double().gather(1, _passed(scores, self.edges.double()))
        return to_logits(stepped, logits)


class TwoSteps(Map):
    """Venn-Abers' p1 / (1 - p0 + p1), of two step functions of each class's score."""

    edges_0: Tensor
    edges_1: Tensor
    values_0: Tensor
    values_1: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        scores = one_vs_rest(logits)
        reached = _passed(scores, self.edges_0.double(), at=True)
        p0 = self.values_0.double().gather(1, reached)
        p1 = self.values_1.double().gather(1, _passed(scores, self.edges_1.double()))
        return to_logits(p1 / (1 - p0 + p1), logits)


class Lines(Map):
    """A function of each class's score, linear between points (x, y) and constant beyond them."""

    edges: Tensor
    x: Tensor
    y: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        scores, x, y = one_vs_rest(logits), self.x.double(), self.y.double()
        left = _passed(scores, self.edges.double())
        x0, x1, y0, y1 = (part.gather(1, i) for part in (x, y) for i in (left, left + 1))
        share = ((scores - x0) / (x1 - x0).clamp(min=1e-300)).clamp(0, 1)
        return to_logits(y0 + share * (y1 - y0), logits)


KINDS = {
    kind.__name__: kind for kind in (Affine, Structured, Mixture, Beta, Steps, TwoSteps, Lines)
}


def restore(state: Mapping[str, Any]) -> Map:
    """The map of a `state_dict` that `calibrator.module()` gave, without the calibrator.

    Raises ValueError for a state that is none.

    >>> from calibkit.recalibration import TemperatureScaler
    >>> state = TemperatureScaler.of(2.0).module().state_dict()
    >>> restore(state)(torch.tensor([[3.0, 1.0]])).tolist()
    [[1.5, 0.5]]
    """
    numbers = {name: value for name, value in state.items() if name != EXTRA}
    kind = state[EXTRA].get("map") if isinstance(state.get(EXTRA), Mapping) else None
    if kind not in KINDS:
        remedy = "pass the state_dict() of a calibrator's module()"
        raise ValueError(f"state must name one of {sorted(KINDS)}, got {kind!r}; {remedy}")
    return KINDS[kind](**numbers)


def of(calibrator: Calibrator) -> Map:
    """The module of a fitted calibrator, see `Calibrator.module`."""
    for kind, build in BUILD.items():
        if isinstance(calibrator, kind):
            return build(calibrator)
    raise TypeError(f"calibrator must be one of calibkit's own, got {type(calibrator).__name__}")


def _temperature(fitted: Any) -> Map:
    return Affine(temperature=fitted.temperature, weight=torch.ones(1), bias=torch.zeros(1))


def _scaled(fitted: Any) -> Map:
    temperature = getattr(fitted, "temperature", 1.0)
    weight = getattr(fitted, "weight", torch.ones_like(fitted.bias))
    return Affine(temperature=temperature, weight=weight, bias=fitted.bias)


def _structured(fitted: Any) -> Map:
    names = ("temperature", "smoothing", "weight", "bias")
    return Structured(**{name: getattr(fitted, name) for name in names})


def _steps(fitted: Any) -> Map:
    return Steps(edges=_edges(fitted.edges[:, 1:-1]), values=fitted.values)


def _lines(fitted: Any) -> Map:
    x, y = zip(*fitted.points, strict=True)
    return Lines(edges=_edges(row[1:-1] for row in x), x=_values(x), y=_values(y))


def _two_steps(fitted: Any) -> Map:
    numbers: dict[str, Tensor] = {}
    for name, steps in enumerate(zip(*fitted.steps, strict=True)):
        at, values = zip(*steps, strict=True)
        numbers |= {f"edges_{name}": _edges(at), f"values_{name}": _values(values)}
    return TwoSteps(**numbers)


BUILD: dict[type[Calibrator], Callable[[Any], Map]] = {
    TemperatureScaler: _temperature,
    TemperatureEnsemble: lambda f: Mixture(temperature=f.temperature, weights=f.weights),
    BiasCorrectedTemperature: _scaled,
    VectorScaler: _scaled,
    MatrixScaler: _scaled,
    ShrunkMatrixScaler: _scaled,
    StructuredVectorScaler: _structured,
    StructuredMatrixScaler: _structured,
    BetaCalibrator: lambda f: Beta(weights=f.weights),
    HistogramBinning: _steps,
    IsotonicCalibrator: _lines,
    VennAbersCalibrator: _two_steps,
}


def _affine(z: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    weight, bias = weight.to(z.dtype), bias.to(z.dtype)
    return (z @ weight.T if weight.dim() == 2 else z * weight) + bias


def _edges(rows: Iterable[Tensor]) -> Tensor:
    """Edges of each class (C, m) in rising order, infinite ones added up to m = 2^k - 1."""
    rows = list(rows)
    m = 2 ** max(len(row) for row in rows).bit_length() - 1
    return torch.stack([pad(row, (0, m - len(row)), value=math.inf) for row in rows])


def _values(rows: Iterable[Tensor]) -> Tensor:
    """Numbers of each class (C, m), the last one of a class repeated."""
    rows = list(rows)
    m = max(2, *map(len, rows))
    return torch.stack([torch.cat([row, row[-1:].expand(m - len(row))]) for row in rows])


def _passed(scores: Tensor, edges: Tensor, *, at: bool = False) -> Tensor:
    """(C, n) number of edges (C, 2^k - 1) that lie below each score (C, n), or also at it.

    By halving, in k steps: ONNX has no `searchsorted`.
    """
    passed = torch.zeros_like(scores, dtype=torch.int64)
    step = (edges.shape[1] + 1) // 2
    while step:
        edge = edges.gather(1, passed + (step - 1))
        passed = passed + step * (edge <= scores if at else edge < scores).long()
        step //= 2
    return passed
