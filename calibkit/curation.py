"""What can be wrong with a dataset's labels and class sizes, made on purpose and by exact counts.

Functions of labels that return indices or labels, and say what they changed. A seed draws on the
CPU, so it means the same on every device. Shares are rounded to whole samples, halves to even.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from calibkit import validate


@dataclass(frozen=True)
class Noisy:
    """Labels after noise, and what was done to them.

    labels: (n,) noisy labels. clean: (n,) the labels before.
    flipped: indices, ascending, of the samples that were drawn for noise; some of them may have
        drawn their own class again.
    rates: (K,) float64, the share of each class that was drawn.
    transition: (K, K) float64, P(noisy label = j | clean label = i) in row i, so that
        posterior @ transition is the posterior of the noisy labels.
    """

    labels: Tensor
    clean: Tensor
    flipped: Tensor
    rates: Tensor
    transition: Tensor

    @property
    def changed(self) -> Tensor:
        """Indices, ascending, of the samples whose label is another one now."""
        return (self.labels != self.clean).nonzero()[:, 0]


@dataclass(frozen=True)
class Imbalanced:
    """Which samples an imbalance keeps.

    indices: ascending. counts: (K,) samples kept of each class. order: (K,) the classes by the
    share kept, largest first.
    """

    indices: Tensor
    counts: Tensor
    order: Tensor


def subset(labels, size: float, *, seed: int, stratified: bool = True) -> Tensor:
    """Ascending indices of a random subset, by default with the class shares of the whole.

    labels (n,); `size` is a fraction (float in (0, 1]) or a number of samples (int in [1, n]).
    Stratified class counts follow Sainte-Lague's rule: samples are taken in the order of
    (r + 1/2) / n_c, with r = 0, 1, ... their random rank in their class. With one seed a smaller
    subset always lies within a larger one. Raises ValueError for a size out of range.

    >>> labels = torch.tensor([0, 0, 0, 0, 0, 0, 1, 1, 1])
    >>> labels[subset(labels, 6, seed=0)].bincount().tolist()  # 6 of 9: 4 of 6 and 2 of 3
    [4, 2]
    """
    labels = _labels(labels)
    count = _size(size, len(labels))
    order = _permutation(len(labels), validate.generator(seed), labels.device)
    if stratified:
        key = (_ranks(labels, order).double() + 0.5) / labels.bincount()[labels]
        order = order[key[order].argsort(stable=True)]  # ties stay in random order
    return order[:count].sort().values


def symmetric_noise(
    labels,
    rate: float,
    *,
    classes: int,
    seed: int,
    form: str = "shuffle",
    exclude_true: bool = False,
) -> Noisy:
    """Labels with round(rate * n) random samples relabelled without regard to their class.

    labels (n,) in [0, classes). `form="shuffle"` permutes the labels of the drawn samples among
    themselves, which keeps every class size; `form="uniform"` draws from all classes alike. Both
    may hit the true class, so that a share of about 1 / classes of the drawn stays right;
    `exclude_true=True` (uniform only) draws from the other classes. Raises ValueError for a rate
    outside [0, 1], an unknown form, or shuffling without the true class.

    Source: shuffling as in "Dataset curation beyond accuracy", section 3; Patrini et al. 2017.

    >>> noisy = symmetric_noise([0, 1] * 5, 0.4, classes=2, seed=0, form="uniform")
    >>> len(noisy.flipped), noisy.transition[0].tolist()  # 4 of 10; 1 - .4 / 2 and .4 / 2
    (4, [0.8, 0.2])
    """
    classes = validate.integer("classes", classes, 2)
    labels = _labels(labels, classes)
    rate = validate.fraction("rate", rate)
    form = _form(form, ("shuffle", "uniform"), exclude_true)
    generator = validate.generator(seed)
    count = round(rate * len(labels))
    flipped = _permutation(len(labels), generator, labels.device)[:count].sort().values
    old = labels[flipped]
    if form == "shuffle":
        new = old[_permutation(count, generator, labels.device)]
    elif exclude_true:
        shift = torch.randint(1, classes, (count,), generator=generator).to(labels.device)
        new = (old + shift) % classes
    else:
        new = torch.randint(classes, (count,), generator=generator).to(labels.device)
    rates = torch.full((classes,), count / len(labels), dtype=torch.float64)
    prior = labels.bincount(minlength=classes).double().cpu() / len(labels)
    matrix = transition_matrix(
        rates, form=form, exclude_true=exclude_true, prior=prior if form == "shuffle" else None
    )
    return _noisy(labels, flipped, new, rates, matrix)


def classwise_noise(
    labels, rates=0.5, *, classes: int, seed: int, exclude_true: bool = False
) -> Noisy:
    """Labels with round(p_c * n_c) samples of class c relabelled, and new labels drawn as p.

    labels (n,) in [0, classes). `rates` holds p, one fraction a class; a single number stands for
    a ramp of evenly spaced rates from 0 to it, given to the classes in a random order. A drawn
    sample becomes class j with probability p_j / sum p, possibly its own again;
    `exclude_true=True` leaves its own out. Raises ValueError for rates outside [0, 1], of another
    length, or with no other class to go to.

    Source: "Dataset curation beyond accuracy", section 3, non-uniform noise (ramp 0 ... 0.5).

    >>> noisy = classwise_noise([0] * 4 + [1] * 4, [0.0, 0.5], classes=2, seed=0)
    >>> noisy.clean[noisy.flipped].tolist(), noisy.labels.tolist()  # all p on class 1: it stays
    ([1, 1], [0, 0, 0, 0, 1, 1, 1, 1])
    """
    classes = validate.integer("classes", classes, 2)
    labels = _labels(labels, classes)
    generator = validate.generator(seed)
    p = _rates(rates, classes, generator)
    law = _reassignment(p, exclude_true)
    size = labels.bincount(minlength=classes).cpu()
    count = (p * size).round().long()
    rank = _ranks(labels, _permutation(len(labels), generator, labels.device))
    flipped = (rank < count.to(labels.device)[labels]).nonzero()[:, 0]
    old = labels[flipped].cpu()
    new = old
    if len(old):
        new = torch.multinomial(law[old], 1, generator=generator)[:, 0]
    drawn = torch.where(size > 0, count / size.clamp(min=1), p)
    return _noisy(labels, flipped, new.to(labels.device), drawn, _mix(drawn, law))


def transition_matrix(
    rates, *, form: str, classes: int | None = None, exclude_true: bool = False, prior=None
) -> Tensor:
    """P(noisy = j | clean = i), the closed form of each noise, (K, K) in float64.

    T = diag(1 - r) + diag(r) Q, with r the share drawn (one number with `classes`, or one a class)
    and Q the law of the new label: 1 / K for "uniform"; the `prior` (K,), uniform by default, for
    "shuffle"; r_j / sum r for "classwise". `exclude_true=True` sets the diagonal of Q to 0 and
    divides each row by its sum (not for "shuffle"). The posterior of the noisy labels is
    posterior @ T. Raises ValueError for rates outside [0, 1], a missing or contradicting `classes`,
    a prior that is no distribution, or a class with nowhere to go.

    Source: Patrini et al. 2017, section 3.

    >>> transition_matrix(0.3, classes=3, form="uniform", exclude_true=True)[0].tolist()
    [0.7, 0.15, 0.15]
    """
    form = _form(form, ("shuffle", "uniform", "classwise"), exclude_true)
    r = _given_rates(rates, classes)
    if prior is not None and form != "shuffle":
        raise ValueError(f"prior is used by form='shuffle' only, got form={form!r}; leave it out")
    if form == "classwise":
        return _mix(r, _reassignment(r, exclude_true))
    target = torch.ones_like(r) if prior is None else validate.distribution("prior", prior, len(r))
    return _mix(r, _rows(target, exclude_true))


def imbalance(
    labels, rho: float, *, seed: int, form: str = "exponential", classes: int | None = None
) -> Imbalanced:
    """Samples kept so that the commonest class outnumbers the rarest by `rho`.

    labels (n,). The classes are put in a random order i = 0 ... K - 1. "exponential" keeps the
    share rho^(-i / (K - 1)) of class i; "step" keeps all of the first half (the larger one for odd
    K) and 1 / rho of the others. A class that has samples keeps one at least. K is `classes`, or
    the largest label + 1. With one seed, a larger rho keeps a subset. Raises ValueError for
    rho < 1, an unknown form, or less than two classes.

    Source: Cao et al. 2019, section 4; step: Buda et al. 2018, section 2.1.

    >>> kept = imbalance([0] * 100 + [1] * 100 + [2] * 100, 100, seed=0)
    >>> kept.counts[kept.order].tolist()  # 100, 100 / 10, 100 / 100
    [100, 10, 1]
    """
    labels = _labels(labels, classes)
    rho = validate.number("rho", rho, 1, math.inf, open_high=True)
    validate.choice("form", form, ("exponential", "step"))
    size = labels.bincount(minlength=classes or 0).cpu()
    if len(size) < 2:
        raise ValueError("labels must hold at least 2 classes, got class 0 alone; pass classes=")
    generator = validate.generator(seed)
    order = torch.randperm(len(size), generator=generator)
    place = torch.arange(len(size), dtype=torch.float64)
    if form == "exponential":
        exponent = place / (len(size) - 1)
    else:
        exponent = (place >= (len(size) + 1) // 2).double()
    share = torch.empty_like(exponent)
    share[order] = rho**-exponent
    counts = (size * share).round().long().clamp(min=1).minimum(size)
    rank = _ranks(labels, _permutation(len(labels), generator, labels.device))
    indices = (rank < counts.to(labels.device)[labels]).nonzero()[:, 0]
    return Imbalanced(indices, counts.to(labels.device), order.to(labels.device))


def resample(labels, *, seed: int, strategy: str | None = None, counts=None) -> Tensor:
    """Ascending indices, repeated where needed, that give every class a chosen size.

    labels (n,). `strategy="oversample"` brings every class that has samples to the size of the
    largest, `"undersample"` to that of the smallest; or `counts` (K,) gives the sizes. A class of
    n_c samples asked for m gives each sample floor(m / n_c) times, and m mod n_c random ones once
    more. Raises ValueError unless exactly one of `strategy` and `counts` is given, or for samples
    of a class that has none.

    Source: Buda et al. 2018, section 2.2; Japkowicz & Stephen 2002.

    >>> resample([0, 0, 0, 0, 1, 1], strategy="oversample", seed=0).tolist()
    [0, 1, 2, 3, 4, 4, 5, 5]
    """
    labels = _labels(labels)
    if (strategy is None) == (counts is None):
        raise ValueError(
            f"give either strategy or counts, got strategy={strategy!r} and counts={counts!r}"
        )
    wanted = _balanced(labels.bincount(), strategy) if counts is None else _counts(counts, labels)
    size = labels.bincount(minlength=len(wanted)).clamp(min=1)
    order = _permutation(len(labels), validate.generator(seed), labels.device)
    extra = _ranks(labels, order) < (wanted % size)[labels]
    repeats = (wanted // size)[labels] + extra
    return torch.arange(len(labels), device=labels.device).repeat_interleave(repeats)


# --- random order ---


def _permutation(n: int, generator: torch.Generator, device) -> Tensor:
    return torch.randperm(n, generator=generator).to(device)


def _ranks(labels: Tensor, order: Tensor) -> Tensor:
    """For each sample, how many of its class come before it in `order`."""
    grouped = order[labels[order].argsort(stable=True)]
    size = labels.bincount()
    start = size.cumsum(0) - size
    place = torch.arange(len(labels), device=labels.device)
    return torch.empty_like(place).scatter_(0, grouped, place - start[labels[grouped]])


# --- the law of noisy labels ---


def _mix(rates: Tensor, target: Tensor) -> Tensor:
    return torch.diag(1 - rates) + rates[:, None] * target


def _rows(weights: Tensor, exclude_true: bool) -> Tensor:
    """One law of the new label per true class, proportional to `weights`."""
    rows = weights.repeat(len(weights), 1)
    if exclude_true:
        rows.fill_diagonal_(0)
    return rows / rows.sum(1, keepdim=True).clamp(min=torch.finfo(rows.dtype).tiny)


def _reassignment(rates: Tensor, exclude_true: bool) -> Tensor:
    rows = _rows(rates, exclude_true)
    lost = ((rates > 0) & (rows.sum(1) == 0)).nonzero()[:, 0].tolist()
    if lost:
        raise ValueError(
            f"rates must leave another class with a rate above 0 for the labels of class "
            f"{lost} to go to, got {rates.tolist()}; or pass exclude_true=False"
        )
    return rows


def _noisy(labels: Tensor, flipped: Tensor, new: Tensor, rates: Tensor, matrix: Tensor) -> Noisy:
    noisy = labels.scatter(0, flipped, new)
    device = labels.device
    return Noisy(noisy, labels, flipped, rates.to(device), matrix.to(device))


# --- checks ---


def _labels(labels, classes: int | None = None) -> Tensor:
    labels = validate.as_tensor("labels", labels)
    if classes is None:
        countable = not (labels.is_floating_point() or labels.is_complex())
        classes = max(int(labels.max()) + 1, 1) if countable else 1
    classes = validate.integer("classes", classes, 1)
    return validate.labels(labels, n=len(labels), classes=classes)


def _size(size, n: int) -> int:
    if isinstance(size, float):
        share = validate.number("size", size, 0, 1, open_low=True)
        return validate.integer("size * n, rounded,", round(share * n), 1)
    return validate.integer("size", size, 1, n)


def _form(form: str, forms: tuple[str, ...], exclude_true: bool) -> str:
    validate.choice("form", form, forms)
    if exclude_true and form == "shuffle":
        raise ValueError(
            "exclude_true=True is impossible when labels are shuffled; pass form='uniform'"
        )
    return form


def _rates(rates, classes: int, generator: torch.Generator) -> Tensor:
    """Rates as given, or a ramp up to one number over the classes in random order."""
    if _is_number(rates):
        top = validate.fraction("rates", rates)
        ramp = torch.linspace(0, top, classes, dtype=torch.float64)
        return ramp[torch.randperm(classes, generator=generator)]
    return _given_rates(rates, classes)


def _is_number(value) -> bool:
    return getattr(value, "ndim", 0) == 0 and not isinstance(value, (list, tuple))


def _given_rates(rates, classes: int | None) -> Tensor:
    if _is_number(rates):
        if classes is None:
            raise ValueError("classes must be given when rates is one number")
        classes = validate.integer("classes", classes, 2)
        return torch.full((classes,), validate.fraction("rates", rates), dtype=torch.float64)
    rates = _vector("rates", rates)
    for rate in rates.tolist():
        validate.fraction("rates", rate)
    if len(rates) != (classes or len(rates)):
        raise ValueError(f"rates must have one entry per class, {classes}, got {len(rates)}")
    return rates


def _vector(name: str, value) -> Tensor:
    tensor = validate.as_tensor(name, value, ndim=1)
    if isinstance(value, (list, tuple)):
        tensor = torch.tensor(value, dtype=torch.float64)  # not by way of float32
    return tensor.double().cpu()


def _balanced(size: Tensor, strategy: str) -> Tensor:
    validate.choice("strategy", strategy, ("oversample", "undersample"))
    present = size[size > 0]
    wanted = present.max() if strategy == "oversample" else present.min()
    return torch.full_like(size, int(wanted))  # absent classes have no sample to repeat


def _counts(counts, labels: Tensor) -> Tensor:
    counts = validate.as_tensor("counts", counts, ndim=1)
    if counts.is_floating_point() or counts.is_complex() or counts.dtype == torch.bool:
        raise TypeError(f"counts must be integers, got {counts.dtype}")
    counts = counts.long().to(labels.device)
    size = labels.bincount()
    if len(counts) < len(size):
        raise ValueError(f"counts must have one entry per class, {len(size)}, got {len(counts)}")
    size = labels.bincount(minlength=len(counts))
    wrong = ((counts < 0) | ((counts > 0) & (size == 0))).nonzero()[:, 0].tolist()
    if wrong:
        raise ValueError(
            f"counts must be 0 or more, and 0 for a class without samples, got "
            f"{counts[wrong].tolist()} for class {wrong}"
        )
    return counts
