"""The losses of all runs of a stack, taken at once where a loss allows it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence

import torch
from torch import Tensor

Loss = Callable[..., Tensor]


class Criterion:
    """Maps logits (R, B, K) and targets (R, B) or (R, B, K) to (R,) losses, one loss a run.

    Runs of one loss are computed together if it is a mean over samples (`per_sample`), which
    saves R - 1 calls a step; the others one after the other.
    """

    def __init__(self, losses: Sequence[Loss]):
        groups: dict[Hashable, list[int]] = {}
        for run, loss in enumerate(losses):
            groups.setdefault(_key(loss), []).append(run)
        self.groups = [(losses[runs[0]], runs) for runs in groups.values()]
        self.together: list[bool] | None = None

    def __call__(self, logits: Tensor, targets: Tensor) -> Tensor:
        if len(logits) == 1:
            return self.groups[0][0](logits.squeeze(0), targets.squeeze(0)).unsqueeze(0)
        if self.together is None:
            sample = logits[0, :1].detach(), targets[0, :1]
            self.together = [len(r) > 1 and per_sample(loss, *sample) for loss, r in self.groups]
        values: list[Tensor | None] = [None] * len(logits)
        for (loss, runs), together in zip(self.groups, self.together, strict=True):
            if together and len(runs) == len(logits):
                return _means(loss, logits, targets)
            each = _means(loss, logits[runs], targets[runs]) if together else None
            for i, run in enumerate(runs):
                values[run] = loss(logits[run], targets[run]) if each is None else each[i]
        return torch.stack(values)


def per_sample(loss: Loss, logits: Tensor, targets: Tensor) -> bool:
    """Whether a loss is the mean of one value a sample, judged by two small random batches.

    Its values under `reduction="none"` over both batches together must have the means that it
    gives by itself batch by batch. Penalties of a whole batch and weighted means fail here, as do
    losses without `reduction`. `logits` and `targets` of any length give type, classes and device.

    >>> from calibkit import losses
    >>> like = torch.zeros(1, 3), torch.zeros(1).long()
    >>> per_sample(losses.brier, *like), per_sample(losses.mmce, *like)
    (True, False)
    """
    if "reduction" not in _parameters(loss):
        return False
    classes, random = logits.shape[1], torch.Generator().manual_seed(0)
    tried = 3 * torch.randn(2, 2 * classes, classes, generator=random).to(logits)
    # every class, in unequal numbers: a weight of any of them shows
    labels = torch.randint(classes, (2, 2 * classes), generator=random).to(logits.device)
    labels[:, :classes] = torch.arange(classes)
    if targets.ndim == 2:
        labels = tried.flip(2).softmax(2).to(targets.dtype)
    try:
        alone = torch.stack([loss(*batch) for batch in zip(tried, labels, strict=True)])
        together = _means(loss, tried, labels)
    except (RuntimeError, TypeError, ValueError):
        return False
    return torch.allclose(alone, together, rtol=1e-5, atol=1e-6)


def _means(loss: Loss, logits: Tensor, targets: Tensor) -> Tensor:
    each = loss(logits.flatten(0, 1), targets.flatten(0, 1), reduction="none")
    return each.view(len(logits), -1).mean(dim=1)


def _parameters(loss: Loss) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(loss).parameters)
    except (TypeError, ValueError):  # some functions written in C do not say
        return ()


def _key(loss: Loss) -> Hashable:
    """Equal for losses that compute the same, as far as that can be told."""
    plain = isinstance(loss, functools.partial) and not loss.args
    key = (loss.func, tuple(sorted(loss.keywords.items()))) if plain else loss
    try:
        hash(key)
    except TypeError:
        return id(loss)
    return key
