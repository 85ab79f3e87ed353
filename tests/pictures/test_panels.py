"""Frames of several plots as SVG: what is cut off, and what stays text."""

from xml.etree import ElementTree

import pytest
import torch

from calibkit.pictures import panels, svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*plots):
    frame = panels.frame(plots, title="title", readout="readout & more")
    assert frame.readout == "title: readout & more"
    return [ElementTree.fromstring(panel) for panel in frame.panels]  # well-formed, or it raises


def test_each_plot_is_a_picture_that_its_marks_do_not_leave():
    ticks = {"x_label": "x", "y_label": "y", "x_ticks": [0, 1, 2], "y_ticks": [0, 10]}
    mark = panels.curve(torch.tensor([0, 2]), torch.tensor([-50, 50]), stroke_width=3)
    plots = [panels.plot("a < b", [mark], **ticks) for _ in range(3)]
    (large,) = panels.frame(plots[:1], title="", readout="", scale=2).panels
    pictures = drawn(*plots)
    assert len(pictures) == 3
    width = float(pictures[0].get("width"))
    assert float(ElementTree.fromstring(large).get("width")) == pytest.approx(2 * width)
    for picture in pictures:
        inner = picture.find(f"{SVG}svg")
        assert inner.find(f"{SVG}polyline").get("stroke-width") == "3"
        x, y, *size = numbers = [float(inner.get(k)) for k in ("x", "y", "width", "height")]
        assert [float(v) for v in inner.get("viewBox").split()] == numbers
        assert y + size[1] + 34 < float(picture.get("height"))  # the label under the axis
        assert x + size[0] < float(picture.get("width"))
        words = {e.text for e in picture.iter(f"{SVG}text")}
        assert {"a < b", "x", "y", "0", "1", "2", "10"} <= words


@pytest.mark.parametrize("words", ['a"b', "a & b", "'", '"><script>alert(1)</script>'])
def test_attributes_are_escaped(words):
    element = ElementTree.fromstring(svg.tag("rect", fill=words, width=1.234))
    assert element.attrib == {"fill": words, "width": "1.2"}
