"""The explorer of all networks: by keyboard, by click and tap, on a telephone, in JupyterLab."""

import re

import pytest

from calibkit.course import explorers
from calibkit.course.experiments import networks as data
from calibkit.pictures.svg_diagram import DIAGRAM, STRIP, diagram
from tests.browser import axe
from tests.browser.drive import Visit, walk_all

CELLS = (
    "from calibkit.course import explorers",
    'explorer = explorers.networks("06", "label noise")\nexplorer',
)
PATHS = """root => Object.fromEntries(["accuracy", "over", "under", "faded", "interval", "count"]
  .map(name => [name, root.querySelector(`path.${name}`).getAttribute("d")]))"""
RING = """root => { const box = root.querySelector(".ring").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2]; }"""


def readout(root):
    return root.locator(".readout").text_content()


def test_every_network_of_a_lesson_is_met_by_the_arrow_keys(opened):
    page, _ = opened
    done = Visit()
    walk_all(page, done)
    assert done.complaints == []
    (walk,) = done.walks
    assert walk.label == "network"
    assert walk.values == [f"{i} of 63" for i in range(1, 64)]


def test_the_script_draws_the_diagram_that_python_draws(visit, still):
    explorer = explorers.networks("06", "label noise")
    root = visit(still).locator(".calibkit-explorer")
    root.locator("path.all").wait_for(state="attached")
    checked = 0
    for label in ("06 label noise", "03 epochs", "07 class by class", "13 noise of the new images"):
        topic = next(one for one in explorer.topics if one.label == label)
        root.locator("select").select_option(label=label)
        root.locator("input").press("Home")
        for place, row in topic.table.iterrows():
            if place % 6 == 0:
                check_diagram(root, row, explorer.most)
                checked += 1
            root.locator("input").press("ArrowRight")
    assert checked > 40


def check_diagram(root, row, most):
    drawn, counted = root.evaluate(PATHS), data.reliability(row)
    if counted is None:
        assert set(drawn.values()) == {""}
        assert root.get_by_text("no diagram: its logits were not kept").is_visible()
        return
    assert not root.locator("text.none").is_visible()
    parts = "".join(diagram(DIAGRAM, STRIP, counted, most=most, moved=True))
    for name, path in drawn.items():
        found = re.search(rf'<path d="([^"]*)"[^>]*class="{name}"', parts)
        theirs, ours = ([float(x) for x in re.findall(r"[\d.]+", d)] for d in (path, found[1]))
        assert theirs == pytest.approx(ours, abs=0.31), name


def test_a_click_chooses_the_network_under_it(opened):
    page, root = opened
    slider = root.locator("input")
    slider.focus()
    slider.press("Home")
    wanted = readout(root)
    x, y = root.evaluate(RING)
    slider.press("End")
    other = readout(root)
    assert other != wanted
    page.mouse.click(x, y)
    found = readout(root)
    assert found != other
    assert abs(root.evaluate(RING)[0] - x) < 8
    assert slider.evaluate("node => node === document.activeElement")
    page.keyboard.press("ArrowRight")  # the keys go on from here
    assert readout(root) != found


def test_axe_finds_nothing_wrong(opened, accessible):
    page, root = opened
    accessible(page, root, axe.ALL)
