"""A blend of two digits, the label that mixup gives it, and what two networks say of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibkit import validate
from calibkit.course.explorers.digits import digit_bars
from calibkit.devices import as_array
from calibkit.pictures import palette
from calibkit.pictures.svg import Frame

LABEL = palette.COUNTS.named("its label under mixup")
PLAIN = palette.TRAINED.named("network trained without blends")
MIXED = palette.CURED.named("network trained with mixup")


def blend_frame(
    images: np.ndarray, digits: Sequence[int], share: float, plain: np.ndarray, mixed: np.ndarray
) -> Frame:
    """Two blends over their label, and over what two networks say of each.

    images: (2, 8, 8), a blend of clean digits, and one of noisy ones, drawn on one scale of grey,
        0 white and 1 dark; digits: the two that are blended; share: of the first, in [0, 1];
        plain, mixed: (2, 10) probabilities of the networks.

    Raises ValueError for a share outside [0, 1].

    >>> rows = np.eye(10)[[3, 3]]
    >>> blend_frame(np.zeros((2, 8, 8)), (3, 7), 0.7, rows, rows).readout[:56]
    '70 % of a 3, 30 % of a 7: without noise the network with'
    """
    share = validate.number("share", share, 0, 1)
    label = np.zeros(10)
    label[digits[0]], label[digits[1]] = share, 1 - share
    panels, told = [], []
    for name, image, one, two in zip(("without", "with"), images, plain, mixed, strict=True):
        grey = as_array(image).clip(0, 1)
        panels.append(digit_bars(f"{name} noise", grey, {LABEL: label}, {PLAIN: one, MIXED: two}))
        told.append(
            f"{name} noise the network without blends says {one.argmax()} with "
            f"{100 * one.max():.1f} %, "
            f"the one with mixup {two.argmax()} with {100 * two.max():.1f} %"
        )
    first, second = (
        f"{100 * part:.0f} % of a {k}" for part, k in zip((share, 1 - share), digits, strict=True)
    )
    return Frame(tuple(panels), f"{first}, {second}: {'; '.join(told)}.")
