"""Sets of digits that were promised to hold the right one, and whether they do, by scanner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibkit import validate
from calibkit.course.explorers.digits import digit
from calibkit.pictures import palette, svg
from calibkit.pictures.palette import Role
from calibkit.pictures.svg import Frame

CLEAN, NOISY = 2.5, 6  # screen pixels of one of an image's
CELL = (86, 92)  # an image with its set
TOP = 62  # of the first row
PLOT = svg.Axes(56, 44, 272, 230, x_range=(0.5, 1.0), y_range=(0.3, 1.0))
KEYS = 338
HEIGHT = 414


@dataclass(frozen=True)
class Example:
    """One image with its set: the clean digit and the noisy one, (8, 8) greys, dark where large.

    label: its digit; members: the digits in the set; mass: the exact probability that the right
        digit is one of them.
    """

    clean: np.ndarray
    noisy: np.ndarray
    label: int
    members: Sequence[int]
    mass: float


def promise_frame(
    promise: float,
    rows: Mapping[str, Sequence[Example]],
    promises: Sequence[float],
    lines: Mapping[Role, Sequence[float]],
    *,
    size: float,
) -> Frame:
    """Left images of each group with their sets, right the coverage of each group for each promise.

    promise: the chosen one, of `promises`; rows: by group, at most four images; lines: by role, the
        exact coverage of a group for each of `promises`, the first that of all images. size: how
        many digits a set holds on average.

    Raises ValueError for a promise that is none of `promises`, for a row of more than four images,
    and for a line of another length.

    >>> image = Example(np.zeros((8, 8)), np.zeros((8, 8)), 3, [3, 8], 0.94)
    >>> every = palette.group(6, "all images")
    >>> frame = promise_frame(0.9, {"old": [image]}, [0.5, 0.9], {every: [0.52, 0.91]}, size=1.5)
    >>> frame.readout
    'Promised 90 %. The set holds the right digit: all images 91 %. 1.5 digits a set.'
    """
    place = list(promises).index(validate.choice("promise", promise, tuple(promises)))
    for name, row in rows.items():
        if len(row) > 4:
            raise ValueError(f"rows must hold 4 images at most, got {len(row)} of {name!r}")
    for shares in lines.values():
        validate.same_length("lines", len(shares), len(promises), "promise")
    found = ", ".join(f"{role.words} {100 * line[place]:.0f} %" for role, line in lines.items())
    readout = (
        f"Promised {100 * promise:.0f} %. The set holds the right digit: {found}. "
        f"{size:.1f} digits a set."
    )
    values = {role.words: float(line[place]) for role, line in lines.items()} | {"size": size}
    # left the images in rows, each with its digit and over its set, which may lack the digit
    sheet = [
        svg.text(svg.PANEL / 2, 19, f"sets promised to hold the digit with {100 * promise:.0f} %"),
        svg.text(svg.PANEL / 2, 38, "right digit left; below: set, exact probability"),
    ]
    for number, (name, row) in enumerate(rows.items()):
        top = TOP + (CELL[1] + 24) * number
        sheet.append(svg.text(8, top - 6, name, anchor="start", font_weight="bold"))
        for column, one in enumerate(row):
            left, below = 8 + CELL[0] * column, top + 8 * NOISY
            sheet += digit(one.clean, left, top + 8, CLEAN)
            sheet.append(svg.text(left + 4 * CLEAN, top + 44, str(one.label), size=14))
            sheet += digit(one.noisy.clip(0, 1), left + 26, top, NOISY)
            missed = one.label not in one.members
            look: dict = {"fill": palette.OVER.colour, "font_weight": "bold"} if missed else {}
            few, many = ",".join(map(str, one.members)), len(one.members)
            words = f"{{{few if many < 7 else f'{many} digits'}}}"
            sheet.append(svg.text(left + 36, below + 17, words, size=14, **look))
            sheet.append(svg.text(left + 36, below + 33, f"{100 * one.mass:.0f} %"))
            if missed:
                sheet.append(svg.text(left + 36, below + 48, f"✗ no {one.label}", **look))
    # right the coverage against the promise, with the diagonal on which a promise is kept
    low, kept = PLOT.y_range[0], palette.DIAGONAL.named("the promise")
    title = "how often the set holds the right digit"
    drawn = [
        svg.text(PLOT.left + PLOT.width / 2, 19, title, size=14),
        PLOT.line(promises[0], promises[0], 1, 1, **svg.stroke(kept, 1.5)),
    ]
    for role, line in lines.items():
        points = PLOT.points(promises, np.maximum(line, low))
        drawn.append(svg.tag("polyline", points=points, fill="none", **svg.stroke(role)))
    ticks = (0.5, 0.6, 0.7, 0.8, 0.9, 1), (0.4, 0.6, 0.8, 1)
    drawn.append(PLOT.frame("promised (%)", "coverage (%)", *ticks))
    half = -(-(1 + len(lines)) // 2)
    for k, role in enumerate([kept, *lines]):
        spot = (8 + 176 * (k // half), KEYS + 22 * (k % half))
        drawn.append(svg.line_key(role, *spot, marked=role is not kept))
    here = {"stroke": palette.GREY, "stroke_width": 1.5, "class_": "here"}
    drawn.append(PLOT.line(promise, low, promise, 1, **here))
    for role, line in lines.items():
        drawn.append(svg.marker(role, PLOT.x(promise), PLOT.y(max(line[place], low))))
    panels = (svg.picture(svg.PANEL, HEIGHT, *parts) for parts in (sheet, drawn))
    return Frame(tuple(panels), readout, values)
