"""Affine maps W u + b of logits, of which some stay near the identity.

All are one fit, `nearest`; they differ in what of W may move, and at which price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from calibkit import validate
from calibkit.recalibration.calibrator import Calibrator
from calibkit.recalibration.least_nll import ALL, least, mean_nll, need_all_classes, start_scale
from calibkit.recalibration.modules import Map, affine
from calibkit.recalibration.temperature import LIMITS, nll_temperature
from calibkit.threads import SEVERAL_THREADS, one_thread

PENALTIES = (0.001, 0.03, 0.3, 1.0, math.inf)  # of a matrix beside a temperature
Moves = Literal["slope", "vector", "matrix"]


class BiasCorrectedTemperature(Calibrator):
    """Bias-corrected temperature scaling: logits z / T + b, one bias a class, of the least NLL.

    The map to take before `logit_adjustment`, or before an estimate of another prior: divided by
    T alone, a network's mean probability of a class need not be the share of that class.
    `fit` sets `temperature` (infinite where no positive slope helps) and `bias` (K,), float64, of
    mean 0. Source: Alexandari, Kundaje & Shrikumar 2020, section 3 (BCTS).

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = BiasCorrectedTemperature().fit(z, [0, 0, 0, 1, 1, 1, 1, 1])
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        need_all_classes(labels, logits.shape[1])
        scale = start_scale(logits.double(), labels, weights)
        slope, bias = nearest(logits.double() * scale, labels, weights, "slope")
        self.temperature = 1 / (scale * slope).item() if slope > 0 else math.inf
        self.bias = bias - bias.mean()


class VectorScaler(Calibrator):
    """Vector scaling: logits w * z + b, one weight and one bias a class, of the least NLL.

    `fit` sets `weight` (K,) and `bias` (K,), float64, the bias of mean 0.
    Source: Guo et al. 2017, section 4.2.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = VectorScaler().fit(z, [0, 0, 0, 1, 1, 1, 1, 0])  # 3 of 4 right either way
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        need_all_classes(labels, logits.shape[1])
        scale = start_scale(logits.double(), labels, weights)
        weight, bias = nearest(logits.double() * scale, labels, weights, "vector")
        self.weight, self.bias = scale * weight, bias - bias.mean()


class MatrixScaler(Calibrator):
    """Matrix scaling: logits W z + b of the least NLL, with an optional penalty.

    loss = NLL + off_diagonal * mean_{i != j} W_ij^2 + intercept * mean_j b_j^2; both weights 0 by
    default, which overfits with many classes. `fit` sets `weight` (K, K) and `bias` (K,), float64.
    Raises ValueError for negative penalties.
    Source: Guo et al. 2017, section 4.2; penalty (ODIR) Kull et al. 2019, section 3.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = MatrixScaler().fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    def __init__(self, *, off_diagonal: float = 0.0, intercept: float = 0.0):
        for name, penalty in (("off_diagonal", off_diagonal), ("intercept", intercept)):
            validate.number(name, penalty, 0, math.inf, open_high=True)
        self.off_diagonal, self.intercept = off_diagonal, intercept

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z, k = logits.double(), logits.shape[1]
        need_all_classes(labels, k)
        scale = start_scale(z, labels, weights)
        price = z.new_full((k + 1, k), self.intercept / k)
        price[:k] = self.off_diagonal * scale**2 / (k * (k - 1)) * (1 - torch.eye(k).to(z))
        weight, self.bias = nearest(z * scale, labels, weights, "matrix", price)
        self.weight = scale * weight


class ShrunkMatrixScaler(Calibrator):
    """Temperature plus a small matrix: logits (I + A) z / T + b, A and b kept small by a penalty.

    T is that of temperature scaling. A and b have the least NLL + penalty * (sum A^2 + sum b^2);
    the penalty is the one of `penalties` with the least mean NLL over `folds` parts, each judged by
    a fit, T included, on the others. math.inf among them is temperature scaling itself. So few
    samples give nearly one temperature, and many a matrix. The parts are drawn with `seed`.

    `fit` sets `temperature`, `penalty`, `weight` (K, K), which is I + A, and `bias` (K,), float64.
    Raises ValueError for penalties that are not positive.
    Source: Kull et al. 2019, section 3, shrink a matrix towards its diagonal; here towards I / T.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = ShrunkMatrixScaler(penalties=[math.inf], folds=2).fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    def __init__(self, *, penalties: Sequence[float] = PENALTIES, folds: int = 5, seed: int = 0):
        for penalty in penalties:
            validate.number("penalties", penalty, 0, math.inf, open_low=True)
        if not len(penalties):
            raise ValueError("penalties must hold at least one number, got none")
        self.penalties = penalties
        self.folds = validate.integer("folds", folds, 2)
        self.seed = seed

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z = logits.double()
        self.penalty = self._chosen(z, labels, weights)
        scale = start_scale(z, labels, weights)
        self.temperature = 1 / scale.item()
        self.weight, self.bias = nearest(z * scale, labels, weights, "matrix", self.penalty)

    def _chosen(self, z: Tensor, labels: Tensor, weights: Tensor | None) -> float:
        """The penalty of the least NLL on what its fit has not seen."""
        if len(self.penalties) == 1 or len(z) == 1:
            return max(self.penalties)
        order = torch.randperm(len(z), generator=validate.generator(self.seed)).to(z.device)
        parts = order.tensor_split(min(self.folds, len(z)))
        lost = dict.fromkeys(self.penalties, 0.0)
        for place, part in enumerate(parts):
            rest = torch.cat([*parts[:place], *parts[place + 1 :]])
            mine, theirs = (None, None) if weights is None else (weights[part], weights[rest])
            # the part left out has no say in T either
            u = z * start_scale(z[rest], labels[rest], theirs)
            share = len(part) if mine is None else mine.sum().item()
            for penalty in self.penalties:
                weight, bias = nearest(u[rest], labels[rest], theirs, "matrix", penalty)
                mapped = affine(u[part], weight, bias)
                lost[penalty] += share * mean_nll(mapped, labels[part], mine).item()
        return min(lost, key=lost.__getitem__)


class _Structured(Calibrator):
    """An affine map near a temperature's smoothed log-probabilities, at the published price."""

    moves: Moves

    def __init__(self, *, penalty: float = 1.0):
        self.penalty = validate.number(
            "penalty", penalty, 0, math.inf, open_low=True, open_high=True
        )

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        n, k = len(labels) if weights is None else weights.sum().item(), logits.shape[1]
        self.temperature = nll_temperature(logits, labels, *LIMITS, weights)
        self.smoothing = 1 / (n + 1)
        u = smoothed(logits, self.temperature, self.smoothing)
        price = u.new_full((k + 1 if self.moves == "matrix" else 2, k), self.penalty * k / n)
        if self.moves == "matrix":
            price[:k] *= k - 1 - (k - 2) * torch.eye(k).to(u)  # 1 on the diagonal
        self.weight, self.bias = nearest(u, labels, weights, self.moves, price)

    def _module(self) -> Map:
        numbers = {"temperature": self.temperature, "smoothing": self.smoothing}
        return Structured(**numbers, weight=self.weight, bias=self.bias)


class StructuredVectorScaler(_Structured):
    """Structured vector scaling (SVS): logits w * u + b near u, a temperature's log-probabilities.

        u = log((1 - s) softmax(z / T) + s / K), with T of temperature scaling, s = 1 / (n + 1)
        w, b = argmin NLL + penalty * K / n * (sum (w_k - 1)^2 + sum b_k^2)

    n are the labels, or the sum of their weights, which so have to count labels; K are the classes,
    and `penalty` is 1 as published: nothing is chosen, so few labels give nearly one temperature,
    and many a vector. The share s of a uniform forecast keeps u finite. `fit` sets `temperature`,
    `smoothing` (s), `weight` (K,) and `bias` (K,), float64. Raises ValueError for a penalty that is
    not positive. Source: Berta, Holzmueller, Jordan & Bach 2026, "Structured matrix scaling", as in
    its library probmetrics 1.1 and later (ridge penalty, rho = tau = 1).

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = StructuredVectorScaler(penalty=1e6).fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> probs = scaler.probs(torch.tensor([[1.0, 0.0]]))  # 3 of 4, and 1 / 9 of a uniform forecast
    >>> [round(p, 4) for p in probs[0].tolist()], round(8 / 9 * 3 / 4 + 1 / 9 / 2, 4)
    ([0.7222, 0.2778], 0.7222)
    """

    moves = "vector"


class StructuredMatrixScaler(_Structured):
    """Structured matrix scaling (SMS): logits W u + b near u, a temperature's log-probabilities.

        W, b = argmin NLL + penalty * (K / n * (sum_k (W_kk - 1)^2 + sum_k b_k^2)
                                       + K (K - 1) / n * sum_{k != l} W_kl^2)

    u as in `StructuredVectorScaler`. The more entries there are of a kind, the more each of them
    pays, and all pay less the more labels there are; `penalty` is 1 as published. `fit` sets
    `temperature`, `smoothing`, `weight` (K, K) and `bias` (K,), float64. Raises ValueError for a
    penalty that is not positive. Source: as there.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = StructuredMatrixScaler(penalty=1e6).fit(z, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.7222, 0.2778]
    """

    moves = "matrix"


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


def nearest(
    u: Tensor, labels: Tensor, weights: Tensor | None, moves: Moves, price: float | Tensor = 0.0
) -> tuple[Tensor, Tensor]:
    """W and b of the least NLL of W u + b, plus the sum of price * moved^2.

    u: (n, K) float64. moves: "slope" (one number for all classes, never below 0), "vector" or
    "matrix". price: of the rows of W - I and then of b; infinite keeps the identity.
    """
    k = u.shape[1]
    if isinstance(price, float) and price == math.inf:
        return torch.eye(k).to(u), u.new_zeros(k)
    if moves == "slope":
        start = torch.cat([u.new_ones(1), u.new_zeros(k)])
    else:
        start = u.new_zeros(k + 1 if moves == "matrix" else 2, k)

    def parts(moved: Tensor) -> tuple[Tensor, Tensor]:
        if moves == "slope":
            return moved[:1], moved[1:]
        return (moved[:k] + torch.eye(k).to(u) if moves == "matrix" else moved[0] + 1), moved[-1]

    def loss(moved: Tensor, rows: slice = ALL) -> Tensor:
        lost = mean_nll(affine(u[rows], *parts(moved)), labels, weights, rows)
        return lost + (price * moved.square()).sum()

    with one_thread(u.numel() < SEVERAL_THREADS):
        return parts(least(loss, start, len(labels), positive=int(moves == "slope")))
