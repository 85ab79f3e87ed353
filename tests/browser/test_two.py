"""Explorers of two parameters: both sliders by keyboard, the film, the ear, the size."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from calibkit.course import execution, pages
from tests.browser import axe, lab
from tests.browser.drive import EXPORTED, LIVE, Visit, walk_all, watched

HEAD = """\
import numpy as np
from calibkit import metrics
from calibkit.course.explorers import along_frame, Explorer, Slider
from calibkit.pictures import palette
epochs, random = [1, 2, 4, 8], np.random.default_rng(0)
def frame(rate, epoch):
    sure = random.uniform(0.5, 1, 2000)
    right = random.uniform(size=2000) < sure - rate + 0.1 / epoch
    counted = metrics.reliability_of(sure, right, bins=25)
    share = np.linspace(0.5, 1 - rate, 4)
    lines = {palette.CONFIDENCE: [share + 0.1], palette.ACCURACY: [share, share - 0.1]}
    return along_frame(counted, epoch, epochs, lines, x_label="epoch", x_ticks=[1, 8], log_x=True,
                       title=f"noise {rate:.0%}", readout=f"noise {rate:.0%}, epoch {epoch}")
"""
CELL = """\
explorer = Explorer(frame, Slider("noise rate", [0.0, 0.2, 0.4], show="{:.0%}".format),
                    Slider("epoch", epochs), description="A diagram and curves.", play=True)
explorer"""
TOLD = """\
import ipywidgets
widget, told = explorer.widget(), ipywidgets.Label("nothing yet")
widget.observe(lambda change: setattr(told, "value", f"at {change['new']}"), names="at")
ipywidgets.VBox([widget, told])"""
SIZES = """root => [...root.querySelectorAll("svg text")].map(words => {
  const picture = words.ownerSVGElement;
  const scale = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
  return scale * Number(words.getAttribute("font-size"));
})"""
BOTTOM = """root => root.querySelector(".readout").getBoundingClientRect().bottom
  - root.getBoundingClientRect().top"""
FILM = 5_000  # ms: four frames take one second


@pytest.fixture(scope="module")
def exported(build):
    """The explorer as a page without a kernel."""
    space = {}
    exec(HEAD + CELL.removesuffix("explorer"), space)
    output = new_output("execute_result", {"text/html": space["explorer"].html()})
    path = build / "two.html"
    cells = [new_code_cell("explorer", outputs=[output])]
    path.write_text(pages.export(new_notebook(cells=cells), trust=True), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def running(build):
    """The same in JupyterLab."""
    work = build / "two"
    (work / "notebooks").mkdir(parents=True)
    cells = [new_code_cell(HEAD), new_code_cell(CELL)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL})
    lab.write(notebook, work / "notebooks", "two")
    with lab.running(work / "notebooks", work) as running:
        yield running


@pytest.fixture(params=[EXPORTED, LIVE], ids=["page", "lab"])
def opened(request, browser):
    """Opens the explorer in either face; gives the page, the explorer and what went wrong."""
    visits = []

    def opening(**options):
        home = {}
        if request.param is LIVE:
            server = request.getfixturevalue("running")
            home = {"home": server.home}
        visit = watched(browser, **home, **options)
        page, seen = visit.__enter__()
        visits.append(visit)
        if request.param is LIVE:
            lab.open_notebook(page, server, "two")
            assert lab.restart_and_run_all(page) == "done"
        else:
            page.goto(request.getfixturevalue("exported").as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator(".play").wait_for()
        return page, root, seen

    yield opening
    for visit in visits:
        visit.__exit__(None, None, None)


def values(root):
    return root.locator("label output").all_inner_texts()


def test_both_sliders_move_by_keyboard_and_are_named(opened, request, remember):
    page, root, seen = opened()
    face, visit = request.node.callspec.params["opened"], Visit()
    walk_all(page, face, "two", visit)
    remember(visit.walks)
    assert visit.complaints + seen == []
    assert [walk.label for walk in visit.walks] == ["noise rate", "epoch"]
    assert visit.walks[0].values == ["0\u00a0%", "20\u00a0%", "40\u00a0%"]
    page.get_by_role("slider", name="epoch").press("ArrowRight")
    assert root.locator(".readout").inner_text() == "noise 0\u00a0%, epoch 2"
    assert page.get_by_role("img", name="noise 0 %, epoch 2").is_visible()


def test_a_film_plays_by_keyboard_and_stops_at_its_end(opened):
    page, root, seen = opened(motion=True)
    button = page.get_by_role("button", name="Play: epoch")
    button.focus()
    page.keyboard.press("Enter")
    assert root.locator(".play").inner_text() == "Pause"
    assert root.locator("[aria-live=polite]").count() == 0  # nobody hears four frames a second
    button.wait_for(timeout=FILM)
    assert values(root) == ["0\u00a0%", "8"]
    assert root.locator("[aria-live=polite]").inner_text() == "noise 0\u00a0%, epoch 8"
    page.keyboard.press("Space")  # again, from the beginning
    assert values(root)[1] in ("1", "2")
    page.keyboard.press("Enter")  # a pause
    held = values(root)
    page.wait_for_timeout(600)
    assert values(root) == held
    assert seen == []


def test_a_hand_on_a_slider_stops_the_film(opened):
    page, root, _ = opened(motion=True)
    root.locator(".play").click()
    page.get_by_role("slider", name="noise rate").press("ArrowRight")
    assert root.locator(".play").inner_text() == "Play"
    held = values(root)
    page.wait_for_timeout(600)
    assert values(root) == held


def test_who_wants_less_motion_goes_frame_by_frame(opened):
    page, root, _ = opened()
    button = page.get_by_role("button", name="Next: epoch")
    for epoch in ("2", "4", "8", "1"):
        button.press("Enter")
        page.wait_for_timeout(300)
        assert values(root) == ["0\u00a0%", epoch]


def test_it_fits_beside_other_things_on_a_small_laptop(opened, build, request):
    _, root, _ = opened(width=1366, height=768)
    assert root.evaluate(BOTTOM) <= 600
    root.screenshot(path=build / f"two_{request.node.callspec.id}_1366.png")


def test_words_are_legible_on_a_telephone(browser, exported, build):
    with watched(browser, width=390, height=844) as (page, seen):
        page.goto(exported.as_uri())
        root = page.locator(".calibkit-explorer")
        root.locator(".play").wait_for()
        assert min(root.evaluate(SIZES)) >= 11
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        root.screenshot(path=build / "two_page_390.png")
        assert seen == []


def test_axe_finds_nothing_wrong(opened, build):
    script = axe.script(build.parent / "axe")
    if script is None:
        pytest.skip("axe-core is not here and npm cannot fetch it; set CALIBKIT_AXE to axe.min.js")
    page, root, _ = opened()
    assert axe.violations(page, root, script) == []


def test_the_kernel_knows_where_the_sliders_stand(browser, running, build):
    cells = [new_code_cell(HEAD), new_code_cell(CELL), new_code_cell(TOLD)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL})
    lab.write(notebook, build / "two" / "notebooks", "told")
    with watched(browser, home=running.home) as (page, seen):
        lab.open_notebook(page, running, "told")
        assert lab.restart_and_run_all(page) == "done"
        page.get_by_role("slider", name="epoch").last.press("End")
        page.get_by_text("at [0, 3]").wait_for(timeout=FILM)
        assert seen == []
