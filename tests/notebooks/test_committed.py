"""The committed notebooks: written well, executed in order, and in step with their text twins."""

import json
import re
from functools import cache

import nbformat
import pytest
from bs4 import BeautifulSoup

from calibkit.course import checkout, claims, execution, explorers, folded_outputs, verdicts
from calibkit.course.explorers.explorer import refreshed
from tests.notebooks import pattern

LESSONS, EVIDENCE = checkout.lessons(), checkout.evidence()
EVERY = [*LESSONS, *EVIDENCE]
PAGES = [checkout.root() / "README.md", *sorted(checkout.root().glob("notebooks/**/*.md"))]
VERDICT = re.compile(r"\w+ (HOLDS|NOT SPECIFIC|REVERSED|INCONCLUSIVE|NOT MET)\b")
lesson = pytest.mark.parametrize("lesson", LESSONS, ids=[x.name for x in LESSONS])
evidence = pytest.mark.parametrize("lesson", EVIDENCE, ids=[x.name for x in EVIDENCE])
notebook = pytest.mark.parametrize("lesson", EVERY, ids=[x.name for x in EVERY])


@cache
def committed(lesson):
    return nbformat.read(lesson.notebook, as_version=4)


@lesson
def test_a_lesson_keeps_the_habits_and_protects_its_reader(lesson):
    glossary = pattern.read_glossary(lesson.notebook.parent / "glossary.md")
    assert pattern.complaints(committed(lesson), glossary, lesson.number) == []


@evidence
def test_evidence_keeps_the_habits_of_any_notebook(lesson):
    assert pattern.of_evidence(committed(lesson)) == []


@notebook
def test_it_is_in_step_with_its_text_twin(lesson):
    twin = execution.read(lesson)
    ours = [(c.cell_type, c.source, c.metadata.get("tags")) for c in committed(lesson).cells]
    theirs = [(c.cell_type, c.source, c.metadata.get("tags")) for c in twin.cells]
    assert ours == theirs, f"run  make notebooks ONLY={lesson.number} EVIDENCE=1"


@notebook
def test_it_was_executed_in_order_without_errors(lesson):
    cells = pattern.code_cells(committed(lesson))
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for c in cells for output in c.outputs}
    assert "error" not in kinds
    assert not any(o.get("name") == "stderr" for c in cells for o in c.outputs), "warnings stored"


@notebook
def test_what_is_folded_is_not_compared_and_its_cover_tells_nothing(lesson):
    for cell in committed(lesson).cells:
        tags, words = set(cell.metadata.get("tags", ())), cell.source[:60]
        if tags & set(folded_outputs.WORDS):
            assert "nbval-check-output" not in tags, f"the cover is compared, too: {words}"
        if pattern.hidden(cell) and cell.get("outputs"):
            # JupyterLab shows the first line of the first output
            assert folded_outputs.is_cover(cell.outputs[0]), words


@notebook
def test_it_compares_its_verdicts_and_no_trained_number_beside_them(lesson):
    """On another processor trained numbers differ in the third digit; what is computed does not."""
    checked = [c for c in pattern.code_cells(committed(lesson)) if pattern.compared(c)]
    assert all(c.outputs for c in checked)
    lines = [line for c in checked for line in pattern.printed(c).splitlines()]
    word = re.search(r"HOLDS|REVERSED|INCONCLUSIVE", "".join(lines))
    evidence = lesson.notebook.parent.name == "evidence"
    assert word or not (checked or evidence), "no verdict is compared"
    plain = [line for line in lines if line and not VERDICT.match(line)]
    told = {line for line in plain if not verdicts.conclusion(line)}
    computed = {"01", "18"}
    assert lesson.number in computed or told <= {"no table, no verdict"}, "print it elsewhere"


@notebook
def test_it_is_small_and_its_sliders_carry_their_own_page(lesson):
    raw = lesson.notebook.read_text(encoding="utf-8")
    assert len(raw.encode()) < 500_000
    assert execution.WIDGET_MIME not in raw
    pages = raw.count('class=\\"calibkit-explorer')
    assert pages == sum(pattern.shows_a_slider(committed(lesson)))


@lesson
def test_its_sliders_have_the_script_of_this_version(lesson):
    outputs = (o for c in pattern.code_cells(committed(lesson)) for o in c.outputs)
    html = (o.get("data", {}).get("text/html", "") for o in outputs)
    pages = [page for page in html if "calibkit-explorer" in page]
    assert pages
    as_read = [str(BeautifulSoup(page, "html.parser")) for page in pages]
    assert list(map(refreshed, pages)) == as_read, f"run  make notebooks ONLY={lesson.name[:2]}"


@lesson
def test_it_opens_with_the_slider_of_its_own_last_run(lesson):
    source = lesson.source.read_text(encoding="utf-8")
    page = lesson.notebook.read_text(encoding="utf-8")
    for name in re.findall(r"explorers\.stored\(\"(\w+)\"\)", source):
        kept = explorers.stored(name, lesson.notebook.parent / "results" / "explorers")
        assert f'data-explorer=\\"{kept.key}\\"' in page, f"run  make notebooks  again for {name}"


@evidence
def test_a_verdict_of_a_lesson_stands_in_its_evidence(lesson):
    """The same line, from the same runs; and under it the conclusion that the evidence drew."""
    beside = committed(checkout.lessons(lesson.source.stem)[0])
    shown = {x for x in pattern.lines(beside) if verdicts.parse(x) or verdicts.conclusion(x)}
    missing = shown - set(pattern.lines(committed(lesson)))
    assert missing == set(), f"run  make notebooks ONLY={lesson.number} EVIDENCE=1"


def test_the_stored_conclusions_are_those_of_the_evidence():
    home = checkout.root() / "notebooks"
    rows = json.loads((home / "results" / claims.CONCLUSIONS).read_text(encoding="utf-8"))
    assert list(map(tuple, rows)) == claims.conclusions(home)


@pytest.mark.parametrize("page", PAGES, ids=[path.name for path in PAGES])
def test_pages_of_text_are_shown_as_they_are_meant(page):
    assert pattern.of_text(page.read_text(encoding="utf-8")) == []


@notebook
def test_every_link_to_a_file_leads_somewhere(lesson):
    targets = re.findall(r"\]\(([^)#:]+)\)", pattern.prose(committed(lesson)))
    missing = [t for t in targets if not (lesson.notebook.parent / t).exists()]
    assert missing == []
