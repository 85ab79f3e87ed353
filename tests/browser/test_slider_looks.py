"""The slider itself: legible on light and dark, on narrow screens, its focus seen, or a hint."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from calibkit.course import execution
from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
from tests.browser.drive import HANDLE, as_page, watched
from tests.browser.lab import open_notebook, restart_and_run_all, set_up
from tests.browser.test_breakage import HEAD, frame

# The luminance contrast of WCAG 2, of the words against the nearest background that is not clear.
CONTRASTS = """root => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    for (; node; node = node.parentElement) {
      const colour = numbers(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const worded = [...root.querySelectorAll("label, output, p, button")];
  return worded.filter(node => node.innerText?.trim()).map(node => {
    const [r, g, b, a = 1] = numbers(getComputedStyle(node).color), back = behind(node);
    const seen = [r, g, b].map((v, i) => a * v + (1 - a) * back[i]);
    const [low, high] = [light(seen), light(back)].sort((x, y) => x - y);
    return (high + .05) / (low + .05);
  });
}"""
OUTLINE = "node => [getComputedStyle(node).outlineStyle, getComputedStyle(node).outlineWidth]"
CLEAR = """node => node.getBoundingClientRect().top
  - 3 - parseFloat(getComputedStyle(node).outlineOffset)
  - node.parentElement.querySelector("output").getBoundingClientRect().bottom"""
PICTURE = """root => { const svg = root.querySelector("svg");
  return [getComputedStyle(svg.parentElement).backgroundColor, root.scrollWidth - root.clientWidth,
          svg.getBoundingClientRect().right, innerWidth]; }"""


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_words_are_legible_and_focus_is_seen_in_both_themes(browser, lab, build, theme):
    page = Explorer(frame, Slider("place", [1, 2, 3]), description="A dot that moves.").html()
    output = new_output("execute_result", {"text/html": page}, execution_count=2)
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
        page.screenshot(path=build / f"face_{theme}.png")
        assert hint.count() == 0
        contrasts = root.evaluate(CONTRASTS)
        assert len(contrasts) >= 4
        assert min(contrasts) >= 4.5
        assert root.evaluate(PICTURE)[0] == "rgb(255, 255, 255)"
        assert root.locator(HANDLE).evaluate(OUTLINE) == ["solid", "3px"]
        assert root.locator(HANDLE).evaluate(CLEAR) >= 0  # of the label
        assert seen == []
    set_up(lab.work, "apputils-extension/themes", {})
    lab.forget()


@pytest.fixture(scope="module")
def page_of_one(build):
    def wide(n):
        bar = svg.tag("rect", x=0, y=0, width=200 * n, height=300, fill="#0072B2")
        return Frame((svg.picture(660, 330, bar),), f"{n} of 3")

    slider = Slider("a label of some length", [1, 2, 3])
    one = Explorer(wide, slider, description="Words. " * 30, play=True)
    return as_page(one, build / "face.html")


@pytest.mark.parametrize("width", [320, 600, 1280])
def test_a_page_fits_the_screen(visit, page_of_one, width):
    page = visit(page_of_one, width=width)
    root = page.locator(".calibkit-explorer")
    _, too_wide, right, inner = root.evaluate(PICTURE)
    assert too_wide <= 0
    assert right <= inner
    assert min(root.evaluate(CONTRASTS)) >= 4.5
    assert page.get_by_text("once this cell has been run").count() == 0
    handle = root.locator(HANDLE)
    page.keyboard.press("Tab")
    handle.focus()
    page.keyboard.press("ArrowRight")
    assert handle.evaluate(OUTLINE) == ["solid", "3px"]
    assert handle.evaluate(CLEAR) >= 0
