"""Standard exports show every figure: Markdown, HTML and PDF, as nbconvert writes them."""

import base64
import re
import struct

import nbformat
import pytest
from nbconvert import HTMLExporter, MarkdownExporter

from calibkit.course import checkout
from calibkit.course.execution import PNG
from tests.browser.drive import of_each_kind, watched

NOTEBOOKS = [lesson.notebook for lesson in (*checkout.lessons(), *checkout.evidence())]
each = pytest.mark.parametrize("notebook", of_each_kind(NOTEBOOKS), ids=lambda path: path.stem)
SIZES = "all => all.map(one => [one.naturalWidth, one.naturalHeight])"
DRAWN = "all => all.filter(one => one.querySelector(':scope > svg')?.clientHeight > 100).length"


def committed(notebook):
    return nbformat.read(notebook, as_version=4)


def figures(notebook):
    """Width and height of each stored figure, in pixels."""
    outputs = [output for cell in committed(notebook).cells for output in cell.get("outputs", ())]
    heads = [base64.b64decode(o.data[PNG][:32]) for o in outputs if PNG in o.get("data", {})]
    return [list(struct.unpack(">16xII", head)) for head in heads]


def explorers(notebook):
    return notebook.read_text(encoding="utf-8").count('class=\\"calibkit-explorer')


@each
def test_markdown_has_a_file_for_each_figure_and_a_picture_for_each_slider(notebook):
    text, kept = MarkdownExporter().from_notebook_node(committed(notebook))
    linked = re.findall(r"!\[png\]\((.+?)\)", text)
    assert linked == list(kept["outputs"])
    assert [list(struct.unpack(">16xII", kept["outputs"][one][:24])) for one in linked] == figures(
        notebook
    )
    pictures = re.findall(r'<div class="picture"[^>]*><img src="data:image/svg', text)
    assert len(pictures) == explorers(notebook)


@each
def test_html_shows_each_figure_and_slider(browser, build, notebook):
    page_of = build / "exported.html"
    page_of.write_text(HTMLExporter().from_notebook_node(committed(notebook))[0], encoding="utf-8")
    with watched(browser) as (page, _):  # its own scripts ask the network for MathJax
        page.goto(page_of.as_uri())
        assert page.locator(".jp-RenderedImage img:visible").evaluate_all(SIZES) == figures(
            notebook
        )
        assert page.locator(".picture").evaluate_all(DRAWN) == explorers(notebook)
