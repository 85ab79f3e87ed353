"""Frames of several plots as SVG: what is cut off, and what stays text."""

from xml.etree import ElementTree

import pytest
import torch

from calibkit.pictures import panels, svg
from calibkit.pictures.percent import spaced

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*plots):
    frame = panels.frame(plots, title="title", readout="readout & more")
    assert frame.readout == "title: readout & more"
    return [ElementTree.fromstring(panel) for panel in frame.panels]  # well-formed, or it raises


def test_each_plot_is_a_picture_that_its_marks_do_not_leave():
    ticks = {"x_label": "x", "y_label": "y", "x_ticks": [0, 1, 2], "y_ticks": [0, 10]}
    mark = panels.curve(torch.tensor([0, 2]), torch.tensor([-50, 50]), stroke_width=3)
    pictures = drawn(*(panels.plot("a < b", [mark], **ticks) for _ in range(3)))
    assert len(pictures) == 3
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


KEPT = (
    *(
        "<pre>93% a\n5 %</pre>",
        "<code class='a'>{:.0%} 5%</code>",
        "<script>let a = 5 % 3</script>",
    ),
    *("<style>p { width: 50% }</style>", '<img alt="93%" width="50%">', "a%20b and 5%20c"),
    *("%pip", "93&nbsp;%"),
)


@pytest.mark.parametrize(
    "around", ["{}", "a {}, b", "a < b, {}, c > d", *(f"{k} ({{}})" for k in KEPT[-5:])]
)
@pytest.mark.parametrize("written", ["93%", "93 %", "93\u00a0%"])
def test_a_space_before_every_per_cent_but_in_code_and_tags(around, written):
    assert spaced(around.replace("{}", written)) == around.replace("{}", "93\u00a0%")
    for kept in KEPT:
        assert spaced(kept) == kept
