"""Linear maps of logits, or of the logarithms of scores: with a bias, vector, matrix, beta."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from operator import attrgetter

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid

from calibkit import validate
from calibkit.recalibration.binned import targets
from calibkit.recalibration.calibrator import Calibrator, warn
from calibkit.recalibration.modules import Affine, Map, cooled
from calibkit.recalibration.temperature import best_temperature
from calibkit.threads import one_thread

ALL = slice(None)
MOST_UNITS, UNIT_ROWS = 500, 500  # parameters of which, and rows on which, a Hessian is taken
PATIENCE = 60.0  # seconds of computing that a fit of many parameters may take
SEVERAL_THREADS = 1_000_000  # logits below which one thread is as fast, or much faster
PENALTIES = (0.001, 0.03, 0.3, 1.0, math.inf)  # of a matrix beside a temperature
STOPPED = 99  # scipy's word for it


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

    temperature_ = property(attrgetter("temperature"))
    bias_ = property(attrgetter("bias"))

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z, classes = logits.double(), logits.shape[1]
        start = torch.cat([_start_scale(z, labels, weights)[None], z.new_zeros(classes)])

        def loss(parameters: Tensor, rows: slice = ALL) -> Tensor:
            return mean_nll(z[rows] * parameters[0] + parameters[1:], labels, weights, rows)

        best = _minimise(loss, start, labels, classes, positive=1)
        slope = best[0].item()
        self.temperature = 1 / slope if slope > 0 else math.inf
        self.bias = best[1:] - best[1:].mean()

    def _apply(self, logits: Tensor) -> Tensor:
        return cooled(logits, self.temperature) + self.bias.to(logits)

    def _module(self) -> Map:
        return Affine(temperature=self.temperature, weight=torch.ones(1), bias=self.bias)


class VectorScaler(Calibrator):
    """Vector scaling: logits w * z + b, one weight and one bias a class, of the least NLL.

    `fit` sets `weight` (K,) and `bias` (K,), float64, the bias of mean 0.
    Source: Guo et al. 2017, section 4.2.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat_interleave(4, dim=0)
    >>> scaler = VectorScaler().fit(z, [0, 0, 0, 1, 1, 1, 1, 0])  # 3 of 4 right either way
    >>> [round(p, 4) for p in scaler.probs(torch.tensor([[1.0, 0.0]]))[0].tolist()]
    [0.75, 0.25]
    """

    weight_, bias_ = property(attrgetter("weight")), property(attrgetter("bias"))

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z, classes = logits.double(), logits.shape[1]
        start = torch.stack(
            [_start_scale(z, labels, weights).expand(classes), z.new_zeros(classes)]
        )

        def loss(parameters: Tensor, rows: slice = ALL) -> Tensor:
            weight, bias = parameters
            return mean_nll(z[rows] * weight + bias, labels, weights, rows)

        self.weight, bias = _minimise(loss, start, labels, classes)
        self.bias = bias - bias.mean()

    def _apply(self, logits: Tensor) -> Tensor:
        return logits * self.weight.to(logits) + self.bias.to(logits)

    def _module(self) -> Map:
        return Affine(temperature=1.0, weight=self.weight, bias=self.bias)


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

    weight_, bias_ = property(attrgetter("weight")), property(attrgetter("bias"))

    def __init__(self, *, off_diagonal: float = 0.0, intercept: float = 0.0):
        for name, penalty in (("off_diagonal", off_diagonal), ("intercept", intercept)):
            validate.number(name, penalty, 0, math.inf, open_high=True)
        self.off_diagonal, self.intercept = off_diagonal, intercept

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z, classes = logits.double(), logits.shape[1]
        eye = torch.eye(classes, dtype=z.dtype, device=z.device)
        start = torch.cat([eye * _start_scale(z, labels, weights), z.new_zeros(1, classes)])

        def loss(parameters: Tensor, rows: slice = ALL) -> Tensor:
            weight, bias = parameters[:classes], parameters[classes]
            off = (weight * (1 - eye)).square().sum() / (classes * (classes - 1))
            penalty = self.off_diagonal * off + self.intercept * bias.square().mean()
            return mean_nll(z[rows] @ weight.T + bias, labels, weights, rows) + penalty

        best = _minimise(loss, start, labels, classes)
        self.weight, self.bias = best[:classes], best[classes]

    def _apply(self, logits: Tensor) -> Tensor:
        return logits @ self.weight.to(logits).T + self.bias.to(logits)

    def _module(self) -> Map:
        return Affine(temperature=1.0, weight=self.weight, bias=self.bias)


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

    temperature_ = property(attrgetter("temperature"))
    penalty_ = property(attrgetter("penalty"))
    weight_, bias_ = property(attrgetter("weight")), property(attrgetter("bias"))

    def __init__(self, *, penalties: Sequence[float] = PENALTIES, folds: int = 5, seed: int = 0):
        for penalty in penalties:
            validate.number("penalties", penalty, 0, math.inf, open_low=True)
        if not len(penalties):
            raise ValueError("penalties must hold at least one number, got none")
        self.penalties = penalties
        self.folds = validate.integer("folds", folds, 2)
        self.seed = seed

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        z, classes = logits.double(), logits.shape[1]
        scale = _start_scale(z, labels, weights)
        self.temperature = 1 / scale.item()
        self.penalty = self._best_penalty(z, labels, weights)
        both = self._shrunk(z * scale, labels, weights, self.penalty)
        self.weight = torch.eye(classes, dtype=z.dtype, device=z.device) + both[:classes]
        self.bias = both[classes]

    def _best_penalty(self, z: Tensor, labels: Tensor, weights: Tensor | None) -> float:
        if len(self.penalties) == 1 or len(z) == 1:
            return max(self.penalties)
        order = torch.randperm(len(z), generator=validate.generator(self.seed)).to(z.device)
        parts = order.tensor_split(min(self.folds, len(z)))
        lost = dict.fromkeys(self.penalties, 0.0)
        for place, part in enumerate(parts):
            rest = torch.cat([*parts[:place], *parts[place + 1 :]])
            mine, theirs = (None, None) if weights is None else (weights[part], weights[rest])
            # the part left out has no say in T either
            u = z * _start_scale(z[rest], labels[rest], theirs)
            for penalty in self.penalties:
                moved = _moved(u[part], self._shrunk(u[rest], labels[rest], theirs, penalty))
                if mine is None:
                    lost[penalty] += cross_entropy(moved, labels[part], reduction="sum").item()
                else:
                    lost[penalty] += (mine @ _nll(moved, labels[part])).item()
        return min(lost, key=lost.__getitem__)

    @staticmethod
    def _shrunk(z: Tensor, labels: Tensor, weights: Tensor | None, penalty: float) -> Tensor:
        """The rows of A and then b, (K + 1, K)."""
        start = z.new_zeros(z.shape[1] + 1, z.shape[1])
        if penalty == math.inf:
            return start

        def loss(both: Tensor, rows: slice = ALL) -> Tensor:
            lost = mean_nll(_moved(z[rows], both), labels, weights, rows)
            return lost + penalty * both.square().sum()

        with one_thread(z.numel() < SEVERAL_THREADS):
            return least(loss, start, len(labels), 0)

    def _apply(self, logits: Tensor) -> Tensor:
        z = cooled(logits, self.temperature)
        return z @ self.weight.to(z).T + self.bias.to(z)

    def _module(self) -> Map:
        return Affine(temperature=self.temperature, weight=self.weight, bias=self.bias)


def _moved(z: Tensor, both: Tensor) -> Tensor:
    """z + A z + b for the rows of A and then b."""
    return z + z @ both[:-1].T + both[-1]


class BetaCalibrator(Calibrator):
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

    weights_ = property(attrgetter("weights"))

    def _fit(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> None:
        parts, hits = _log_odds_parts(logits), targets(labels, logits.shape[1])
        scale = _start_scale(logits.double(), labels, weights).expand(len(hits))
        start = torch.stack([scale, scale, torch.zeros_like(scale)])

        def loss(abc: Tensor, rows: slice = ALL) -> Tensor:
            odds = _log_odds(parts[:, :, rows], abc)
            share = None if weights is None else weights[rows] / weights[rows].mean()
            return binary_cross_entropy_with_logits(odds, hits[:, rows], share)

        self.weights = _minimise(loss, start, labels, logits.shape[1], positive=2 * len(hits)).T

    def _apply(self, logits: Tensor) -> Tensor:
        odds = beta_odds(logits, self.weights.to(logits.device))
        return logsigmoid(odds).log_softmax(dim=0).T.to(logits.dtype)

    def _module(self) -> Map:
        return Beta(weights=self.weights)


class Beta(Map):
    """log q / (1 - q) = a log s - b log(1 - s) + c, class by class against the rest."""

    weights: Tensor

    def forward(self, logits: Tensor) -> Tensor:
        odds = beta_odds(logits, self.weights.double())
        log_q = -torch.logaddexp(-odds, torch.zeros_like(odds))  # ONNX underflows in logsigmoid
        return log_q.log_softmax(dim=0).T.to(logits.dtype)


def beta_odds(logits: Tensor, weights: Tensor) -> Tensor:
    """Recalibrated log-odds (K, n) float64 of logits (n, K), by a, b, c of each class (C, 3)."""
    odds = _log_odds(_log_odds_parts(logits), weights.T)
    return torch.cat([-odds, odds]) if len(odds) == 1 else odds


def _log_odds_parts(logits: Tensor) -> Tensor:
    """log s and -log(1 - s) of the softmax scores s, (2, C, n): exact where s is near 1."""
    log_s = logits.detach().double().log_softmax(dim=1)
    top = log_s.argmax(dim=1, keepdim=True)
    others = log_s.scatter(1, top, -math.inf).logsumexp(dim=1, keepdim=True)
    log_rest = torch.log1p(-log_s.exp()).scatter(1, top, others)
    parts = torch.stack([log_s.T, -log_rest.T])
    return parts[:, 1:] if logits.shape[1] == 2 else parts


def _log_odds(parts: Tensor, weights: Tensor) -> Tensor:
    """Recalibrated log-odds (C, n) from `_log_odds_parts` and rows a, b, c: (3, C)."""
    return (weights[:2, :, None] * parts).sum(0) + weights[2][:, None]


def mean_nll(z: Tensor, labels: Tensor, weights: Tensor | None = None, rows: slice = ALL) -> Tensor:
    """The weighted mean NLL of logits z (m, K), which are those of some `rows` of the labels."""
    if weights is None:
        return cross_entropy(z, labels[rows])
    return weights[rows] @ _nll(z, labels[rows]) / weights[rows].sum()


def _nll(z: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(z, labels, reduction="none")


def _start_scale(z: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """1 / T of temperature scaling, a good start for richer maps."""
    temperature, _ = best_temperature(z, labels, 1e-2, 1e2, weights)  # the richer map warns itself
    return 1 / z.new_tensor(temperature)


def _minimise(
    loss: Callable[..., Tensor], start: Tensor, labels: Tensor, classes: int, positive: int = 0
) -> Tensor:
    """The parameters of the least loss, a smooth convex function, by L-BFGS in float64.

    loss: of the parameters, and of some rows of the data alone if these are given.
    positive: how many parameters, the first ones, may not fall below 0.
    """
    absent = (torch.bincount(labels, minlength=classes) == 0).nonzero()[:, 0].tolist()
    if absent:
        warn(f"labels hold no sample of class {absent}: its bias has no finite best value")
    with one_thread(len(labels) * classes < SEVERAL_THREADS):
        return least(loss, start, len(labels), positive)


def least(loss: Callable[..., Tensor], start: Tensor, n: int, positive: int) -> Tensor:
    """As `_minimise`, on `n` rows, without a look at the labels and on as many threads as are."""
    some, flat = slice(0, None, math.ceil(n / UNIT_ROWS)), start.flatten()
    units = _units(lambda moved: loss(moved.view_as(start), some), flat, positive)
    first = flat if units is None else torch.linalg.solve(units, flat)
    began = time.thread_time()

    def parameters_of(steps: Tensor) -> Tensor:
        return (steps if units is None else units @ steps).view_as(start)

    def value_and_gradient(numbers: np.ndarray) -> tuple[float, np.ndarray]:
        steps = start.new_tensor(numbers).requires_grad_()
        value = loss(parameters_of(steps))
        return value.item(), torch.autograd.grad(value, steps)[0].cpu().numpy()

    def lose_patience(_: object) -> None:
        if time.thread_time() - began > PATIENCE:
            raise StopIteration

    result = minimize(
        value_and_gradient,
        first.cpu().numpy(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * positive + [(None, None)] * (len(flat) - positive),
        options={"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-9},
        callback=lose_patience,
    )
    if result.status == STOPPED:
        warn(
            f"stopped after {PATIENCE:g} s of computing and {result.nit} steps, at a loss of "
            f"{result.fun:.5g} that may not be the least: {len(flat):,} parameters on {n:,} rows "
            f"are many; fit on fewer rows, or one temperature"
        )
    if result.fun < 1e-6:
        warn("the logits separate the labels: the best map is infinitely steep; stopped early")
    return parameters_of(start.new_tensor(result.x))


def _units(loss: Callable[[Tensor], Tensor], start: Tensor, positive: int) -> Tensor | None:
    """Columns of steps that are equally steep at the start, (P, P): logits are strongly correlated.

    A step of a parameter that is bounded moves no other such, but the free ones along with it so
    that the loss is least. Without such units L-BFGS takes thousands of passes. None for many
    parameters, of which the Hessian would cost more.
    """
    if len(start) > MOST_UNITS:
        return None
    hessian = torch.autograd.functional.hessian(loss, start, vectorize=True)
    floor = (1e-8 * hessian.diagonal().mean()).clamp(min=1e-12)  # where the loss is flat
    hessian += floor * torch.eye(len(start)).to(hessian)
    bounded, free = slice(0, positive), slice(positive, None)
    lower = torch.linalg.cholesky(hessian[free, free])
    across = hessian[free, bounded]
    along = torch.cholesky_solve(across, lower)
    size = (hessian.diagonal()[bounded] - (across * along).sum(0)).rsqrt()
    units = torch.zeros_like(hessian)
    units[free, free] = torch.linalg.inv(lower).T
    units[bounded, bounded] = size.diag()
    units[free, bounded] = -along * size
    return units
