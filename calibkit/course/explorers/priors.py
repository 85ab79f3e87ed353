"""What the shares of the classes in a training set do to what a model says of two images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from calibkit import recalibration, validate
from calibkit.course.explorers.digits import digit_bars
from calibkit.devices import as_array
from calibkit.pictures import palette
from calibkit.pictures.svg import Frame

EVEN = palette.TRUTH.named("all digits equally common")
RARE = palette.group(5, "this digit rarer than the others")


def prior_frame(
    images: np.ndarray, true: Sequence[int], posteriors: np.ndarray, ratio: float
) -> Frame:
    """Two digits, and the exact posterior of each where its own class is `ratio` times rarer.

    images: (2, 8, 8) greys, dark where they are large; true: (2,) digits; posteriors: (2, 10)
        exact probabilities where all digits are equally common. The nine other classes stay
        equally common.

    Raises ValueError for a ratio below 1 and for other than two images.

    >>> image, even = np.zeros((2, 8, 8)), np.full((2, 10), 0.1)
    >>> prior_frame(image, [0, 1], even, 9).readout[:61]
    'This digit 9 times rarer in training: the clear 0 falls from '
    """
    ratio = validate.number("ratio", ratio, 1, math.inf, open_high=True)
    if not len(images) == len(true) == len(posteriors) == 2:
        raise ValueError(
            f"images, true and posteriors must be of two images, got {len(images)}, {len(true)} "
            f"and {len(posteriors)}"
        )
    panels, words, values = [], [], {}
    for name, image, label, row in zip(
        ("clear", "doubtful"), images, true, posteriors, strict=True
    ):
        even = as_array(row, np.float64)
        rare = _with_rare(even, label, ratio)
        panels.append(
            digit_bars(f"a {name} {label}, under noise", image, {RARE: rare}, {EVEN: even})
        )
        before, after = (f"{100 * shares[label]:.1f} %" for shares in (even, rare))
        told = f"falls from {before} to {after}" if ratio > 1 else f"has {after}"
        words.append(f"the {name} {label} {told}")
        values[name] = rare[label]
    how = f"This digit {ratio:g} times rarer in training" if ratio > 1 else "Equally common"
    readout = f"{how}: {words[0]}, {words[1]}."
    return Frame(tuple(panels), readout, values)


def _with_rare(posterior: np.ndarray, label: int, ratio: float) -> np.ndarray:
    even = torch.full((len(posterior),), 1 / len(posterior), dtype=torch.float64)
    shares = even.clone()
    shares[label] /= ratio
    row = torch.tensor(posterior)[None] / posterior.sum()
    return recalibration.change_prior(row, old=even, new=shares / shares.sum())[0].numpy()
