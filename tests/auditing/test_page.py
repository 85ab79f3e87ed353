"""The page: whole, safe, and every picture with a text made from its data."""

from html.parser import HTMLParser

import pytest

import calibkit
from tests.auditing.test_audit import drawn

HOSTILE = '<script>alert("x")</script>'
VOID = ("meta",)


class Page(HTMLParser):
    """Tags that were opened and not closed, and attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page():
    z, labels = drawn(800, 3, truth=0.5)
    groups = [HOSTILE, "b"] * 400
    names = ["a", HOSTILE, "c"]
    options = {"groups": groups, "class_names": names, "other": z / 2}
    found = calibkit.audit(z, labels, name=HOSTILE, other_name=HOSTILE, **options)
    return Page(found.html())


def test_it_is_well_formed_and_loads_and_runs_nothing(page):
    assert page.open == []
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    names = {name for name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"src", "href"})


def test_a_model_without_mistakes_and_with_many_classes_has_a_page():
    z, _ = drawn(300, 30, scale=30.0)
    found = calibkit.audit(z, z.argmax(1))
    assert "There is no mistake" in found.html()
    assert "rarest others" in found.html()
    assert Page(found.html()).open == []
