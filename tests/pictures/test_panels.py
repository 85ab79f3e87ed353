"""Frames of several plots: where marks land, what is cut off, and what is refused."""

from xml.etree import ElementTree

import pytest
import torch

from calibkit import metrics
from calibkit.course.explorers import Frame
from calibkit.pictures import panels, svg
from calibkit.pictures.reliability import reliability_frame

SVG = "{http://www.w3.org/2000/svg}"
COUNTED = metrics.reliability([[0.95, 0.05], [0.85, 0.15], [0.55, 0.45]], [0, 0, 1], bins=10)


def plot(*marks, **options):
    defaults = {"x_label": "x", "y_label": "y", "x_ticks": [0, 1, 2], "y_ticks": [0, 10]}
    return panels.plot("a < b", marks, **(defaults | options))


def drawn(*plots):
    frame = panels.frame(plots, title="title", readout="readout & more")
    assert isinstance(frame, Frame)
    assert frame.readout == "title: readout & more"
    return [ElementTree.fromstring(panel) for panel in frame.panels]  # well-formed, or it raises


def test_curves_and_dots_land_on_their_data():
    axes = svg.Axes(100, 50, 200, 200, (0, 2), (0, 10))
    assert 'points="100.0,250.0 200.0,150.0"' in panels.curve([0, 1], [0, 5])(axes)
    round_, square = (panels.dots([1], [5], square=s)(axes) for s in (False, True))
    assert 'cx="200" cy="150"' in round_
    assert '<rect x="198" y="148"' in square


def test_tensors_are_taken_and_styles_reach_the_mark():
    axes = svg.Axes(0, 0, 100, 100)
    line = panels.curve(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.0]), stroke_width=3)(axes)
    assert 'points="0.0,0.0 100.0,100.0"' in line
    assert 'stroke-width="3"' in line
    assert 'fill="#0072B2"' in panels.dots([0], [0], fill="#0072B2")(axes)


def test_marks_are_drawn_inside_a_picture_of_their_own_so_that_they_end_at_the_box():
    (picture,) = drawn(plot(panels.curve([0, 2], [-50, 50])))
    inner = picture.find(f"{SVG}svg")
    assert inner.find(f"{SVG}polyline") is not None
    numbers = [float(inner.get(k)) for k in ("x", "y", "width", "height")]
    assert [float(v) for v in inner.get("viewBox").split()] == numbers


def test_every_plot_is_a_picture_of_its_own_that_it_does_not_leave():
    pictures = drawn(*(plot(panels.curve([0, 2], [0, 10])) for _ in range(3)))
    assert len(pictures) == 3
    for picture in pictures:
        box = picture.find(f"{SVG}svg")
        bottom = float(box.get("y")) + panels.SIDE + 34  # the label under the axis
        assert bottom < float(picture.get("height"))
        assert float(box.get("x")) + panels.SIDE < float(picture.get("width"))


def test_a_reliability_plot_draws_filled_bins_their_intervals_and_a_square():
    (picture,) = drawn(panels.reliability_plot("nets", COUNTED))
    (interval,) = [e for e in picture.iter(f"{SVG}path") if e.get("class") == "interval"]
    assert interval.get("d").count("M") == int((COUNTED.counts > 0).sum()) == 3
    boxes = [e for e in picture.iter(f"{SVG}rect") if e.get("fill") == "none"]
    assert float(boxes[0].get("width")) == float(boxes[0].get("height"))
    assert float(boxes[1].get("width")) == float(boxes[0].get("width"))


def test_numbers_beside_a_strip_of_counts_do_not_touch():
    many = metrics.reliability_of(torch.linspace(0.05, 0.95, 400), torch.ones(400).bool(), bins=5)
    (small,) = drawn(panels.reliability_plot("nets", many))
    large = ElementTree.fromstring(reliability_frame(many, title="nets", readout="").panels[0])
    for picture, shown in ((small, ["100"]), (large, ["1", "100"])):
        strip = max(
            float(e.get("y")) for e in picture.iter(f"{SVG}rect") if e.get("fill") == "none"
        )
        numbers = [e for e in picture.iter(f"{SVG}text") if e.get("text-anchor") == "end"]
        beside = {e.text: float(e.get("y")) for e in numbers if float(e.get("y")) > strip}
        assert list(beside) == shown
        assert max(beside.values()) - min(beside.values()) >= 11 * (len(shown) - 1)


def test_titles_are_text_not_markup():
    (picture,) = drawn(plot())
    words = [e.text for e in picture.iter(f"{SVG}text")]
    assert {"a < b", "x", "y", "0", "1", "2", "10"} <= set(words)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: panels.curve([0, 1], [0]), "y must"),
        (lambda: panels.dots([0], [0, 1]), "y must"),
        (lambda: plot(x_ticks=[1]), "x_ticks"),
        (lambda: plot(y_ticks=[]), "y_ticks"),
        (lambda: panels.frame([], title="", readout=""), "panels"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, names):
    with pytest.raises(ValueError, match=names):
        call()
