"""A published network on 10,000 photographs of CIFAR-100: how sure it is, and where it is right.

DenseNet-BC-100; the 100 probabilities of each test image were published with the library net:cal
(see `notebooks/results/real/NOTICE.txt`). Kept are the confidences, as published (temperature 1)
and at twenty other temperatures that all 100 probabilities are divided by in their logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibkit.course import checkout

FILE = "densenet100_cifar100.npz"
STEPS = 65_535  # a confidence is kept as a whole number of steps, two bytes each


class Answers(NamedTuple):
    """temperatures (21,); confidence (21, n) at each of them, fractions; right (n,) booleans."""

    temperatures: np.ndarray
    confidence: np.ndarray
    right: np.ndarray


def answers() -> Answers:
    """What the network said; a temperature changes no answer, so that `right` is of all."""
    with np.load(checkout.results() / "real" / FILE) as file:
        return Answers(file["temperatures"], file["confidence"] / STEPS, file["right"])
