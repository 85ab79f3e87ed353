"""What a network and the best possible reader say of two images that get noisier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibkit import validate
from calibkit.course.explorers.digits import digit_bars
from calibkit.devices import as_array
from calibkit.pictures import palette
from calibkit.pictures.svg import Frame

NETWORK = palette.group(5, "network")
EXACT = palette.TRUTH.named("best possible reader")


def noisier_frame(
    images: np.ndarray, labels: Sequence[int], network: np.ndarray, exact: np.ndarray, noise: float
) -> Frame:
    """Two noisy digits over the probabilities of a network and of a reader who knows the noise.

    images: (2, 8, 8), drawn on one scale of grey, 0 white and 1 dark, at every noise; labels: (2,)
        their true digits; network, exact: (2, 10) probabilities.

    Raises ValueError for a negative noise.

    >>> sure, unsure = np.eye(10)[[3, 5]], np.full((2, 10), 0.1)
    >>> noisier_frame(np.zeros((2, 8, 8)), [3, 6], sure, unsure, 0.8).readout[:70]
    'Noise 0.8: of the 3 the network says 3 with 100.0 %, the best reader 0'
    """
    noise = validate.number("noise", noise, 0, float("inf"), open_high=True)
    panels, told = [], []
    for image, label, says, knows in zip(images, labels, network, exact, strict=True):
        grey = as_array(image).clip(0, 1)
        panels.append(
            digit_bars(f"a {label} at noise {noise:g}", grey, {NETWORK: says}, {EXACT: knows})
        )
        told.append(
            f"of the {label} the network says {says.argmax()} with {100 * says.max():.1f} %, "
            f"the best reader {knows.argmax()} with {100 * knows.max():.1f} %"
        )
    return Frame(tuple(panels), f"Noise {noise:g}: {'; '.join(told)}.")
