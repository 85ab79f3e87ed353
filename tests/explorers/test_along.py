"""The diagram beside its curves: what is marked, what is drawn, and what is refused."""

from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit import metrics
from calibkit.explorers import along, along_frame

SVG = "{http://www.w3.org/2000/svg}"
COUNTED = metrics.reliability([[0.95, 0.05], [0.85, 0.15], [0.55, 0.45]], [0, 0, 1], bins=10)
RATES = [0.0, 0.2, 0.4]
LINES = {"sure": [[0.9, 0.8, 0.7], [0.7, 0.6, 0.5]], "right & good": [[0.5, 0.5, 0.25]]}


def drawn(at=0.2, lines=LINES, x=RATES):
    frame = along_frame(
        COUNTED, at, x, lines, x_label="noise", x_ticks=x, title="a < b", readout="ECE 1 %"
    )
    assert frame.readout == "ECE 1 %"
    return ElementTree.fromstring(frame.svg)  # well-formed, or it raises


def points(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def height(share):
    return along.RIGHT["top"] + (1 - share) * along.RIGHT["height"]


@pytest.mark.parametrize(("at", "across"), [(0.0, 0), (0.2, 0.5), (0.4, 1)])
def test_the_place_is_marked_on_every_line(at, across):
    picture = drawn(at)
    x = along.RIGHT["left"] + across * along.RIGHT["width"]
    (here,) = (e for e in picture.iter(f"{SVG}line") if e.get("class") == "here")
    assert float(here.get("x1")) == float(here.get("x2")) == x
    circles = [(float(e.get("cx")), float(e.get("cy"))) for e in picture.iter(f"{SVG}circle")]
    expected = np.mean(LINES["sure"], axis=0)[RATES.index(at)]
    assert circles[0] == pytest.approx((x, height(expected)), abs=0.01)


def test_a_line_is_the_mean_and_its_band_reaches_from_the_least_run_to_the_largest():
    picture = drawn()
    mean = points(picture.find(f"{SVG}polyline"))
    assert [y for _, y in mean] == pytest.approx([height(s) for s in (0.8, 0.7, 0.6)], abs=0.1)
    band = points(picture.find(f"{SVG}polygon"))
    upper, lower = [height(s) for s in (0.9, 0.8, 0.7)], [height(s) for s in (0.5, 0.6, 0.7)]
    assert [y for _, y in band] == pytest.approx(upper + lower, abs=0.1)
    assert [x for x, _ in band] == [x for x, _ in mean] + [x for x, _ in mean[::-1]]


def test_the_diagram_the_words_and_a_key_per_line_are_there():
    picture = drawn()
    lines = [e for e in picture.iter(f"{SVG}line") if e.get("class") == "interval"]
    assert len(lines) == int((COUNTED.counts > 0).sum())
    words = {e.text for e in picture.iter(f"{SVG}text")}
    assert {"a < b", "sure", "right & good", "noise", "0.4", "over-confident gap"} <= words
    assert {e.get("stroke-dasharray") for e in picture.iter(f"{SVG}polyline")} == {"none", "8 3"}


def test_nothing_leaves_the_picture():
    many = {name: [[0.0, 0.5, 1.0]] for name in "abcd"}
    picture = drawn(lines=many)
    width, tall = float(picture.get("width")), float(picture.get("height"))
    texts = list(picture.iter(f"{SVG}text"))
    assert all(0 < float(e.get("x")) < width and 0 < float(e.get("y")) < tall for e in texts)
    rows = sorted(float(e.get("y")) for e in texts if e.text in many)
    assert min(np.diff(rows)) >= 15


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"at": 0.3}, "at must"),
        ({"lines": {}}, "lines must"),
        ({"lines": {key: [[0, 0, 0]] for key in "abcde"}}, "lines must"),
        ({"lines": {"sure": [[0.5, 0.5]]}}, r"lines\['sure'\]"),
        ({"lines": {"sure": [0.5, 0.5, 0.5]}}, r"lines\['sure'\]"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options, names):
    with pytest.raises(ValueError, match=names):
        drawn(**options)
