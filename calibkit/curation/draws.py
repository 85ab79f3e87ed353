"""Labels as they are given, random orders of samples that belong to a seed, and subsets."""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit import validate
from calibkit.validate import Array


def as_labels(labels: Array, classes: int | None = None) -> Tensor:
    """(n,) int64 labels in [0, classes), any 0 or more where `classes` is None.

    Raises ValueError or TypeError naming `labels` or `classes`.

    >>> as_labels([0, 2, 1]).tolist()
    [0, 2, 1]
    """
    labels = validate.as_tensor("labels", labels)
    if classes is None:
        classes = 1 if labels.is_floating_point() else max(int(labels.max()) + 1, 1)
    classes = validate.integer("classes", classes, 1)
    return validate.labels(labels, n=len(labels), classes=classes)


def permutation(n: int, generator: torch.Generator, device) -> Tensor:
    """0 ... n - 1 in random order, drawn on the CPU and so the same on every device."""
    return torch.randperm(n, generator=generator).to(device)


def some_of_each(labels: Tensor, counts: Tensor, generator: torch.Generator) -> Tensor:
    """Ascending indices of `counts[c]` random samples of each class c."""
    rank = ranks(labels, permutation(len(labels), generator, labels.device))
    return (rank < counts.to(labels.device)[labels]).nonzero()[:, 0]


def ranks(labels: Tensor, order: Tensor) -> Tensor:
    """(n,) for each sample, how many of its class come before it in `order`.

    >>> ranks(torch.tensor([0, 0, 1]), order=torch.tensor([1, 2, 0])).tolist()
    [1, 0, 0]
    """
    grouped = order[labels[order].argsort(stable=True)]
    size = labels.bincount()
    start = size.cumsum(0) - size
    place = torch.arange(len(labels), device=labels.device)
    return torch.empty_like(place).scatter_(0, grouped, place - start[labels[grouped]])


def subset(labels: Array, size: float, *, seed: int, stratified: bool = True) -> Tensor:
    """Ascending indices of a random subset, by default with the class shares of the whole.

    labels (n,); `size` is a fraction (float in (0, 1]) or a number of samples (int in [1, n]).
    Stratified class counts follow Sainte-Lague's rule: samples are taken in the order of
    (r + 1/2) / n_c, with r = 0, 1, ... their random rank in their class. With one seed a smaller
    subset always lies within a larger one. Raises ValueError for a size out of range.

    >>> labels = as_labels([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> labels[subset(labels, 6, seed=0)].bincount().tolist()  # 6 of 9: 4 of 6 and 2 of 3
    [4, 2]
    """
    labels = as_labels(labels)
    count = _size(size, len(labels))
    order = permutation(len(labels), validate.generator(seed), labels.device)
    if stratified:
        of_class = labels.bincount()[labels].cpu()
        key = ((ranks(labels, order).cpu().double() + 0.5) / of_class)[order.cpu()]
        order = order[key.argsort(stable=True).to(order.device)]  # ties stay in random order
    return order[:count].sort().values


def _size(size: float, n: int) -> int:
    if isinstance(size, float):
        share = validate.number("size", size, 0, 1, open_low=True)
        return validate.integer("size * n, rounded,", round(share * n), 1)
    return validate.integer("size", size, 1, n)
