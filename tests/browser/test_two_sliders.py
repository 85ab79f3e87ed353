"""Explorers of two parameters: both sliders by keyboard, the film, the ear, the size."""

from tests.browser.drive import Visit, walk_all, watched
from tests.browser.lab import open_notebook, restart_and_run_all, write

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
CELLS = (HEAD, CELL)
TOLD = """\
import ipywidgets
widget, told = explorer.widget(), ipywidgets.Label("nothing yet")
widget.observe(lambda change: setattr(told, "value", f"at {change['new']}"), names="at")
ipywidgets.VBox([widget, told])"""
FILM = 5_000  # ms: four frames take one second


def values(root):
    return root.locator("label output").all_inner_texts()


def test_both_sliders_move_by_keyboard_and_are_named(opened):
    page, root = opened
    done = Visit()
    walk_all(page, done)
    assert done.complaints == []
    assert [walk.label for walk in done.walks] == ["noise rate", "epoch"]
    assert done.walks[0].values == ["0\u00a0%", "20\u00a0%", "40\u00a0%"]
    page.get_by_role("slider", name="epoch").press("ArrowRight")
    assert root.locator(".readout").inner_text() == "noise 0\u00a0%, epoch 2"
    assert page.get_by_role("img", name="noise 0 %, epoch 2").is_visible()


def test_a_film_plays_by_keyboard_and_stops_at_its_end(opened):
    page, root = opened
    page.emulate_media(reduced_motion="no-preference")
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


def test_who_wants_less_motion_goes_frame_by_frame(opened):
    page, root = opened
    button = page.get_by_role("button", name="Next: epoch")
    for epoch in ("2", "4", "8", "1"):
        button.press("Enter")
        page.wait_for_timeout(300)
        assert values(root) == ["0\u00a0%", epoch]


def test_the_kernel_knows_where_the_sliders_stand(browser, lab):
    write(lab, "told", *CELLS, TOLD)
    with watched(browser, home=lab.home) as (page, seen):
        open_notebook(page, lab, "told")
        assert restart_and_run_all(page) == "done"
        page.get_by_role("slider", name="epoch").last.press("End")
        page.get_by_text("at [0, 3]").wait_for(timeout=FILM)
        assert seen == []
    lab.forget()
