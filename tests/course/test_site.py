"""What the site is made of: pieces of lessons, docstrings, places of verdicts, the landing page."""

import base64
import re
import struct

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from calibkit.course import checkout, claims, page_templates
from calibkit.course.site import findings, landing, sharing, sources, sphinx_extension

ARGUMENTS, BLOCK = [".. rst-class:: arguments", ""], [".. code-block:: text", ""]
LAST = ["``w``", "    four", ""]


def test_headings_of_outputs_are_no_sections():
    html = (
        '<div class="prose"><h1 id="a">A<a class="anchor-link" href="#a">¶</a></h1></div>'
        '<div><h2 id="b">of an output</h2></div>'
    )
    found = list(sphinx_extension.pieces(html))
    assert [(level, place) for level, place, _ in found] == [(1, "a"), (0, "")]
    assert found[0][2] == "A"


@pytest.mark.parametrize(("written", "read"), [
    (["a_of and *b* and |c|"], ["a\\_of and \\*b\\* and \\|c\\|", ""]),
    (["two `A`s"], ["two ``A``\\ s", ""]),
    (["`x_` is code"], ["``x_`` is code", ""]),
    ([">>> f(2)", "4"], [">>> f(2)", "4", ""]),
    (["A. Raises TypeError: no."], ["A.", "", "**Raises** TypeError: no.", ""]),
    (["Seen in notebooks/a_b.md."], ["Seen in :doc:`/a_b`.", ""]),
    (["    a = b"], [*BLOCK, "        a = b", ""]),
    (["x: one,", "    two; y, z: three.", "w: four"], [*ARGUMENTS, "``x``", "    one, two",
     "``y``, ``z``", "    three.", *LAST]),
    (["| a | b |", "|---|---|"], [*BLOCK, "    | a | b |", "    |---|---|", ""]),
])  # fmt: skip
def test_a_docstring_becomes_text_that_sphinx_does_not_misread(written, read):
    assert sphinx_extension.as_rst(written) == read


def test_a_verdict_in_an_output_becomes_the_aim_of_a_link_and_prose_does_not():
    line = "X1 HOLDS: a &lt; b | -0.110 [-0.135, -0.085] 95% over 3 seeds"
    output = f'<div class="output_subarea output_stdout">\n<pre>{line}\n{line}</pre>'
    html = sources.with_places(f"<pre>{line}</pre>{output}")
    assert re.findall(r'id="(verdict-[^"]+)"', html) == ["verdict-X1", "verdict-X1-2"]
    assert html.startswith(f"<pre>{line}</pre>")


@pytest.mark.parametrize(("width", "scrolls"), [(560, True), (400, False)])
def test_plots_side_by_side_scroll_where_they_would_be_too_small(width, scrolls):
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, 300)
    image = f'<img alt="x" src="data:image/png;base64,{base64.b64encode(head + b"rest").decode()}">'
    html = sources.with_places(f'<div class="output_png output_subarea">{image}</div>')
    assert ("wide" in html) == scrolls
    assert ("panorama" in html) == ('role="group" tabindex="0"><img' in html) == scrolls


def test_on_the_site_a_lesson_says_how_to_run_it_and_has_one_folded_cell_of_settings():
    """A stub is shown without its reply, an answer with it."""
    replies = [
        new_code_cell(outputs=[new_output("execute_result", data={"text/plain": words})])
        for words in ("Not yet: f returns nothing so far (None).", "Correct.")
    ]
    settings = new_code_cell("SEED = 0", metadata={"tags": ["parameters"]})
    cells = [new_code_cell("import math"), settings, new_code_cell("1 + 1"), *replies]
    head = new_markdown_cell("# 1 · A\n\nText.")
    first, *found = sources.to_be_read(new_notebook(cells=[head, *cells])).cells
    words = first.source
    assert words.index("# 1 · A") < words.index('href="any_machine.html"') < words.index("Text.")
    assert [cell.source for cell in found[:2]] == ["import math\n\n\nSEED = 0", "1 + 1"]
    assert found[0].metadata["jupyter"] == {"source_hidden": True}
    assert "jupyter" not in found[1].metadata
    assert [len(cell.outputs) for cell in found[2:]] == [0, 1]


EVERY = sources.lessons()
COURSE = [lesson for lesson in EVERY if not lesson.is_evidence]


def test_each_lesson_says_what_the_landing_page_shows_of_it():
    home = checkout.root() / "notebooks"
    assert [lesson.stem for lesson in COURSE] == [
        path.stem for path in sorted(home.glob("*.ipynb"))
    ]
    beside = [f"evidence_{path.stem}" for path in sorted((home / "evidence").glob("*.ipynb"))]
    assert [lesson.stem for lesson in EVERY[len(COURSE) :]] == beside
    for lesson in COURSE:
        assert lesson.question.endswith("?"), lesson.stem
        assert re.fullmatch(r"\d\d [A-Z][\w :-]+", lesson.short)


def test_the_landing_page_counts_the_verdicts():
    printed = claims.printed(checkout.root() / "notebooks")
    assert printed
    assert f"{len(printed)} " in landing.page(COURSE)


def test_the_findings_are_what_the_evidence_concluded():
    found = findings.results()
    assert 18 <= len(found) <= 28
    for one in found:
        line = claims.concluded(one.lesson, one.claim)
        assert one.words[1:-1] in line
        assert sum(many for _, many in one.counts) == int(re.search(r"(\d+) verdict", line)[1])
    assert len({one.lesson for one in found}) > 15
    assert {one.lesson for one in findings.findings()} <= {one.lesson for one in found}
    assert set(findings.table()["about"]) <= {one.claim for one in found}


def test_a_picture_of_a_finding_stands_on_the_page_of_findings_and_each_line_leads_on():
    parts = sources.concluded(EVERY)
    page = page_templates.TEMPLATES.get_template("findings.html")
    html = [
        page.render(number=number, members=members, **parts) for number, members in parts["results"]
    ]
    aims = re.findall(r'href="([^"]+)#verdict-', "".join(html))
    assert len(aims) == len(findings.results())
    assert all(aim.startswith("evidence_") for aim in aims)
    assert "".join(html).count("<svg") == len(findings.findings())
    assert {number for number, _ in parts["results"]} <= set(parts["stems"])


def test_a_head_without_words_is_no_head():
    html = "<table><thead><tr><th></th><th>a</th></tr></thead></table>"
    assert sources.with_places(html) == html.replace("<th></th>", "<td></td>")


def test_addresses_are_those_of_the_project_or_of_who_publishes(monkeypatch):
    monkeypatch.delenv("CALIBKIT_SITE", raising=False)
    monkeypatch.delenv("CALIBKIT_REPOSITORY", raising=False)
    urls = {}
    monkeypatch.setattr(sharing, "_urls", lambda: urls)
    assert sharing.site() == ""
    assert sharing.code() == {"words": "The package", "link": "api.html"}
    urls |= {"Homepage": "https://site.org/c", "Repository": "https://code.org/c"}
    assert sharing.site() == "https://site.org/c/"
    assert sharing.code() == {"words": "Code", "link": "https://code.org/c"}
    monkeypatch.setenv("CALIBKIT_SITE", "https://own.org/fork")
    monkeypatch.setenv("CALIBKIT_REPOSITORY", "https://code.org/fork")
    assert sharing.site() == "https://own.org/fork/"
    assert sharing.code()["link"] == "https://code.org/fork"
