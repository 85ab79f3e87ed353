"""A label that is smoothed, and what the loss then asks for on images like it."""

from __future__ import annotations

import numpy as np

from calibkit import validate
from calibkit.course.explorers.digits import digit_bars
from calibkit.devices import as_array
from calibkit.pictures import palette
from calibkit.pictures.svg import Frame

HARD = palette.TRUTH.named("the label as it was given")
SOFT = palette.group(0, "what the network is taught")
TRUE = palette.TRUTH.named("the exact posterior")
ASKED = palette.group(5, "the answer with the lowest loss")


def soft_label_frame(image: np.ndarray, label: int, posterior: np.ndarray, alpha: float) -> Frame:
    """Left a digit over its smoothed label, right the best answer to all images like it.

    image: (8, 8) greys, dark where they are large; label: the digit that it was given;
    posterior: (10,) exact probabilities of its digit. alpha: the share of each label that is
        spread over all ten digits (form K), 0 to 1.

    Raises ValueError for an alpha outside [0, 1].

    >>> frame = soft_label_frame(np.zeros((8, 8)), 3, np.eye(10)[3], 0.2)
    >>> frame.readout[:36]
    'Alpha 0.2: the label "3" keeps 82 %.'
    """
    alpha = validate.number("alpha", alpha, 0, 1)
    hard = np.eye(10)[label]
    true = as_array(posterior, np.float64)
    taught, asked = ((1 - alpha) * row + alpha / 10 for row in (hard, true))
    best = int(true.argmax())
    readout = (
        f'Alpha {alpha:g}: the label "{label}" keeps {100 * taught[label]:.0f} %. The exact '
        f"posterior says {best} with {100 * true[best]:.0f} %, the loss is lowest at "
        f"{100 * asked[best]:.0f} %."
    )
    panels = (
        digit_bars("one image and its label", image, {SOFT: taught}, {HARD: hard}),
        digit_bars("all images like it", image, {ASKED: asked}, {TRUE: true}),
    )
    return Frame(panels, readout, {"taught": taught[label], "asked": asked[best]})
