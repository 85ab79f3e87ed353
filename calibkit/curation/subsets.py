"""Random subsets of a dataset, with the class shares of the whole or without regard to them."""

from __future__ import annotations

from torch import Tensor

from calibkit import validate
from calibkit.curation.draws import as_labels, permutation, ranks
from calibkit.validate import Array


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
