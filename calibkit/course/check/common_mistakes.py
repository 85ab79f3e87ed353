"""Mistakes that every exercise knows: what they do to a right result, or to what goes in.

Each is a sentence and a function. An answer whose results are those of the reference, changed by
such a function, has most likely made that mistake.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from calibkit import metrics

Arguments = dict[str, Any]
# A sentence, and what the mistake makes of a case: (reference, arguments) to a result.
Diagnosis = tuple[str, Callable[..., Any]]


def _rows(arguments: Arguments) -> float:
    return next((len(v) for v in arguments.values() if isinstance(v, Tensor)), math.nan)


def _columns(arguments: Arguments) -> float:
    tables = [v for v in arguments.values() if isinstance(v, Tensor) and v.ndim == 2]
    return tables[0].shape[1] if tables else math.nan


# fmt: off
FACTORS: dict[str, Callable[[Arguments], float]] = {
    "the sign is reversed.": lambda a: -1.0,
    "this is in per cent: 100 times too large. Compute with fractions.": lambda a: 100.0,
    "this is 100 times too small.": lambda a: 0.01,
    "this grows with the number of samples n, as a sum does: take the mean, divide by n.": _rows,
    "this was divided by the number of samples n once too often.": lambda a: 1 / _rows(a),
    "this is too large by the number of columns K: take the mean over the columns, not the sum.": _columns,
    "this was divided by the number of columns K, which is not asked.": lambda a: 1 / _columns(a),
    "this was divided by both n and K: the mean over all entries in place of one axis.":
        lambda a: 1 / (_rows(a) * _columns(a)),
    "this grows with n and with K, as a sum over all entries does.": lambda a: _rows(a) * _columns(a),
    "this is exactly twice the answer.": lambda a: 2.0,
    "this is exactly half of the answer.": lambda a: 0.5,
    "this is the logarithm to base 2: use the natural one, log.": lambda a: 1 / math.log(2),
    "this is too small by ln 2: no change of base is asked.": lambda a: math.log(2),
    "this is the logarithm to base 10: use the natural one, log.": lambda a: 1 / math.log(10),
    "this was divided by n - 1 in place of n.": lambda a: _rows(a) / (_rows(a) - 1),
    "this was divided by n + 1 in place of n.": lambda a: _rows(a) / (_rows(a) + 1),
    "this is minus 100 times the answer: the sign is reversed, and it is in per cent.": lambda a: -100.0,
}
# fmt: on


def _scaled(factor: Callable[..., float]):
    def scaled(reference: Callable, arguments: Arguments) -> np.ndarray:
        by = factor(arguments)
        if math.isnan(by):
            raise ValueError("there is no such number here")
        return by * np.asarray(reference(**arguments), dtype=float)

    return scaled


def _after(change: Callable[[np.ndarray], np.ndarray]):
    return lambda reference, a: change(np.asarray(reference(**a), dtype=float))


def _before(change: Callable[..., Arguments]):
    return lambda reference, a: reference(**(a | change(a)))


def _beside(name: str, sign: int):
    """The answer with an argument of its shape added or subtracted."""

    def beside(reference: Callable, arguments: Arguments) -> np.ndarray:
        answer = np.asarray(reference(**arguments), dtype=float)
        other = np.asarray(arguments[name], dtype=float)
        return answer + sign * other if other.shape == answer.shape else _nothing(answer)

    return beside


def _nothing(e: np.ndarray) -> np.ndarray:
    """A single number has no sum, order or softmax."""
    raise ValueError(f"this cannot be made of {e}")


def _of_many(change: Callable[[np.ndarray], np.ndarray]):
    return lambda e: change(e) if e.ndim else _nothing(e)


def _whole(rounding: Callable[[np.ndarray], np.ndarray]):
    """Zeros alone do not show a rounding, nor does one number of 0 or 1: a comparison gives it."""
    return lambda e: (
        rounding(e) if np.abs(rounding(e)).max(initial=0) > (e.ndim == 0) else _nothing(e)
    )


def _probabilities(t: Tensor) -> Tensor:
    if t.min() < 0 or t.max() > 1:
        raise ValueError("these are no probabilities")
    return t


# fmt: off
RESULTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "you dropped the sign (an absolute value).": np.abs,
    "negative results became 0.": lambda e: np.maximum(e, 0),
    "you took a square root.": np.sqrt,
    "you squared.": np.square,
    "you took the larger of the answer and 1 minus it: it may be below 1/2.": lambda e: np.maximum(e, 1 - e),
    "results above 1 became 1.": lambda e: np.minimum(e, 1),
    "your numbers were divided by their sum.": _of_many(lambda e: e / e.sum()),
    "each column was divided by its sum.": lambda e: e / e.sum(axis=0, keepdims=True),
    "this is 1 minus the answer.": lambda e: 1 - e,
    "this is 1 divided by the answer.": lambda e: 1 / e,
    "this is 1 too large.": lambda e: e + 1,
    "this is 1 too small.": lambda e: e - 1,
    "you took a logarithm that is not asked.": np.log,
    "you took the exponential: a logarithm is missing.": np.exp,
    "you took the exponential of minus the answer: the logarithm is missing.": lambda e: np.exp(-e),
    "the table is transposed: rows and columns are exchanged.": lambda e: e.T,
    "the numbers are right, their order is reversed.": lambda e: e[::-1],
    "the columns stand in reversed order.": lambda e: e[:, ::-1],
    "the numbers are right, but sorted: keep the order of the samples.": lambda e: np.sort(e, 0),
    "these are running sums (cumsum).": lambda e: np.cumsum(e, 0),
    "a mean was subtracted, so that your numbers sum to 0.":
        _of_many(lambda e: e - e.mean(axis=-1, keepdims=True)),
    "your numbers were scaled to length 1 (their squares sum to 1).":
        _of_many(lambda e: e / np.linalg.norm(e, axis=-1, keepdims=True)),
    "these are odds, q / (1 - q): the answer is q itself.": lambda e: e / (1 - e),
    "this is one number, the mean over all: one for each was asked.": np.mean,
    "this is one number, the sum over all: one for each was asked.": np.sum,
    "this is the mean over the rows: a number for each entry was asked.": lambda e: e.mean(axis=0),
    "this is the mean over the columns: a number for each entry was asked.": lambda e: e.mean(axis=1),
    "this is the first of the numbers only.": lambda e: e[0],
    "this is the last of the numbers only.": lambda e: e[-1],
    "this is the larger of the numbers only.": np.max,
    "this is a softmax of the answer, which is not asked.":
        lambda e: torch.from_numpy(e).softmax(-1).numpy() if e.size > 1 else _nothing(e),
    "you rounded down to a whole number.": _whole(np.floor),
    "you rounded up to a whole number.": _whole(np.ceil),
    "you rounded to a whole number.": _whole(np.round),
} | {
    f"you rounded the result to {digits} decimal{'s'[: digits > 1]}, or took it from a grid of such "
    "steps: return it as it is.": lambda e, digits=digits: np.round(e, digits)
    for digits in (1, 2, 3, 4)
}
EPSILONS = (0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
# What may have happened to one argument, by its kind. {} stands for its name.
TABLES: dict[str, Callable[[Tensor], Tensor]] = {
    "a softmax was taken of `{}`. Probabilities have had theirs: a softmax twice flattens them.":
        lambda t: t.double().softmax(1),
    "a softmax was taken of `{}` along the wrong axis (dim=0, over the samples).":
        lambda t: t.double().softmax(0),
    "`{}` is transposed: rows and columns are exchanged.": lambda t: t.T,
    "a logarithm was taken of `{}` that is not asked.": torch.log,
    "`{}` was squared.": torch.square,
    "`{}` was replaced by its largest entries (0 or 1, argmax): use the numbers themselves.":
        lambda t: torch.nn.functional.one_hot(t.argmax(1), t.shape[1]).to(t.dtype),
    "the columns of `{}` were taken in reversed order.": lambda t: t.flip(1),
    "the rows of `{}` were taken in reversed order: they no longer fit the others.": lambda t: t.flip(0),
    "the rows of `{}` were sorted, so that its columns lost their classes.": lambda t: t.sort(1).values,
    "the columns of `{}` were moved by one: Python counts classes from 0.": lambda t: t.roll(1, 1),
    "the last column of `{}` was left out.": lambda t: t[:, :-1],
    "the first column of `{}` was left out.": lambda t: t[:, 1:],
    "the columns of `{}` were averaged first.": lambda t: t.mean(1, keepdim=True).expand_as(t),
}
WHOLE: dict[str, Callable[[Tensor], Tensor]] = {
    "`{}` was moved by one: count from 0.": lambda t: t - 1,
    "`{}` was moved by one.": lambda t: t + 1,
    "`{}` was taken in reversed order.": lambda t: t.flip(0),
    "`{}` was sorted: it no longer fits the others.": lambda t: t.sort().values,
    "`{}` was replaced by what leads back (argsort): index with it as it is.": torch.argsort,
}
FLOATS: dict[str, Callable[[Tensor], Tensor]] = {
    "1 minus `{}` was taken.": lambda t: 1 - t,
    "`{}` was made to sum to 1.": lambda t: t / t.sum(),
    "`{}` was taken in reversed order.": lambda t: t.flip(0),
    "`{}` was sorted.": lambda t: t.sort().values,
    "`{}` was squared.": torch.square,
    "a square root was taken of `{}`.": torch.sqrt,
    "a softmax was taken of `{}`.": lambda t: t.softmax(0),
    "`{}` was averaged before the formula: each entry goes in by itself.": lambda t: t.mean().expand_as(t),
}
ANY_FLOATS: dict[str, Callable[[Tensor], Tensor]] = {
    f"`{{}}` was {what} {epsilon:g}, which moves the result more than rounding may.":
        lambda t, change=change, epsilon=epsilon: change(t, epsilon)
    for epsilon in EPSILONS
    for what, change in (
        ("cut below (clamp) at", lambda t, epsilon: t.clamp(min=epsilon)),
        ("raised by an epsilon of", lambda t, epsilon: t + epsilon),
        ("kept away from 0 and 1 by", lambda t, epsilon: _probabilities(t).clamp(epsilon, 1 - epsilon)),
    )
} | {
    "you computed with half of `{}`.": lambda t: t / 2,
    "you computed with twice `{}`.": lambda t: 2 * t,
    "`{}` was rounded to 1 decimal.": lambda t: t.round(decimals=1),
    "`{}` was rounded to 2 decimals.": lambda t: t.round(decimals=2),
    "`{}` was computed with in half precision: use double().": lambda t: t.half().to(t.dtype),
    "`{}` was computed with in float32: use double().": lambda t: t.float().double(),
}
NUMBERS: dict[str, Callable[[float], float]] = {
    "you computed with {} - 1 in place of {}.": lambda v: v - 1,
    "you computed with {} + 1 in place of {}.": lambda v: v + 1,
    "you computed with 1 - {} in place of {}.": lambda v: 1 - v,
    "the sign of {} is reversed.": lambda v: -v,
    "you computed with 1 / {} in place of {}.": lambda v: 1 / v,
    "you computed with twice {}.": lambda v: 2 * v,
    "you computed with half of {}.": lambda v: v / 2,
    "you computed with {} squared.": lambda v: v * v,
    "you computed with the square root of {}.": math.sqrt,
    "{} was cut off to a whole number.": int,
    "where {} is below 1 you computed with 1.": lambda v: max(v, 1),
}
CONSTANTS = (0, 0.5, 1, 2, 3, 4, 5, 10, 15, 20, 32, 64, 100, 128)
MEASURES: dict[str, Callable] = {
    "the accuracy": metrics.accuracy,
    "the error rate": lambda p, y: 1 - metrics.accuracy(p, y),
    "the mean confidence": lambda p, y: p.amax(1).double().mean(),
    "the mean probability of the true class": lambda p, y: p.gather(1, y[:, None]).double().mean(),
    "the signed gap": metrics.signed_gap,
    "the ECE with 15 bins": metrics.ece,
    "the ECE with 10 bins": lambda p, y: metrics.ece(p, y, bins=10),
    "the MCE": metrics.mce,
    "the classwise-ECE with 15 bins": metrics.classwise_ece,
    "the NLL": metrics.nll,
    "the Brier score": metrics.brier,
    "the mean entropy": lambda p, y: metrics.entropy(p).mean(),
    "the classwise gap":
        lambda p, y: (p.double().mean(0) - torch.bincount(y, minlength=p.shape[1]) / len(y)).abs().mean(),
}
# fmt: on


def of_results(arguments: Arguments) -> Iterator[Diagnosis]:
    """What may have happened to a right result."""
    for name in arguments:
        yield f"this is `{name}` itself.", lambda reference, a, name=name: a[name]
    yield from ((words, _scaled(factor)) for words, factor in FACTORS.items())
    yield from ((words, _after(change)) for words, change in RESULTS.items())
    for name in _numbers(arguments):
        for way, power in (("large", 1), ("small", -1), ("large", 2), ("small", -2)):
            yield (
                f"this is too {way} by the factor `{name}`{' squared' * (abs(power) > 1)}.",
                _scaled(lambda a, n=name, power=power: float(a[n]) ** power),
            )
    for name in arguments:
        for word, sign in (("plus", 1), ("minus", -1)):
            yield f"this is the answer {word} `{name}`.", _beside(name, sign)


def of_measures(arguments: Arguments) -> Iterator[Diagnosis]:
    """The other measures of the course."""
    if {"probs", "labels"} <= set(arguments):
        for name, measure in MEASURES.items():
            yield (
                f"this is {name}, another measure.",
                lambda _, a, measure=measure: measure(a["probs"], a["labels"]),
            )


def of_constants(arguments: Arguments) -> Iterator[Diagnosis]:
    """Something else that stands where an argument should."""
    for name in _numbers(arguments):
        for constant in CONSTANTS:
            yield (
                f"you ignored the argument `{name}` and took {constant}.",
                _before(lambda _, name=name, constant=constant: {name: constant}),
            )
    for one, other in permutations(arguments, 2):
        yield (
            f"the predicted class, the argmax of `{one}`, was taken in place of `{other}`.",
            _before(lambda a, one=one, other=other: {other: a[one].argmax(1)}),
        )


def of_arguments(arguments: Arguments) -> Iterator[Diagnosis]:
    """What may have happened to the arguments before a right computation."""
    changes: Mapping[str, Callable[..., Any]]
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            changes = NUMBERS
        elif not value.is_floating_point():
            changes = WHOLE
        else:
            changes = (TABLES if value.ndim == 2 else FLOATS) | ANY_FLOATS
        for words, change in changes.items():
            yield (
                words.replace("{}", name),
                _before(lambda a, name=name, change=change: {name: change(a[name])}),
            )
    for one, other in combinations(arguments, 2):
        yield (
            f"`{one}` and `{other}` are exchanged.",
            _before(lambda a, one=one, other=other: {one: a[other], other: a[one]}),
        )
    for place, part in (("last", slice(None, -1)), ("first", slice(1, None))):
        yield f"the {place} sample was left out.", _before(lambda a, part=part: _cut(a, part))


def _cut(arguments: Arguments, part: slice) -> Arguments:
    return {name: v[part] if isinstance(v, Tensor) else v for name, v in arguments.items()}


def _numbers(arguments: Arguments) -> list[str]:
    return [name for name, value in arguments.items() if not isinstance(value, Tensor)]


def others(name: str, arguments: Arguments) -> Iterator:
    """Other values that the argument could as well have, to see whether an answer uses it."""
    value = arguments[name]
    if not isinstance(value, Tensor):
        yield from (value + 1, value / 2) if isinstance(value, float) else (value + 1, 2 * value)
        if isinstance(value, float) and 0 < value < 1:
            yield (value + 1) / 2  # a share stays one
        return
    yield value.roll(1, 0)
    if not value.is_floating_point():
        yield torch.zeros_like(value)
        yield value.clamp(min=1) if value.ndim > 1 else value.flip(0)
        return
    yield (value + value.mean(-1, keepdim=True)) / 2  # rows of probabilities stay such rows
    if value.ndim == 1:
        yield from (value / 2, value + (value.max() - value.min()) / 3)
    else:
        turned = value.clone()
        turned[::2] = turned[::2].flip(-1)
        yield turned
