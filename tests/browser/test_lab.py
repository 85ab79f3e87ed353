"""JupyterLab itself: Restart & Run All on a notebook of each kind, every slider by keyboard."""

import os

import nbformat
import pytest

from calibkit.course import checkout
from tests.browser.drive import of_each_kind, sliders_in
from tests.browser.lab import at_scale, visit_notebook

NOTEBOOKS = of_each_kind(sorted((checkout.root() / "notebooks").glob("*.ipynb")))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_sliders_move(browser, lab, notebook):
    scale = os.environ.get("CALIBKIT_BROWSER_SCALE", "smoke")
    scaled = at_scale(nbformat.read(notebook, as_version=4), scale)
    nbformat.write(scaled, lab.folder / notebook.name)
    visit = visit_notebook(browser, lab, notebook.stem)
    assert visit.complaints == []
    assert len(visit.walks) == sliders_in(notebook)
