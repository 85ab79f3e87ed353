"""Temperature."""

import math
import warnings
from collections.abc import Callable

import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.engine import exercise
from calibkit.recalibration import TemperatureScaler

# fmt: off
LOW, HIGH = 0.05, 50.0  # between which the exercise looks for T

def _scored(n: int, classes: int, steep: float, seed: int) -> tuple[Tensor, Tensor]:
    """Logits that are too steep by a factor, and labels of which most are the favourite."""
    generator = torch.Generator().manual_seed(seed)
    logits = steep * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    other = torch.randint(classes, (n,), generator=generator)
    return logits, torch.where(torch.rand(n, generator=generator) < 0.7, logits.argmax(1), other)

CASES = {
    "40 rows, much too sure, 4 classes": _scored(40, 4, 8.0, 0),
    "60 rows that are not sure enough, 3 classes": _scored(60, 3, 0.4, 1),
    "two classes only": _scored(24, 2, 4.0, 4),
    "50 rows, a T not far from 1, 5 classes": _scored(50, 5, 2.0, 2),
    "large logits in float32":
        tuple(part.float() if part.is_floating_point() else part for part in _scored(30, 5, 20.0, 7)),
    "40 rows, not sure enough, 6 classes": _scored(40, 6, 0.8, 11),
    "300 rows, 10 classes": _scored(300, 10, 6.0, 8),
    "a class without a label": (torch.cat([_scored(30, 3, 5.0, 9)[0], torch.full((30, 1), -2.0,
            dtype=torch.float64)], 1), _scored(30, 3, 5.0, 9)[1]),
}

def _fitted(logits: Tensor, labels: Tensor) -> float:
    with warnings.catch_warnings():  # of mistakes that send T to an end
        warnings.simplefilter("ignore")
        scaler = TemperatureScaler(limits=(LOW, HIGH)).fit(logits.double(), labels)
    return scaler.temperature

def _nll(logits: Tensor, labels: Tensor, T: float) -> float:
    return torch.nn.functional.cross_entropy(logits.double() / T, labels).item()

def _probs(logits: Tensor, T: float) -> Tensor:
    return (logits.double() / T).softmax(dim=1)

def _gap(logits: Tensor, labels: Tensor, T: float) -> float:
    return abs(metrics.signed_gap(_probs(logits, T), labels))

def _ece(logits: Tensor, labels: Tensor, T: float) -> float:
    return metrics.ece(_probs(logits, T), labels)

def _of_grid(step: float) -> Callable:
    """The T of the lowest NLL on a grid of this step."""
    grid = step * torch.arange(1, round(HIGH / step) + 1, dtype=torch.float64)
    def answer(logits: Tensor, labels: Tensor) -> Tensor:
        log_p = (logits.double() / grid[:, None, None]).log_softmax(dim=2)
        return grid[log_p[:, torch.arange(len(labels)), labels].mean(dim=1).argmax()]
    return answer

def _lowest(loss: Callable) -> Callable:
    """The T of the lowest loss: of a fine grid, and then between its neighbours."""
    def answer(logits: Tensor, labels: Tensor) -> float:
        def at(power: float) -> float:
            return loss(logits, labels, math.exp(power))
        grid = torch.linspace(-3.0, 3.9, 120).tolist()
        best = min(grid, key=at)
        width = grid[1] - grid[0]
        found = minimize_scalar(at, bounds=(best - width, best + width), method="bounded")
        return math.exp(found.x)
    return answer

@exercise(cases=CASES, tolerance=0.01, absolute=1e-4, mistakes={
    "this is 1 / T: you found the factor by which the logits are multiplied.": lambda z, y: 1 / _fitted(z, y),
    "this is log T. Take its exponential.": lambda z, y: math.log(_fitted(z, y)),
    "yours never goes below 1. The T of a network that is not sure enough does: look from 0.05 on.":
        (lambda z, y: max(1.0, _fitted(z, y)), lambda z, y: max(1.0, TemperatureScaler().fit(z.double(),
            y).temperature)),
    "this is the NLL at T. Return T itself.": lambda z, y: _nll(z, y, _fitted(z, y)),
    "this is the lower end of the search. Your loss falls with T: is the logarithm missing, or did you take "
    "the predicted class in place of the label?": lambda z, y: LOW,
    "this is the upper end of the search. Your loss falls as T rises: is a minus missing?": lambda z, y: HIGH,
    "a softmax was taken of probabilities. Divide the logits by T, then one softmax.":
        lambda z, y: _fitted(z.double().softmax(dim=1) - 1, y),
    "this is the T at which the network is as sure as it is right. Look for the lowest NLL.": _lowest(_gap),
    "this is the T of the lowest ECE, which has several low points. Look for the lowest NLL.": _lowest(_ece),
    "this is the T of the lowest Brier score. Look for the lowest NLL.":
        _lowest(lambda z, y, T: metrics.brier(_probs(z, T), y)),
    "this is the best T of a grid, which is too coarse: it must be right to 1 % of T. Move the ends nearer "
    "again and again.": [_of_grid(step) for step in (0.05, 0.1, 0.5, 1.0)]})
def fitted_temperature(logits, labels):
    """The T in [0.05, 50] with the lowest NLL of labels (n,), logits (n, K) divided by T."""
    return _fitted(logits, labels)
