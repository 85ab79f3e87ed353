"""The playground in Chromium from its file: against what a visitor waits for without noticing."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

from calibkit.course import browser as pages
from tests.benchmarks.timing import Row
from tests.browser import chromium

LOADS = 5
WATCH = """new MutationObserver((_, watcher) => {
  const path = document.querySelector("#diagram-exact path.accuracy");
  if (!path?.getAttribute("d")) return;
  window.drawn = performance.now();
  watcher.disconnect();
}).observe(document, {childList: true, subtree: true, attributes: true})"""
EPOCHS = """new Promise(resolve => {
  const {conductor} = calibkit.page, {told} = conductor, times = [];
  conductor.told = answer => {
    if (answer.took) times.push(answer.took);
    told(answer);
    if (conductor.state === "done") resolve(times);
  };
  document.getElementById("train").click();
})"""
# From the move of a slider to the picture, laid out.
MOVES = """name => {
  const slider = document.getElementById(`set-${name}`), times = [];
  for (let stop = 0; stop <= Number(slider.max); stop += 1) {
    slider.value = stop;
    const begun = performance.now();
    slider.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    times.push(performance.now() - begun);
  }
  return times;
}"""
PICTURES = "performance.getEntriesByType('measure').map(one => one.duration)"


def rows() -> Iterator[Row]:
    """Milliseconds of the page's own clock over the budget; medians."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = pages.write(pages.playground(), Path(folder, "play.html"))
        browser, firsts = chromium.launch(playwright), []
        for _ in range(LOADS):
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.add_init_script(WATCH)
            page.goto(path.as_uri())
            page.locator("#verdict:not(:empty)").wait_for()
            firsts.append(page.evaluate("drawn"))
        yield _row("first picture", firsts, 1000)
        yield _row("an epoch of the settings at the start", page.evaluate(EPOCHS), 50)
        page.wait_for_timeout(300)
        yield _row("all pictures of an epoch", page.evaluate(PICTURES), 16)
        page.evaluate("document.getElementById('more').open = true")
        page.locator("#set-temperature").select_option("hand")
        yield _row("slider of T to picture", page.evaluate(MOVES, "T"), 16)
        yield _row("slider of pixel noise to images", page.evaluate(MOVES, "noise"), 16)
        browser.close()


def _row(work: str, times: list[float], budget: float) -> Row:
    middle = statistics.median(times)
    return Row(f"{work} (n = {len(times)})", f"{budget} ms", middle / budget, 1, "lower", middle)
