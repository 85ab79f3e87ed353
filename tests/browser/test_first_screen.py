"""What a reader meets first: the main slider within two screens, the answers folded."""

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from calibkit.course import checkout
from calibkit.course.execution import PNG
from tests.browser.drive import watched
from tests.browser.lab import PATIENCE, open_notebook
from tests.notebooks.pattern import hidden

WIDTH, HEIGHT = 1366, 768  # the commonest small laptop
SCREENS = 2
OPENED = [x for x in checkout.lessons() if "explorers.stored(" in x.source.read_text("utf-8")]
END_OF_SLIDER = """root => root.getBoundingClientRect().bottom
  - document.querySelector(START).getBoundingClientRect().top"""
SLIDER = ".calibkit-explorer input[type=range]"
LAB_START, LAB_ROOM = ".jp-Notebook .jp-Cell", ".jp-NotebookPanel .jp-WindowedPanel-outer"


def answers(lesson):
    """How many cells of the committed notebook fold what they print."""
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    return sum(hidden(cell) and bool(cell.get("outputs")) for cell in cells)


def opening_is_folded(lesson):
    cells = nbformat.read(lesson.notebook, as_version=4).cells
    return hidden(next(cell for cell in cells if "explorers.stored(" in cell.source))


def texts(lesson):
    """The texts of the figures that are not folded in the committed notebook."""
    cells = [cell for cell in nbformat.read(lesson.notebook, 4).cells if not hidden(cell)]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    return [output.metadata[PNG]["alt"] for output in outputs if PNG in output.get("data", {})]


def end_of_slider(page, start):
    """Pixels from the top of the lesson to the end of the picture under its first slider."""
    root = page.locator(".calibkit-explorer .picture").first
    return root.evaluate(END_OF_SLIDER.replace("START", repr(start)))


@pytest.mark.parametrize("lesson", OPENED, ids=[x.name for x in OPENED])
def test_a_page_shows_the_slider_within_two_screens_and_folds_the_answers(visit, exported, lesson):
    page = visit(exported / f"{lesson.name}.html", width=WIDTH, height=HEIGHT)
    assert end_of_slider(page, "body") <= SCREENS * HEIGHT
    folded = page.locator("details.cell-part:has(.jp-Cell-outputWrapper)")
    assert folded.count() == answers(lesson) > 0
    assert not any(folded.evaluate_all("all => all.map(one => one.open)"))
    seen = "all => all.map(one => one.checkVisibility())"
    assert not any(folded.locator("pre").evaluate_all(seen))


# some of them: the pages above are of all lessons
@pytest.mark.parametrize("lesson", OPENED[::11], ids=[x.name for x in OPENED[::11]])
def test_jupyterlab_shows_the_slider_within_two_screens_and_folds_the_answers(browser, lab, lesson):
    (lab.folder / "committed").mkdir(exist_ok=True)
    shutil.copy(lesson.notebook, lab.folder / "committed")
    with watched(browser, home=lab.home, width=WIDTH, height=HEIGHT) as (page, _):
        open_notebook(page, lab, f"committed/{lesson.name}")
        room = page.locator(LAB_ROOM).first.bounding_box()["height"]
        # folded cells without an output have a placeholder too
        assert page.locator(".jp-CodeCell .jp-OutputPlaceholder").count() >= answers(lesson) > 0
        if opening_is_folded(lesson):
            page.locator(".jp-OutputPlaceholder:visible").first.click()
            page.locator(SLIDER).first.wait_for()
        assert end_of_slider(page, LAB_START) <= SCREENS * room
        figures, told = page.locator(".jp-RenderedImage img"), texts(lesson)
        expect(figures).to_have_count(len(told), timeout=PATIENCE)
        assert figures.evaluate_all("all => all.map(one => one.alt)") == told
        lines = page.locator(".jp-OutputArea-output pre").first
        assert lines.evaluate("one => getComputedStyle(one).wordBreak") == "normal"
    lab.forget()
