"""Recalibration after training: fit on calibration data, apply to other data.

Every calibrator has one shape. `fit(logits, labels)` returns itself, `transform(logits)` gives
recalibrated logits, `probs(logits)` their softmax. Logits that were fitted on are refused.
What needs no fit, a change of the prior, is a function.
"""

from __future__ import annotations

import functools
import hashlib
import math
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Self, get_args

import numpy as np
import torch
from scipy.optimize import brentq, minimize
from scipy.special import ndtri
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    logsigmoid,
    one_hot,
)

from calibkit import metrics, validate
from calibkit.metrics.bins import Binning, edges_of
from calibkit.threads import one_thread

Method = Literal["nll", "ece_grid"]

LIMITS = (1e-3, 1e3)  # of a temperature
WARM_START_ROWS = 10_000
ALL = slice(None)
MOST_UNITS, UNIT_ROWS = 500, 500  # parameters of which, and rows on which, a Hessian is taken
HASHED_ROWS = 4096
PATIENCE = 60.0  # seconds that a fit of many parameters may take
SEVERAL_THREADS = 1_000_000  # logits below which one thread is as fast, or much faster
STOPPED = 99  # scipy's word for it
LEAST_WEIGHT = 1e-8  # of a part of an ensemble: a label that the other parts exclude stays possible


class LeakageError(ValueError):
    """A calibrator was asked to score the data that it was fitted on."""


class _Calibrator:
    """The shared fit/transform shape; a subclass gives `_fit` and `_apply`."""

    _seen: _Seen | None = None

    def fit(self, logits, labels) -> Self:
        """Fit to calibration logits (n, K) and labels (n,); returns the calibrator itself.

        Of the logits it keeps a hash alone. It warns where they look like probabilities.
        """
        given = logits
        logits, labels = validate.scores(logits, labels)
        logits = logits.detach()
        if validate.look_like_probs(logits):
            _warn("logits look like probabilities (rows of sum 1): pass logits, or probs.log()")
        self._fit(logits, labels)
        self._seen = _Seen(logits, given)
        return self

    def __repr__(self) -> str:
        state = f"fitted for {self._seen.classes} classes" if self._seen else "not fitted"
        return f"{type(self).__name__}({state})"

    def transform(self, logits) -> Tensor:
        """Recalibrated logits (n, K) of test logits (n, K), in their type and on their device.

        Raises NotFittedError before `fit` and LeakageError for the logits that were fitted on.
        """
        if self._seen is None:
            raise NotFittedError(f"call {type(self).__name__}.fit(logits, labels) first")
        logits = validate.logits(logits)
        self._seen.check(logits)
        return self._apply(logits)

    def probs(self, logits) -> Tensor:
        """Recalibrated probabilities (n, K): the softmax of `transform(logits)`."""
        return self.transform(logits).softmax(dim=1)


class TemperatureScaler(_Calibrator):
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
        self,
        method: Method = "nll",
        *,
        bins: int = 15,
        limits: tuple[float, float] = LIMITS,
    ):
        self.method = validate.choice("method", method, get_args(Method))
        self.bins = validate.integer("bins", bins, 1)
        if not isinstance(limits, Sequence) or len(limits) != 2:
            raise TypeError(f"limits must be a pair (low, high) of temperatures, got {limits!r}")
        inside = {"open_low": True, "open_high": True}
        low = validate.number("limits[0]", limits[0], 0, math.inf, **inside)
        self.limits = (low, validate.number("limits[1]", limits[1], low, math.inf, **inside))

    @classmethod
    def of(cls, temperature: float) -> TemperatureScaler:
        """A scaler of a temperature that is known, for any number of classes.

        >>> scaler = TemperatureScaler.of(2)
        >>> scaler, scaler.transform([[3.0, 1.0]]).tolist()
        (TemperatureScaler(temperature=2), [[1.5, 0.5]])
        """
        scaler = cls()
        ends = {"open_low": True, "open_high": True}
        scaler.temperature = validate.number("temperature", temperature, 0, math.inf, **ends)
        scaler._seen = _Seen()
        return scaler

    def __repr__(self) -> str:
        if self._seen is None:
            return super().__repr__()
        return f"TemperatureScaler(temperature={self.temperature:.6g})"

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        if self.method == "nll":
            self.temperature = _nll_temperature(logits, labels, *self.limits)
        else:
            self.temperature = _ece_temperature(logits, labels, self.bins)

    def _apply(self, logits: Tensor) -> Tensor:
        return logits / self.temperature


class VectorScaler(_Calibrator):
    """Vector scaling: logits w * z + b, one weight and one bias a class, of the least NLL.

    `fit` sets `weight` (K,) and `bias` (K,), float64, the bias of mean 0.
    Source: Guo et al. 2017, section 4.2.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = VectorScaler().fit(z, [0, 0, 0, 1, 1, 1, 1, 0])  # 3 of 4 right either way
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        z, classes = logits.double(), logits.shape[1]
        start = torch.stack([_start_scale(z, labels).expand(classes), z.new_zeros(classes)])

        def loss(parameters: Tensor, rows: slice = ALL) -> Tensor:
            weight, bias = parameters.view(2, classes)
            return cross_entropy(z[rows] * weight + bias, labels[rows])

        fitted = _minimise(loss, start, labels, classes)
        self.weight, self.bias = fitted[0], fitted[1] - fitted[1].mean()

    def _apply(self, logits: Tensor) -> Tensor:
        return logits * self.weight.to(logits) + self.bias.to(logits)


class MatrixScaler(_Calibrator):
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
        self.off_diagonal = validate.number(
            "off_diagonal", off_diagonal, 0, math.inf, open_high=True
        )
        self.intercept = validate.number("intercept", intercept, 0, math.inf, open_high=True)

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        z, classes = logits.double(), logits.shape[1]
        eye = torch.eye(classes, dtype=z.dtype, device=z.device)
        start = torch.cat([eye * _start_scale(z, labels), z.new_zeros(1, classes)])

        def loss(parameters: Tensor, rows: slice = ALL) -> Tensor:
            weight, bias = parameters[:classes], parameters[classes]
            off = (weight * (1 - eye)).square().sum() / (classes * (classes - 1))
            penalty = self.off_diagonal * off + self.intercept * bias.square().mean()
            return cross_entropy(z[rows] @ weight.T + bias, labels[rows]) + penalty

        fitted = _minimise(loss, start, labels, classes)
        self.weight, self.bias = fitted[:classes], fitted[classes]

    def _apply(self, logits: Tensor) -> Tensor:
        return logits @ self.weight.to(logits).T + self.bias.to(logits)


class TemperatureEnsemble(_Calibrator):
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

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        self.temperature = _nll_temperature(logits, labels, *LIMITS)
        of_label = _log_parts(logits, self.temperature).gather(
            2, labels[None, :, None].expand(3, -1, -1)
        )
        self.weights = _best_weights(of_label[:, :, 0])

    def _apply(self, logits: Tensor) -> Tensor:
        log_weight = self.weights.to(logits.device).log()[:, None, None]
        return (log_weight + _log_parts(logits, self.temperature)).logsumexp(0).to(logits.dtype)


class HistogramBinning(_Calibrator):
    """Histogram binning: a score becomes the share of positives in its bin (lo, hi].

    Class by class against the rest on softmax scores, then rows divided by their sum (two
    classes: on class 1 alone). `equal="width"` or `"mass"` chooses the edges. A bin that held no
    calibration sample keeps its centre. `fit` sets `edges` (C, bins + 1) and `values` (C, bins),
    with C = K, or 1 for two classes. A share of 0 gives a finite logit, the log of the smallest
    normal number. Raises ValueError for less than one bin.

    Source: Zadrozny & Elkan 2001; Guo et al. 2017, section 4.1.

    >>> p = torch.tensor([[0.4, 0.6], [0.3, 0.7], [0.2, 0.8], [0.1, 0.9]])
    >>> binning = HistogramBinning(bins=2).fit(p.log(), [1, 1, 1, 0])  # bin (.5, 1]: 3 of 4
    >>> [round(q, 4) for q in binning.probs(torch.tensor([[0.35, 0.65]]).log())[0].tolist()]
    [0.25, 0.75]
    """

    def __init__(self, *, bins: int = 15, equal: Binning = "width"):
        self.bins = validate.integer("bins", bins, 1)
        self.equal = validate.choice("equal", equal, get_args(Binning))

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        scores, hits = _one_vs_rest(logits), _targets(labels, logits.shape[1])
        self.edges = torch.stack([edges_of(row, self.bins, self.equal) for row in scores])
        cell = _bin(scores, self.edges)
        count = torch.zeros_like(self.edges[:, 1:]).scatter_add_(1, cell, torch.ones_like(scores))
        positive = torch.zeros_like(count).scatter_add_(1, cell, hits)
        centre = (self.edges[:, 1:] + self.edges[:, :-1]) / 2
        self.values = torch.where(count > 0, positive / count.clamp(min=1), centre)

    def _apply(self, logits: Tensor) -> Tensor:
        edges, values = self.edges.to(logits.device), self.values.to(logits.device)
        return _to_logits(values.gather(1, _bin(_one_vs_rest(logits), edges)), logits)


class IsotonicCalibrator(_Calibrator):
    """Isotonic regression: the non-decreasing map of a score of the least squared error.

    Class by class against the rest on softmax scores, then rows divided by their sum (two
    classes: on class 1 alone), linear between the fitted points as in scikit-learn. `fit` sets
    `points`, one (x, y) pair of float64 tensors a class. Shares of 0 as in `HistogramBinning`.

    Source: Zadrozny & Elkan 2002.

    >>> p = torch.tensor([[0.8, 0.2], [0.6, 0.4], [0.4, 0.6], [0.2, 0.8]])
    >>> isotonic = IsotonicCalibrator().fit(p.log(), [0, 1, 0, 1])  # middle two pooled: 1 of 2
    >>> [round(q, 4) for q in isotonic.probs(torch.tensor([[0.5, 0.5]]).log())[0].tolist()]
    [0.5, 0.5]
    """

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        scores, hits = _one_vs_rest(logits), _targets(labels, logits.shape[1])
        self.points = [_isotonic(x, y) for x, y in zip(scores, hits, strict=True)]

    def _apply(self, logits: Tensor) -> Tensor:
        scores = _one_vs_rest(logits)
        mapped = [_interpolate(s, x, y) for s, (x, y) in zip(scores, self.points, strict=True)]
        return _to_logits(torch.stack(mapped), logits)


class BetaCalibrator(_Calibrator):
    """Beta calibration: log q / (1 - q) = a log s - b log(1 - s) + c of a score s, a and b >= 0.

    This is the map for scores that follow a beta distribution in either group; a = b = 1, c = 0
    changes nothing. Class by class against the rest on softmax scores, with the least NLL of "is it
    this class", then rows divided by their sum (two classes: on class 1 alone). `fit` sets
    `weights` (C, 3), the a, b and c of each class, with C = K, or 1 for two classes; float64.

    Source: Kull, Silva Filho & Flach 2017.

    >>> p = torch.tensor([[0.2, 0.8], [0.8, 0.2]]).repeat_interleave(4, dim=0)
    >>> beta = BetaCalibrator().fit(p.log(), [1, 1, 1, 0, 0, 0, 0, 1])  # 3 of 4 right either way
    >>> [round(q, 4) for q in beta.probs(torch.tensor([[0.2, 0.8]]).log())[0].tolist()]
    [0.25, 0.75]
    """

    def _fit(self, logits: Tensor, labels: Tensor) -> None:
        parts, hits = _log_odds_parts(logits), _targets(labels, logits.shape[1])
        scale = _start_scale(logits.double(), labels).expand(len(hits))
        start = torch.stack([scale, scale, torch.zeros_like(scale)])

        def loss(weights: Tensor, rows: slice = ALL) -> Tensor:
            odds = _log_odds(parts[:, :, rows], weights)
            return binary_cross_entropy_with_logits(odds, hits[:, rows])

        bounds = [(0, None)] * 2 * len(hits) + [(None, None)] * len(hits)
        self.weights = _minimise(loss, start, labels, logits.shape[1], bounds).T

    def _apply(self, logits: Tensor) -> Tensor:
        odds = _log_odds(_log_odds_parts(logits), self.weights.to(logits.device).T)
        both = torch.cat([-odds, odds]) if len(odds) == 1 else odds
        return logsigmoid(both).log_softmax(dim=0).T.to(logits.dtype)


def temperature_interval(logits, labels, *, level: float = 0.9) -> tuple[float, float]:
    """Interval (low, high) of the temperature of least NLL, from calibration data alone.

    With beta = 1 / T and the residuals s_i = E z - z_y, whose sum is the slope of the NLL, the
    standard error of log T is sqrt(mean s^2 / n) / (beta * mean Var z), mean and variance under
    softmax(beta z_i). The interval is normal in log T. It does not need the model to be right up to
    a temperature ("sandwich"); the samples must be independent. Where the data set T no bound
    (clamped, see `TemperatureScaler`) it is (0, inf).

    logits: (n, K); labels: (n,); level: coverage in (0, 1). Raises ValueError as `fit` does.
    Source: Huber 1967; White 1982.

    >>> z = torch.tensor([[2.0, 0.0]] * 400)  # logit of 3/4 is 1.0986, with error sqrt(16 / 3 / n)
    >>> low, high = temperature_interval(z, [0] * 300 + [1] * 100, level=0.9)
    >>> error = math.sqrt(16 / 3 / 400) / math.log(3)
    >>> round(math.log(high / low) / 2, 4), round(1.6449 * error, 4)
    (0.1729, 0.1729)
    """
    logits, labels = validate.scores(logits, labels)
    level = validate.level(level)
    temperature = _nll_temperature(logits.detach(), labels, *LIMITS)
    return interval_around(temperature, logits, labels, level)


def interval_around(
    temperature: float, logits: Tensor, labels: Tensor, level: float
) -> tuple[float, float]:
    """`temperature_interval` where the temperature of least NLL is known; arguments are checked."""
    quantile = ndtri((1 + level) / 2)
    squares, spread = _residual_moments(logits.detach(), labels, 1 / temperature)
    if temperature in LIMITS or spread == 0:
        return 0.0, math.inf
    half = quantile * math.sqrt(squares) / spread * temperature
    return temperature * math.exp(-half), temperature * math.exp(half)


# --- another prior: known, so that nothing is fitted ---


def change_prior(probs, *, old, new) -> Tensor:
    """(n, K) float64 probabilities where the classes occur with other shares.

        p'_k = p_k new_k / old_k, divided by the sum over k

    By Bayes' rule the exact posterior under the prior `old` becomes that under `new`, as long as
    the images *of* each class stay the same.

    probs (n, K); old (K,) positive, new (K,): shares of the classes, of sum 1. Raises ValueError
    for shares that are none, and for a class that `old` does not have.
    Source: Saerens et al. 2002, equation 2.4.

    >>> change_prior([[0.5, 0.5]], old=[0.8, 0.2], new=[0.5, 0.5])[0].tolist()  # .5/.8 : .5/.2
    [0.2, 0.8]
    """
    probs = validate.probs(probs)
    weighted = probs.double() * _prior_ratio(old, new, probs)
    return weighted / weighted.sum(dim=1, keepdim=True)


def logit_adjustment(logits, *, old, new) -> Tensor:
    """Logits (n, K) for another prior: z_k + log(new_k / old_k), the prior correction.

    Their softmax is `change_prior` of the softmax of `logits`. Arguments and errors as there;
    `new` must be positive too, for no logit may be minus infinity.
    Source: Menon et al. 2021, equation 8, with tau = 1.

    >>> z = logit_adjustment(torch.zeros(1, 2), old=[0.8, 0.2], new=[0.5, 0.5])
    >>> [round(p, 4) for p in z.softmax(dim=1)[0].tolist()]
    [0.2, 0.8]
    """
    logits = validate.logits(logits)
    ratio = _prior_ratio(old, new, logits)
    if bool((ratio == 0).any()):
        raise ValueError(f"new must be positive for logits, got {new}; use change_prior")
    return logits + ratio.log().to(logits)


def _prior_ratio(old, new, like: Tensor) -> Tensor:
    """(K,) float64 new / old on the device of `like` (n, K)."""
    classes = like.shape[1]
    old, new = (validate.distribution(n, v, classes) for n, v in (("old", old), ("new", new)))
    if bool((old == 0).any()):
        absent = (old == 0).nonzero()[:, 0].tolist()
        raise ValueError(f"old must be positive, got 0 for class {absent}; leave the class out")
    return (new / old).to(like.device)


# --- the guard against scoring what was fitted ---


class _Seen:
    """What a calibrator remembers of the logits it was fitted on: a hash, and where they lie.

    The logits themselves are not kept. Rows of one memory are told by their addresses for as long
    as that memory lives; copies of all rows are told by the hash, in another process too.
    """

    def __init__(self, logits: Tensor | None = None, given: object = None):
        self.classes = None if logits is None else logits.shape[1]
        self._memory = None
        if logits is not None:
            self._shape, self._dtype, self._hash = logits.shape, logits.dtype, _hash(logits)
            self._rows, self._device = _row_addresses(logits), logits.device
            self._memory = _memory(given)

    def check(self, logits: Tensor) -> None:
        """Raises ValueError for another number of classes, LeakageError for what was seen."""
        if self.classes is None:
            return
        if logits.shape[1] != self.classes:
            raise ValueError(
                f"logits must have the {self.classes} classes that were fitted, "
                f"got shape {tuple(logits.shape)}"
            )
        copied = logits.shape == self._shape and _hash(logits.to(self._dtype)) == self._hash
        if copied or self._shares_rows(logits):
            raise LeakageError(
                "logits hold the very data that the calibrator was fitted on, so any score would "
                "flatter it; pass test logits"
            )

    def _shares_rows(self, logits: Tensor) -> bool:
        """Whether the two are views that hold a common row of one memory, which still lives."""
        if self._memory is None or self._memory() is None or logits.device != self._device:
            return False
        (first, step, count), new = self._rows, _row_addresses(logits)
        old = first + step * np.arange(count)
        new = new[0] + new[1] * np.arange(new[2])
        return bool(new[0] <= old[-1] and old[0] <= new[-1] and np.intersect1d(new, old).size)

    def __getstate__(self) -> dict:
        return vars(self) | {"_memory": None}  # an address means nothing elsewhere


def _row_addresses(matrix: Tensor) -> tuple[int, int, int]:
    """The address of the first row, the distance of two rows in bytes, and the number of rows."""
    return matrix.data_ptr(), matrix.stride(0) * matrix.element_size(), len(matrix)


def _memory(given: object) -> Callable[[], object] | None:
    """A way to ask whether the memory of a tensor or array still lives; None for other types."""
    if isinstance(given, Tensor):
        watched = StorageWeakRef(given.untyped_storage())
        return lambda: None if watched.expired() else watched
    while isinstance(getattr(given, "base", None), np.ndarray):
        given = given.base
    return weakref.ref(given) if isinstance(given, np.ndarray) else None


def _hash(logits: Tensor) -> bytes:
    """Of all values, in the order of rows; 0 and -0 are one."""
    found = hashlib.blake2b(digest_size=16)
    for part in logits.detach().split(HASHED_ROWS):  # no second copy of them all
        found.update((part + 0).contiguous().cpu().view(torch.uint8).numpy())
    return found.digest()


# --- one temperature ---


def _nll_temperature(logits: Tensor, labels: Tensor, low: float, high: float) -> float:
    """The T in [low, high] of the least NLL; warns where the least lies outside."""
    if bool((logits == logits[:, :1]).all()):
        _warn("every row of logits is constant, so no temperature matters; keeping T = 1")
        return 1.0
    at_zero, at_infinity = _limiting_slopes(logits, labels)
    if at_infinity <= 0:
        return _clamped(low, "the logits separate the labels, so the best temperature is 0")
    if at_zero >= 0:
        return _clamped(high, "the logits do not favour the labels: the best T is infinite")
    bounds = (-math.log(high), -math.log(low))
    step, start, width = math.ceil(len(logits) / WARM_START_ROWS), 0.0, 0.5
    if step > 1:  # some rows say where to look
        start = _log_beta(logits[::step], labels[::step], start, width, bounds)
        width = 0.02
    log_beta = _log_beta(logits, labels, start, width, bounds)
    if log_beta in bounds:
        return _clamped(math.exp(-log_beta), "the best temperature lies outside the limits")
    return math.exp(-log_beta)


def _limiting_slopes(logits: Tensor, labels: Tensor) -> tuple[float, float]:
    """Slope of the mean NLL in beta = 1 / T at beta = 0 and at infinity: E z - z_y, max z - z_y."""
    at_zero = at_infinity = 0.0
    for z, label in _blocks(logits, labels):
        of_label = z.gather(1, label[:, None])[:, 0]
        at_zero += (z.mean(1) - of_label).sum().item()
        at_infinity -= of_label.sum().item()  # the largest of a row is 0 here
    return at_zero / len(logits), at_infinity / len(logits)


def _log_beta(
    logits: Tensor, labels: Tensor, start: float, width: float, bounds: tuple[float, float]
) -> float:
    """Root in u = log(1 / T) of the slope of the NLL, which rises with u; a bound if it has none.

    Looks first within `width` of `start`, then ever further away.
    """
    slope = functools.cache(lambda u: _slope(logits, labels, math.exp(u)))
    low, high = (float(np.clip(start + side, *bounds)) for side in (-width, width))
    while slope(low) > 0 and low > bounds[0]:
        low, high, width = max(low - 4 * width, bounds[0]), low, 4 * width
    while slope(high) < 0 and high < bounds[1]:
        low, high, width = high, min(high + 4 * width, bounds[1]), 4 * width
    if slope(low) >= 0 or slope(high) <= 0:
        return low if slope(low) >= 0 else high
    return brentq(slope, low, high, xtol=1e-12)


def _slope(logits: Tensor, labels: Tensor, beta: float) -> float:
    """d/dbeta of sum_i -log softmax(beta z_i)[y_i], which is sum_i E z - z_y.

    In blocks, which need no float64 copy of all logits.
    """
    total = torch.zeros((), dtype=torch.float64, device=logits.device)
    for z, label in _blocks(logits, labels):
        weight = (beta * z).exp_()
        scale = weight.sum(1)
        mean = weight.mul_(z).sum(1) / scale
        total += (mean - z.gather(1, label[:, None])[:, 0]).sum()
    return total.item()


def _residual_moments(logits: Tensor, labels: Tensor, beta: float) -> tuple[float, float]:
    """Sums over the rows of (E z - z_y)^2 and of Var z under softmax(beta z), in blocks."""
    total = torch.zeros(2, dtype=torch.float64, device=logits.device)
    for z, label in _blocks(logits, labels):
        share = (beta * z).softmax(1)
        weighted = share * z
        mean = weighted.sum(1)
        residual = mean - z.gather(1, label[:, None])[:, 0]
        total[0] += residual.square().sum()
        total[1] += (weighted.mul_(z).sum(1) - mean.square()).sum()
    return total[0].item(), total[1].item()


def _blocks(logits: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows less their largest logit, in float64, that stay in the processor's cache."""
    elements = 2**16 if logits.device.type == "cpu" else 2**24
    rows = max(1, elements // logits.shape[1])
    for part, label in zip(logits.split(rows), labels.split(rows), strict=True):
        z = part.double()
        yield z - z.amax(1, keepdim=True), label


def _ece_temperature(logits: Tensor, labels: Tensor, bins: int) -> float:
    """The T of the grid 0.1 ... 10.0 with the least ECE, the lowest on ties."""
    grid = [tenths / 10 for tenths in range(1, 101)]
    below_top = logits.double() - logits.double().amax(1, keepdim=True)
    correct = logits.argmax(1) == labels

    def ece(temperature: float) -> float:
        confidence = 1 / (below_top / temperature).exp_().sum(1)  # T leaves the argmax alone
        return metrics.reliability_of(confidence, correct, bins=bins).error()

    errors = [ece(temperature) for temperature in grid]
    best = grid[errors.index(min(errors))]
    if best in (grid[0], grid[-1]):
        return _clamped(best, "the least ECE lies at an end of the grid")
    return best


def _clamped(temperature: float, reason: str) -> float:
    _warn(f"{reason}; clamped to T = {temperature:g}: look at the calibration data before use")
    return temperature


def _warn(message: str) -> None:
    """Warn at the caller's own line, the first one outside this file."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


# --- linear maps ---


def _start_scale(z: Tensor, labels: Tensor) -> Tensor:
    """1 / T of temperature scaling, a good start for richer maps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the richer map warns for itself
        return 1 / z.new_tensor(_nll_temperature(z, labels, 1e-2, 1e2))


def _minimise(
    loss: Callable[..., Tensor],
    start: Tensor,
    labels: Tensor,
    classes: int,
    bounds: Sequence[tuple] | None = None,
) -> Tensor:
    """The parameters of the least loss, a smooth convex function, by L-BFGS in float64.

    loss: of the parameters, and of some rows of the data alone if these are given.
    bounds: (low, high) of each parameter, each of them 0 or None (no bound).
    """
    absent = (torch.bincount(labels, minlength=classes) == 0).nonzero()[:, 0].tolist()
    if absent:
        _warn(f"labels hold no sample of class {absent}: its bias has no finite best value")
    with one_thread(len(labels) * classes < SEVERAL_THREADS):
        return _least(loss, start, labels, bounds)


def _least(
    loss: Callable[..., Tensor], start: Tensor, labels: Tensor, bounds: Sequence[tuple] | None
) -> Tensor:
    some = slice(0, None, math.ceil(len(labels) / UNIT_ROWS))
    bounded = torch.tensor([low is not None for low, _ in bounds or []], dtype=torch.bool)
    units = _units(lambda moved: loss(moved, some), start, bounded.to(start.device))
    unit = units is None
    first = start.flatten() if unit else torch.linalg.solve(units, start.flatten())

    def parameters_of(steps: np.ndarray) -> Tensor:
        flat = start.new_tensor(steps)
        return (flat if unit else units @ flat).view_as(start)

    def value_and_gradient(steps: np.ndarray) -> tuple[float, np.ndarray]:
        parameters = parameters_of(steps).requires_grad_()
        value = loss(parameters)
        (gradient,) = torch.autograd.grad(value, parameters)
        flat = gradient.flatten()
        return value.item(), (flat if unit else units.T @ flat).cpu().numpy()

    started = time.monotonic()

    def lose_patience(_) -> None:
        if time.monotonic() - started > PATIENCE:
            raise StopIteration

    options = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-9}
    result = minimize(
        value_and_gradient,
        first.cpu().numpy(),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=options,
        callback=lose_patience,
    )
    if result.status == STOPPED:
        _warn(
            f"stopped after {PATIENCE:g} s and {result.nit} steps, at a loss of {result.fun:.5g} "
            f"that may not be the least: {start.numel():,} parameters on {len(labels):,} rows are "
            f"many; fit on fewer rows, or one temperature"
        )
    if result.fun < 1e-6:
        _warn("the logits separate the labels: the best map is infinitely steep; stopped early")
    return parameters_of(result.x)


def _units(loss: Callable[[Tensor], Tensor], start: Tensor, bounded: Tensor) -> Tensor | None:
    """Columns of steps that are equally steep at the start, (P, P): logits are strongly correlated.

    bounded: (P,) which parameters have a bound, or (0,); each of their steps moves one of them
    alone, and the free ones along with it so that the loss is least. Without such units L-BFGS
    takes thousands of passes. None for many parameters, of which the Hessian would cost more.
    """
    count = start.numel()
    if count > MOST_UNITS:
        return None
    flat = start.flatten()
    hessian = torch.autograd.functional.hessian(
        lambda moved: loss(moved.view_as(start)), flat, vectorize=True
    )
    floor = (1e-8 * hessian.diagonal().mean()).clamp(min=1e-12)  # where the loss is flat
    hessian += floor * torch.eye(count).to(hessian)
    fixed = bounded.nonzero()[:, 0]
    free = (~bounded).nonzero()[:, 0] if len(bounded) else torch.arange(count)
    units = torch.zeros_like(hessian)
    lower = torch.linalg.cholesky(hessian[free][:, free])
    units[free[:, None], free] = torch.linalg.inv(lower).T
    if len(fixed):
        across = hessian[free][:, fixed]
        along = torch.cholesky_solve(across, lower)
        left = hessian[fixed, fixed] - (across * along).sum(0)
        units[fixed, fixed] = left.rsqrt()
        units[free[:, None], fixed] = -along * left.rsqrt()
    return units


# --- an ensemble of temperatures ---


def _log_parts(logits: Tensor, temperature: float) -> Tensor:
    """Log-probabilities (3, n, K) of the parts: cooled, as they are, uniform; in float64."""
    z = logits.double()
    parts = [(z / temperature).log_softmax(1), z.log_softmax(1), torch.zeros_like(z).log_softmax(1)]
    return torch.stack(parts)


def _best_weights(of_label: Tensor) -> Tensor:
    """The weights (3,) of the least NLL, given log-probabilities (3, n) of the labels."""

    def value_and_gradient(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = (of_label.new_tensor(weights).log()[:, None] + of_label).logsumexp(0)
        gradient = -(of_label - mixed).exp().mean(1)
        return -mixed.mean().item(), gradient.cpu().numpy()

    result = minimize(
        value_and_gradient,
        np.array([0.8, 0.1, 0.1]),
        jac=True,
        method="SLSQP",
        bounds=[(LEAST_WEIGHT, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    weights = of_label.new_tensor(result.x).clamp(min=LEAST_WEIGHT)
    return weights / weights.sum()


# --- class against the rest ---


def _one_vs_rest(logits: Tensor) -> Tensor:
    """Softmax scores by class, (K, n) in float64; (1, n), class 1 alone, for two classes."""
    scores = logits.detach().double().softmax(dim=1).T.contiguous()
    return scores[1:].contiguous() if len(scores) == 2 else scores


def _log_odds_parts(logits: Tensor) -> Tensor:
    """log s and -log(1 - s) of the scores of `_one_vs_rest`, (2, C, n): exact where s is near 1."""
    log_s = logits.detach().double().log_softmax(dim=1)
    top = log_s.argmax(dim=1, keepdim=True)
    others = log_s.scatter(1, top, -math.inf).logsumexp(dim=1, keepdim=True)
    log_rest = torch.log1p(-log_s.exp()).scatter(1, top, others)
    parts = torch.stack([log_s.T, -log_rest.T])
    return parts[:, 1:] if logits.shape[1] == 2 else parts


def _log_odds(parts: Tensor, weights: Tensor) -> Tensor:
    """Recalibrated log-odds (C, n) from `_log_odds_parts` and rows a, b, c: (3, C)."""
    return (weights[:2, :, None] * parts).sum(0) + weights[2][:, None]


def _targets(labels: Tensor, classes: int) -> Tensor:
    hits = one_hot(labels, classes).T.double()
    return hits[1:] if classes == 2 else hits


def _to_logits(scores: Tensor, like: Tensor) -> Tensor:
    """Scores (C, n) to normalised log-probabilities (n, K), zeros lifted to a finite floor."""
    scores = scores.T
    if scores.shape[1] == 1:
        scores = torch.cat([1 - scores, scores], dim=1)
    total = scores.sum(1, keepdim=True)
    scores = torch.where(total > 0, scores / total, 1 / scores.shape[1])  # all 0: know nothing
    return scores.to(like.dtype).clamp(min=torch.finfo(like.dtype).tiny).log()


def _bin(scores: Tensor, edges: Tensor) -> Tensor:
    """Index (C, n) of the bin (lo, hi] of each score (C, n), given edges (C, bins + 1)."""
    return torch.searchsorted(edges[:, 1:-1].contiguous(), scores)


def _isotonic(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    fitted = IsotonicRegression().fit(x.cpu().numpy(), y.cpu().numpy())
    return x.new_tensor(fitted.X_thresholds_), x.new_tensor(fitted.y_thresholds_)


def _interpolate(s: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Linear interpolation through (x, y), constant beyond both ends."""
    x, y = x.to(s), y.to(s)
    if len(x) == 1:
        return y.expand_as(s)
    right = torch.searchsorted(x, s).clamp(1, len(x) - 1)
    share = ((s - x[right - 1]) / (x[right] - x[right - 1])).clamp(0, 1)
    return torch.lerp(y[right - 1], y[right], share)
