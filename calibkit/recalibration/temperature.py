"""One temperature for all classes, its interval, and an ensemble of temperatures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Literal, Self, get_args

import numpy as np
import torch
from scipy.optimize import brentq, minimize
from scipy.special import ndtri
from torch import Tensor

from calibkit import metrics, validate
from calibkit.metrics.top import Weights, kept
from calibkit.recalibration.calibrator import Calibrator, warn
from calibkit.recalibration.modules import Map, cooled
from calibkit.validate import Array

Method = Literal["nll", "ece_grid"]

LIMITS = (1e-3, 1e3)  # of a temperature
WARM_START_ROWS = 10_000
LEAST_WEIGHT = 1e-8  # of a part of an ensemble: a label that the other parts exclude stays possible
INSIDE = {"open_low": True, "open_high": True}


class TemperatureScaler(Calibrator):
    """Temperature scaling: softmax(z / T) with one T > 0 for all classes.

    `method="nll"` takes T = argmin_T sum_i -log softmax(z_i / T)[y_i], exactly (the root of its
    slope in float64). `method="ece_grid"` takes the T in 0.1, 0.2, ... 10.0 of the least ECE
    (`bins` bins, the lowest T on ties): the grid of the focal-loss paper. T is clamped to `limits`,
    with a warning: data that the logits separate sends it to 0, random labels to infinity.

    `fit` sets `temperature`; `TemperatureScaler.of(1.8)` takes a known one and needs no fit.
    Raises ValueError for an unknown method or limits out of order.
    Source: Guo et al. 2017, section 4.2; Mukhoti et al. 2020, section 5.

    >>> z = torch.tensor([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    >>> scaler = TemperatureScaler().fit(z, [0, 0, 0, 1])  # 3 of 4 right: 2 / T = log 3
    >>> round(scaler.temperature, 4), round(2 / math.log(3), 4)
    (1.8205, 1.8205)
    """

    def __init__(
        self, method: Method = "nll", *, bins: int = 15, limits: tuple[float, float] = LIMITS
    ):
        validate.integer("bins", bins, 1)
        if not isinstance(limits, Sequence) or len(limits) != 2:
            raise TypeError(f"limits must be a pair (low, high) of temperatures, got {limits!r}")
        low = validate.number("limits[0]", limits[0], 0, math.inf, **INSIDE)
        validate.number("limits[1]", limits[1], low, math.inf, **INSIDE)
        self.method = validate.choice("method", method, get_args(Method))
        self.bins, self.limits = bins, limits

    @classmethod
    def of(cls, temperature: float) -> Self:
        """A scaler of a temperature that is known, for any number of classes.

        >>> scaler = TemperatureScaler.of(2)
        >>> scaler, scaler.transform([[3.0, 1.0]]).tolist()
        (TemperatureScaler(temperature=2), [[1.5, 0.5]])
        """
        scaler = cls()
        scaler.temperature = validate.number("temperature", temperature, 0, math.inf, **INSIDE)
        scaler._fitted = True
        return scaler

    def _state(self) -> str:
        return f"temperature={self.temperature:.6g}" if self._fitted else "not fitted"

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        if self.method == "nll":
            self.temperature = nll_temperature(logits, labels, *self.limits, weights)
        else:
            self.temperature = _ece_temperature(logits, labels, self.bins, weights)

    def _apply(self, logits: Tensor) -> Tensor:
        return cooled(logits, self.temperature)


class TemperatureEnsemble(Calibrator):
    """Ensemble temperature scaling: w_1 softmax(z / T) + w_2 softmax(z) + w_3 / K.

    T is that of `TemperatureScaler`; then the three weights, at least 1e-8 and of sum 1, have the
    least NLL. Like one temperature it keeps the order of the classes in every row.

    `fit` sets `temperature` and `weights` (3,), float64.
    Source: Zhang, Kailkhura & Han 2020, section 3.2.

    >>> z = torch.tensor([[9.0, 0.0]] * 6 + [[0.0, 0.0]] * 2)  # 5 of 6 right, then 1 of 2
    >>> ensemble = TemperatureEnsemble().fit(z, [0, 0, 0, 0, 0, 1, 0, 1])
    >>> [round(p, 3) for p in ensemble.probs(torch.tensor([[9.0, 0.0]]))[0].tolist()]
    [0.833, 0.167]
    """

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        self.temperature = nll_temperature(logits, labels, *LIMITS, weights)
        share = None if weights is None else weights / weights.sum()
        parts = _log_parts(logits, self.temperature)
        of_label = parts.gather(2, labels[None, :, None].expand(3, -1, -1))[:, :, 0]

        def nll_and_gradient(weights: np.ndarray) -> tuple[float, np.ndarray]:
            mixed = (of_label.new_tensor(weights).log()[:, None] + of_label).logsumexp(0)
            if share is not None:
                gradient = -(of_label - mixed).exp() @ share
                return -(mixed @ share).item(), gradient.cpu().numpy()
            return -mixed.mean().item(), -(of_label - mixed).exp().mean(1).cpu().numpy()

        best = minimize(
            nll_and_gradient,
            np.array([0.8, 0.1, 0.1]),
            jac=True,
            method="SLSQP",
            bounds=[(LEAST_WEIGHT, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        parts_of = of_label.new_tensor(best.x).clamp(min=LEAST_WEIGHT)
        self.weights = parts_of / parts_of.sum()

    def _module(self) -> Map:
        return Mixture(temperature=self.temperature, weights=self.weights)


class Mixture(Map):
    """The logarithm of w_1 softmax(z / T) + w_2 softmax(z) + w_3 / K."""

    temperature: Tensor
    weights: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        return mixed(logits, self.temperature.double(), self.weights.double())


def mixed(logits: Tensor, temperature: float | Tensor, weights: Tensor) -> Tensor:
    """Log-probabilities (n, K) of an ensemble of temperatures with weights (3,), as logits are."""
    log_weight = weights.log()[:, None, None]
    return (log_weight + _log_parts(logits, temperature)).logsumexp(0).to(logits.dtype)


def _log_parts(logits: Tensor, temperature: float | Tensor) -> Tensor:
    """Log-probabilities (3, n, K) of the parts: cooled, as they are, uniform; in float64."""
    z = logits.double()
    return torch.stack([z / temperature, z, torch.zeros_like(z)]).log_softmax(2)


def temperature_interval(
    logits: Array, labels: Array, *, level: float = 0.9, weights: Weights = None
) -> tuple[float, float]:
    """Interval (low, high) of the temperature of least NLL, from calibration data alone.

    With beta = 1 / T and the residuals s_i = E z - z_y, whose sum is the slope of the NLL, the
    standard error of log T is sqrt(mean s^2 / n) / (beta * mean Var z), mean and variance under
    softmax(beta z_i). The interval is normal in log T. It does not need the model to be right up to
    a temperature ("sandwich"); the samples must be independent. Where the data set T no bound
    (clamped, see `TemperatureScaler`) it is (0, inf).

    Of weighted rows it is sqrt(sum w^2 s^2) / (beta * sum w Var z): copies of a row, which are not
    independent, do not make it narrower.

    logits: (n, K); labels: (n,); level: coverage in (0, 1); weights: (n,) as in `fit`. Raises
    ValueError as `fit` does.
    Source: Huber 1967; White 1982.

    >>> z = torch.tensor([[2.0, 0.0]] * 400)  # logit of 3/4 is 1.0986, with error sqrt(16 / 3 / n)
    >>> low, high = temperature_interval(z, [0] * 300 + [1] * 100, level=0.9)
    >>> error = math.sqrt(16 / 3 / 400) / math.log(3)
    >>> round(math.log(high / low) / 2, 4), round(1.6449 * error, 4)
    (0.1729, 0.1729)
    """
    logits, labels = validate.scores(logits, labels)
    validate.refuse_probs("logits", logits)
    level = validate.level(level)
    z, target, checked = kept(weights, logits.detach(), labels)
    temperature = nll_temperature(z, target, *LIMITS, checked)
    return interval_around(temperature, z, target, level, checked)


def interval_around(
    temperature: float, logits: Tensor, labels: Tensor, level: float, weights: Tensor | None = None
) -> tuple[float, float]:
    """`temperature_interval` where the temperature of least NLL is known, of checked arguments.

    It is (0, inf) as there.
    """
    off, variance = residuals(temperature, logits.detach(), labels)
    if weights is not None:
        off, variance = weights * off, weights * variance
    spread = variance.sum().item()
    if temperature in LIMITS or not spread > 0:
        return 0.0, math.inf
    half = ndtri((1 + level) / 2) * off.square().sum().sqrt().item() / spread
    return temperature * math.exp(-half), temperature * math.exp(half) if half < 700 else math.inf


def residuals(temperature: float, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """(n,) E z - z_y of each row of z / T, and (n,) Var z, under the softmax; in float64."""
    parts = []
    for below_top, label, _ in _blocks(logits, labels, None):
        z = below_top / temperature
        share = z.softmax(1)
        mean = (share * z).sum(1)
        variance = (share * z.square()).sum(1) - mean.square()
        parts.append(torch.stack([mean - _of_label(z, label), variance]))
    off, variance = torch.cat(parts, 1)
    return off, variance


def nll_temperature(
    logits: Tensor, labels: Tensor, low: float, high: float, weights: Tensor | None = None
) -> float:
    """The T in [low, high] of the least NLL; warns where the least lies outside."""
    temperature, why = best_temperature(logits, labels, low, high, weights)
    if why:
        warn(why)
    return temperature


def best_temperature(
    logits: Tensor, labels: Tensor, low: float, high: float, weights: Tensor | None = None
) -> tuple[float, str]:
    """The T of `nll_temperature`, and what is to be warned of, if anything."""
    if bool((logits == logits[:, :1]).all()):
        return 1.0, "every row of logits is constant, so no temperature matters; keeping T = 1"
    of_label = _of_label(logits, labels)
    if bool((of_label == logits.amax(1)).all()):  # the NLL falls up to beta = 1 / T = infinity
        return _clamped(low, "the logits separate the labels, so the best temperature is 0")
    if _slope(logits, labels, 0.0, weights) >= 0:  # it rises from beta = 0 on
        return _clamped(high, "the logits do not favour the labels: the best T is infinite")
    bounds = (-math.log(high), -math.log(low))
    step, start, width = math.ceil(len(logits) / WARM_START_ROWS), 0.0, 0.5
    if step > 1:  # some rows say where to look
        some = None if weights is None else weights[::step]
        start = _log_beta(logits[::step], labels[::step], start, width, bounds, some)
        width = 0.02
    log_beta = _log_beta(logits, labels, start, width, bounds, weights)
    if log_beta in bounds:
        return _clamped(math.exp(-log_beta), "the best temperature lies outside the limits")
    return math.exp(-log_beta), ""


def _clamped(temperature: float, reason: str) -> tuple[float, str]:
    why = f"{reason}; clamped to T = {temperature:g}: look at the calibration data before use"
    return float(temperature), why


def _log_beta(
    logits: Tensor,
    labels: Tensor,
    start: float,
    width: float,
    bounds: tuple[float, float],
    weights: Tensor | None = None,
) -> float:
    """Root in u = log(1 / T) of the slope of the NLL, which rises with u; a bound if it has none.

    Looks first within `width` of `start`, then ever further away.
    """
    known: dict[float, float] = {}
    data = (logits, labels, weights, known)

    def slope(u: float) -> float:
        return _known_slope(u, *data)

    low, high = (float(np.clip(start + side, *bounds)) for side in (-width, width))
    while slope(low) > 0 and low > bounds[0]:
        low, high, width = max(low - 4 * width, bounds[0]), low, 4 * width
    while slope(high) < 0 and high < bounds[1]:
        low, high, width = high, min(high + 4 * width, bounds[1]), 4 * width
    if slope(low) >= 0 or slope(high) <= 0:
        return low if slope(low) >= 0 else high
    # what brentq calls stands in a cycle, which would hold the logits for long: they are arguments
    return brentq(_known_slope, low, high, args=data, xtol=1e-12)


def _known_slope(
    u: float, logits: Tensor, labels: Tensor, weights: Tensor | None, known: dict[float, float]
) -> float:
    """`_slope` at beta = exp(u), which is taken once."""
    if u not in known:
        known[u] = _slope(logits, labels, math.exp(u), weights)
    return known[u]


def _slope(logits: Tensor, labels: Tensor, beta: float, weights: Tensor | None = None) -> float:
    """d/dbeta of sum_i -log softmax(beta z_i)[y_i], which is sum_i E z - z_y, of weighted rows.

    In blocks, which need no float64 copy of all logits.
    """
    total = torch.zeros((), dtype=torch.float64, device=logits.device)
    for z, label, weight in _blocks(logits, labels, weights):
        chance = (beta * z).exp_() if beta else torch.ones_like(z)
        scale = chance.sum(1)
        off = chance.mul_(z).sum(1) / scale - _of_label(z, label)
        total += off.sum() if weight is None else weight @ off
    return total.item()


def _of_label(logits: Tensor, labels: Tensor) -> Tensor:
    return logits.gather(1, labels[:, None])[:, 0]


def _blocks(
    logits: Tensor, labels: Tensor, weights: Tensor | None
) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
    """Rows less their largest logit, in float64, that stay in the processor's cache."""
    elements = 2**16 if logits.device.type == "cpu" else 2**24
    rows = max(1, elements // logits.shape[1])
    parts = logits.split(rows)
    of_rows = itertools.repeat(None, len(parts)) if weights is None else weights.split(rows)
    for part, label, weight in zip(parts, labels.split(rows), of_rows, strict=True):
        z = part.double()
        yield z - z.amax(1, keepdim=True), label, weight


def _ece_temperature(
    logits: Tensor, labels: Tensor, bins: int, weights: Tensor | None = None
) -> float:
    """The T of the grid 0.1 ... 10.0 with the least ECE, the lowest on ties."""
    below_top = logits.double() - logits.double().amax(1, keepdim=True)
    correct = logits.argmax(1) == labels  # at every T
    errors = {}
    for temperature in (tenths / 10 for tenths in range(1, 101)):
        confidence = 1 / (below_top / temperature).exp_().sum(1)
        counted = metrics.reliability_of(confidence, correct, bins=bins, weights=weights)
        errors[temperature] = counted.error()
    best = min(errors, key=errors.__getitem__)
    if best in (0.1, 10.0):
        warn(_clamped(best, "the least ECE lies at an end of the grid")[1])
    return best
