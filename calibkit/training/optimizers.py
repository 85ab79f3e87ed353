"""SGD and AdamW as torch has them, for one model or for a stack whose runs have own settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from calibkit.training.recipe import Recipe

BETAS, EPS = (0.9, 0.999), 1e-8  # of AdamW


def optimizer(parameters: Iterable[nn.Parameter], recipes: Sequence[Recipe]) -> One | _Stacked:
    """The optimiser of the recipes, with `zero_grad()` and `step(rates)`, one rate a run.

    With several recipes the parameters hold the runs along their first dimension.
    """
    trained = [p for p in parameters if p.requires_grad]
    if len(recipes) == 1:
        return One(trained, recipes[0])
    return (StackedSGD if recipes[0].optimizer == "sgd" else StackedAdamW)(trained, recipes)


class One:
    """torch's own optimiser of one model."""

    def __init__(self, parameters: list[nn.Parameter], recipe: Recipe):
        decay = {"lr": recipe.lr, "weight_decay": recipe.weight_decay}
        if recipe.optimizer == "sgd":
            self.inner = torch.optim.SGD(parameters, momentum=recipe.momentum, **decay)
        else:
            self.inner = torch.optim.AdamW(parameters, betas=BETAS, eps=EPS, **decay)
        self.zero_grad: Callable[[], None] = self.inner.zero_grad

    def step(self, rates: Sequence[float]) -> None:
        self.inner.param_groups[0]["lr"] = rates[0]
        self.inner.step()


class _Stacked:
    """What both stacked optimisers share: one state tensor, or more, beside each parameter."""

    def __init__(self, parameters: list[nn.Parameter], recipes: Sequence[Recipe]):
        self.parameters, self.recipes, self.steps = parameters, recipes, 0

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rates: Sequence[float]) -> None:
        self.steps += 1
        self._update(rates)


class StackedSGD(_Stacked):
    """SGD with momentum, where every run has its own rate, momentum and decay."""

    def _update(self, rates: Sequence[float]) -> None:
        momentum = [recipe.momentum for recipe in self.recipes]
        decay = [recipe.weight_decay for recipe in self.recipes]
        gradients = [_add(p.grad, p, decay) for p in self.parameters]
        if self.steps == 1:
            self.buffers = gradients
        else:
            for buffer, gradient in zip(self.buffers, gradients, strict=True):
                _scale(buffer, momentum).add_(gradient)
        for parameter, buffer in zip(self.parameters, self.buffers, strict=True):
            _add(parameter, buffer, [-rate for rate in rates])


class StackedAdamW(_Stacked):
    """AdamW, where every run has its own rate and decay.

    Source: Loshchilov & Hutter 2019, algorithm 2.
    """

    def __init__(self, parameters: list[nn.Parameter], recipes: Sequence[Recipe]):
        super().__init__(parameters, recipes)
        self.means = [torch.zeros_like(p) for p in parameters]
        self.squares = [torch.zeros_like(p) for p in parameters]

    def _update(self, rates: Sequence[float]) -> None:
        first, second = (1 - beta**self.steps for beta in BETAS)  # the corrections of the bias
        pairs = list(zip(rates, self.recipes, strict=True))
        shrink = [1 - rate * recipe.weight_decay for rate, recipe in pairs]
        for p, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            mean.lerp_(p.grad, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(p.grad, p.grad, value=1 - BETAS[1])
            change = mean / (square.sqrt() / second**0.5 + EPS)
            _add(_scale(p, shrink), change, [-rate / first for rate in rates])


def _scale(tensor: Tensor, factors: list[float]) -> Tensor:
    """Multiply each run by its factor; one number where the runs agree, which is faster."""
    if len(set(factors)) == 1:
        return tensor.mul_(factors[0])
    return tensor.mul_(_per_run(factors, tensor))


def _add(tensor: Tensor, other: Tensor, factors: list[float]) -> Tensor:
    """Add to each run its factor times `other`."""
    if len(set(factors)) == 1:
        return tensor.add_(other, alpha=factors[0]) if factors[0] else tensor
    return tensor.addcmul_(other, _per_run(factors, tensor))


def _per_run(values: list[float], like: Tensor) -> Tensor:
    numbers = torch.tensor(values, dtype=like.dtype, device=like.device)
    return numbers.reshape(-1, *[1] * (like.ndim - 1))
