"""The plane of a training: how much accuracy it loses on new data, and how much it still claims.

Across, the accuracy that is lost from the training data to new data with the same kind of labels;
upwards, the confidence on the new data that this accuracy does not bear out. The slope kappa is the
share of the lost accuracy that is still claimed: 1 for a nearest neighbour, which is always sure,
0 for a model whose mean confidence equals its accuracy. Carrell et al. 2022 ("The Calibration
Generalization Gap", arXiv:2210.01964) bound the height by the width; how the slope moves is the
course's own observation, a regularity of the networks that it trains and no law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from calibkit import validate

LEAST_LOST = 0.05  # where less accuracy is lost, kappa is a quotient of two small numbers


class Place(NamedTuple):
    """Where one training lies: `lost` across, `claimed` upwards, both as fractions."""

    lost: float
    claimed: float


class Kappa(NamedTuple):
    """Share of the lost accuracy that is still claimed, with its interval over trainings."""

    value: float
    low: float
    high: float


def same_labels_accuracy(accuracy: float, noise: float, classes: int) -> float:
    """Accuracy on new data whose labels were drawn anew with probability `noise`.

    (1 - r) a + r / K for labels that are replaced by any of the K classes, all equally likely,
    where `accuracy` a is that on clean labels.
    Raises ValueError for an accuracy or a rate outside [0, 1] or fewer than 2 classes.

    >>> round(same_labels_accuracy(0.8, 0.5, 10), 3)
    0.45
    """
    accuracy = validate.number("accuracy", accuracy, 0, 1)
    noise = validate.number("noise", noise, 0, 1)
    return (1 - noise) * accuracy + noise / validate.integer("classes", classes, 2)


def place(train_accuracy: float, accuracy: float, confidence: float) -> Place:
    """Where a training lies in the plane.

    train_accuracy: on the training data with their training labels, at the end, in evaluation mode
        and without augmentation.
    accuracy: on new data with the same kind of labels; see `same_labels_accuracy`.
    confidence: mean on the new data.

    Raises ValueError for a number outside [0, 1].

    >>> place(1.0, 0.75, 0.9375)
    Place(lost=0.25, claimed=0.1875)
    """
    numbers = {"train_accuracy": train_accuracy, "accuracy": accuracy, "confidence": confidence}
    train_accuracy, accuracy, confidence = (
        validate.number(name, number, 0, 1) for name, number in numbers.items()
    )
    return Place(train_accuracy - accuracy, confidence - accuracy)


def kappa(places: Sequence[tuple[float, float]], *, level: float = 0.95) -> Kappa | None:
    """Mean claimed over mean lost accuracy of several trainings, with Fieller's interval.

    places: one `Place`, or pair (lost, claimed), a seed. The interval holds the slopes for which
        the mean of claimed - slope * lost is not significantly off zero (Student's t), so it comes
        from both coordinates together, and not from a mean of quotients.
    None where the mean lost accuracy is below `LEAST_LOST`, or where it is so uncertain that the
    interval has no end. Raises ValueError for fewer than 2 places or numbers that are not finite.
    Source: E. C. Fieller, "Some Problems in Interval Estimation", JRSS B 16 (1954).

    >>> round(kappa([(0.20, 0.12), (0.22, 0.14), (0.21, 0.13)]).value, 3)
    0.619
    >>> kappa([(0.01, 0.00), (0.02, 0.01)]) is None
    True
    """
    level, pairs = validate.level(level), _pairs(places)
    lost, claimed = pairs.mean(axis=0)
    if lost < LEAST_LOST:
        return None
    # claimed - slope * lost has the t statistic 0 where slope is kappa, and -+ t at the ends
    quantile = stdtrit(len(pairs) - 1, (1 + level) / 2)  # of Student's t
    (xx, xy), (_, yy) = quantile**2 * np.cov(pairs.T) / len(pairs)
    a, b, c = lost**2 - xx, lost * claimed - xy, claimed**2 - yy
    if a <= 0:
        return None
    half = math.sqrt(max(b**2 - a * c, 0.0))
    return Kappa(float(claimed / lost), float((b - half) / a), float((b + half) / a))


def kappa_values(places: Sequence[tuple[float, float]]) -> np.ndarray:
    """One number a training, whose mean is kappa, for paired comparisons over seeds.

    places: as in `kappa`. A training counts with kappa + (claimed - kappa * lost) / mean lost, the
        linear part of the quotient (delta method), and not with its own quotient.

    Returns (n,) float64. Where `kappa` is None they say little: look before. Raises ValueError as
    `kappa`, and where no accuracy is lost on average.

    >>> kappa_values([(0.20, 0.12), (0.22, 0.14), (0.21, 0.13)]).mean().round(3)
    np.float64(0.619)
    """
    lost, claimed = _pairs(places).T
    if lost.mean() <= 0:
        raise ValueError(f"places must lose accuracy on average, got a mean of {lost.mean():.3f}")
    slope = claimed.mean() / lost.mean()
    return slope + (claimed - slope * lost) / lost.mean()


def _pairs(places: Sequence[tuple[float, float]]) -> np.ndarray:
    """(n, 2) places, checked."""
    pairs = np.asarray(places, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) < 2:
        raise ValueError(
            f"places must be at least 2 pairs (lost, claimed), one per seed, got shape "
            f"{pairs.shape}"
        )
    if not np.isfinite(pairs).all():
        raise ValueError(f"places must be finite, got {pairs.tolist()}; drop no seed unseen")
    return pairs
