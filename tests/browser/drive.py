"""Open a page, watch what it complains about, and move its sliders by keyboard."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag

from nbformat.v4 import new_code_cell, new_notebook, new_output

from calibkit.course import pages

# Whether a step brings a new picture, asked inside the page; a slider without one is dead.
WATCH_A_STEP = """(root, limit) => {
  const picture = root.querySelector(".picture"), before = picture.innerHTML;
  root.moved = new Promise(resolve => {
    const observer = new MutationObserver(() => {
      if (picture.innerHTML === before) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(true)));
    });
    observer.observe(picture, {childList: true, subtree: true, characterData: true});
    setTimeout(() => { observer.disconnect(); resolve(false); }, limit);
  });
}"""
# TeX that no converter touched; code and scripts may hold dollars and backslashes.
TEX_LEFT_OVER = r"""() => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("pre, code, script, style")) continue;
    if (/\$\$|\$[^$\s]*\\|\\(frac|sum|begin|mathrm|hat|log|gamma)\b/.test(node.data))
      found.push(node.data.trim().slice(0, 80));
  }
  return found;
}"""
# whoever has bet opens what was folded
UNFOLD = "document.querySelectorAll('details').forEach(part => { part.open = true })"
UNDRAWN_FORMULAS = """() => {
  return [...document.querySelectorAll("math")].filter(formula => {
    const box = formula.getBoundingClientRect();
    return box.height < 4 || box.width < 2 || formula.querySelector("merror");
  }).map(formula => formula.textContent.slice(0, 80));
}"""


# Before a release: every page of the site, each exported page narrow, too, and every notebook in
# JupyterLab and as HTML and PDF. Else one of each kind: the pages of a kind have one template, and
# the notebooks of a kind one form of slider.
EVERY_PAGE = bool(os.environ.get("CALIBKIT_EVERY_PAGE"))
SAMPLE = ("00", "03", "06", "13", "16", "21")


def of_each_kind(notebooks: list[Path]) -> list[Path]:
    """The sample of some notebooks, or all of them before a release."""
    return [path for path in notebooks if EVERY_PAGE or path.name[:2] in SAMPLE]


HANDLE = "input[type=range]"
LINK = re.compile(r'<a\s[^>]*?href="([^"]*)"')
ID = re.compile(r'\sid="([^"]*)"')
# JupyterLab says so when a kernel restarts while its debugger is still asking; no fault of ours.
NOT_OURS = "Could not restore the debugger state"
HANG = 10_000  # ms without a new picture: the slider is dead


@dataclass
class Walk:
    """One slider moved from its first to its last position."""

    label: str
    values: list[str]


@dataclass
class Visit:
    """What was seen on one page."""

    complaints: list[str] = field(default_factory=list)
    walks: list[Walk] = field(default_factory=list)


@contextmanager
def watched(browser, *, home="file:", width: int = 1280, height: int = 1000) -> Iterator[tuple]:
    """A new page, which wants no films, and the list of errors and requests that leave `home`."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        offline=home.startswith("file:"),
        reduced_motion="reduce",
    )
    page, seen = context.new_page(), []
    allowed = (home, "data:", "blob:", "about:", home.replace("http", "ws", 1))
    page.on("console", lambda said: _hear(said, seen))
    page.on("pageerror", lambda error: seen.append(f"uncaught: {error}"))
    page.on("crash", lambda _: seen.append("the page crashed"))
    context.on(
        "request", lambda r: None if r.url.startswith(allowed) else seen.append(f"network: {r.url}")
    )
    try:
        yield page, seen
    finally:
        context.close()


def _hear(said, seen: list[str]) -> None:
    if said.type == "error" and NOT_OURS not in said.text:
        seen.append(f"console: {said.text}")


def walk(page, root, place: int) -> tuple[Walk, list[str]]:
    """Move one slider of an explorer through its whole range by arrow keys, and back by Home."""
    handle = root.locator(HANDLE).nth(place)
    handle.scroll_into_view_if_needed()
    handle.focus()
    label = handle.get_attribute("aria-label")
    _to_an_end(page, root, handle, "Home")
    done = Walk(label, [_value(handle)])
    for _ in range(int(handle.get_attribute("max"))):
        root.evaluate(WATCH_A_STEP, HANG)
        page.keyboard.press("ArrowRight")
        if not root.evaluate("root => root.moved"):
            return done, [f"{label}: the picture did not change after {done.values[-1]}"]
        done.values.append(_value(handle))
    return done, _judge(page, root, handle, done)


def _judge(page, root, handle, done: Walk) -> list[str]:
    """Whether the values were all different, the end is the end, and nothing hung."""
    problems = []
    if len(set(done.values)) < len(done.values):
        problems.append(f"values repeat: {done.values}")
    page.keyboard.press("End")
    if _value(handle) != done.values[-1]:
        problems.append(f"End leads to {_value(handle)}, not to {done.values[-1]}")
    problems += _heard(root, handle)
    _to_an_end(page, root, handle, "Home")
    if _value(handle) != done.values[0]:
        problems.append(f"Home leads to {_value(handle)}, not to {done.values[0]}")
    return [f"{done.label}: {problem}" for problem in problems]


def _heard(root, handle) -> list[str]:
    """What a screen reader would miss or hear twice: value and numbers come with the slider."""
    problems, said = [], root.locator(".readout").text_content().strip()
    if not said:
        problems.append("nothing is read out")
    if handle.get_attribute("aria-valuetext") != f"{_value(handle)}. {said}":
        problems.append(f"aria-valuetext is {handle.get_attribute('aria-valuetext')}")
    if root.locator(".readout[aria-live=polite]").count():
        problems.append("a step is read out twice")
    return problems


def _value(handle) -> str:
    """What stands beside the slider."""
    return handle.locator("xpath=..").locator("output").inner_text().strip()


def _to_an_end(page, root, handle, key: str) -> None:
    """Press a key that may have nothing to do, and wait for the picture where it has."""
    before = _value(handle)
    root.evaluate(WATCH_A_STEP, HANG)
    page.keyboard.press(key)
    if _value(handle) != before:
        root.evaluate("root => root.moved")


def walk_all(page, visit: Visit) -> None:
    """Every slider of a page; what is wrong is added to the visit."""
    roots = page.locator(".calibkit-explorer")
    for i in range(roots.count()):
        for place in range(roots.nth(i).locator(HANDLE).count()):
            done, problems = walk(page, roots.nth(i), place)
            visit.walks.append(done)
            visit.complaints += problems


def visit_page(browser, path: Path, also: Callable = lambda page: None) -> Visit:
    """Open an exported page from its file, offline, and try everything on it; then `also(page)`."""
    with watched(browser) as (page, seen):
        page.goto(path.as_uri())
        # a slider is ready when its script has run; a dead one is found by walking
        page.wait_for_timeout(300)
        visit = Visit()
        page.evaluate(UNFOLD)
        walk_all(page, visit)
        visit.complaints += [f"TeX: {words}" for words in page.evaluate(TEX_LEFT_OVER)]
        visit.complaints += [f"formula: {words}" for words in page.evaluate(UNDRAWN_FORMULAS)]
        visit.complaints += dead_links(path)
        also(page)
        visit.complaints += seen
    return visit


def as_page(explorer, path: Path) -> Path:
    """An explorer as a page without a kernel."""
    output = new_output("execute_result", {"text/html": explorer.html()})
    notebook = new_notebook(cells=[new_code_cell("explorer", outputs=[output])])
    path.write_text(pages.export(notebook, trust=True), encoding="utf-8")
    return path


def sliders_in(notebook: Path) -> int:
    """How many sliders the stored outputs of a notebook hold."""
    return len(re.findall(r'<input[^>]*type=\\"range', notebook.read_text(encoding="utf-8")))


def dead_links(path: Path) -> list[str]:
    """Links of a page to files that are not there, or to places that a page does not have."""
    links = map(unescape, LINK.findall(path.read_text(encoding="utf-8")))
    return [f"link: {link}" for link in links if not _leads(path, link)]


def _leads(path: Path, link: str) -> bool:
    file, place = urldefrag(link)
    if link.startswith(("http:", "https:", "mailto:")):
        return True
    aim = (path.parent / unquote(file)).resolve() if file else path
    if not aim.exists() or not place or aim.suffix != ".html":
        return aim.exists()
    if aim.name == "play.html" and "=" in place:  # settings; the tests of the kits open them
        return True
    # a browser looks for the place as it is written, then with its %20 read as blanks
    return bool({place, unquote(place)} & _places(aim))


@functools.cache
def _places(path: Path) -> set[str]:
    return set(map(unescape, ID.findall(path.read_text(encoding="utf-8"))))
