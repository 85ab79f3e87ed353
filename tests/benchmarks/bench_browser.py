"""Pages in Chromium from their files, against what a visitor waits for without noticing.

The playground, and the audit of 100,000 rows of 10 classes against five seconds.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
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
ROWS, CLASSES, BUDGET = 100_000, 10, 5  # seconds, from the choice of the file to the numbers
TIMES = 3
# Milliseconds from the choice of a file to the headline, on the page's own clock, and how long the
# page stood still at most.
CHOSEN = """() => { let last = performance.now();
  window.longest = 0;
  setInterval(() => { const now = performance.now();
    window.longest = Math.max(window.longest, now - last); last = now; }, 10);
  document.getElementById("file").addEventListener("change", () => {
    window.begun = performance.now();
    document.getElementById("lead").textContent = "";
  }, {capture: true});
  new MutationObserver(() => {
    if (document.querySelector(".lead")) window.took = performance.now() - window.begun;
  }).observe(document.getElementById("lead"), {childList: true});
}"""


def rows() -> Iterator[Row]:
    """Milliseconds of the page's own clock over the budget; medians."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield from _playground(browser, Path(folder))
        yield from _audit(browser, Path(folder))
        browser.close()


def _playground(browser, folder: Path) -> Iterator[Row]:
    path, firsts = pages.write(pages.playground(), folder / "play.html"), []
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


def _audit(browser, folder: Path) -> Iterator[Row]:
    """Parsing and computing, all numbers but the test's."""
    path = pages.write(pages.audit(), folder / "audit.html")
    file, times, longest = _written(folder / "predictions.csv"), [], []
    for _ in range(TIMES):
        page = browser.new_page()
        page.goto(path.as_uri())
        page.evaluate(CHOSEN)
        page.locator("#file").set_input_files(file)
        page.locator(".lead").wait_for(timeout=120_000)
        times.append(page.evaluate("took"))
        longest.append(page.evaluate("longest"))
        page.close()
    yield _row(f"audit in the browser, n = {ROWS:,}, K = {CLASSES}", times, 1000 * BUDGET)
    yield _row("the page stands still for", longest, 1000)


def _written(file: Path) -> Path:
    random = np.random.default_rng(0)
    z = random.normal(0, 2, (ROWS, CLASSES))
    labels = (z * 0.7 + random.gumbel(size=z.shape)).argmax(1)
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    table = pd.DataFrame(p, columns=[f"p_{k}" for k in range(CLASSES)]).assign(label=labels)
    table.to_csv(file, index=False)
    return file


def _row(work: str, times: list[float], budget: float) -> Row:
    middle = statistics.median(times)
    return Row(f"{work} (n = {len(times)})", f"{budget} ms", middle / budget, 1, "lower", middle)
