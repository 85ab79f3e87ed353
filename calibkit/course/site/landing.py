"""The sliders of the landing page: stored runs of the lessons, retold without their terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from calibkit.course.explorers import Explorer, Frame, Slider, stored
from calibkit.pictures import svg
from calibkit.pictures.palette import ACCURACY, CONFIDENCE, OVER, Role

CELL = 15  # pixels of one of the hundred
GRID = 10 * CELL
TOP = 58
PLOT = 285  # pixels, width of a plot on a wide screen, two of which have room for a legend


def sliders() -> dict[str, Explorer]:
    """The four sliders of the landing page by name, in reading order."""
    return {
        "promise": _promise(),
        "training": _training(),
        "temperature": _temperature(),
        "test_images": _test_images(),
    }


def hundred_panel(said: float, right: float) -> str:
    """Of a hundred answers, how many a model says are right beside how many are.

    said, right: per cent; each grid shows the nearest whole number.

    >>> hundred_panel(93.0, 78.8).count("79 right")
    1
    """
    promised, kept = round(said), round(right)
    left, middle = 18, 192
    parts = [
        _heading(left, "It says", f"{promised} right", CONFIDENCE),
        _grid(left, promised, CONFIDENCE, "s"),
        _heading(middle, "In truth", f"{kept} right", ACCURACY),
        _grid(middle, kept, ACCURACY, "o"),
    ]
    return svg.picture(svg.PANEL, TOP + GRID + 14, *parts, scale=1.6)


def _heading(left: float, words: str, number: str, role: Role) -> str:
    look = {"anchor": "middle", "fill": role.colour if role is ACCURACY else "#8A3A6B"}
    middle = left + GRID / 2
    return svg.text(middle, 20, f"{words}:") + svg.text(
        middle, 44, number, size=22, font_weight="bold", **look
    )


def _grid(left: float, full: int, role: Role, shape: str) -> str:
    """A hundred places, row by row: `full` of them with the marker of the role, a cross else."""
    look = Role(role.words, role.colour, marker=shape)
    drawn = []
    for place in range(100):
        x = left + CELL * (place % 10 + 0.5)
        y = TOP + CELL * (place // 10 + 0.5)
        drawn.append(svg.marker(look, x, y, 5) if place < full else _cross(x, y))
    return "".join(drawn)


def _cross(x: float, y: float) -> str:
    strokes = f"M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8"
    return svg.tag("path", d=strokes, stroke=OVER.colour, stroke_width=2.2, fill="none")


def _promise() -> Explorer:
    def frame(kept: Frame) -> Frame:
        said, right = said_and_right(kept.readout)
        wrong = kept.readout.split(":")[0]
        words = f"{wrong}: of 100 answers it says {round(said)} are right; {round(right)} are."
        return Frame((hundred_panel(said, right),), words)

    return _retold(
        "start_here",
        frame,
        "wrong training labels",
        "Two grids of a hundred answers of trained networks. On the left the squares are the "
        "answers that the networks, by their own confidence, expect to be right. On the right "
        "the dots are the answers that were right, and the crosses those that were wrong.",
    )


def _training() -> Explorer:
    return _retold(
        "overconfidence",
        lambda kept: Frame(_chosen(kept, (0, 1, 3)), kept.readout.rsplit(";", 1)[0] + "."),
        "passes over the training images",
        "Two reliability diagrams of one network, for the images that it learns from and for "
        "new ones. Across: how sure it is. Upwards: how often it is right. On the dashed "
        "diagonal the two agree. Slanted lines mark answers that are right less often than "
        "stated, dots those that are right more often. The strip below counts the images.",
        from_first=True,
    )


def _temperature() -> Explorer:
    def frame(kept: Frame) -> Frame:
        at, gap, error = re.search(
            r"(T = [\d.]+): signed gap ([+-][\d.]+) %, ECE ([\d.]+) %", kept.readout
        ).groups()
        words = (
            f"{at}: mean confidence minus accuracy {gap} points; average distance from the "
            f"diagonal (ECE) {error} points."
        )
        return Frame(_chosen(kept, (0, 2)), words)

    return _retold(
        "temperature",
        frame,
        "temperature T",
        "Left, the reliability diagram of trained networks whose scores are divided by T. "
        "Right, the average distance of the bars from the diagonal, which is called ECE, drawn "
        "up to the chosen T; a dotted line marks the lowest so far.",
    )


def _test_images() -> Explorer:
    return _retold(
        "test_images",
        lambda kept: kept,
        "images in the test set",
        "For each of three models a histogram: the calibration error (ECE) that many test sets "
        "of the chosen size measure. The upright line of the same colour is the exact error, "
        "which is known here. A histogram to the right of its line is an estimate that is too "
        "large on average.",
    )


def said_and_right(readout: str) -> tuple[float, float]:
    """Mean confidence and accuracy, in per cent, of a readout that names both.

    >>> said_and_right("0%: accuracy 78.8%, mean confidence 93.0%")
    (93.0, 78.8)
    """
    right, said = re.search(r"accuracy ([\d.]+)%, mean confidence ([\d.]+)%", readout).groups()
    return float(said), float(right)


def _chosen(kept: Frame, places: Sequence[int]) -> tuple[str, ...]:
    """Some panels of a frame, those that are plots as large as two in a row can be."""
    return tuple(_larger(kept.panels[place]) for place in places)


def _larger(panel: str) -> str:
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', panel).groups())
    scale = PLOT / width if height > width else 1
    shown = f'width="{round(scale * width)}" height="{round(scale * height)}"'
    return re.sub(r'width="\d+" height="\d+"', shown, panel, count=1)


def _retold(
    name: str,
    frame: Callable[[Frame], Frame],
    label: str,
    description: str,
    *,
    from_first: bool = False,
) -> Explorer:
    """A stored explorer of one slider with other panels, words and description.

    from_first: whether it opens at its first value, and not where the lesson opens it.
    """
    kept = stored(name)
    (slider,) = kept.sliders
    frames = dict(zip(slider.values, kept.frames, strict=True))
    return Explorer(
        lambda value: frame(frames[value]),
        Slider(label, slider.values, start=slider.values[0 if from_first else slider.start]),
        description=description,
        play=True,
    )
