"""Structured scaling: a temperature, then a vector or matrix that pays to leave the identity."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from calibkit import validate
from calibkit.recalibration import linear
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.modules import Map, affine
from calibkit.recalibration.temperature import LIMITS, nll_temperature
from calibkit.threads import one_thread

OPEN = {"open_low": True, "open_high": True}


class StructuredVectorScaler(Calibrator):
    """Structured vector scaling (SVS): logits w * u + b near u, a temperature's log-probabilities.

        u = log((1 - s) softmax(z / T) + s / K), with T of temperature scaling, s = 1 / (n + 1)
        w, b = argmin NLL + penalty * K / n * (sum (w_k - 1)^2 + sum b_k^2)

    n are the labels, K the classes, and `penalty` is 1 as published: nothing is chosen, so few
    labels give nearly one temperature, and many a vector. The share s of a uniform forecast keeps u
    finite. `fit` sets `temperature`, `smoothing` (s), `weight` (K,) and `bias` (K,), float64.
    Raises ValueError for a penalty that is not positive.

    Source: Berta, Holzmueller, Jordan & Bach 2026, "Structured matrix scaling", as in its library
    probmetrics 1.1 and later (ridge penalty, rho = tau = 1).

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = StructuredVectorScaler(penalty=1e6).fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> probs = scaler.probs(torch.tensor([[1.0, 0.0]]))  # 3 of 4, and 1 / 9 of a uniform forecast
    >>> [round(p, 4) for p in probs[0].tolist()], round(8 / 9 * 3 / 4 + 1 / 9 / 2, 4)
    ([0.7222, 0.2778], 0.7222)
    """

    temperature_, smoothing_ = (property(attrgetter(name)) for name in ("temperature", "smoothing"))
    weight_, bias_ = property(attrgetter("weight")), property(attrgetter("bias"))

    def __init__(self, *, penalty: float = 1.0):
        self.penalty = validate.number("penalty", penalty, 0, math.inf, **OPEN)

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        n, classes = logits.shape
        self.temperature, self.smoothing = _cooling(logits, labels)
        u, price = smoothed(logits, self.temperature, self.smoothing), self.penalty * classes / n

        def loss(moved: Tensor, rows: slice = linear.ALL) -> Tensor:
            mapped = u[rows] * (1 + moved[0]) + moved[1]
            return cross_entropy(mapped, labels[rows]) + price * moved.square().sum()

        moved = _nearest(loss, u.new_zeros(2, classes), n)
        self.weight, self.bias = 1 + moved[0], moved[1]

    def _apply(self, logits: Tensor) -> Tensor:
        return self._module().to(logits.device)(logits)

    def _module(self) -> Map:
        numbers = {"temperature": self.temperature, "smoothing": self.smoothing}
        return Structured(**numbers, weight=self.weight, bias=self.bias)


class StructuredMatrixScaler(Calibrator):
    """Structured matrix scaling (SMS): logits W u + b near u, a temperature's log-probabilities.

        W, b = argmin NLL + penalty * (K / n * (sum_k (W_kk - 1)^2 + sum_k b_k^2)
                                       + K (K - 1) / n * sum_{k != l} W_kl^2)

    u as in `StructuredVectorScaler`. The more entries there are of a kind, the more each of them
    pays, and all pay less the more labels there are; `penalty` is 1 as published. `fit` sets
    `temperature`, `smoothing`, `weight` (K, K) and `bias` (K,), float64. Raises ValueError for a
    penalty that is not positive.

    Source: as there.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = StructuredMatrixScaler(penalty=1e6).fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.7222, 0.2778]
    """

    temperature_, smoothing_ = (property(attrgetter(name)) for name in ("temperature", "smoothing"))
    weight_, bias_ = property(attrgetter("weight")), property(attrgetter("bias"))

    def __init__(self, *, penalty: float = 1.0):
        self.penalty = validate.number("penalty", penalty, 0, math.inf, **OPEN)

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        n, classes = logits.shape
        self.temperature, self.smoothing = _cooling(logits, labels)
        u = smoothed(logits, self.temperature, self.smoothing)
        price = u.new_full((classes + 1, classes), self.penalty * classes / n)
        price[:classes] *= classes - 1 - (classes - 2) * torch.eye(classes).to(u)  # diagonal: 1

        def loss(moved: Tensor, rows: slice = linear.ALL) -> Tensor:
            mapped = u[rows] + u[rows] @ moved[:classes].T + moved[classes]
            return cross_entropy(mapped, labels[rows]) + (price * moved.square()).sum()

        moved = _nearest(loss, torch.zeros_like(price), n)
        self.weight = torch.eye(classes).to(u) + moved[:classes]
        self.bias = moved[classes]

    def _apply(self, logits: Tensor) -> Tensor:
        return self._module().to(logits.device)(logits)

    def _module(self) -> Map:
        numbers = {"temperature": self.temperature, "smoothing": self.smoothing}
        return Structured(**numbers, weight=self.weight, bias=self.bias)


class Structured(Map):
    """W u + b of a temperature's smoothed log-probabilities u."""

    temperature: Tensor
    smoothing: Tensor
    weight: Tensor
    bias: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        u = smoothed(logits, self.temperature.double(), self.smoothing.double())
        return affine(u, self.weight, self.bias).to(logits.dtype)


def smoothed(logits: Tensor, temperature: float | Tensor, smoothing: float | Tensor) -> Tensor:
    """(n, K) float64 log((1 - s) softmax(z / T) + s / K) of logits z (n, K)."""
    log_probs = (logits.double() / temperature).log_softmax(1)
    share = torch.as_tensor(smoothing, dtype=log_probs.dtype, device=log_probs.device)
    uniform = (share / logits.shape[1]).log()
    return torch.logaddexp(torch.log1p(-share) + log_probs, uniform)


def _cooling(logits: Tensor, labels: Tensor) -> tuple[float, float]:
    """T and s."""
    return nll_temperature(logits, labels, *LIMITS), 1 / (len(labels) + 1)


def _nearest(loss: Callable[..., Tensor], start: Tensor, n: int) -> Tensor:
    with one_thread(n * start.shape[1] < linear.SEVERAL_THREADS):
        return linear.least(loss, start, n, 0)
