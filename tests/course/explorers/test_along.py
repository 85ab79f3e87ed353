"""The diagram beside its curves: what is marked, what is drawn, and what is refused."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit import metrics
from calibkit.course.explorers import along, along_frame
from calibkit.pictures import palette, svg

SVG = "{http://www.w3.org/2000/svg}"
COUNTED = metrics.reliability([[0.95, 0.05], [0.85, 0.15], [0.55, 0.45]], [0, 0, 1], bins=10)
RATES = [0.0, 0.2, 0.4]
SURE, RIGHT = palette.CONFIDENCE, palette.ACCURACY.named("right & good")
LINES = {SURE: [[0.9, 0.8, 0.7], [0.7, 0.6, 0.5]], RIGHT: [[0.5, 0.5, 0.25]]}


def drawn(at=0.2, lines=LINES, x=RATES, **options):
    options = {"x_label": "noise", "x_ticks": x, "title": "a < b", "readout": "ECE 1 %"} | options
    frame = along_frame(COUNTED, at, x, lines, **options)
    assert frame.readout == "ECE 1 %"
    return [ElementTree.fromstring(panel) for panel in frame.panels]  # well-formed, or it raises


def points(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def height(share):
    return along.PLOT["top"] + (1 - share) * along.PLOT["height"]


def across(part):
    return along.PLOT["left"] + part * along.PLOT["width"]


@pytest.mark.parametrize(("at", "part"), [(0.0, 0), (0.2, 0.5), (0.4, 1)])
def test_the_place_is_marked_on_every_line(at, part):
    _, curves = drawn(at)
    (here,) = (e for e in curves.iter(f"{SVG}line") if e.get("class") == "here")
    assert float(here.get("x1")) == float(here.get("x2")) == across(part)
    marks = [e.get("d") for e in curves.iter(f"{SVG}path") if e.get("class") == "marker"][-2:]
    for mark, (role, runs) in zip(marks, LINES.items(), strict=True):
        mean = np.mean(runs, axis=0)[RATES.index(at)]
        expected = svg.marker(role, across(part), height(mean))
        assert mark in expected


def test_the_upright_axis_reaches_as_far_as_its_ticks_and_what_lies_beyond_is_at_its_edge():
    _, curves = drawn(at=0.4, lines={SURE: [[0.1, 0.2, 0.6]]}, y_ticks=(0, 0.2, 0.4))
    expected = [height(share / 0.4) for share in (0.1, 0.2, 0.4)]
    assert [y for _, y in points(curves.find(f"{SVG}polyline"))] == pytest.approx(expected, abs=0.1)
    assert {"0.2", "0.4"} <= {e.text for e in curves.iter(f"{SVG}text")}
    (here,) = (e for e in curves.iter(f"{SVG}line") if e.get("class") == "here")
    ends = sorted(float(here.get(end)) for end in ("y1", "y2"))
    assert ends == pytest.approx([height(1), height(0)])
    mark = [e.get("d") for e in curves.iter(f"{SVG}path") if e.get("class") == "marker"][-1]
    assert mark in svg.marker(SURE, across(1), height(1))


def test_a_line_is_the_mean_and_its_band_reaches_from_the_least_run_to_the_largest():
    _, curves = drawn()
    mean = points(curves.find(f"{SVG}polyline"))
    assert [y for _, y in mean] == pytest.approx([height(s) for s in (0.8, 0.7, 0.6)], abs=0.1)
    band = points(curves.find(f"{SVG}polygon"))
    upper, lower = [height(s) for s in (0.9, 0.8, 0.7)], [height(s) for s in (0.5, 0.6, 0.7)]
    assert [y for _, y in band] == pytest.approx(upper + lower, abs=0.1)
    assert [x for x, _ in band] == [x for x, _ in mean] + [x for x, _ in mean[::-1]]


def test_epochs_may_stand_on_a_log_axis():
    _, curves = drawn(at=3, x=[1, 3, 60], log_x=True)
    (here,) = (e for e in curves.iter(f"{SVG}line") if e.get("class") == "here")
    assert float(here.get("x1")) == pytest.approx(across(math.log(3) / math.log(60)), abs=0.1)


def test_the_diagram_the_words_and_a_key_per_line_are_there():
    diagram, curves = drawn()
    words = {e.text for panel in (diagram, curves) for e in panel.iter(f"{SVG}text")}
    assert {"a < b", SURE.words, "right & good", "noise", "0.4"} <= words
    assert {palette.OVER.words, palette.UNDER.words} <= words
    lines = list(curves.iter(f"{SVG}polyline"))
    assert [e.get("stroke") for e in lines] == [SURE.colour, RIGHT.colour]
    assert len({e.get("stroke-dasharray") for e in lines}) == 2


def test_the_values_are_accuracy_and_mean_confidence_of_the_diagram():
    values = along_frame(
        COUNTED, 0.2, RATES, LINES, x_label="", x_ticks=RATES, title="", readout=""
    ).values
    assert values == pytest.approx({"accuracy": 2 / 3, "confidence": (0.95 + 0.85 + 0.55) / 3})


def test_the_shares_may_be_named():
    _, curves = drawn(y_label="share of test sets rejected")
    words = {e.text for e in curves.iter(f"{SVG}text")}
    assert "share of test sets rejected" in words
    assert "share" not in words


def test_nothing_leaves_the_picture():
    many = {palette.group(i, name): [[0.0, 0.5, 1.0]] for i, name in enumerate("abcd")}
    for picture in drawn(lines=many):
        width, tall = float(picture.get("width")), float(picture.get("height"))
        texts = list(picture.iter(f"{SVG}text"))
        assert all(0 < float(e.get("x")) < width and 0 < float(e.get("y")) < tall for e in texts)
    rows = sorted(float(e.get("y")) for e in texts if e.text in list("abcd"))
    assert min(np.diff(rows)) >= 15


def test_a_panel_fits_a_telephone_with_words_of_eleven_pixels():
    for picture in drawn():
        scale = min(1, 340 / float(picture.get("width")))  # 390 px without the page's margins
        sizes = [float(e.get("font-size")) for e in picture.iter(f"{SVG}text")]
        assert min(sizes) * scale >= 11


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"at": 0.3}, "at must"),
        ({"lines": {}}, "lines must"),
        ({"lines": {palette.group(i, "x"): [[0, 0, 0]] for i in range(5)}}, "lines must"),
        ({"lines": {SURE: [[0.5, 0.5]]}}, r"lines\['mean confidence'\]"),
        ({"lines": {SURE: [0.5, 0.5, 0.5]}}, r"lines\['mean confidence'\]"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options, names):
    with pytest.raises(ValueError, match=names):
        drawn(**options)


def test_words_that_would_run_into_the_other_legend_are_refused():
    long = palette.ACCURACY.named("accuracy on the clean labels")
    with pytest.raises(ValueError, match="at most 24 letters, got 'accuracy on the clean"):
        drawn(lines={long: [[0.9, 0.5, 0.4]]})
