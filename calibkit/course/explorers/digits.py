"""A digit as the course draws it, and probabilities of the ten digits below it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibkit.devices import as_array
from calibkit.pictures import svg
from calibkit.pictures.palette import Role

LEVELS = 6  # of grey
PIXEL = 11  # screen pixels of one of the image's, above bars
PLOT = svg.Axes(56, 150, 272, 190, x_range=(-0.5, 9.5))
KEYS, KEY_HEIGHT = 398, 20


def digit(image: np.ndarray, left: float, top: float, pixel: float) -> list[str]:
    """An image (8, 8) with its corner at (left, top); pixels of one grey are one path."""
    image = as_array(image)
    levels = np.round((LEVELS - 1) * image / max(image.max(), 1e-9)).astype(int)
    drawn = []
    for level in range(1, LEVELS):
        cells = "".join(
            f"M{left + pixel * x:g},{top + pixel * y:g}h{pixel}v{pixel}h-{pixel}z"
            for y, x in np.argwhere(levels == level)
        )
        grey = round(245 - 225 * level / (LEVELS - 1))
        drawn += [svg.tag("path", d=cells, fill=f"#{grey:02x}{grey:02x}{grey:02x}")] * bool(cells)
    return drawn


def digit_bars(
    title: str, image: np.ndarray, bars: Mapping[Role, np.ndarray], marks: Mapping[Role, np.ndarray]
) -> str:
    """An image above probabilities of the ten digits: those of one role as bars, others as marks.

    bars: one role with its (10,) values; marks: roles with theirs.
    """
    parts = [
        svg.text(svg.PANEL / 2, 19, title, size=14),
        *digit(image, svg.PANEL / 2 - 4 * PIXEL, 32, PIXEL),
    ]
    keys = []
    for role, values in bars.items():
        spans = [(k - 0.35, k + 0.35, 0.0, p) for k, p in enumerate(values.tolist())]
        parts.append(PLOT.bars(spans, **svg.fill(role)))
        keys.append((svg.area_key, role))
    for role, values in marks.items():
        spots = enumerate(values.tolist())
        parts += [svg.marker(role, PLOT.x(k), PLOT.y(p), 4) for k, p in spots]
        keys.append((svg.marker_key, role))
    parts.append(PLOT.frame("digit", "probability (%)", range(10), (0, 0.5, 1)))
    parts += [key(role, 56, KEYS + KEY_HEIGHT * k) for k, (key, role) in enumerate(keys)]
    return svg.picture(svg.PANEL, KEYS + KEY_HEIGHT * len(keys) - 8, *parts)
