"""The numbers of a map that give the least NLL."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import cross_entropy

from calibkit.recalibration.calibrator import warn
from calibkit.recalibration.temperature import best_temperature

ALL = slice(None)
MOST_UNITS, UNIT_ROWS = 500, 500  # parameters of which, and rows on which, a Hessian is taken
PATIENCE = 60.0  # seconds of computing that a fit of many parameters may take
STOPPED = 99  # scipy's word for it


def mean_nll(z: Tensor, labels: Tensor, weights: Tensor | None = None, rows: slice = ALL) -> Tensor:
    """The weighted mean NLL of logits z (m, K), which are those of some `rows` of the labels."""
    if weights is None:
        return cross_entropy(z, labels[rows])
    each = cross_entropy(z, labels[rows], reduction="none")
    return weights[rows] @ each / weights[rows].sum()


def start_scale(z: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
    """1 / T of temperature scaling, a good start for richer maps."""
    temperature, _ = best_temperature(z, labels, 1e-2, 1e2, weights)  # the richer map warns itself
    return 1 / z.new_tensor(temperature)


def need_all_classes(labels: Tensor, classes: int) -> None:
    """Warn of classes without a sample, whose bias runs away."""
    absent = (torch.bincount(labels, minlength=classes) == 0).nonzero()[:, 0].tolist()
    if absent:
        warn(f"labels hold no sample of class {absent}: its bias has no finite best value")


def least(loss: Callable[..., Tensor], start: Tensor, n: int, positive: int) -> Tensor:
    """The parameters of the least loss, a smooth convex function of n rows, by L-BFGS in float64.

    loss: of the parameters, and of some rows of the data alone if these are given.
    positive: how many parameters, the first ones, may not fall below 0.
    """
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
