"""Images with labels, some of them wrong, and what that does to the posterior of one image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibkit import validate
from calibkit.course.explorers.digits import bars_and_marks, digit
from calibkit.devices import as_array
from calibkit.pictures import palette, svg
from calibkit.pictures.svg import Frame

ACROSS, PIXEL, TOP = 4, 8, 40  # images in a row, screen pixels of one of theirs, the first row's y
CELL = (84, 104)  # an image with its label
CLEAN = palette.TRUTH.named("exact, no wrong labels")
NOISY = palette.group(5, "with wrong labels")
PLOT = svg.Axes(56, 50, 272, 230, x_range=(-0.5, 9.5))


def labels_frame(
    images: np.ndarray,
    true: Sequence[int],
    given: Sequence[int],
    posterior: Sequence[float],
    rate: float,
) -> Frame:
    """Digits over the labels that they were given, and the label that one of them may carry.

    images: (n, 8, 8) greys, dark where they are large; true, given: (n,) digits. posterior: (10,)
        exact probabilities of the first image's digit; beside them stand those of the label that
        it is given when a share `rate` of all labels is shuffled, (1 - r) q + r / 10.

    Raises ValueError for a rate outside [0, 1] and for lists of different lengths.

    >>> image, sure = np.zeros((1, 8, 8)), [1.0] + 9 * [0.0]
    >>> labels_frame(image, [0], [7], sure, 0.2).readout[:62]
    'Noise rate 20 %: 1 of the 1 labels shown is wrong. First image'
    """
    rate = validate.number("rate", rate, 0, 1)
    if not len(images) == len(true) == len(given):
        raise ValueError(
            f"images, true and given must be equally long, got {len(images)}, {len(true)} and "
            f"{len(given)}"
        )
    clean = as_array(posterior, np.float64)
    noisy = (1 - rate) * clean + rate / len(clean)
    wrong = sum(a != b for a, b in zip(true, given, strict=True))
    best = int(clean.argmax())
    readout = (
        f"Noise rate {100 * rate:.0f} %: {wrong} of the {len(true)} labels shown "
        f"{'is' if wrong == 1 else 'are'} wrong. First image: the digit is a {best} with "
        f"probability {100 * clean[best]:.0f} %, the label a {best} with "
        f"{100 * noisy[best]:.0f} %."
    )
    values = {"wrong": wrong, "clean": clean[best], "noisy": noisy[best]}
    return Frame((_sheet(images, true, given, rate), _bars(clean, noisy)), readout, values)


def _sheet(images, true, given, rate: float) -> str:
    """The images in rows, each over its label; a wrong one is struck out in words and colour."""
    parts = [svg.text(svg.PANEL / 2, 19, f"labels, {100 * rate:.0f} % shuffled", size=14)]
    margin = (svg.PANEL - ACROSS * CELL[0]) / 2
    for place, (image, right, label) in enumerate(zip(images, true, given, strict=True)):
        left = margin + CELL[0] * (place % ACROSS) + (CELL[0] - 8 * PIXEL) / 2
        top = TOP + CELL[1] * (place // ACROSS)
        parts += digit(image, left, top, PIXEL)
        is_wrong = label != right
        look = {"fill": palette.OVER.colour, "font_weight": "bold"} if is_wrong else {}
        words = f"“{label}” ✗" if is_wrong else f"“{label}”"
        parts.append(svg.text(left + 4 * PIXEL, top + 8 * PIXEL + 18, words, size=15, **look))
    rows = -(-len(images) // ACROSS)
    return svg.picture(svg.PANEL, TOP + CELL[1] * rows, *parts)


def _bars(clean: np.ndarray, noisy: np.ndarray) -> str:
    """The probability of each digit and of each label."""
    bars, *marks = bars_and_marks(PLOT, {NOISY: noisy}, {CLEAN: clean})
    title = svg.text(PLOT.left + PLOT.width / 2, 19, "first image: what is its label?", size=14)
    even = 1 / len(clean)
    free = _free(clean, noisy)
    parts = [
        bars,
        PLOT.line(-0.5, even, len(clean) - 0.5, even, **svg.stroke(palette.DIAGONAL, 1.5)),
        *marks,
        PLOT.frame("label", "probability (%)", range(len(clean)), (0, 0.5, 1)),
        svg.area_key(NOISY, 56, 338),
        svg.marker_key(CLEAN, 56, 358),
        svg.text(PLOT.x(free), PLOT.y(even) - 8, "all equally likely"),
    ]
    return svg.picture(svg.PANEL, 370, title, *parts)


def _free(clean: np.ndarray, noisy: np.ndarray) -> int:
    """The middle of the five labels in a row that have the lowest bars and marks."""
    highest = np.maximum(clean, noisy)
    return min(range(2, len(clean) - 2), key=lambda k: highest[k - 2 : k + 3].max())
