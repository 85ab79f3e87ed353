"""Class sizes beside a measure of each class: what is drawn where, and what is refused."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit.course.explorers import along, ranked_frame
from calibkit.pictures import palette

SVG = "{http://www.w3.org/2000/svg}"
LINES = {palette.TRAINED: [[0.1, 0.3, 0.5], [0.3, 0.3, 0.9]], palette.TRUTH: [[0.0, 0.1, 0.1]]}
TICKS = (0, 0.4, 0.8)


def drawn(counts=(1000, 100, 1), lines=LINES):
    frame = ranked_frame(
        counts, lines, y_label="ECE", y_ticks=TICKS, title="a < b", readout="rarest 70 %"
    )
    assert frame.readout == "rarest 70 %"
    return [ElementTree.fromstring(panel) for panel in frame.panels]  # well-formed, or it raises


def points(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def height(value):
    return along.PLOT["top"] + (1 - value / TICKS[-1]) * along.PLOT["height"]


def test_bars_are_the_class_sizes_on_a_log_axis():
    sizes, _ = drawn()
    (bars,) = (e for e in sizes.iter(f"{SVG}path") if e.get("class") == "count")
    tops = [float(v) for v in re.findall(r"V([\d.]+)H", bars.get("d"))]
    full = along.PLOT["height"]
    decades = math.log10(1000 / 0.5)
    expected = [
        along.PLOT["top"] + full * (1 - math.log10(c / 0.5) / decades) for c in (1000, 100, 1)
    ]
    assert tops == pytest.approx(expected, abs=0.1)


def test_a_line_is_the_mean_and_a_value_beyond_the_ticks_is_drawn_at_the_edge():
    _, curves = drawn()
    first, second = curves.iter(f"{SVG}polyline")
    mean = np.mean(LINES[palette.TRAINED], axis=0)  # of 0.5 and 0.9, not of 0.5 and the edge
    assert [y for _, y in points(first)] == pytest.approx([height(v) for v in mean], abs=0.1)
    assert [y for _, y in points(second)] == pytest.approx(
        list(map(height, (0, 0.1, 0.1))), abs=0.1
    )
    band = points(next(curves.iter(f"{SVG}polygon")))
    assert band[2][1] == pytest.approx(height(0.8), abs=0.1)  # .9 is above the last tick


def test_every_line_is_named_and_marked_at_every_class():
    _, curves = drawn()
    words = "".join(e.text or "" for e in curves.iter(f"{SVG}text"))
    assert all(role.words in words for role in LINES)
    marks = [e for e in curves.iter(f"{SVG}path") if e.get("class") == "marker"]
    assert len(marks) == 2 * (3 + 1)  # at the classes and in the legend


@pytest.mark.parametrize(
    ("counts", "lines", "word"),
    [
        ((0, 1, 1), LINES, "counts"),
        ((1001, 1, 1), LINES, "counts"),
        ((10, 1), LINES, r"must be \(seeds, 2\)"),
        ((10, 1, 1), {}, "lines must be 1 to 4"),
        ((10, 1, 1), {palette.TRUTH.named("x" * 41): [[0, 0, 0]]}, "at most 40 letters"),
    ],
)
def test_what_cannot_be_drawn_is_refused(counts, lines, word):
    with pytest.raises(ValueError, match=word):
        drawn(counts, lines)
