"""JupyterLab itself: Restart & Run All on a notebook of each kind, every slider by keyboard."""

import shutil

import nbformat
import pytest

from calibkit.course import checkout
from tests.browser.drive import of_each_kind, sliders_in
from tests.browser.lab import at_scale, running, visit_notebook, write

NOTEBOOKS = of_each_kind(sorted((checkout.root() / "notebooks").glob("*.ipynb")))


@pytest.fixture(scope="module")
def lab(build, scale):
    """JupyterLab on a copy of the course, each notebook at the scale of these tests."""
    work = build / "lab"
    copy = work / "notebooks"
    ignored = shutil.ignore_patterns("*.ipynb", ".*")
    shutil.copytree(checkout.root() / "notebooks", copy, ignore=ignored)
    for notebook in NOTEBOOKS:
        write(at_scale(nbformat.read(notebook, as_version=4), scale), copy, notebook.stem)
    with running(copy, work) as lab:
        yield lab


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_sliders_move(browser, lab, build, remember, notebook):
    visit = visit_notebook(browser, lab, notebook.stem, build)
    remember(visit.walks)
    assert visit.complaints == []
    assert len(visit.walks) == sliders_in(notebook)
