"""Handouts: question, take-aways and figures with their texts, and nothing that is loaded."""

import re
from html import unescape

import pytest

from calibkit.course.classroom import handouts
from tests.course.classroom.course import COMMITTED


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class") / "paper"
    return {path.stem: path.read_text(encoding="utf-8") for path in handouts.write(folder)}


@pytest.mark.parametrize("name", COMMITTED)
def test_it_has_its_parts(name, written):
    page, notebook = written[name], COMMITTED[name]
    assert page.count("<li>") == 3
    assert "<strong>Question.</strong>" in page
    pictures = re.findall(r'<figure>(?:<div[^>]+>)?<img src="data:[^"]+" alt="([^"]+)"', page)
    assert 1 <= len(pictures) == page.count("<figure>") <= handouts.FIGURES
    if name in handouts.FRAMES:
        texts = [f.readout for f in handouts.frames(*handouts.FRAMES[name])]
    else:
        texts = [alt for _, alt in handouts.figures(notebook)]
    assert [unescape(text) for text in pictures] == texts
    assert len(set(texts)) == len(texts)
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "](" not in page
    assert not re.search(r"\(\d\d[a-z]\b", page)
    assert "$" not in page.split("<h1>")[1].split("<figure>")[0]  # formulas are MathML


def test_figures_that_answer_a_prediction_come_first():
    notebook = COMMITTED["06_label_noise"]
    answers = [c for c in notebook.cells if "answer" in c.metadata.get("tags", ())]
    shown = str([c.outputs for c in answers])
    found = [source[-40:] in shown for source, _ in handouts.figures(notebook)]
    assert sum(found) == min(3, sum(len(handouts.images(cell)) for cell in answers)) > 0
