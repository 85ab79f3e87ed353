"""What a temperature does to what a network says of two images, one right and one wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from calibkit import validate
from calibkit.course.explorers.digits import digit_bars
from calibkit.devices import as_array
from calibkit.pictures import palette
from calibkit.pictures.svg import Frame

BEFORE = palette.TRUTH.named("as trained (T = 1)")
AFTER = palette.group(5, "logits divided by T")


def cooled_frame(images: np.ndarray, labels: Sequence[int], logits: Tensor, T: float) -> Frame:
    """Two digits over a network's probabilities, after its logits are divided by T.

    images: (2, 8, 8) greys, dark where they are large; labels: (2,) their true digits; logits:
        (2, 10) of a network, right on the first and wrong on the second.

    Raises ValueError for a T that is not positive.

    >>> import torch
    >>> logits = torch.tensor([[9.0] + 9 * [0.0], [9.0] + 9 * [0.0]])
    >>> cooled_frame(np.zeros((2, 8, 8)), [0, 1], logits, 3.0).readout
    'T = 3: the right answer "0" has 69.1 %, the wrong answer "0" has 69.1 %.'
    """
    T = validate.number("T", T, 0, float("inf"), open_low=True, open_high=True)
    panels, told, values = [], [], {}
    for name, image, label, row in zip(("right", "wrong"), images, labels, logits, strict=True):
        said = int(row.argmax())
        before, after = (as_array((row.double() / t).softmax(dim=0)) for t in (1.0, T))
        title = f"a {label}, and the network says {said}"
        panels.append(digit_bars(title, image, {AFTER: after}, {BEFORE: before}))
        told.append(f'the {name} answer "{said}" has {100 * after[said]:.1f} %')
        values[name] = after[said]
    return Frame(tuple(panels), f"T = {T:g}: {told[0]}, {told[1]}.", values)
