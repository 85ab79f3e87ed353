"""What the site is made of: pieces of lessons, docstrings, places of verdicts, the landing page."""

import base64
import re
import struct
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import calibkit
from calibkit.course import checkout, claims, pages, syllabus
from calibkit.course.classroom.kits import writing
from calibkit.course.explorers import Explorer, stored
from calibkit.course.site import (
    api,
    film,
    findings,
    kits,
    landing,
    sharing,
    sources,
    sphinx_extension,
)

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


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["a_of and *b* and |c|"], ["a\\_of and \\*b\\* and \\|c\\|", ""]),
        (["two `A`s"], ["two ``A``\\ s", ""]),
        (["`x_` is code"], ["``x_`` is code", ""]),
        ([">>> f(2)", "4"], [">>> f(2)", "4", ""]),
        (["A. Raises TypeError: no."], ["A.", "", "**Raises** TypeError: no.", ""]),
        (["Seen in notebooks/a_b.md."], ["Seen in :doc:`/a_b`.", ""]),
        (["    a = b"], [*BLOCK, "        a = b", ""]),
        (
            ["x: one,", "    two; y, z: three.", "w: four"],
            [*ARGUMENTS, "``x``", "    one, two", "``y``, ``z``", "    three.", *LAST],
        ),
        (["| a | b |", "|---|---|"], [*BLOCK, "    | a | b |", "    |---|---|", ""]),
    ],
)
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


def read_by(*cells):
    return sources.to_be_read(new_notebook(cells=[new_markdown_cell("# 1 · A\n\nText."), *cells]))


def test_on_the_site_a_lesson_says_how_to_run_it_below_its_heading():
    words = read_by().cells[0].source
    assert words.index("# 1 · A") < words.index('href="any_machine.html"') < words.index("Text.")


def test_on_the_site_imports_and_settings_are_one_folded_cell_and_other_code_stays():
    settings = new_code_cell("SEED = 0", metadata={"tags": ["parameters"]})
    found = read_by(new_code_cell("import math"), settings, new_code_cell("1 + 1")).cells
    assert [cell.source for cell in found[1:]] == ["import math\n\n\nSEED = 0", "1 + 1"]
    assert ["jupyter" in cell.metadata for cell in found[1:]] == [True, False]
    assert found[1].metadata["jupyter"] == {"source_hidden": True}


def test_on_the_site_a_stub_is_shown_without_its_reply_and_an_answer_with_it():
    cells = [
        new_code_cell(outputs=[new_output("execute_result", data={"text/plain": words})])
        for words in ("Not yet: f returns nothing so far (None).", "Correct.")
    ]
    assert [len(cell.outputs) for cell in read_by(*cells).cells[1:]] == [0, 1]


def test_each_lesson_says_what_the_landing_page_shows_of_it():
    every = sources.lessons()
    found = [lesson for lesson in every if not lesson.is_evidence]
    home = checkout.root() / "notebooks"
    assert [lesson.stem for lesson in found] == [path.stem for path in sorted(home.glob("*.ipynb"))]
    beside = [f"evidence_{path.stem}" for path in sorted((home / "evidence").glob("*.ipynb"))]
    assert [lesson.stem for lesson in every[len(found) :]] == beside
    for lesson in found:
        assert lesson.question.endswith("?"), lesson.stem
        assert 20 <= sum(syllabus.times(lesson.prose).all) <= 240, lesson.stem
        assert re.fullmatch(r"\d\d [A-Z][\w :-]+", lesson.short)


def test_the_landing_page_counts_the_verdicts():
    course = [lesson for lesson in sources.lessons() if not lesson.is_evidence]
    printed = claims.printed(checkout.root() / "notebooks")
    assert printed
    assert f"{len(printed)} " in sources.landing_page(course)


def test_the_landing_page_tells_what_the_stored_runs_say():
    drawn = landing.sliders()
    assert all(isinstance(slider, Explorer) for slider in drawn.values())
    for stored_one, told in zip(stored("start_here").frames, drawn["promise"].frames, strict=True):
        right, sure = re.search(r"accuracy ([\d.]+)%, .* ([\d.]+)%", stored_one.readout).groups()
        assert f"{round(float(sure))} right" in told.panels[0]
        assert f"{round(float(right))} right" in told.panels[0]
        assert f"it says {round(float(sure))} are right; {round(float(right))} are." in told.readout
    for stored_one, told in zip(
        stored("temperature").frames, drawn["temperature"].frames, strict=True
    ):
        at, gap, error = re.findall(r"(?<![\w.])[+-]?[\d.]+(?= %|:)", stored_one.readout)
        assert f"T = {at}: mean confidence minus accuracy {gap} points" in told.readout
        assert f"(ECE) {error} points" in told.readout
    for stored_one, told in zip(
        stored("overconfidence").frames, drawn["training"].frames, strict=True
    ):
        assert stored_one.readout.startswith(told.readout.removesuffix("."))
    assert not re.search("NLL|logit", "".join(f.readout for x in drawn.values() for f in x.frames))


@pytest.mark.parametrize("right", [0, 79, 100])
def test_the_hundred_are_a_hundred(right):
    panel = landing.hundred_panel(100, right)
    assert panel.count('class="marker"') == 100 + right
    assert panel.count('fill="none"') == 100 - right


def test_the_arbiters_table_is_a_page_with_its_figure():
    path = sources.text_pages()["arbiter"]
    html = sources.drawn(pages.read(path), path.parent)
    assert "<table" in html
    assert 'src="data:image/png;base64,' in html
    assert "glossary" in sources.text_pages()


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
    parts = sources.concluded(sources.lessons())
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
    course = [lesson for lesson in sources.lessons() if not lesson.is_evidence]
    texts = dict.fromkeys(sources.text_pages(), "A title")
    groups = sources.groups(course, texts)
    assert list(groups) == ["Start", "Core", "Electives", "For teachers", "Reference"]
    named = [name for pages_of in groups.values() for _, name in pages_of]
    assert len(named) == len(set(named))
    assert {lesson.stem for lesson in course} <= set(named)
    assert set(texts) - set(named) == set(sources.BEHIND)
    assert {"class_guide", "kits"} <= {name for _, name in groups["For teachers"]}


def test_a_kit_is_shown_with_its_plan_and_every_slide_and_what_is_said_of_it(tmp_path):
    for kit in kits.every():
        _, lessons, parts = writing.read(kit.name)
        html = sources.drawn(pages.text_page(kit.text), more=kit.links)
        headings = re.findall(r"<h3[^>]*>(\d+) · ", html)
        assert headings == [str(place) for place in range(1, kit.slides + 1)]
        said = re.findall(r"(?m)^### .*$(?:\n(?!###).*)*?\n> ", parts["Slides"])
        assert 5 < len(said) <= html.count("<blockquote>")
        assert "<table" in html
        kit.write(tmp_path)
        for file in kits.BESIDE:
            assert f'href="kits/{kit.name}/{file}"' in html
            written = (tmp_path / "kits" / kit.name / file).read_text(encoding="utf-8")
            assert 'href="play.html' not in written
            assert (
                written.replace("../../play.html", "play.html")
                == writing.page_texts(kit.name)[1][file]
            )
        assert kit.lessons == lessons
        assert re.match("For .*[^.]\\.$", kit.readers)


def test_the_page_of_kits_names_each_with_its_lessons_and_slides():
    every = kits.every()
    listed = kits.listed(every)
    (ours,) = [kit for kit in every if kit.name == "label_noise_and_temperature"]
    assert listed.count("\n- **") == len(every) == 4
    line = next(line for line in listed.split("\n") if ours.stem in line)
    assert f"2 lessons (06, 08) · {ours.slides} slides<br>For students who know" in line


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


def test_no_page_names_an_address_that_leads_nowhere():
    root = checkout.root()
    files = [*root.glob("*.*"), *root.glob(".github/**/*.*"), *root.glob("calibkit/**/*.*")]
    files += [*root.glob("notebooks/*.*"), *root.glob("notebooks/source/**/*.py")]
    read = [
        path for path in files if path.suffix in (".md", ".toml", ".html", ".j2", ".py", ".yml")
    ]
    assert len(read) > 200
    named = [
        p.name for p in read if re.search(r"https?://[\w.-]*\.example\b", p.read_text("utf-8"))
    ]
    assert named == []


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


def test_the_moving_picture_is_the_stored_training_frame_by_frame():
    stored_film = (checkout.root() / "notebooks" / "images" / "training.svg").read_text("utf-8")
    assert stored_film == film.drawn()
    assert len(stored_film.encode()) < 400_000
    frames = stored("overconfidence").frames
    for place, frame in enumerate(frames):
        right, sure = (100 * frame.values[f"test_{x}"] for x in ("accuracy", "confidence"))
        shares = f"on new images {sure:.0f} % sure, {right:.0f} % right"
        words = f"Epoch {frame.values['epoch']:.0f}: {shares}"
        assert words in stored_film
        assert f"@keyframes f{place} " in stored_film
    assert "prefers-reduced-motion" in stored_film
