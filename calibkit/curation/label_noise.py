"""Wrong labels made on purpose, and the law by which they are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from calibkit import devices, validate
from calibkit.curation.draws import as_labels, permutation, some_of_each
from calibkit.validate import Array, Numbers


@dataclass(frozen=True)
class Noisy:
    """Labels after noise, and what was done to them.

    labels: (n,) noisy labels. clean: (n,) the labels before.
    flipped: indices, ascending, of the samples that were drawn for noise; some of them may have
        drawn their own class again.
    rates: (K,) float64, the share of each class that was drawn.
    transition: (K, K) float64, P(noisy label = j | clean label = i) in row i, so that
        posterior @ transition is the posterior of the noisy labels.

    On a device without float64 both are float32.
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


def symmetric_noise(
    labels: Array,
    rate: float,
    *,
    classes: int,
    seed: int,
    kind: Literal["shuffle", "uniform"] = "shuffle",
    exclude_true: bool = False,
) -> Noisy:
    """Labels with round(rate * n) random samples relabelled without regard to their class.

    labels (n,) in [0, classes). `kind="shuffle"` permutes the labels of the drawn samples among
    themselves, which keeps every class size; `kind="uniform"` draws from all classes alike. Both
    may hit the true class, so that a share of about 1 / classes of the drawn stays right;
    `exclude_true=True` (uniform only) draws from the other classes. Raises ValueError for a rate
    outside [0, 1], an unknown kind, or shuffling without the true class.
    Source: shuffling as in "Dataset curation beyond accuracy", section 3; Patrini et al. 2017.

    >>> noisy = symmetric_noise([0, 1] * 5, 0.4, classes=2, seed=0, kind="uniform")
    >>> len(noisy.flipped), noisy.transition[0].tolist()  # 4 of 10; 1 - .4 / 2 and .4 / 2
    (4, [0.8, 0.2])
    """
    classes = validate.integer("classes", classes, 2)
    labels = as_labels(labels, classes)
    rate = validate.fraction("rate", rate)
    _check(kind, ("shuffle", "uniform"), exclude_true)
    generator = validate.generator(seed)
    count = round(rate * len(labels))
    flipped = permutation(len(labels), generator, labels.device)[:count].sort().values
    old = labels[flipped]
    if kind == "shuffle":
        new = old[permutation(count, generator, labels.device)]
    elif exclude_true:
        shift = torch.randint(1, classes, (count,), generator=generator).to(labels.device)
        new = (old + shift) % classes
    else:
        new = torch.randint(classes, (count,), generator=generator).to(labels.device)
    rates = torch.full((classes,), count / len(labels), dtype=torch.float64)
    prior = labels.bincount(minlength=classes).cpu().double() / len(labels)
    matrix = transition_matrix(
        rates, kind=kind, exclude_true=exclude_true, prior=prior if kind == "shuffle" else None
    )
    return _noisy(labels, flipped, new, rates, matrix)


def classwise_noise(
    labels: Array, rates: Numbers = 0.5, *, classes: int, seed: int, exclude_true: bool = False
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
    labels = as_labels(labels, classes)
    generator = validate.generator(seed)
    if _is_number(rates):
        ramp = torch.linspace(0, validate.fraction("rates", rates), classes, dtype=torch.float64)
        p = ramp[torch.randperm(classes, generator=generator)]
    else:
        p = _given_rates(rates, classes)
    law = _reassignment(p, exclude_true)
    size = labels.bincount(minlength=classes).cpu()
    count = (p * size).round().long()
    flipped = some_of_each(labels, count, generator)
    old = labels[flipped].cpu()
    new = old
    if len(old):
        new = torch.multinomial(law[old], 1, generator=generator)[:, 0]
    drawn = torch.where(size > 0, count / size.clamp(min=1), p)
    return _noisy(labels, flipped, new.to(labels.device), drawn, _mix(drawn, law))


def transition_matrix(
    rates: Numbers,
    *,
    kind: Literal["shuffle", "uniform", "classwise"],
    classes: int | None = None,
    exclude_true: bool = False,
    prior: Array | None = None,
) -> Tensor:
    """P(noisy = j | clean = i), the closed form of each noise, (K, K) in float64.

    T = diag(1 - r) + diag(r) Q, with r the share drawn (one number with `classes`, or one a class)
    and Q the law of the new label: 1 / K for "uniform"; the `prior` (K,), uniform by default, for
    "shuffle"; r_j / sum r for "classwise". `exclude_true=True` sets the diagonal of Q to 0 and
    divides each row by its sum (not for "shuffle"). The posterior of the noisy labels is posterior
    @ T. Raises ValueError for rates outside [0, 1], a missing or contradicting `classes`, a prior
    that is no distribution, or a class with nowhere to go. Source: Patrini et al. 2017, section 3.

    >>> transition_matrix(0.3, classes=3, kind="uniform", exclude_true=True)[0].tolist()
    [0.7, 0.15, 0.15]
    """
    _check(kind, ("shuffle", "uniform", "classwise"), exclude_true)
    r = _given_rates(rates, classes)
    if prior is not None and kind != "shuffle":
        raise ValueError(f"prior is used by kind='shuffle' only, got kind={kind!r}; leave it out")
    if kind == "classwise":
        return _mix(r, _reassignment(r, exclude_true))
    target = torch.ones_like(r) if prior is None else validate.distribution("prior", prior, len(r))
    return _mix(r, _rows(target, exclude_true))


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
    law = devices.moved([rates, matrix], labels.device)
    return Noisy(labels.scatter(0, flipped, new), labels, flipped, *law)


# --- checks ---


def _check(kind: str, kinds: tuple[str, ...], exclude_true: bool) -> None:
    validate.choice("kind", kind, kinds)
    if exclude_true and kind == "shuffle":
        raise ValueError(
            "exclude_true=True is impossible when labels are shuffled; pass kind='uniform'"
        )


def _is_number(value) -> bool:
    return getattr(value, "ndim", 0) == 0 and not isinstance(value, (list, tuple))


def _given_rates(rates: Numbers, classes: int | None) -> Tensor:
    if _is_number(rates):
        if classes is None:
            raise ValueError("classes must be given when rates is one number")
        classes = validate.integer("classes", classes, 2)
        return torch.full((classes,), validate.fraction("rates", rates), dtype=torch.float64)
    each = validate.as_tensor("rates", rates, ndim=1).cpu().double()
    for rate in each.tolist():
        validate.fraction("rates", rate)
    validate.same_length("rates", len(each), classes or len(each), "class")
    return each
