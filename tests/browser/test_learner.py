"""A learner works, closes, and comes back next day, in the JupyterLab of `calibkit lab`."""

import contextlib
import json
import re
import signal
import subprocess
import sys

import nbformat

from calibkit.course import cell_order, checkout, folded_outputs
from tests.browser.drive import watched
from tests.browser.lab import PATIENCE, STATE, environment

ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/lab/tree/00_start_here\.ipynb\?token=\w+")
SLIDER = ".calibkit-explorer input[type=range]"
READOUT = ".calibkit-explorer .readout"
ANSWER = "my_note = 'written by the learner'"


class Day:
    """`calibkit lab` from its start to its end; `address` is what it prints."""

    def __init__(self, home, work, log):
        self.log = log
        command = [sys.executable, "-m", "calibkit", "lab", "--work", str(work), "--no-browser"]
        with log.open("w", encoding="utf-8") as out:
            self.server = subprocess.Popen(
                [*command, "--port-retries=50"], env=home, stdout=out, stderr=out,
                cwd=checkout.root(),
            )  # fmt: skip

    def __enter__(self):
        for _ in range(480):
            found = ADDRESS.search(self.words())
            if found:
                self.address, self.home = found[0], found[0].partition("/lab/")[0]
                return self
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.server.wait(0.25)
                break
        raise AssertionError(self.words())

    def __exit__(self, *_):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(60)

    def words(self):
        return self.log.read_text(encoding="utf-8")


def opened(page, address, slider=f"{SLIDER}:enabled", *, folded=True):
    page.goto(address)
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=PATIENCE)
    idle = "document.querySelector('#jp-main-statusbar')?.innerText.includes('| Idle')"
    page.wait_for_function(idle, timeout=PATIENCE)
    if folded:
        page.locator(".jp-OutputPlaceholder:visible").first.click()  # once a guess is written down
    page.wait_for_selector(slider, timeout=PATIENCE)


def moved(page):
    """What the first slider says before and after an arrow key."""
    slider = page.locator(SLIDER).first
    before = page.locator(READOUT).first.inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    return before, page.locator(READOUT).first.inner_text()


def test_an_evening_and_the_next_day(browser, tmp_path):
    home = environment(tmp_path) | {"JUPYTER_RUNTIME_DIR": "/tmp/run_test"}
    for name in ("HOME", "JUPYTER_DATA_DIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR"):
        home[name] = str(tmp_path / name)
    (tmp_path / "HOME").mkdir()
    work = tmp_path / "work"
    own = work / "00_start_here.ipynb"
    status = ["git", "-C", str(checkout.root()), "status", "--porcelain"]
    before = subprocess.run(status, capture_output=True, text=True, check=False).stdout
    with (
        Day(home, work, tmp_path / "first.log") as day,
        watched(browser, home=day.home) as (page, _),
    ):
        opened(page, day.address)
        listed = page.locator(".jp-DirListing-content .jp-DirListing-itemText").all_inner_texts()
        assert sorted(listed) == sorted(f"{lesson.name}.ipynb" for lesson in checkout.lessons())
        first, second = moved(page)
        assert first != second  # nothing was run
        told = re.findall(r"(?m)^\[\w .*|.*WARN.*", day.words())
        assert [line[:2] for line in told] == ["[C"]  # the address, and no warning
        covers = page.locator(".jp-OutputPlaceholder").all_text_contents()
        assert covers
        assert all(text.strip(" •\n") in folded_outputs.WORDS.values() for text in covers)
        answer = page.locator(".jp-CodeCell", has_text="check.signed_gap(my_signed_gap)")
        answer.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")  # whoever begins with the exercise
        answer.get_by_text(cell_order.REMEDY).wait_for(timeout=PATIENCE)
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        assert page.get_by_role("menuitem", name="Run All Above Selected Cell").is_visible()
        page.keyboard.press("Escape")
        notebook = nbformat.read(own, as_version=4)
        for cell in notebook.cells:
            if "parameters" in cell.metadata.get("tags", []):
                cell.source = cell.source.replace('"laptop"', '"smoke"') + f"\n{ANSWER}"
        nbformat.write(notebook, own)
        opened(page, day.address, SLIDER)  # what another program wrote is not trusted
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_timeout(3000)
        for _ in range(600):
            if (state := page.evaluate(STATE)) not in ("waiting", "running"):
                break
            page.wait_for_timeout(500)
        assert state == "done"
        page.wait_for_timeout(1000)
        page.keyboard.press("Escape")
        page.get_by_role("menuitem", name="File", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Save Notebook(?! As)")).click()
        page.wait_for_timeout(3000)
    with (
        Day(home, work, tmp_path / "second.log") as day,
        watched(browser, home=day.home) as (page, _),
    ):
        opened(page, day.address, folded=False)
        page.wait_for_timeout(2000)
        assert page.get_by_text("Error displaying widget").count() == 0
        first, second = moved(page)
        assert first != second  # with a new kernel, nothing run
        assert ANSWER in json.dumps(nbformat.read(own, as_version=4))
    after = subprocess.run(status, capture_output=True, text=True, check=False).stdout
    assert after == before
