"""The committed notebooks: written well, executed in order, and in step with their text twins."""

import json
import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from calibkit.course import checkout, claims, execution, explorers, folded_outputs, verdicts
from calibkit.course.explorers.explorer import refreshed
from tests.notebooks import lint, pattern

LESSONS, EVIDENCE = checkout.lessons(), checkout.evidence()
EVERY = [*LESSONS, *EVIDENCE]
PAGES = [checkout.root() / "README.md", *sorted(checkout.root().glob("notebooks/**/*.md"))]
VERDICT = re.compile(r"\w+ (HOLDS|NOT SPECIFIC|REVERSED|INCONCLUSIVE|NOT MET)\b")
lesson = pytest.mark.parametrize("lesson", LESSONS, ids=[x.name for x in LESSONS])
evidence = pytest.mark.parametrize("lesson", EVIDENCE, ids=[x.name for x in EVIDENCE])
notebook = pytest.mark.parametrize("lesson", EVERY, ids=[x.name for x in EVERY])


def committed(lesson):
    return nbformat.read(lesson.notebook, as_version=4)


@lesson
def test_it_keeps_the_countable_habits(lesson):
    assert lint.complaints(committed(lesson)) == []


@evidence
def test_evidence_keeps_those_of_any_notebook(lesson):
    assert lint.of_any(committed(lesson), longest=90) == []


@lesson
def test_a_lesson_protects_its_reader(lesson):
    glossary = pattern.read_glossary(lesson.notebook.parent / "glossary.md")
    assert pattern.complaints(committed(lesson), glossary, lesson.number) == []


@evidence
def test_evidence_concludes_on_each_claim(lesson):
    assert pattern.of_evidence(committed(lesson)) == []


def test_no_two_figures_of_the_course_have_the_same_text():
    texts = [text for lesson in EVERY for text in pattern.alt_texts(committed(lesson))]
    assert len(texts) == len(set(texts))


@notebook
def test_it_is_in_step_with_its_text_twin(lesson):
    twin = execution.read(lesson)
    ours = [(c.cell_type, c.source, c.metadata.get("tags")) for c in committed(lesson).cells]
    theirs = [(c.cell_type, c.source, c.metadata.get("tags")) for c in twin.cells]
    assert ours == theirs, f"run  make notebooks ONLY={lesson.number} EVIDENCE=1"


@notebook
def test_it_was_executed_in_order_without_errors(lesson):
    cells = lint.code_cells(committed(lesson))
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for c in cells for output in c.outputs}
    assert "error" not in kinds
    assert not any(o.get("name") == "stderr" for c in cells for o in c.outputs), "warnings stored"


@notebook
def test_it_checks_outputs_that_exist(lesson):
    checked = [c for c in lint.code_cells(committed(lesson)) if lint.compared(c)]
    assert checked, "nbval compares nothing"
    assert all(c.outputs for c in checked)
    text = "".join(o.text for c in checked for o in c.outputs)
    assert re.search(r"HOLDS|REVERSED|INCONCLUSIVE", text), "no verdict is compared"


@notebook
def test_no_trained_number_is_compared_beside_the_verdicts(lesson):
    """On another processor trained numbers differ in the third digit; what is computed does not."""
    computed = {"01", "18"}
    lines = [
        line
        for c in lint.code_cells(committed(lesson))
        if lint.compared(c) and lesson.number not in computed
        for o in c.outputs
        for line in o.text.splitlines()
    ]
    plain = [line for line in lines if line and not VERDICT.match(line)]
    told = [line for line in plain if not verdicts.conclusion(line)]
    assert set(told) <= {"no table, no verdict"}, "print it in a cell of its own"


@notebook
def test_it_is_small_and_its_sliders_carry_their_own_page(lesson):
    raw = lesson.notebook.read_text(encoding="utf-8")
    assert len(raw.encode()) < 500_000
    assert execution.WIDGET_MIME not in raw
    pages = raw.count('class=\\"calibkit-explorer')
    assert pages == sum(lint.shows_a_slider(committed(lesson)))


@lesson
def test_its_sliders_have_the_script_of_this_version(lesson):
    outputs = (o for c in lint.code_cells(committed(lesson)) for o in c.outputs)
    pages = [
        page
        for o in outputs
        if "calibkit-explorer" in (page := o.get("data", {}).get("text/html", ""))
    ]
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
    full = [
        line for c in lint.code_cells(committed(lesson)) for line in pattern.printed(c).splitlines()
    ]
    shown = [line for c in lint.code_cells(beside) for line in pattern.printed(c).splitlines()]
    told = [line for line in shown if verdicts.parse(line) or verdicts.conclusion(line)]
    missing = [line for line in told if line not in full]
    assert missing == [], f"run  make notebooks ONLY={lesson.number} EVIDENCE=1"


def test_the_stored_conclusions_are_those_of_the_evidence():
    home = checkout.root() / "notebooks"
    rows = json.loads((home / "results" / claims.CONCLUSIONS).read_text(encoding="utf-8"))
    assert list(map(tuple, rows)) == claims.conclusions(home)


@pytest.mark.parametrize("page", PAGES, ids=[path.name for path in PAGES])
def test_pages_of_text_are_shown_as_they_are_meant(page):
    assert lint.of_text(page.read_text(encoding="utf-8")) == []


@notebook
def test_every_link_to_a_file_leads_somewhere(lesson):
    targets = re.findall(r"\]\(([^)#:]+)\)", lint.prose(committed(lesson)))
    missing = [t for t in targets if not (lesson.notebook.parent / t).exists()]
    assert missing == []


def questions(count):
    return "".join(
        f"<details><summary>{i}?</summary>\n\nYes.\n\n</details>\n" for i in range(count)
    )


def good():
    """A notebook that keeps every habit."""
    return new_notebook(
        cells=[
            new_markdown_cell("# Title\n" + "\n".join(lint.HEAD) + "\nPredict before you run."),
            new_code_cell("import torch"),
            new_code_cell(
                'SCALE = "smoke"\nSEED = 0\nDEVICE = "cpu"', metadata={"tags": ["parameters"]}
            ),
            new_code_cell("x = 1"),
            new_markdown_cell("word " * 1300),
            new_markdown_cell(
                "\n".join([*lint.END[:2], questions(5), *lint.END[2:], "arxiv.org/abs/1"])
            ),
        ]
    )


def broken(change):
    notebook = good()
    change(notebook.cells)
    return lint.complaints(notebook)


def test_a_good_notebook_draws_no_complaint():
    assert lint.complaints(good()) == []


def set_source(place, old, new):
    def change(cells):
        assert old in cells[place].source
        cells[place].source = cells[place].source.replace(old, new)

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (set_source(0, "# Title", "Title"), "title"),
        (set_source(0, "# Title", "# A\n# B"), "2 first-level"),
        (set_source(0, "**Time.**", ""), r"\*\*Time"),
        (set_source(0, "Predict before", ""), "predict"),
        (set_source(5, "## Recall", ""), "## Recall"),
        (set_source(5, questions(3), ""), "2 recall"),
        (set_source(5, "arxiv.org", "example.org"), "DOI"),
        (set_source(1, "import torch", "import torch\nprint(1)"), "before the parameters"),
        (set_source(2, '"cpu"', '"cp" + "u"'), "literals"),
        (set_source(2, "SEED", "SEEDS"), "parameters are not"),
        (lambda cells: cells[2].metadata.clear(), "0 cells are tagged parameters"),
        (set_source(3, "x = 1", "x = 1\n" * 26), "27 lines"),
        (set_source(3, "x = 1", "x = 1" + " + 1" * 40), "characters"),
        (set_source(3, "x = 1", "ax.set();"), "semicolon"),
        (set_source(3, "x = 1", "!pip install x"), "shell"),
        (set_source(3, "x = 1", "warnings.simplefilter('ignore')"), "warnings"),
        (set_source(3, "x = 1", "sns.set_theme()"), "global style"),
        (set_source(3, "x = 1", "open('/home/me/x')"), "absolute"),
        (set_source(3, "x = 1", "MNIST(root, download=True)"), "download"),
        (set_source(3, "x = 1", 'judge("a", "alike", x, expect="within", margin=1)'), "no control"),
        (set_source(3, "x = 1", "# NBVAL_CHECK_OUTPUT\nsweep.run(x)"), "under a compared"),
        (set_source(5, "arxiv.org", "ICML\n  2017. arxiv.org"), r"a list with 2017\."),
        (set_source(5, "<summary>1?", "<summary>`cal`?"), "shown as they are: '`cal`"),
        (set_source(5, "</details>\n\n", "</details>\nBy *us*.\n\n"), r"they are: 'By \*us"),
    ],
)
def test_each_habit_is_really_checked(change, complaint):
    assert re.search(complaint, "; ".join(broken(change)))


def test_stored_widget_state_is_noticed():
    notebook = good()
    notebook.metadata["widgets"] = {}
    assert lint.complaints(notebook) == ["metadata.widgets is stored"]


@lesson
def test_what_stands_for_a_folded_output_tells_nothing(lesson):
    folded = [c for c in committed(lesson).cells if pattern.hidden(c) and c.get("outputs")]
    for cell in folded:  # JupyterLab shows the first line of the first output
        assert folded_outputs.is_cover(cell.outputs[0]), cell.source[:80]
