"""The slider: frames, both faces, and what it refuses."""

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import pytest

from calibkit import metrics
from calibkit.explorers import Explorer, Frame, reliability_frame, spread_frame
from calibkit.explorers.explorer import WIDGET_MIME


def squares(**options):
    def render(n):
        return Frame(f"<svg><text>{n * n}</text></svg>", f"{n} squared is {n * n} < {n * n + 1}")

    return Explorer(render, [1, 2, 3], **({"label": "n", "description": "Squares."} | options))


def parts(widget):
    slider, picture, readout, _ = widget.children
    return slider, picture, readout


def test_moving_the_live_slider_changes_picture_and_readout():
    slider, picture, readout = parts(squares().widget())
    for i, n in enumerate([1, 2, 3]):
        slider.value = i
        assert picture.value == f"<svg><text>{n * n}</text></svg>"
        assert f"{n} squared" in readout.value
        assert "&lt;" in readout.value  # text, not markup


def test_two_faces_of_one_explorer_move_apart():
    explorer = squares()
    (one, shown, _), (_, untouched, _) = parts(explorer.widget()), parts(explorer.widget())
    one.value = 2
    assert "9" in shown.value
    assert "1" in untouched.value


def test_start_is_where_it_starts():
    slider, picture, _ = parts(squares(start=3).widget())
    assert slider.value == 2
    assert "9" in picture.value
    still = re.search(r'<img src="data:image/svg\+xml;base64,([^"]+)"', squares(start=3).html())[1]
    assert base64.b64decode(still) == b"<svg><text>9</text></svg>"


def test_the_page_holds_every_frame_and_reaches_for_no_network():
    page = squares(show=lambda n: f"{n} pieces").html()
    packed = re.search(r'packed = "([^"]+)"', page)[1]
    frames = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert [frame[0] for frame in frames] == ["1 pieces", "2 pieces", "3 pieces"]
    assert frames[2][1:] == ["<svg><text>9</text></svg>", "3 squared is 9 < 10"]
    assert not re.search(r"(src|href)=(?!.data:)|https?://(?!www\.w3\.org)", page)


def test_the_page_can_be_used_by_keyboard_and_by_ear():
    page = squares().html()
    assert 'data-lm-suppress-shortcuts="true"' in page
    assert 'aria-live="polite"' in page
    assert 'aria-label="n" aria-valuetext="1"' in page
    assert "Squares." in page


def test_where_scripts_are_not_run_it_says_what_to_do():
    page = squares().html()
    assert "once this cell has been run" in page
    assert 'root.querySelector(".still").remove()' in page


def test_words_take_the_colours_of_their_surroundings():
    box = squares().widget()
    words = box.children[3].value
    for face in (words, squares().html()):
        assert not re.search(r"[; \"]color:", face)
        assert "background: #fff" in face  # the picture's, which is drawn for white
    assert "calibkit-explorer" in box._dom_classes
    assert [part._dom_classes for part in box.children[1:3]] == [("picture",), ("readout",)]


def test_equal_explorers_write_equal_pages_and_others_get_another_key():
    assert squares().html() == squares().html()
    key = re.compile(r'data-explorer="(\w+)"')
    assert key.search(squares().html())[1] != key.search(squares(label="m").html())[1]


def test_labels_are_text_not_markup():
    assert "<b>" not in squares(label="<b>", description="<b>").html()


def test_jupyter_is_offered_the_widget_the_page_and_words():
    bundle = squares(start=2)._repr_mimebundle_()
    assert set(bundle) == {WIDGET_MIME, "text/html", "text/plain"}
    assert bundle["text/plain"] == "n: 2. 2 squared is 4 < 5"


def test_a_value_that_cannot_be_drawn_fails_at_once():
    def render(n):
        return Frame("<svg/>", f"{1 / (3 - n)}")

    with pytest.raises(ZeroDivisionError):
        Explorer(render, [1, 2, 3], label="n", description="d")


@pytest.mark.parametrize(
    ("values", "options", "names"),
    [([], {}, "values"), ([1], {}, "values"), ([1, 2], {"start": 5}, "start")],
)
def test_wrong_arguments_are_refused_by_name(values, options, names):
    with pytest.raises(ValueError, match=names):
        Explorer(lambda n: Frame("", ""), values, label="n", description="d", **options)


def drawn(frame):
    return ElementTree.fromstring(frame.svg)  # well-formed, or it raises


def test_a_reliability_frame_draws_filled_bins_only():
    counted = metrics.reliability([[0.95, 0.05], [0.85, 0.15], [0.55, 0.45]], [0, 0, 1], bins=10)
    frame = reliability_frame(counted, title="a < b", readout="ECE & more")
    drawn(frame)
    assert frame.svg.count('class="interval"') == int((counted.counts > 0).sum()) == 3
    assert "a &lt; b" in frame.svg


def test_over_and_under_confident_gaps_differ_in_colour():
    over = metrics.reliability([[0.9, 0.1]], [1], bins=2)
    under = metrics.reliability([[0.6, 0.4]], [0], bins=2)
    fills = [
        reliability_frame(r, title="t", readout="r").svg.split('class="interval"')[0]
        for r in (over, under)
    ]
    assert ("#D55E00" in fills[0], "#009E73" in fills[0]) == (True, False)
    assert ("#D55E00" in fills[1], "#009E73" in fills[1]) == (False, True)


def test_a_spread_frame_places_the_truth():
    frame = spread_frame(
        {"a": [0.1, 0.2], "b": [0.3]},
        {"a": 0.5, "b": 0.0},
        x_range=(0, 1),
        x_label="ECE",
        title="t",
        readout="r",
    )
    lines = [e for e in drawn(frame).iter() if e.tag.endswith("line") and len(e)]
    assert [float(line.get("x1")) for line in lines] == [60 + 420 / 2, 60]


def test_a_spread_frame_needs_every_truth():
    with pytest.raises(KeyError, match="b"):
        spread_frame({"b": [0.3]}, {}, x_range=(0, 1), x_label="", title="", readout="")
