"""The one list of ways to train against over-confidence: by name, what a strength changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from calibkit import losses, mixing, validate


def own_labels(
    inputs: Tensor, labels: Tensor, *, classes: int, alpha: float, generator: Any
) -> tuple[Tensor, Tensor]:
    """A `mix` function: the images stay; the label keeps the larger share, a partner's the rest."""
    drawn = mixing.draw(len(inputs), alpha, generator=generator, device=inputs.device)
    larger = max(drawn.lam, 1 - drawn.lam)
    return inputs, mixing.Mix(larger, drawn.partner).soft_labels(labels, classes)


# A strength: alpha, the weight of the entropy or of the MMCE, gamma; 0 of a way without one.
WAYS: dict[str, Callable[[float], dict[str, Any]]] = {
    "cross-entropy": lambda _: {"loss": losses.cross_entropy},
    "smoothing": lambda alpha: {"loss": partial(losses.label_smoothing, alpha=alpha)},
    "penalty": lambda weight: {"loss": partial(losses.confidence_penalty, weight=weight)},
    "focal": lambda gamma: {"loss": partial(losses.focal, gamma=gamma)},
    "FLSD-53": lambda _: {"loss": losses.flsd},
    "Brier": lambda _: {"loss": losses.brier},
    "MMCE, plain": lambda weight: {"loss": partial(losses.mmce, weight=weight, variant="plain")},
    "MMCE, weighted": lambda weight: {
        "loss": partial(losses.mmce, weight=weight, variant="weighted")
    },
    "MMCE, squared": lambda weight: {
        "loss": partial(losses.mmce, weight=weight, variant="squared")
    },
    "mixup": lambda alpha: {"mix": partial(mixing.mixup, alpha=alpha)},
    "mixup of inputs": lambda alpha: {"mix": partial(mixing.mixup, alpha=alpha, mix="inputs")},
    "mixup of labels": lambda alpha: {"mix": partial(own_labels, alpha=alpha)},
    "mixup of words": lambda alpha: {"mix": partial(mixing.word_mixup, alpha=alpha)},
}
WAYS["images only"], WAYS["labels only"] = WAYS["mixup of inputs"], WAYS["mixup of labels"]


def changes(way: str, strength: float) -> dict[str, Any]:
    """What a way of `WAYS` at this strength changes in `training.trial`: its loss, or its blends.

    Raises ValueError for another name.

    >>> changes("focal", 2.0)["loss"].keywords
    {'gamma': 2.0}
    """
    return WAYS[validate.choice("way", way, tuple(WAYS))](strength)
