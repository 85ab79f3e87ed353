"""What a reader meets first: the main slider within two screens, the answers folded."""

import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from calibkit.course import checkout
from calibkit.course.execution import PNG
from tests.browser import lab
from tests.browser.drive import watched
from tests.notebooks.pattern import hidden

WIDTH, HEIGHT = 1366, 768  # the commonest small laptop
SCREENS = 2
OPENED = [x for x in checkout.lessons() if "explorers.stored(" in x.source.read_text("utf-8")]
lesson = pytest.mark.parametrize("lesson", OPENED, ids=[x.name for x in OPENED])
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


@lesson
def test_a_page_shows_the_slider_within_two_screens_and_folds_the_answers(
    browser, exported, build, lesson
):
    with watched(browser, width=WIDTH, height=HEIGHT) as (page, seen):
        page.goto((exported / f"{lesson.name}.html").as_uri())
        page.screenshot(path=build / f"first_{lesson.name}.png")
        assert end_of_slider(page, "body") <= SCREENS * HEIGHT
        folded = page.locator("details.cell-part:has(.jp-Cell-outputWrapper)")
        assert folded.count() == answers(lesson) > 0
        assert not any(part.evaluate("node => node.open") for part in folded.all())
        assert not any(out.is_visible() for out in folded.locator("pre").all())
        assert seen == []


@pytest.fixture(scope="module")
def lab_of_lessons(build):
    """JupyterLab on the lessons as they are committed, with their outputs."""
    work = build / "first_lab"
    shutil.copytree(checkout.root() / "notebooks", work / "notebooks")
    with lab.running(work / "notebooks", work) as running:
        yield running


# some of them: the pages above are of all lessons
@pytest.mark.parametrize("lesson", OPENED[::8], ids=[x.name for x in OPENED[::8]])
def test_jupyterlab_shows_the_slider_within_two_screens_and_folds_the_answers(
    browser, lab_of_lessons, build, lesson
):
    running = lab_of_lessons
    with watched(browser, home=running.home, width=WIDTH, height=HEIGHT) as (page, _):
        lab.open_notebook(page, running, lesson.name)
        page.screenshot(path=build / f"first_lab_{lesson.name}.png")
        room = page.locator(LAB_ROOM).first.bounding_box()["height"]
        # folded cells without an output have a placeholder too
        assert page.locator(".jp-CodeCell .jp-OutputPlaceholder").count() >= answers(lesson) > 0
        if opening_is_folded(lesson):
            page.locator(".jp-OutputPlaceholder:visible").first.click()
            page.locator(SLIDER).first.wait_for()
        assert end_of_slider(page, LAB_START) <= SCREENS * room
        figures, told = page.locator(".jp-RenderedImage img"), texts(lesson)
        expect(figures).to_have_count(len(told), timeout=lab.PATIENCE)
        assert figures.evaluate_all("all => all.map(one => one.alt)") == told
        lines = page.locator(".jp-OutputArea-output pre").first
        assert lines.evaluate("one => getComputedStyle(one).wordBreak") == "normal"
    running.forget()
