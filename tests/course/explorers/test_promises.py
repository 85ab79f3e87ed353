"""Sets under their images, and the coverage of each group against what was promised."""

import re

import numpy as np
import pytest

from calibkit.course.explorers import Example, promise_frame
from calibkit.pictures import palette
from tests.pictures import reading
from tests.pictures.reading_svg import picture

PROMISES = [0.5, 0.7, 0.9]
EVERY = palette.Role("all images", palette.BLACK, (), "X")
OLD = palette.group(2, "old scanner")
LINES = {EVERY: [0.52, 0.71, 0.9], OLD: [0.34, 0.5, 0.75]}
IMAGE = np.random.default_rng(0).random((8, 8))
ROWS = {
    "new scanner": [Example(IMAGE, IMAGE, 3, [3, 5], 0.99), Example(IMAGE, IMAGE, 4, [4], 1.0)],
    "old scanner": [
        Example(IMAGE, IMAGE, 3, [0, 6], 0.38),
        Example(IMAGE, IMAGE, 1, list(range(8)), 0.8),
    ],
}


def frame(promise=0.9):
    return promise_frame(promise, ROWS, PROMISES, LINES, size=1.74)


def test_each_image_stands_over_its_set_and_its_exact_probability():
    words = picture(frame().panels[0]).words
    for told in ("{3,5}", "99 %", "{4}", "100 %", "38 %", "{8 digits}", "80 %"):
        assert told in words, told


def test_the_right_digit_is_printed_beside_each_image():
    words = picture(frame().panels[0]).words
    assert [word for word in words if len(word) == 1] == ["3", "4", "3", "1"]


def test_a_set_without_the_right_digit_is_marked_in_words():
    words = picture(frame().panels[0]).words
    assert "✗ no 3" in words
    assert sum("✗" in word for word in words) == 1


@pytest.mark.parametrize("promise", PROMISES)
def test_lines_and_their_markers_are_the_coverage(promise):
    (plot,) = picture(frame(promise).panels[1]).plots
    place = PROMISES.index(promise)
    for role, values in LINES.items():
        line = plot.one("line", reading.line(role))
        marks = [m for m in plot.all("marker") if m.look == reading.marker(role)]
        assert [(m.x[0], m.y[0]) for m in marks] == [
            pytest.approx((promise, values[place]), abs=0.006)
        ]
        assert line.y == pytest.approx(values, abs=0.006)


def test_the_readout_tells_every_group():
    told = frame(0.7).readout
    assert told.startswith("Promised 70 %.")
    assert re.findall(r"(\w+ \w+) (\d+) %", told.partition("digit: ")[2]) == [
        ("all images", "71"),
        ("old scanner", "50"),
    ]
    assert "1.7 digits a set" in told
    assert frame(0.7).values == {"all images": 0.71, "old scanner": 0.5, "size": 1.74}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"promise": 0.8}, "promise must be one of"),
        ({"rows": {"old": [ROWS["old scanner"][0]] * 5}}, "4 images at most, got 5 of 'old'"),
        ({"lines": {EVERY: [0.5, 0.6]}}, "one entry per promise, 3, got 2"),
    ],
)
def test_what_cannot_be_drawn_is_named(change, words):
    parts = {"promise": 0.9, "rows": ROWS, "promises": PROMISES, "lines": LINES, "size": 1.0}
    with pytest.raises(ValueError, match=words):
        promise_frame(**parts | change)
