"""What the site is made of: pieces of lessons, docstrings, places of verdicts, the landing page."""

import base64
import re
import struct
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import calibkit
from calibkit.course import checkout, claims, pages
from calibkit.course.classroom.kits import writing
from calibkit.course.site import api, findings, kits, sharing, sources, sphinx_extension

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
    assert f"{len(printed)} " in sources.landing_page(COURSE)


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
    page = sources.TEMPLATES.get_template("findings.html")
    html = [
        page.render(number=number, members=members, **parts) for number, members in parts["results"]
    ]
    aims = re.findall(r'href="([^"]+)#verdict-', "".join(html))
    assert len(aims) == len(findings.results())
    assert all(aim.startswith("evidence_") for aim in aims)
    assert "".join(html).count("<svg") == len(findings.findings())
    assert {number for number, _ in parts["results"]} <= set(parts["stems"])


def test_the_sidebar_has_five_parts_and_every_lesson_once():
    texts = dict.fromkeys(sources.text_pages(), "A title")
    groups = sources.groups(COURSE, texts)
    assert list(groups) == ["Start", "Core", "Electives", "For teachers", "Reference"]
    named = [name for pages_of in groups.values() for _, name in pages_of]
    assert len(named) == len(set(named))
    assert {lesson.stem for lesson in COURSE} <= set(named)
    assert set(texts) - set(named) == set(sources.BEHIND)
    assert {"class_guide", "kits"} <= {name for _, name in groups["For teachers"]}


def test_a_kit_is_shown_with_its_plan_and_every_slide_and_what_is_said_of_it(tmp_path):
    every = kits.every()
    listed = kits.listed(every)
    assert listed.count("\n- **") == len(every) == 4
    for kit in every:
        line = next(line for line in listed.split("\n") if kit.stem in line)
        assert f"({', '.join(kit.lessons)}) · {kit.slides} slides<br>For " in line
        _, lessons, parts = writing.read(kit.name)
        html = sources.drawn(pages.text_page(kit.text), more=kit.links)
        headings = re.findall(r"<h3[^>]*>(\d+) · ", html)
        assert headings == [str(place) for place in range(1, kit.slides + 1)]
        said = re.findall(r"(?m)^### .*$(?:\n(?!###).*)*?\n> ", parts["Slides"])
        assert 5 < len(said) <= html.count("<blockquote>")
        assert "<table" in html
        kit.write(tmp_path)
        made = writing.page_texts(kit.name)[1]
        for file in kits.BESIDE:
            assert f'href="kits/{kit.name}/{file}"' in html
            written = (tmp_path / "kits" / kit.name / file).read_text(encoding="utf-8")
            assert 'href="play.html' not in written
            assert written.replace("../../play.html", "play.html") == made[file]
        assert kit.lessons == lessons
        assert re.match("For .*[^.]\\.$", kit.readers)


def test_a_head_without_words_is_no_head():
    html = "<table><thead><tr><th></th><th>a</th></tr></thead></table>"
    assert sources.with_places(html) == html.replace("<th></th>", "<td></td>")


def test_the_card_is_as_large_as_cards_are(tmp_path):
    path = sharing.card(tmp_path, 93, 79)
    width, height = struct.unpack(">16xII", path.read_bytes()[:24])
    assert (width, height) == (1200, 630)
    assert path.stat().st_size < 300_000


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


def test_the_package_is_described_in_three_groups_methods_first_without_internal_modules():
    groups = api.groups()
    assert list(groups) == ["Methods", "Pictures", "Experiments and lessons"]
    names = [one.short for one in groups["Methods"]]
    assert set(names) == set(calibkit.METHODS)
    assert names[:2] == ["metrics", "recalibration"]
    every = [one for modules in groups.values() for one in modules]
    assert not {one.short for one in every} & {"validate", "threads", "devices", "pages", "runner"}
    assert len(every) < 24
    for one in every:
        assert one.says
        assert not one.lesson or one.lesson in {found.lesson for found in findings.findings()}


def test_the_contents_of_a_module_are_what_a_reader_calls():
    (metrics,) = [one for one in api.groups()["Methods"] if one.short == "metrics"]
    parts = [part for parts in metrics.sections().values() for part in parts]
    assert sorted(part.name for part in parts) == sorted(
        name for name in calibkit.metrics.__all__ if callable(getattr(calibkit.metrics, name))
    )
    assert parts[0].name == "ece"
    assert all(part.says for part in parts)
    (maps,) = [one for one in api.groups()["Methods"] if one.short == "recalibration"]
    assert {part.name for parts in maps.sections().values() for part in parts} == {
        name for name in calibkit.recalibration.__all__ if name not in ("LIMITS", "Method")
    }


def test_no_docstring_of_the_package_has_another_form_than_lists_of_arguments():
    """`name: what it is`, line by line: what `sphinx_extension.as_rst` reads."""
    files = Path(calibkit.__file__).parent.rglob("*.py")
    other = re.compile(r"^ *(Parameters\n *---|Args:\n|:param )", re.MULTILINE)
    assert [path.name for path in files if other.search(path.read_text("utf-8"))] == []
