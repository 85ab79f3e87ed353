"""Training losses of the calibration literature, with one signature `loss(logits, target, *, ...)`.

`logits` is (n, K); `target` is (n,) integer labels, or (n, K) rows of class weights that sum to 1,
as mixing and smoothing produce them. `reduction` is "mean" over the batch, "sum" or "none".
Losses are in nats (`brier` and `mmce` have no unit), finite in value and gradient at p = 0 and
p = 1, and work in float32 at least (half precision is raised to it).

Checks. Types, shapes and devices are always checked. Values are checked on the CPU only: labels and
soft rows beforehand, logits by way of the loss they give, so that no extra pass over them is made.
There, logits are refused that are probabilities: two rows or more, all of which sum to 1.
On an accelerator a value check would stall the queue at every step, and inside `torch.compile` or
`torch.func` it cannot be expressed: there a NaN comes out as NaN.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from calibkit import torch_defaults, validate
from calibkit.validate import Array

LOG2, LOG5 = math.log(2), math.log(5)
NEVER = -(2**62)  # torch passes over label -100 in silence; no label may be passed over here
LOST = 1_000.0  # nats, of which the probability is 0 in every type
Reduction = Literal["mean", "sum", "none"]
Weights = Array | None  # (K,), one a class
Mmce = Literal["plain", "weighted", "squared"]
Flsd = Literal["5-3", "5-3-2"]
Schedule = Literal["5-3-1", "5-3-2"]
# at the top, for older torch cannot compile a call of get_args
FLSD_FORMS, MMCE_FORMS, REDUCTIONS = get_args(Flsd), get_args(Mmce), get_args(Reduction)
SCHEDULES: dict[Schedule, tuple[float, ...]] = {"5-3-1": (5.0, 3.0, 1.0), "5-3-2": (5.0, 3.0, 2.0)}


def cross_entropy(
    logits: Array, target: Array, *, class_weights: Weights = None, reduction: Reduction = "mean"
) -> Tensor:
    """Cross-entropy, the negative log-likelihood of the label: -sum_k q_k log p_k.

    `logits` (n, K), `target` (n,) labels or (n, K) soft labels, `class_weights` (K,). A weighted
    mean divides by the weights of the batch, for soft labels too. Nats. Raises ValueError or
    TypeError naming the argument. Source: torch's own, soft labels included.

    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([1])).item()  # log 2
    0.6931471824645996
    """
    return label_smoothing(
        logits, target, alpha=0.0, class_weights=class_weights, reduction=reduction
    )


def label_smoothing(
    logits: Array,
    target: Array,
    *,
    alpha: float = 0.05,
    divisor: Literal["K", "K-1"] = "K",
    class_weights: Weights = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy against labels of which a part `alpha` is spread over the classes.

    Divisor "K": s = (1 - alpha) q + alpha / K over all K classes. Divisor "K-1": the label keeps
    1 - alpha and each *other* class gets alpha / (K - 1); it is the first with alpha K / (K - 1).
    Arguments and errors as in `cross_entropy`; alpha in [0, 1], at most (K - 1) / K for "K-1".
    Source: Szegedy et al. 2016, section 7 (divisor "K").

    >>> even = torch.zeros(1, 2)  # p = 1/2 for both classes, so smoothing cannot change the loss
    >>> round(label_smoothing(even, torch.tensor([1]), alpha=0.3).item(), 4)
    0.6931
    """
    validate.choice("divisor", divisor, ("K", "K-1"))
    alpha = validate.fraction("alpha", alpha)
    logits, target = _inputs(logits, target)
    if divisor == "K-1":
        classes = logits.shape[1]
        most = (classes - 1) / classes
        alpha = validate.number("alpha", alpha, 0, most) / most
    weights = _class_weights(class_weights, logits)
    each = _cross_entropy_each(logits, target, weights, alpha)
    return _reduced(each, logits, target, reduction, weights)


def confidence_penalty(
    logits: Array, target: Array, *, weight: float = 0.1, reduction: Reduction = "mean"
) -> Tensor:
    """Cross-entropy minus `weight` times the entropy of the prediction (ERL).

    loss = CE + weight sum_k p_k log p_k: the sum is the *negative* entropy, so peaked predictions
    cost more. `logits` (n, K), `target` labels or soft labels, weight >= 0. Nats.
    Raises ValueError or TypeError naming the argument. Source: Pereyra et al. 2017.

    >>> even = torch.zeros(1, 2)  # cross-entropy log 2 and entropy log 2 cancel at weight 1
    >>> confidence_penalty(even, torch.tensor([0]), weight=1.0).item()
    0.0
    """
    weight = validate.number("weight", weight, 0, math.inf, open_high=True)
    logits, target = _inputs(logits, target)
    log_probs = logits.log_softmax(1)
    penalty = weight * (log_probs.exp() * log_probs).sum(1)
    return _reduced(_cross_entropy_each(logits, target) + penalty, logits, target, reduction)


def brier(logits: Array, target: Array, *, reduction: Reduction = "mean") -> Tensor:
    """Brier loss: sum over the K classes of (p_k - q_k)^2, in [0, 2].

    `logits` (n, K), `target` labels or soft labels. Some packages divide by K or by 2.
    Raises ValueError or TypeError naming the argument. Source: Brier 1950.

    >>> brier(torch.zeros(1, 2), torch.tensor([1])).item()  # .5^2 + .5^2
    0.5
    """
    logits, target = _inputs(logits, target)
    each = (logits.softmax(1) - _soft(target, logits)).square().sum(1)
    return _reduced(each, logits, target, reduction)


def mmce(
    logits: Array,
    target: Array,
    *,
    weight: float = 2.0,
    variant: Mmce = "weighted",
    width: float = 0.4,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy plus `weight` times the maximum mean calibration error of the batch.

    The error belongs to the batch, so every sample carries it whole: the mean of "none" is "mean".
    `logits` (n, K), `target` labels or soft labels; the rest as in `mmce_penalty`. weight >= 0.
    Raises ValueError or TypeError naming the argument.
    Source: Kumar et al. 2018; Mukhoti et al. 2020, appendix E.

    >>> even = torch.zeros(2, 2)  # one hit, one miss at confidence 1/2: calibrated, so only CE
    >>> round(mmce(even, torch.tensor([0, 1]), variant="plain").item(), 4)
    0.6931
    """
    weight = validate.number("weight", weight, 0, math.inf, open_high=True)
    penalty = mmce_penalty(logits, target, variant=variant, width=width)
    logits, target = _inputs(logits, target)
    each = _cross_entropy_each(logits, target) + weight * penalty
    return _reduced(each, logits, target, reduction)


def mmce_penalty(
    logits: Array, target: Array, *, variant: Mmce = "weighted", width: float = 0.4
) -> Tensor:
    """Maximum mean calibration error of a batch: sqrt(v' K v), a differentiable stand-in for ECE.

    K_ij = exp(-|c_i - c_j| / width) on the confidences c. Form "plain": v = (a - c) / n with a = 1
    for a hit and 0 for a miss. Form "weighted": hits and misses each count as one group,
    v = a (1 - c) / hits - (1 - a) c / misses. Form "squared" is that of the code of Mukhoti et al.
    2020, to which their weight of 2 belongs: divided by hits^2 and misses^2, so that the rarer
    group outweighs the other, and 0 for a batch without hits or without misses. For soft labels, a
    is the target's weight of the predicted class. Gradients run through c alone; (n, n) memory.
    Returns a scalar. Raises ValueError or TypeError naming the argument. Source: Kumar et al. 2018.

    >>> mmce_penalty(torch.zeros(1, 2), torch.tensor([1]), variant="plain").item()  # |0 - .5|
    0.5
    """
    validate.choice("variant", variant, MMCE_FORMS)
    width = validate.number("width", width, 0, math.inf, open_low=True)
    logits, target = _inputs(logits, target)
    confidence, predicted = logits.softmax(1).max(1)
    hit = _soft(target, logits).gather(1, predicted[:, None]).squeeze(1)
    if variant == "plain":
        gap = (hit - confidence) / len(hit)
    else:
        hits, misses = hit.sum(), (1 - hit).sum()
        least = _tiny(hit)  # an empty group has no residuals to divide
        gap = hit * (1 - confidence) / hits.clamp_min(least)
        others = (1 - hit) * confidence / misses.clamp_min(least)
        if variant == "squared":
            both = (hits > 0) & (misses > 0)
            gap = both * gap / hits.clamp_min(least)
            others = both * others / misses.clamp_min(least)
        gap = gap - others
    kernel = torch.exp(-(confidence[:, None] - confidence).abs() / width)
    squared = gap @ kernel @ gap
    # clamping cuts the gradient where the root has none, and rounding below zero
    return _checked(squared.clamp_min(_tiny(squared)).sqrt(), logits)


def focal(
    logits: Array,
    target: Array,
    *,
    gamma: float | Tensor,
    class_weights: Weights = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Focal loss: -sum_k q_k (1 - p_k)^gamma log p_k, which is -(1 - p)^gamma log p for a label.

    `logits` (n, K), `target` (n,) labels or (n, K) soft labels, `gamma` a number >= 0 or (n,) of
    them, `class_weights` (K,). Nats. The gradient runs through both factors; gamma = 0 is
    cross-entropy. Raises ValueError or TypeError naming the argument.
    Source: Lin et al. 2017, eq. 4; soft labels as in Mukhoti et al. 2020, appendix B.

    >>> round(focal(torch.zeros(1, 2), torch.tensor([1]), gamma=2.0).item(), 4)  # log(2) / 4
    0.1733
    """
    logits, target = _inputs(logits, target)
    gamma = _gamma(gamma, logits)
    if isinstance(gamma, Tensor) and target.ndim == 2:
        gamma = gamma[:, None]
    each = _focal_each(logits, target, lambda ce: gamma)
    return _weighted(each, logits, target, class_weights, reduction)


def flsd(
    logits: Array,
    target: Array,
    *,
    gammas: Flsd = "5-3",
    class_weights: Weights = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Focal loss whose gamma depends on the sample (FLSD-53, FLSD-532).

    Form "5-3": gamma = 5 where p < 0.2, else 3. Form "5-3-2": 5 where p < 0.2, 3 where p < 0.5,
    else 2. No gradient runs through gamma. With soft labels each class has the gamma of its own p.
    Arguments and errors as in `focal`. Source: Mukhoti et al. 2020, section 4 and appendix F.

    >>> round(flsd(torch.zeros(1, 2), torch.tensor([1])).item(), 4)  # p = .5: log(2) / 8
    0.0866
    """
    validate.choice("gammas", gammas, FLSD_FORMS)
    logits, target = _inputs(logits, target)

    def gamma_of(ce: Tensor) -> Tensor:
        least = 3.0 if gammas == "5-3" else torch.where(ce > LOG2, 3.0, 2.0)  # 3 where p < 1/2
        return torch.where(ce > LOG5, 5.0, least)  # where p < 1/5

    each = _focal_each(logits, target, gamma_of)
    return _weighted(each, logits, target, class_weights, reduction)


def dual_focal(
    logits: Array,
    target: Array,
    *,
    gamma: float | Tensor,
    class_weights: Weights = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Dual focal loss: -(1 - p + p_next)^gamma log p.

    p_next is the largest probability *below* that of the label (0 if there is none), so the loss
    also widens the gap to the runner-up. `target` (n,) labels only; the rest as in `focal`.
    Raises ValueError or TypeError naming the argument. Source: Tao et al. 2023.

    >>> from math import log
    >>> thirds = torch.tensor([[log(0.5), log(0.3), log(0.2)]])
    >>> round(dual_focal(thirds, torch.tensor([0]), gamma=1.0).item(), 4)  # (1 - .5 + .3) log 2
    0.5545
    """
    logits, target = _inputs(logits, target, labels_for="dual_focal")
    gamma = _gamma(gamma, logits)
    probs = logits.softmax(1)
    runner_up = torch.where(probs < probs.gather(1, target[:, None]), probs, 0.0).amax(1)
    ce = _cross_entropy_each(logits, target)
    lost = ce > LOST  # there the loss is ce, and gamma * ce could be infinite in the gradient
    near = torch.where(lost, 1.0, ce.clamp_min(_tiny(ce)))
    each = torch.where(lost, ce, (runner_up - torch.expm1(-near)) ** gamma * near)
    return _weighted(each, logits, target, class_weights, reduction)


def forward_corrected(
    logits: Array, target: Array, *, transition: Array, reduction: Reduction = "mean"
) -> Tensor:
    """Cross-entropy of noisy labels, seen through their noise: -log (p N)_y.

    `logits` (n, K) are about the clean class, `target` (n,) noisy labels, `transition` N (K, K)
    with P(label j | class i) in row i. Nats. N = identity is cross-entropy. Raises ValueError or
    TypeError naming the argument, also for a label that N never gives.
    Source: Patrini et al. 2017, theorem 2.

    >>> noise = torch.tensor([[0.9, 0.1], [0.4, 0.6]])
    >>> even = torch.zeros(1, 2)  # (.5 * .1 + .5 * .6) = .35
    >>> round(forward_corrected(even, torch.tensor([1]), transition=noise).item(), 4)
    1.0498
    """
    logits, target = _inputs(logits, target, labels_for="forward_corrected")
    given = _transition(transition, logits)[:, target].T
    if _visible(given) and not bool((given > 0).any(1).all()):
        label = int(target[(given > 0).any(1).logical_not()][0])
        raise ValueError(
            f"transition never gives label {label}, which is among the targets; "
            f"its column {label} must have an entry above 0"
        )
    # through logarithms: a product of small numbers would round to 0, and its logarithm has no end
    each = -torch.logsumexp(logits.log_softmax(1) + given.log(), 1)
    return _reduced(each, logits, target, reduction)


# --- settings of the losses ------------------------------------------------------------------


def scheduled_gamma(epoch: int, epochs: int, *, gammas: Schedule = "5-3-1") -> float:
    """Focal gamma of an epoch (counted from 0) in a training of `epochs`.

    The first 100, the next 150 and the last 100 of 350 epochs, scaled to `epochs`, have the three
    values that `gammas` names ("5-3-1" or "5-3-2"). Raises ValueError or TypeError naming the
    argument. Source: Mukhoti et al. 2020, appendix F.

    >>> [scheduled_gamma(epoch, 350) for epoch in (0, 99, 100, 249, 250)]
    [5.0, 5.0, 3.0, 3.0, 1.0]
    """
    validate.choice("gammas", gammas, tuple(SCHEDULES))
    epochs = validate.integer("epochs", epochs, 1)
    epoch = validate.integer("epoch", epoch, 0, epochs - 1)
    passed = (7 * epoch >= 2 * epochs) + (7 * epoch >= 5 * epochs)  # 100/350 = 2/7, 250/350 = 5/7
    return SCHEDULES[gammas][passed]


@dataclass(frozen=True)
class ScheduledFocal:
    """Focal loss whose gamma falls during the training; see `scheduled_gamma`.

    A training asks for the loss of an epoch by `at(epoch, epochs)`, counted from 0.

    >>> ScheduledFocal("5-3-2").at(349, 350).keywords
    {'gamma': 2.0}
    """

    gammas: Schedule = "5-3-1"

    def __post_init__(self) -> None:
        validate.choice("gammas", self.gammas, tuple(SCHEDULES))

    def at(self, epoch: int, epochs: int) -> Callable[..., Tensor]:
        """The focal loss of one epoch."""
        return functools.partial(focal, gamma=scheduled_gamma(epoch, epochs, gammas=self.gammas))

    def __call__(self, logits: Array, target: Array, *, reduction: Reduction = "mean") -> Tensor:
        """The loss of the first epoch."""
        return self.at(0, 1)(logits, target, reduction=reduction)


def inverse_frequency_weights(counts: Array) -> Tensor:
    """(K,) class weights proportional to 1 / n_c, with mean 1.

    `counts` (K,) training samples per class, all positive. Float32 on the device of `counts`.
    Raises ValueError or TypeError naming the argument.
    Source: Dataset Curation Beyond Accuracy, section 3.

    >>> inverse_frequency_weights([1, 3]).tolist()  # 1 : 1/3, times 3/2
    [1.5, 0.5]
    """
    counts = _counts(counts)
    return _mean_one(1 / counts.cpu().double()).to(counts.device)


def class_balanced_weights(counts: Array, *, beta: float = 0.999) -> Tensor:
    """(K,) class weights by the effective number of samples: (1 - beta) / (1 - beta^n_c), mean 1.

    beta = 0 weighs all classes alike; beta -> 1 is `inverse_frequency_weights`. beta in [0, 1).
    Arguments and errors as there. Source: Cui et al. 2019.

    >>> class_balanced_weights([1, 2], beta=0.5).tolist()  # 1 : 1/1.5, times 6/5
    [1.2000000476837158, 0.800000011920929]
    """
    beta = validate.number("beta", beta, 0, 1, open_high=True)
    counts = _counts(counts)
    if beta == 0:
        return torch.ones_like(counts).float()
    seen = torch.expm1(counts.cpu().double() * math.log(beta))
    return _mean_one(1 / seen).to(counts.device)


# --- focal loss inside -----------------------------------------------------------------------

GammaOf = Callable[[Tensor], "float | Tensor"]  # from the detached cross-entropy, -log p


def _focal_each(logits: Tensor, target: Tensor, gamma_of: GammaOf) -> Tensor:
    """(n,) losses of labels, or (n, K) parts of those of soft labels."""
    if target.ndim == 2:
        return target * _modulated(-logits.log_softmax(1), gamma_of)
    return _modulated(_cross_entropy_each(logits, target), gamma_of)


def _modulated(ce: Tensor, gamma_of: GammaOf) -> Tensor:
    """(1 - p)^gamma ce with p = exp(-ce).

    1 - p = -expm1(-ce) keeps its digits near p = 1, and the floor keeps 0^(gamma - 1) out of the
    gradient there. From LOST on the factor is 1 and its slope 0, but the slope would be computed
    as gamma ce times 0, and gamma ce can be infinite.
    """
    near = ce.clamp(_tiny(ce), LOST)
    return (-torch.expm1(-near)) ** gamma_of(ce.detach()) * ce


# --- shared pieces ---------------------------------------------------------------------------


def _visible(tensor: Tensor) -> bool:
    """Whether values may be looked at: not on an accelerator, in torch.compile or torch.func."""
    traced = torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
    return tensor.device.type == "cpu" and not traced


def _inputs(logits: Array, target: Array, *, labels_for: str = "") -> tuple[Tensor, Tensor]:
    """Checked (n, K) logits in float32 or better with (n,) labels or (n, K) soft labels."""
    logits = validate.matrix("logits", logits)
    look = _visible(logits)
    if look:
        validate.refuse_probs("logits", logits.detach())
    target = validate.as_tensor("target", target)
    validate.same_device("target", target, logits.device, "the logits")
    validate.same_length("target", len(target), len(logits))
    if logits.dtype in validate.HALVES:
        logits = logits.float()
    target = _target(target, logits, look)
    if labels_for and target.ndim != 1:
        raise ValueError(
            f"target must be (n,) integer labels for {labels_for}, got shape "
            f"{tuple(target.shape)}; focal and cross_entropy take soft labels"
        )
    return logits, target


def _target(target: Tensor, logits: Tensor, look: bool) -> Tensor:
    """(n,) labels, or (n, K) soft labels in the type of the logits."""
    soft = target.is_floating_point()
    if not soft and target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    shape = (*target.shape,)
    if soft and target.ndim == 1:
        raise TypeError(
            f"target of shape {shape} must be integer labels, got {target.dtype}; "
            f"convert it with target.long()"
        )
    if soft and shape != logits.shape:
        raise ValueError(f"target must have the shape of logits, {(*logits.shape,)}, got {shape}")
    if soft:
        return (validate.probs(target, "target") if look else target).to(logits.dtype)
    if target.ndim != 1:
        raise ValueError(
            f"target must be (n,) integer labels or (n, K) floating soft labels, "
            f"got {target.dtype} of shape {shape}"
        )
    if look:
        return validate.labels(target, n=len(target), classes=logits.shape[1], name="target")
    if target.dtype == torch.bool:
        raise TypeError("target must be integers, got torch.bool; convert it with target.long()")
    return target.long()


def _class_weights(weights: Weights, logits: Tensor) -> Tensor | None:
    if weights is None:
        return None
    weights = validate.as_tensor("class_weights", weights, ndim=1)
    validate.same_device("class_weights", weights, logits.device, "the logits")
    validate.same_length("class_weights", len(weights), logits.shape[1], "class")
    return _not_negative("class_weights", weights).to(logits.dtype)


def _transition(transition: Array, logits: Tensor) -> Tensor:
    """(K, K) rows that are distributions, in the type of the logits."""
    classes = logits.shape[1]
    transition = validate.as_tensor("transition", transition, ndim=2)
    validate.same_device("transition", transition, logits.device, "the logits")
    if transition.shape != (classes, classes):
        raise ValueError(
            f"transition must be ({classes}, {classes}), a row and a column per class, "
            f"got {tuple(transition.shape)}"
        )
    look = _visible(transition)
    return (validate.probs(transition, "transition") if look else transition).to(logits.dtype)


def _gamma(gamma: float | Tensor, logits: Tensor) -> float | Tensor:
    """A number >= 0, or (n,) of them, that takes no gradient."""
    if isinstance(gamma, int | float) or getattr(gamma, "ndim", 1) == 0:
        return validate.number("gamma", gamma, 0, math.inf, open_high=True)
    gamma = validate.floating("gamma", gamma, ndim=1).detach()
    validate.same_device("gamma", gamma, logits.device, "the logits")
    validate.same_length("gamma", len(gamma), len(logits))
    return _not_negative("gamma", gamma).to(logits.dtype)


def _not_negative(name: str, tensor: Tensor) -> Tensor:
    if _visible(tensor):
        low, high = (bound.item() for bound in torch.aminmax(tensor))
        if not (low >= 0 and high < math.inf):  # also true for NaN
            raise ValueError(f"{name} must be finite and at least 0, got from {low:g} to {high:g}")
    return tensor


def _counts(counts: Array) -> Tensor:
    counts = validate.as_tensor("counts", counts, ndim=1)
    if counts.dtype == torch.bool:
        raise TypeError(f"counts must be real numbers, got {counts.dtype}")
    validate.finite("counts", counts)
    if not bool((counts > 0).all()):
        raise ValueError(
            f"counts must be positive, got {counts.min().item():g} in class "
            f"{int(counts.argmin())}; leave out classes that have no samples"
        )
    return counts


def _mean_one(weights: Tensor) -> Tensor:
    return (weights / weights.mean()).float()


def _cross_entropy_each(
    logits: Tensor, target: Tensor, weights: Tensor | None = None, smoothing: float = 0.0
) -> Tensor:
    """(n,) cross-entropy against labels or soft labels."""
    return F.cross_entropy(
        logits, target, weights, ignore_index=NEVER, reduction="none", label_smoothing=smoothing
    )


def _soft(target: Tensor, logits: Tensor) -> Tensor:
    """(n, K) soft labels; labels become one-hot rows."""
    if target.ndim == 2:
        return target
    return torch.zeros_like(logits).scatter(1, target[:, None], 1.0)


def _weighted(
    each: Tensor, logits: Tensor, target: Tensor, class_weights: Weights, reduction: Reduction
) -> Tensor:
    """Reduce (n,) losses, or (n, K) parts of them, under class weights."""
    weights = _class_weights(class_weights, logits)
    if weights is not None:
        each = each * (weights[target] if each.ndim == 1 else weights)
    each = each.sum(1) if each.ndim == 2 else each
    return _reduced(each, logits, target, reduction, weights)


def _reduced(
    each: Tensor,
    logits: Tensor,
    target: Tensor,
    reduction: Reduction,
    weights: Tensor | None = None,
) -> Tensor:
    """The checked loss, a weighted mean over the weights of the labels, or soft labels."""
    validate.choice("reduction", reduction, REDUCTIONS)
    if reduction != "mean":
        return _checked(each.sum() if reduction == "sum" else each, logits)
    if weights is None:
        return _checked(each.mean(), logits)
    total = (weights[target] if target.ndim == 1 else target @ weights).sum()
    if _visible(total) and total.item() == 0:
        raise ValueError("class_weights are 0 for every label of the batch: there is no mean")
    return _checked(each.sum() / total, logits)


def _checked(loss: Tensor, logits: Tensor) -> Tensor:
    """`loss`, if finite; on an accelerator or under a trace, unseen."""
    if not _visible(logits):
        return loss
    total = (loss.detach() if loss.ndim == 0 else loss.detach().sum()).item()
    if not math.isfinite(total):
        validate.finite("logits", logits.detach())
        raise ValueError(
            f"logits give a loss of {total:g}: they go up to {logits.detach().abs().max():.3g}; "
            f"scale them down"
        )
    return loss


def _tiny(like: Tensor) -> float:
    return torch.finfo(like.dtype).tiny


torch_defaults.guard(globals())
