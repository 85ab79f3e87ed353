"""Classes of unequal size made on purpose, and equal sizes by resampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from calibkit import validate
from calibkit.curation.draws import as_labels, permutation, ranks, some_of_each
from calibkit.validate import Array


@dataclass(frozen=True)
class Imbalanced:
    """Which samples an imbalance keeps.

    indices: ascending. counts: (K,) samples kept of each class. order: (K,) the classes by the
    share kept, largest first.
    """

    indices: Tensor
    counts: Tensor
    order: Tensor


def imbalance(
    labels: Array,
    rho: float,
    *,
    seed: int,
    kind: Literal["exponential", "step"] = "exponential",
    classes: int | None = None,
) -> Imbalanced:
    """Samples kept so that the commonest class outnumbers the rarest by `rho`.

    labels (n,). The classes are put in a random order i = 0 ... K - 1. "exponential" keeps the
    share rho^(-i / (K - 1)) of class i; "step" keeps all of the first half (the larger one for odd
    K) and 1 / rho of the others. A class that has samples keeps one at least. K is `classes`, or
    the largest label + 1. With one seed, a larger rho keeps a subset. Raises ValueError for
    rho < 1, an unknown kind, or less than two classes.
    Source: Cao et al. 2019, section 4; step: Buda et al. 2018, section 2.1.

    >>> chosen = imbalance([0] * 100 + [1] * 100 + [2] * 100, 100, seed=0)
    >>> chosen.counts[chosen.order].tolist()  # 100, 100 / 10, 100 / 100
    [100, 10, 1]
    """
    labels = as_labels(labels, classes)
    rho = validate.number("rho", rho, 1, math.inf, open_high=True)
    validate.choice("kind", kind, ("exponential", "step"))
    size = labels.bincount(minlength=classes or 0).cpu()
    if len(size) < 2:
        raise ValueError("labels must hold at least 2 classes, got class 0 alone; pass classes=")
    generator = validate.generator(seed)
    order = torch.randperm(len(size), generator=generator)
    place = torch.arange(len(size), dtype=torch.float64)
    if kind == "exponential":
        exponent = place / (len(size) - 1)
    else:
        exponent = (place >= (len(size) + 1) // 2).double()
    share = torch.empty_like(exponent)
    share[order] = rho**-exponent
    counts = (size * share).round().long().clamp(min=1).minimum(size)
    indices = some_of_each(labels, counts, generator)
    return Imbalanced(indices, counts.to(labels.device), order.to(labels.device))


def resample(
    labels: Array,
    *,
    seed: int,
    strategy: Literal["oversample", "undersample"] | None = None,
    counts: Array | None = None,
) -> Tensor:
    """Ascending indices, repeated where needed, that give every class a chosen size.

    labels (n,). `strategy="oversample"` brings every class that has samples to the size of the
    largest, `"undersample"` to that of the smallest; or `counts` (K,) gives the sizes. A class of
    n_c samples asked for m gives each sample floor(m / n_c) times, and m mod n_c random ones once
    more. Raises ValueError unless exactly one of `strategy` and `counts` is given, or for samples
    of a class that has none. Source: Buda et al. 2018, section 2.2; Japkowicz & Stephen 2002.

    >>> resample([0, 0, 0, 0, 1, 1], strategy="oversample", seed=0).tolist()
    [0, 1, 2, 3, 4, 4, 5, 5]
    """
    labels = as_labels(labels)
    if (strategy is None) == (counts is None):
        raise ValueError(
            f"give either strategy or counts, got strategy={strategy!r} and counts={counts!r}"
        )
    wanted = _balanced(labels, strategy) if counts is None else _counts(counts, labels)
    size = labels.bincount(minlength=len(wanted)).clamp(min=1)
    order = permutation(len(labels), validate.generator(seed), labels.device)
    extra = ranks(labels, order) < (wanted % size)[labels]
    repeats = (wanted // size)[labels] + extra
    return torch.arange(len(labels), device=labels.device).repeat_interleave(repeats)


# --- checks ---


def _balanced(labels: Tensor, strategy: str | None) -> Tensor:
    validate.choice("strategy", strategy, ("oversample", "undersample"))
    size = labels.bincount()
    present = size[size > 0]
    wanted = present.max() if strategy == "oversample" else present.min()
    return torch.full_like(size, int(wanted))  # absent classes have no sample to repeat


def _counts(counts: Array, labels: Tensor) -> Tensor:
    given = validate.as_tensor("counts", counts, ndim=1)
    if given.is_floating_point() or given.dtype == torch.bool:
        raise TypeError(f"counts must be integers, got {given.dtype}")
    wanted, size = given.long().to(labels.device), labels.bincount(minlength=len(given))
    if len(wanted) < len(size):
        validate.same_length("counts", len(wanted), len(size), "class")
    wrong = ((wanted < 0) | ((wanted > 0) & (size == 0))).nonzero()[:, 0].tolist()
    if wrong:
        raise ValueError(
            f"counts must be 0 or more, and 0 for a class without samples, got "
            f"{wanted[wrong].tolist()} for class {wrong}"
        )
    return wanted
