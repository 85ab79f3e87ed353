"""SVG as text: what is written in it stays text."""

from xml.etree import ElementTree

import pytest

from calibkit.pictures import svg


@pytest.mark.parametrize("words", ['a"b', "<script>", "a & b", "'", '"><script>alert(1)</script>'])
def test_attributes_are_escaped(words):
    element = ElementTree.fromstring(svg.tag("rect", fill=words, width=1.234))
    assert element.attrib == {"fill": words, "width": "1.2"}
