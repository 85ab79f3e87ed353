"""Architectures: each at its own learning rate, and how attention mixes tokens."""

import functools
import math
import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from calibkit import metrics
from calibkit.course.check.engine import exercise
from calibkit.recalibration import TemperatureScaler


# fmt: off
def _candidates(rates: int, n: int, classes: int, steep: list[float], noise: list[float], seed: int
) -> tuple[Tensor, Tensor]:
    """Logits (rates, n, classes) that are too steep by a factor each and noisy, and labels (n,)."""
    generator = torch.Generator().manual_seed(seed)
    true = 2 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    labels = true.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    drawn = torch.randn(rates, n, classes, generator=generator, dtype=torch.float64)
    factors, spread = (torch.tensor(part, dtype=torch.float64)[:, None, None] for part in (steep, noise))
    return factors * (true + spread * drawn), labels

RATES = {
    "three rates, the best one much too sure": _candidates(3, 120, 4, [1.0, 6.0, 0.5], [1.5, 0.3, 2.0], 0),
    "three rates, 3 classes, the first one the best":
        _candidates(3, 150, 3, [4.0, 1.0, 2.0], [0.2, 1.0, 0.8], 1),
    "four rates, 10 classes": _candidates(4, 300, 10, [3.0, 0.7, 1.0, 5.0], [1.2, 0.9, 1.0, 0.5], 2),
    "two rates, two classes, the best one not sure enough":
        _candidates(2, 200, 2, [1.0, 0.3], [1.0, 0.1], 3),
    "five rates, 5 classes":
        _candidates(5, 250, 5, [2.0, 1.0, 8.0, 0.4, 3.0], [1.2, 0.9, 0.7, 0.6, 0.8], 4),
    "one rate only": _candidates(1, 100, 4, [3.0], [0.5], 5),
    "three rates, large logits in float32": tuple(part.float() if part.is_floating_point() else part
        for part in _candidates(3, 100, 4, [40.0, 90.0, 30.0], [1.0, 0.4, 0.8], 6)),
    "three rates, the last one the best": _candidates(3, 180, 6, [1.0, 0.8, 5.0], [0.8, 0.7, 0.4], 7),
}

def _temperature(logits: Tensor, labels: Tensor) -> float:
    with warnings.catch_warnings():  # of rows that nothing favours
        warnings.simplefilter("ignore")
        return TemperatureScaler().fit(logits.double(), labels).temperature

def _probs(logits: Tensor, T: float) -> Tensor:
    return (logits.double() / T).softmax(dim=-1)

def _losses(logits: Tensor, labels: Tensor, Ts: list[float]) -> Tensor:
    """The NLL of each rate at its T."""
    return torch.tensor([metrics.nll(_probs(one, T), labels) for one, T in zip(logits, Ts, strict=True)])

def _own(logits: Tensor, labels: Tensor) -> list[float]:
    return [_temperature(one, labels) for one in logits]

def _by(measure: Callable, best: Callable = min) -> Callable:
    """The rate of the best measure(probs, labels) after its own T, and that T."""
    def answer(logits: Tensor, labels: Tensor) -> list[float]:
        Ts = _own(logits, labels)
        found = [measure(_probs(one, T), labels) for one, T in zip(logits, Ts, strict=True)]
        place = found.index(best(found))
        return [place, Ts[place]]
    return answer

_right = _by(metrics.nll)

def _as_trained(logits: Tensor, labels: Tensor) -> list[float]:
    place = int(_losses(logits, labels, [1.0] * len(logits)).argmin())
    return [place, _temperature(logits[place], labels)]

def _one_for_all(logits: Tensor, labels: Tensor) -> list[float]:
    T = _temperature(logits.flatten(0, 1), labels.repeat(len(logits)))
    return [int(_losses(logits, labels, [T] * len(logits)).argmin()), T]

def _multiplied(logits: Tensor, labels: Tensor) -> list[float]:
    Ts = _own(logits, labels)
    place = int(_losses(logits, labels, [1 / T for T in Ts]).argmin())
    return [place, Ts[place]]

@exercise(cases=RATES, tolerance=0.01, absolute=1e-4, mistakes={
    "you chose by the NLL *before* the temperature. Divide the logits of each rate by its own T first.":
        _as_trained,
    "you chose by the ECE, which a poor network can have low, too. Choose by the NLL.": _by(metrics.ece),
    "you chose by the accuracy. Choose by the NLL.": _by(metrics.accuracy, max),
    "you took the highest NLL. The best rate has the lowest.": _by(metrics.nll, max),
    "the place is right, T is that of the last rate: keep the T of each rate until the best is known.":
        lambda z, y: [_right(z, y)[0], _temperature(z[-1], y)],
    "you fitted one temperature for all rates. Each has its own: fit it inside the loop.": _one_for_all,
    "you took the rate whose T is the lowest. Choose by the NLL.":
        lambda z, y: [_own(z, y).index(min(_own(z, y))), min(_own(z, y))],
    "the second number is the NLL: return the temperature of that rate.":
        lambda z, y: [_right(z, y)[0], _losses(z, y, _own(z, y)).min()],
    "the numbers are right, their order is not: first the place, then T.": lambda z, y: _right(z, y)[::-1],
    "this is 1 / T: the logits are divided by T.": lambda z, y: [_right(z, y)[0], 1 / _right(z, y)[1]],
    "you count places from 1: count from 0.": lambda z, y: [_right(z, y)[0] + 1, _right(z, y)[1]],
    "this is the place alone. Return its temperature too.": lambda z, y: _right(z, y)[0],
    "this is the temperature alone. Return the place first.": lambda z, y: _right(z, y)[1],
    "these are the temperatures of all rates. Return the place of the best one, and its own.": _own,
    "you multiplied the logits by T. Divide them.": _multiplied})
def own_best(logits, labels):
    """The place of the rate whose own T leaves the lowest NLL, and that T; logits (rates, n, K)."""
    return _right(logits, labels)

def _mixed(tokens: int, features: int, steep: float, seed: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    draw = [torch.randn(tokens, features, generator=generator, dtype=torch.float64) for _ in range(3)]
    return steep * draw[0], draw[1], draw[2]

ATTENTION = {
    "5 tokens of 4 numbers": _mixed(5, 4, 1.0, 0),
    "16 tokens of 9 numbers": _mixed(16, 9, 1.0, 1),
    "4 tokens of 2 numbers, steep": _mixed(4, 2, 4.0, 2),
    "one token only": _mixed(1, 3, 1.0, 3),
    "3 tokens of 1 number": _mixed(3, 1, 1.0, 4),
    "queries of hundreds": _mixed(6, 4, 300.0, 5),
    "4 tokens of 4 numbers": _mixed(4, 4, 1.0, 6),
    "40 tokens of 6 numbers": _mixed(40, 6, 1.0, 7),
    "queries of thousands, whose exponentials overflow": _mixed(5, 3, 5e3, 8),
}

def _weights(queries: Tensor, keys: Tensor) -> Tensor:
    return (queries @ keys.T / math.sqrt(keys.shape[1])).softmax(dim=1)

def _scaled_by(queries: Tensor, keys: Tensor, values: Tensor, number: int) -> Tensor:
    return (queries @ keys.T / number).softmax(dim=1) @ values

@exercise(cases=ATTENTION, mistakes={
    "the division by sqrt(d) is missing.": lambda q, k, v: (q @ k.T).softmax(dim=1) @ v,
    "you divided by d. Divide by its square root.":
        lambda q, k, v: (q @ k.T / k.shape[1]).softmax(dim=1) @ v,
    "you divided by the root of the number of tokens. d is the number of features.":
        lambda q, k, v: (q @ k.T / math.sqrt(len(k))).softmax(dim=1) @ v,
    "you multiplied by sqrt(d). Divide by it.":
        lambda q, k, v: (q @ k.T * math.sqrt(k.shape[1])).softmax(dim=1) @ v,
    "the softmax runs along the wrong axis: the weights of one query, a row, sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).softmax(dim=0) @ v,
    "these are the weights. Take the mean of the values with them.": lambda q, k, v: _weights(q, k),
    "each query sees its own and earlier tokens alone (a causal mask). Here it sees all of them.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).masked_fill(
            torch.ones(len(q), len(k)).triu(1) > 0, -torch.inf).softmax(dim=1) @ v,
    "one softmax runs over the whole table: the weights of each query, a row, sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).flatten().softmax(0).view(len(q), -1) @ v,
    "you divided each column by the sum of a row: sum(dim=1, keepdim=True), or softmax(dim=1).":
        lambda q, k, v: (e := (q @ k.T / math.sqrt(k.shape[1])).exp()) / e.sum(dim=1) @ v,
    "the softmax is missing: weights are not negative, and each row sums to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])) @ v,
    "queries and keys are exchanged: row i holds the weights of query i.":
        lambda q, k, v: _weights(k, q) @ v,
    "the weights are transposed: row i of the answer uses the weights of query i.":
        lambda q, k, v: _weights(q, k).T @ v,
    "you averaged the keys. The weights come from queries and keys; average the values.":
        lambda q, k, v: _weights(q, k) @ k,
    "you compared the queries with the values. Compare them with the keys.":
        lambda q, k, v: _weights(q, v) @ v,
    "you took a sigmoid. The softmax makes the weights of each row sum to 1.":
        lambda q, k, v: (q @ k.T / math.sqrt(k.shape[1])).sigmoid() @ v,
    "you divided by sqrt(d) after the softmax. Divide the scores, before it.":
        lambda q, k, v: (q @ k.T).softmax(dim=1) @ v / math.sqrt(k.shape[1]),
    "you took the value of the best key alone. Take the mean of all values.":
        lambda q, k, v: v[(q @ k.T).argmax(dim=1)],
    **{f"you divided by {number} everywhere. d is the number of features, keys.shape[1], which "
        "differs from case to case.": functools.partial(_scaled_by, number=number)
        for number in (2, 4, 8)}})
def attention(queries, keys, values):
    """softmax(q k' / sqrt(d)) v of queries, keys and values (tokens, d): (tokens, d)."""
    return _weights(queries, keys) @ values
