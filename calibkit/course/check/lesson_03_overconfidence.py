"""Why networks are over-confident."""

import math

import torch
from torch import Tensor

from calibkit.course.check.cases import POSITIVE
from calibkit.course.check.engine import exercise


# fmt: off
def _losses(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """-log p of each label, and whether the prediction is right."""
    true = probs.double().gather(1, labels[:, None])[:, 0]
    return -true.log(), probs.argmax(dim=1) == labels

def _chance(probs: Tensor, labels: Tensor) -> Tensor:
    return probs.double().gather(1, labels[:, None])[:, 0]

def _split(losses: Tensor, right: Tensor, share: int = 1) -> tuple[Tensor, Tensor]:
    return losses[right].sum() / share, losses[~right].sum() / share

def _parts(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return _split(*_losses(probs, labels), len(labels))

def _own_means(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    losses, right = _losses(probs, labels)
    return losses[right].mean(), losses[~right].mean()

@exercise(cases=POSITIVE, mistakes={
    "each part is divided by the size of its own group. Divide both by n, the number of all predictions, so "
    "that they add up to the NLL.": _own_means,
    "the parts are right, their order is not: first the right predictions, then the wrong.":
        lambda p, y: _parts(p, y)[::-1],
    "these are sums, which grow with the number of predictions: divide by n.":
        lambda p, y: _split(*_losses(p, y)),
    "you took the logarithm of the confidence. A wrong prediction pays for the probability that it left to "
    "the *label*.": lambda p, y: _split(-p.double().amax(dim=1).log(), _losses(p, y)[1], len(y)),
    "the logarithm is missing: each prediction pays -log p of its label.":
        lambda p, y: _split(-_chance(p, y), _losses(p, y)[1], len(y)),
    "the second number is the whole NLL: only the wrong predictions belong to it.":
        lambda p, y: (_parts(p, y)[0], sum(_parts(p, y))),
    "this is the sum of the two parts, the NLL. Return both parts.": lambda p, y: sum(_parts(p, y)),
    "the sign is reversed: logarithms of probabilities are negative, losses are not.":
        lambda p, y: [-part for part in _parts(p, y)],
    "this is the logarithm to base 10. The NLL uses the natural one, torch.log.":
        lambda p, y: [part / math.log(10) for part in _parts(p, y)]})
def nll_parts(probs, labels):
    """The parts of the NLL that right and wrong predictions pay: two numbers, in this order."""
    return _parts(probs, labels)

def _walk(losses: Tensor, patience: int, better=lambda new, least: new < least) -> list[int]:
    """(kept, last) of a rule that stops after `patience` epochs without one that is `better`."""
    values, kept, last = losses.tolist(), 0, 0
    for last, value in enumerate(values):
        if better(value, values[kept]):
            kept = last
        if last - kept == patience:
            break
    return [kept, last]

def _against_the_last(losses: Tensor, patience: int) -> list[int]:
    """Counts rises from one epoch to the next."""
    values, kept, bad, last = losses.tolist(), 0, 0, 0
    for last, value in enumerate(values):
        kept = last if value < values[kept] else kept
        bad = bad + 1 if last and value >= values[last - 1] else 0
        if bad == patience:
            break
    return [kept, last]

def _kept_by_the_last(losses: Tensor, patience: int) -> list[int]:
    """Keeps, and counts from, each epoch that is better than the one before."""
    values, kept, last = losses.tolist(), 0, 0
    for last, value in enumerate(values):
        kept = last if last and value < values[last - 1] else kept
        if last - kept == patience:
            break
    return [kept, last]

def _not_in_a_row(losses: Tensor, patience: int) -> list[int]:
    """Counts all epochs without a new lowest value."""
    values, kept, bad, last = losses.tolist(), 0, 0, 0
    for last, value in enumerate(values):
        bad += bool(last) and value >= values[kept]
        kept = last if value < values[kept] else kept
        if bad == patience:
            break
    return [kept, last]

CURVES = {
    "a loss that falls, then rises": ([2.1, 1.2, 0.8, 0.7, 0.75, 0.8, 0.9, 1.0, 1.1], 3),
    "chance rises on the way down": ([2.0, 1.4, 1.5, 1.1, 1.2, 0.9, 1.0, 0.95, 1.05, 1.1, 1.2], 3),
    "a lower valley that comes too late": ([1.5, 1.0, 1.2, 1.3, 0.5, 0.6, 0.7, 0.8], 2),
    "a lower valley that the patience reaches": ([1.5, 1.0, 1.2, 1.3, 0.5, 0.6, 0.7, 0.8], 3),
    "falls within a rise": ([1.0, 0.5, 0.9, 0.8, 0.7, 0.6, 0.55, 0.52], 4),
    "equal values": ([1.0, 0.75, 0.75, 0.75, 0.75, 0.5], 3),
    "equal values in between": ([1.0, 0.75, 0.75, 0.5, 0.75, 0.5, 0.75, 0.25], 3),
    "patience 1": ([1.0, 0.8, 0.9, 0.3, 0.2], 1),
    "a loss that rises from the start": ([0.5, 0.6, 0.7, 0.8, 0.9], 2),
    "a loss that never stops falling": ([2.0, 1.5, 1.1, 0.8, 0.6], 2),
    "a patience longer than the training": ([1.0, 0.9, 1.1, 1.2], 10),
    "a single epoch": ([0.7], 1),
    "a loss that falls by a millionth an epoch": ([0.5 - 1e-6 * k for k in range(9)], 3),
    "losses of thousands": ([9e3, 5e3, 2e3, 3e3, 4e3, 1e3], 2),
    "60 epochs": ([2 / (1 + k) + 0.02 * k for k in range(60)], 40),
}

@exercise(cases={name: (torch.tensor(values, dtype=torch.float64), patience)
        for name, (values, patience) in CURVES.items()}, mistakes={
    "your rule looks at all epochs. During a training nobody knows the later ones: go through them one by "
    "one, and stop.": lambda losses, patience: [int(losses.argmin()), len(losses) - 1],
    "the last epoch is right, but the kept one comes from the whole curve: it may lie after the stop, where "
    "nobody trained.": lambda losses, patience: [int(losses.argmin()), _walk(losses, patience)[1]],
    "your rule waits one epoch too long: it stops when `patience` epochs in a row have brought no new lowest "
    "value.": lambda losses, patience: _walk(losses, patience + 1),
    "your rule stops one epoch too early: `patience` epochs must have brought nothing new.":
        lambda losses, patience: _walk(losses, max(1, patience - 1)),
    "an equal value is no new lowest value: compare with <, not <=.":
        lambda losses, patience: _walk(losses, patience, lambda new, least: new <= least),
    "you keep the largest value. A loss is better when it is smaller.":
        lambda losses, patience: _walk(losses, patience, lambda new, least: new > least),
    "you compare each epoch with the one before. Compare it with the lowest value so far: a loss may fall "
    "for a while and still be above that.": _against_the_last,
    "you keep an epoch that is better than the one before. Compare it with the lowest value so far.":
        _kept_by_the_last,
    "the first number is the lowest loss itself. Return its epoch, counted from 0.":
        lambda losses, patience: [losses[_walk(losses, patience)[0]], _walk(losses, patience)[1]],
    "you count all epochs without a new lowest value. Only those in a row count: begin again at 0 after each "
    "new lowest value.": _not_in_a_row,
    "the numbers are right, their order is not: first the epoch that is kept, then the last one.":
        lambda losses, patience: _walk(losses, patience)[::-1],
    "the second number is how many epochs were trained. Counted from 0, the last has one less.":
        lambda losses, patience: [_walk(losses, patience)[0], _walk(losses, patience)[1] + 1],
    "you keep the last epoch. Keep the one with the lowest value so far.":
        lambda losses, patience: [_walk(losses, patience)[1]] * 2,
    "you count epochs from 1: count from 0.":
        lambda losses, patience: [n + 1 for n in _walk(losses, patience)],
    "this is the kept epoch alone. Return the last one too.":
        lambda losses, patience: _walk(losses, patience)[0]})
def early_stop(losses, patience):
    """The epoch that is kept and the last that is trained, from 0, for (epochs,) losses."""
    return _walk(losses, patience)
