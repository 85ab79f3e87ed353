"""An explorer as a folder, in each of the ways that its page names."""

import functools
import http.server
import threading

import pytest

from calibkit.course.explorers import storage
from tests.browser import lab as labs
from tests.browser.drive import HANDLE, Visit, walk_all, watched

NAMES = ("focal_practice", "networks")  # a face each
# Twice by its function; and as a book in MyST does it: the default export, a model that holds
# nothing, a shadow root.
PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Of somebody else</title>
<link rel="icon" href="data:,"><div id="one"></div><div id="two"></div><div id="book"></div>
<script type="module">
import explorer, {{ mount }} from "./{name}.mjs";
mount(document.getElementById("one"));
mount(document.getElementById("two"));
const root = document.getElementById("book").attachShadow({{ mode: "open" }});
const el = root.appendChild(document.createElement("div"));
const model = {{ get: () => undefined, set() {{}}, save_changes() {{}}, on() {{}}, off() {{}} }};
explorer.render({{ model, el }});
</script></html>"""
CELL = """\
import pathlib
import anywidget

class Explorer(anywidget.AnyWidget):
    _esm = pathlib.Path("{name}/{name}.mjs")

Explorer()"""


@pytest.fixture(scope="module", params=NAMES)
def folder(request, build):
    """A folder as the command writes it, and a page of somebody else beside it."""
    made = storage.write(request.param, build / "anywhere" / request.param).parent
    (made / "page.html").write_text(PAGE.format(name=request.param), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def served(folder):
    """Its address on a web server."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    quiet.extensions_map = {**quiet.extensions_map, ".mjs": "text/javascript"}
    handler = functools.partial(quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_page_works_from_a_disk(visit, accessible, folder):
    page, done = visit(folder / "index.html", width=390), Visit()
    page.locator(".picture svg").first.wait_for()
    walk_all(page, done)
    assert done.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    accessible(page)


def test_a_page_of_somebody_else_shows_it_thrice(browser, served):
    visit, places = Visit(), ("one", "two", "book")
    with watched(browser, home=served) as (page, seen):
        page.goto(f"{served}/page.html")
        page.locator("#book .picture svg").first.wait_for()
        readouts = [page.locator(f"#{place} .readout") for place in places]
        (before,) = {readout.inner_text() for readout in readouts}
        page.locator(f"#one {HANDLE}").last.press("End")
        assert [readout.inner_text() == before for readout in readouts] == [False, True, True]
        walk_all(page, visit)
    assert visit.complaints + seen == []
    assert len({walk.label for walk in visit.walks}) * 3 == len(visit.walks)


def test_jupyterlab_shows_the_same_files_without_calibkit(browser, lab):
    for name in NAMES:
        storage.write(name, lab.folder / name)
    labs.write(lab, "own", *(CELL.format(name=name) for name in NAMES))
    done = labs.visit_notebook(browser, lab, "own")
    assert done.complaints == []
    assert len(done.walks) == len(NAMES)
