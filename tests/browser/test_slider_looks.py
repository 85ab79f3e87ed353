"""The slider itself: legible on light and dark, its focus seen, or a hint."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from calibkit.course import execution
from tests.browser import axe
from tests.browser.drive import HANDLE, watched
from tests.browser.lab import open_notebook, restart_and_run_all, set_up

HEAD = """\
from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame((svg.picture(200, 100, dot),), f"the dot is at {n}")
explorer = Explorer(frame, Slider("place", [1, 2, 3]), description="A dot that moves.")
"""
OUTLINE = "node => [getComputedStyle(node).outlineStyle, getComputedStyle(node).outlineWidth]"
CLEAR = """node => node.getBoundingClientRect().top
  - 3 - parseFloat(getComputedStyle(node).outlineOffset)
  - node.parentElement.querySelector("output").getBoundingClientRect().bottom"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_words_are_legible_and_focus_is_seen_in_both_themes(browser, lab, accessible, theme):
    space = {}
    exec(HEAD, space)
    output = new_output(
        "execute_result", {"text/html": space["explorer"].html()}, execution_count=2
    )
    cells = [new_code_cell(HEAD), new_code_cell("explorer", outputs=[output], execution_count=2)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL})
    nbformat.write(notebook, lab.folder / "face.ipynb")  # executed, and never trusted
    set_up(lab.work, "apputils-extension/themes", {"theme": f"JupyterLab {theme}"})
    with watched(browser, home=lab.home) as (page, seen):
        open_notebook(page, lab, "face")
        assert page.evaluate("document.body.dataset.jpThemeLight") == str(theme == "Light").lower()
        hint = page.get_by_text("The slider moves once all cells down to here have been run.")
        assert hint.is_visible()  # the stored slider is dead here: scripts of others are not run
        assert page.locator(".jp-OutputArea-output .picture img").bounding_box()["height"] == 100
        assert restart_and_run_all(page) == "done"
        root = page.locator(".calibkit-explorer")
        root.locator(HANDLE).focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(500)
        assert hint.count() == 0
        accessible(page, root, axe.COLOURS)
        assert root.locator(HANDLE).evaluate(OUTLINE) == ["solid", "3px"]
        assert root.locator(HANDLE).evaluate(CLEAR) >= 0  # of the label
        assert seen == []
    set_up(lab.work, "apputils-extension/themes", {})
    lab.forget()
