"""Each rule is really checked: a good lesson passes, each broken one is named."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from calibkit.course import checkout, execution
from calibkit.course.execution import PNG
from tests.notebooks import pattern
from tests.notebooks.lint import HEAD

GLOSSARY = {
    "confidence": "00",
    "ece": "02",
    "signed gap": "02",
    "label noise": "06",
    "temperature": "08",
}
VERDICT = "06a HOLDS: noise raises ECE | +0.100 [+0.080, +0.120] 95% over 5 seeds\n"
SLIDER = (
    '<div class="calibkit-explorer"><div class="picture" role="img" aria-label="noise 0 %: ECE 3 %">'
    '<img src="a" alt=""></div></div>'
)
PIXEL = (  # the smallest PNG
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def shows(html):
    return new_output("display_data", data={"text/html": html})


def draws(**metadata):
    return new_output("display_data", data={PNG: PIXEL}, metadata={PNG: metadata})


def prints(text):
    return new_output("stream", text=text)


def code(source, tags=(), outputs=()):
    cell = new_code_cell(source, metadata={"tags": list(tags)} if tags else {})
    cell.outputs = list(outputs)
    return cell


def good():
    cells = [
        new_markdown_cell("# Noise\n" + "\n".join(HEAD[:1]) + "\n**Time.** 30 minutes"),
        code("import torch"),
        code("explorers.stored('noise')", outputs=[shows(SLIDER)]),
        new_markdown_cell(
            "## 1. Noise\n\n**Label noise** is a wrong label. Its ECE is known.\n\n"
            "**Predict before you run:** how large is the ECE?"
        ),
        code("print(ece)", ["answer"], [prints("ECE 12 %\n")]),
        new_markdown_cell("<details><summary>What came out</summary>\n\nIt is.\n\n</details>"),
        code("print(verdicts.judge(...))", ["nbval-check-output"], [prints(VERDICT)]),
        code("draw()", outputs=[draws(alt="ECE from 0.1 at 0 to 0.3 at 1.")]),
        new_markdown_cell(
            "## The answer\n\n**Too sure where it learned by heart, and not sure enough elsewhere.**\n\n"
            "## Three things to take away\n## Recall\n## Go further\n\nTry 0.9.\n\n"
            "<details><summary>Answer</summary>\n\n```python\nx = 1\n```\n\n</details>\n\n"
            "## References"
        ),
    ]
    return execution.stripped(new_notebook(cells=cells))


def broken(change):
    notebook = good()
    change(notebook.cells)
    return "; ".join(pattern.complaints(notebook, GLOSSARY, "06"))


def test_a_good_lesson_draws_no_complaint():
    assert pattern.complaints(good(), GLOSSARY, "06") == []


def put(place, old, new):
    def change(cells):
        assert old in cells[place].source
        cells[place].source = cells[place].source.replace(old, new)

    return change


def outputs(place, *found):
    return lambda cells: cells[place].update(outputs=list(found))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda cells: cells[4].metadata.clear(), "not followed by a cell tagged answer"),
        (outputs(4, prints("larger\n")), "prints no number"),
        (lambda cells: cells[4].metadata.tags.append("drawing"), "does not begin with '# your guess"),
        (put(6, "print", "# NBVAL_CHECK_OUTPUT\nprint"), "test's mark"),
        (put(0, "30 minutes", "75 minutes"), "60 minutes"),
        (put(0, "30 minutes", "30 minutes; 75 more for the end"), "60 minutes"),
        (put(0, "**Time.** 30 minutes", "**Time.** an hour"), "60 minutes"),
        (outputs(2, prints("no slider")), "no slider from stored"),
        (put(1, "import torch", "swept = sweep.run(recipe, grid)"), "no slider from stored"),
        (put(5, "<details>", "It is. <details>"), "is not folded"),
        (put(8, "## The answer", "## Well"), "bold answer"),
        (put(8, "**Too sure", "Too sure"), "bold answer"),
        (outputs(6, prints(VERDICT * 3)), "3 verdicts in the reader's way"),
        (put(3, "**Label noise**", "(O2a) **Label noise**"), "claims are named"),
        (lambda cells: cells[6].metadata.clear(), "no nbval-check-output"),
        (outputs(7, shows('<img src="b" alt="not a PNG of its own">')), "1 images have no text"),
        (outputs(7, draws(alt="")), "1 images have no text"),
        (outputs(7, draws()), "1 images have no text"),
        (outputs(7, *[draws(alt="same")] * 2), "two images have the text 'same'"),
        (put(3, "Its ECE", "Its temperature and ECE"), "uses 'temperature', which lesson 08"),
        (put(3, "**Label noise**", "Label noise"), "does not set 'label noise' in bold"),
        (put(3, "Its ECE", "It shouts. Its ECE"), "shouts"),
        (put(7, "draw()", "\n" * 18 + "draw()"), "visible lines"),
        (put(7, "draw()", "[[a for a in b] for b in c]"), "nested comprehension"),
        (put(7, "draw()", "draw(rates[::2])"), "slice with a step"),
    ],
)
def test_each_part_is_really_checked(change, complaint):
    assert complaint.lower() in broken(change).lower()


CONCLUSION = "06a, 1 verdict (1 HOLDS): noise raises the ECE\n"


def evidence_of(change):
    cells = [
        new_markdown_cell("# Evidence"),
        code("print(verdicts.conclude(...))", ["nbval-check-output"], [prints(VERDICT + CONCLUSION)]),
    ]
    notebook = execution.stripped(new_notebook(cells=cells))
    change(notebook.cells)
    return "; ".join(pattern.of_evidence(notebook))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (outputs(1, prints(VERDICT)), "0 conclusions on 06a"),
        (outputs(1, prints(VERDICT * 2 + CONCLUSION)), "wants one that counts 2 HOLDS"),
        (outputs(1, prints((VERDICT + CONCLUSION) * 2)), "2 conclusions on 06a"),
        (put(1, "print(", "check.ece(x)\nprint("), "as a lesson does"),
        (put(0, "# Evidence", "# Evidence\nPredict before you run"), "as a lesson does"),
        (lambda cells: cells[1].metadata.clear(), "no nbval-check-output"),
        (lambda cells: cells[1].metadata.update(jupyter={"outputs_hidden": True}), "folds a verdict"),
    ],
)
def test_each_part_of_evidence_is_really_checked(change, complaint):
    assert evidence_of(lambda cells: None) == ""
    assert complaint in evidence_of(change)


def test_a_link_to_a_later_lesson_and_the_text_of_a_picture_may_name_its_term():
    named = "[Temperature](08_temperature.ipynb) ![cured by temperature](images/map.svg)"
    assert broken(put(3, "Its ECE", f"{named} Its ECE")) == ""


def test_drawing_cells_may_be_as_they_must_and_folded_verdicts_do_not_count():
    def change(cells):
        cells[7].source = "[[a for a in b] for b in c[::2]]"
        cells[7].metadata = {"tags": ["drawing"], "jupyter": {"source_hidden": True}}
        aside = code("more", ["aside", "nbval-check-output"], [prints(VERDICT * 9)])
        cells.append(execution.stripped(new_notebook(cells=[aside])).cells[0])

    assert broken(change) == ""


def test_the_glossary_is_read_from_its_tables(tmp_path):
    page = tmp_path / "glossary.md"
    page.write_text(
        "# Glossary\n\n| term | meaning | lesson |\n|---|---|---|\n"
        "| ECE | expected calibration error | [02](02_x.ipynb) |\n| **$T$** | temperature | 08 |\n",
        encoding="utf-8",
    )
    assert pattern.read_glossary(page) == {"ece": "02"}


def test_the_code_of_go_further_is_found():
    assert pattern.further(good()) == "x = 1\n"


def committed(lesson):
    return nbformat.read(lesson.notebook, as_version=4)


LESSONS, EVIDENCE = checkout.lessons(), checkout.evidence()


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.name for lesson in LESSONS])
def test_a_lesson_keeps_the_pattern(lesson):
    glossary = pattern.read_glossary(Path(lesson.notebook.parent, "glossary.md"))
    assert pattern.complaints(committed(lesson), glossary, lesson.number) == []


@pytest.mark.parametrize("lesson", EVIDENCE, ids=[lesson.name for lesson in EVIDENCE])
def test_evidence_keeps_its_pattern(lesson):
    assert pattern.of_evidence(committed(lesson)) == []


def test_no_two_figures_of_the_course_have_the_same_text():
    every = [*LESSONS, *EVIDENCE]
    texts = [text for lesson in every for text in pattern.alt_texts(committed(lesson))]
    assert len(texts) == len(set(texts))
