"""A hundred squares beside lines: as many of each kind as the legend says, and what is refused."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest

from calibkit.course import checkout, explorers
from calibkit.course.experiments import invented
from calibkit.course.explorers import along, squares_frame
from calibkit.pictures import palette

SVG = "{http://www.w3.org/2000/svg}"
TRUE, FALSE = palette.group(0, "true"), palette.group(3, "false")
LINES = {FALSE: [[0.1, 0.5], [0.3, 0.7]]}


def drawn(shares, at=1, lines=LINES, **more):
    look = {"x_label": "rare", "x_ticks": [0, 1], "title": "sentences", "readout": "two"} | more
    frame = squares_frame(shares, at, [0, 1], lines, **look)
    return frame, [ElementTree.fromstring(panel) for panel in frame.panels]


def squares(panel):
    """How many squares have each colour."""
    every = [one for one in panel.iter(f"{SVG}rect") if one.get("class") == "square"]
    places = {(one.get("x"), one.get("y")) for one in every}
    assert len(places) == len(every) == 100
    return Counter(one.get("fill") for one in every)


@pytest.mark.parametrize(
    ("share", "count"), [(0.0, 0), (1.0, 100), (0.125, 12), (0.126, 13), (1 / 3, 33)]
)
def test_the_squares_of_a_kind_are_its_share(share, count):
    frame, (left, _) = drawn({TRUE: 1 - share, FALSE: share})
    assert squares(left) == Counter({TRUE.pale: 100 - count, FALSE.pale: count}) - Counter()
    words = "".join(left.itertext())
    assert f"{count} false" in words
    assert f"{100 - count} true" in words
    assert frame.values == {"true": 1 - share, "false": share}


def test_three_thirds_make_a_hundred():
    third = dict.fromkeys((TRUE, FALSE, palette.COUNTS), 1 / 3)
    _, (left, _) = drawn(third)
    assert sorted(squares(left).values()) == [33, 33, 34]


def test_the_chosen_value_is_marked_on_the_mean_of_the_seeds():
    _, (_, right) = drawn({TRUE: 1.0})
    (here,) = [one for one in right.iter() if one.get("class") == "here"]
    (mark,) = [one for one in right.iter() if one.get("class") == "marker"][-1:]
    x, y = map(float, re.match(r"M([\d.]+),([\d.]+)", mark.get("d")).groups())
    assert x == pytest.approx(float(here.get("x1")), abs=0.1)
    top, height = along.PLOT["top"], along.PLOT["height"]
    assert y + 5 == pytest.approx(top + (1 - 0.6) * height, abs=0.2)  # a diamond of radius 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shares": {TRUE: 0.9}}, "sum to 1"),
        ({"at": 0.5}, "at must be one of"),
        ({"lines": {FALSE: [[0.1]]}}, "must be"),
        ({"lines": {}}, "1 to 4"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, words):
    given = {"shares": {TRUE: 1.0}, "at": 1, "lines": LINES} | change
    with pytest.raises(ValueError, match=words):
        drawn(**given)


def test_the_stored_slider_shows_the_stored_table():
    """Each frame of lesson 21 tells the means of the table from which it was drawn."""
    table = invented.stored()
    table = table[(table.steps == 600) & (table.limit == 0)]
    made_up = explorers.stored("made_up", checkout.results() / "explorers")
    assert len(made_up.frames) == table.rare.nunique()
    for (share, rows), frame in zip(table.groupby("rare"), made_up.frames, strict=True):
        told = [float(word) for word in re.findall(r"([\d.]+)\s?%", frame.readout)]
        mean = rows.mean(numeric_only=True)
        exact = [100 * share, 100 * mean.invented, 100 * mean.invented_unseen]
        assert told[0] == pytest.approx(exact[0], abs=0.5)
        assert told[1:] == pytest.approx(exact[1:], abs=0.05 + 1e-9)
        counts = squares(ElementTree.fromstring(frame.panels[0]))
        assert sum(counts.values()) == 100
        assert abs(counts[palette.group(3, "").pale] - 100 * mean.invented_unseen) < 1
