"""The explorer of all networks: by keyboard, by click and tap, on a telephone, in JupyterLab."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from calibkit.course import execution, explorers, pages
from calibkit.course.experiments import networks as data
from calibkit.course.explorers.plane import said
from calibkit.pictures.percent import spaced
from calibkit.pictures.reliability import DIAGRAM, STRIP, diagram
from tests.browser import axe, lab
from tests.browser.drive import EXPORTED, LIVE, Visit, walk_all, watched
from tests.browser.test_face import CONTRASTS
from tests.browser.test_two import BOTTOM, SIZES

HEAD = "from calibkit.course import explorers"
CELL = 'explorers.networks("06", "label noise")'
PATHS = """root => Object.fromEntries(["accuracy", "over", "under", "faded", "interval", "count"]
  .map(name => [name, root.querySelector(`path.${name}`).getAttribute("d")]))"""
RING = """root => { const box = root.querySelector(".ring").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2]; }"""
TIME_A_CHOICE = """(root, place) => {
  const list = root.querySelector("select"), begun = performance.now();
  list.value = place;
  list.dispatchEvent(new Event("change"));
  root.getBoundingClientRect(); // laid out
  return performance.now() - begun;
}"""


def the_explorer():
    return explorers.networks("06", "label noise")


@pytest.fixture(scope="module")
def exported(build):
    """The explorer as a page without a kernel."""
    output = new_output("execute_result", {"text/html": the_explorer().html()})
    path = build / "plane.html"
    cells = [new_code_cell("explorer", outputs=[output])]
    path.write_text(pages.export(new_notebook(cells=cells), trust=True), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def running(build):
    """The same in JupyterLab."""
    work = build / "plane"
    (work / "notebooks").mkdir(parents=True)
    cells = [new_code_cell(HEAD), new_code_cell(CELL)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL})
    lab.write(notebook, work / "notebooks", "plane")
    with lab.running(work / "notebooks", work) as running:
        yield running


@pytest.fixture(params=[EXPORTED, LIVE], ids=["page", "lab"])
def opened(request, browser):
    """The explorer in either face: the page, the explorer and what went wrong."""
    home = {}
    if request.param is LIVE:
        server = request.getfixturevalue("running")
        home = {"home": server.home}
    with watched(browser, **home, width=1366, height=768) as (page, seen):
        if request.param is LIVE:
            lab.open_notebook(page, server, "plane")
            assert lab.restart_and_run_all(page) == "done"
        else:
            page.goto(request.getfixturevalue("exported").as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator("path.all").wait_for(state="attached")
        yield page, root, seen
    if request.param is LIVE:
        server.forget()


@pytest.fixture
def on_page(browser, exported):
    with watched(browser) as (page, seen):
        page.goto(exported.as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator("path.all").wait_for(state="attached")
        yield page, root, seen


def readout(root):
    return root.locator(".readout").text_content()


def steps_of(topic):
    return [spaced(said(row)) for _, row in topic.table.iterrows()]


def test_every_network_of_a_lesson_is_met_by_the_arrow_keys(opened, request, remember):
    page, _, seen = opened
    face, visit = request.node.callspec.params["opened"], Visit()
    walk_all(page, face, "plane", visit)
    remember(visit.walks)
    assert visit.complaints + seen == []
    (walk,) = visit.walks
    assert walk.label == "network"
    assert walk.values == [f"{i} of 63" for i in range(1, 64)]
    assert walk.median < 50


def test_the_list_and_the_slider_lead_to_every_network(on_page):
    _, root, seen = on_page
    explorer = the_explorer()
    assert root.locator("option").all_inner_texts() == [topic.label for topic in explorer.topics]
    for topic in explorer.topics:
        root.locator("select").select_option(label=topic.label)
        words = [role.words for role in topic.roles.values()]
        assert root.locator(".chosen text").all_text_contents() == words
        slider = root.locator("input")
        slider.press("Home")
        steps = steps_of(topic)
        assert readout(root) == steps[0]
        slider.press("End")
        assert readout(root) == steps[-1]
        assert root.locator("output").inner_text() == f"{len(steps)} of {len(steps)}"
    assert seen == []


def test_the_list_is_chosen_by_keyboard(on_page):
    page, root, _ = on_page
    page.keyboard.press("Tab")
    for _ in range(20):
        if page.evaluate("document.activeElement.tagName") == "SELECT":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert readout(root).startswith("Lesson 07, class imbalance")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert readout(root).startswith("Lesson 07, class imbalance")


def test_the_script_draws_the_diagram_that_python_draws(on_page):
    _, root, seen = on_page
    explorer = the_explorer()
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
    assert seen == []


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
    page, root, seen = opened
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
    assert seen == []


def test_a_click_on_a_grey_dot_leads_to_its_lesson(on_page):
    page, root, _ = on_page
    explorer = the_explorer()
    lone = max(explorer.topics, key=lambda one: one.table.claimed.max())
    row = lone.table.loc[lone.table.claimed.idxmax()]
    x, y = explorer.axes.x(row.lost), explorer.axes.y(row.claimed)
    box = root.locator("svg").first.bounding_box()
    page.mouse.click(box["x"] + x * box["width"] / 360, box["y"] + y * box["width"] / 360)
    assert readout(root) == spaced(said(row))
    assert root.locator("select option:checked").inner_text() == lone.label
    page.mouse.click(box["x"] + box["width"] - 12, box["y"] + 200)  # where there is no dot
    assert readout(root) == spaced(said(row))


def test_a_choice_from_the_list_is_answered_at_once(on_page):
    _, root, _ = on_page
    for place in range(root.locator("option").count()):
        assert root.evaluate(TIME_A_CHOICE, place) < 50


def test_it_fits_beside_other_things_on_a_small_laptop(opened, build, request):
    _, root, _ = opened
    root.screenshot(path=build / f"plane_{request.node.callspec.id}_1366.png")
    assert root.evaluate(BOTTOM) <= 600
    assert root.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
    assert min(root.evaluate(CONTRASTS)) >= 4.5


@pytest.mark.parametrize("width", [320, 360, 390])
def test_a_telephone_shows_the_words_over_the_plane_and_scrolls_to_no_side(
    browser, exported, build, width
):
    with watched(browser, width=width, height=740) as (page, seen):
        page.goto(exported.as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator("path.all").wait_for(state="attached")
        root.screenshot(path=build / f"plane_{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert root.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
        for part in ("select", "input", "svg >> nth=0", "svg >> nth=1"):
            box = root.locator(part).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        if width >= 360:
            assert min(root.evaluate(SIZES)) >= 11
        words, plane = (root.locator(p).first.bounding_box() for p in (".readout", "svg"))
        assert words["y"] + words["height"] <= plane["y"]
        before = readout(root)
        root.locator("svg").first.scroll_into_view_if_needed()
        x, y = root.evaluate(RING)
        page.mouse.click(x + 0.3 * (width - 60) / 3, y - 0.2 * (width - 60) / 3)
        assert readout(root) != before or abs(root.evaluate(RING)[0] - x) < 1
        assert root.locator("svg").first.bounding_box()["y"] == pytest.approx(plane["y"], abs=200)
        assert seen == []


def test_without_scripts_the_picture_and_the_words_are_there(browser, exported, build):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 800, "height": 700})
    page = context.new_page()
    page.goto(exported.as_uri())
    root = page.locator(".calibkit-explorer")
    assert root.locator(".picture img").count() == 2
    assert root.locator(".picture img").first.bounding_box()["height"] > 300
    assert root.get_by_text("Accuracy lost on new data").is_visible()
    assert root.get_by_text("once all cells down to here have been run").is_visible()
    page.screenshot(path=build / "plane_still.png")
    context.close()


def test_axe_finds_nothing_wrong(opened, build):
    script = axe.script(build.parent / "axe")
    if script is None:
        pytest.skip("axe-core is not here and npm cannot fetch it; set CALIBKIT_AXE to axe.min.js")
    page, root, _ = opened
    assert axe.violations(page, root, script) == []
