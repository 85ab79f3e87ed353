"""Pages and notebooks broken on purpose: each kind of damage must be noticed."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from calibkit import course, pages
from calibkit.explorers import Explorer, Frame, svg
from tests.browser import drive, lab


def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame(svg.picture(200, 100, dot, description=f"dot {n}"), f"the dot is at {n}")


def small_page(change=None, explorer=None):
    """A page with one slider, damaged by `change`."""
    explorer = explorer or Explorer(frame, [1, 2, 3], label="place", description="A dot.")
    output = new_output("display_data", {"text/html": explorer.html()})
    cells = [new_markdown_cell("# A page"), new_code_cell("explorer", outputs=[output])]
    html = pages.export(new_notebook(cells=cells), trust=True)
    changed = change(html) if change else html
    assert change is None or changed != html, "the damage was not done"
    return changed


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(drive, "HANG", 1_000)


def complaints(browser, build, html):
    path = build / "small.html"
    path.write_text(html)
    return "; ".join(drive.visit_page(browser, path).complaints)


def test_a_good_page_draws_no_complaint(browser, build):
    assert complaints(browser, build, small_page()) == ""


def into_body(extra):
    return lambda html: html.replace("</main>", extra + "</main>")


def swap(old, new):
    return lambda html: html.replace(old, new)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (swap('slider.addEventListener("input", show);', ""), "picture did not change after 1"),
        (swap("frames[slider.value]", "frames[0]"), "picture did not change after 1"),
        (swap("frames[slider.value]", "frames[slider.value % 2]"), "values repeat"),
        (swap("const show = ", "const hide = "), "show is not defined"),
        (swap('max="2"', 'max="3"'), "not iterable"),
        (swap('<input aria-label="place"', '<input disabled aria-label="place"'), "did not change"),
        (into_body("<script>console.error('broken on purpose')</script>"), "broken on purpose"),
        (into_body("<script>throw new Error('thrown on purpose')</script>"), "thrown on purpose"),
        (into_body('<img src="https://example.org/x.png">'), "network: https://example.org/x.png"),
        (into_body('<script src="http://example.org/x.js"></script>'), "network: http://example"),
        (into_body("<script>fetch('https://example.org/')</script>"), "network: https://example"),
        (into_body('<style>@import "https://example.org/x.css";</style>'), "network: https://exa"),
        (into_body("<p>so $\\frac{1}{2}$ is left</p>"), "TeX: so"),
        (into_body("<p>$$x$$</p>"), "TeX: $$x$$"),
        (into_body("<math></math>"), "formula"),
        (into_body('<a href="07_gone.html">gone</a>'), "link: 07_gone.html"),
        (into_body('<a href="#nowhere">gone</a>'), "link: #nowhere"),
    ],
)
def test_a_broken_page_is_noticed(browser, build, change, noticed):
    assert noticed in complaints(browser, build, small_page(change))


def test_equal_pictures_are_noticed(browser, build):
    frozen = Explorer(lambda n: Frame("<svg/>", str(n)), [1, 2], label="n", description="d")
    assert "did not change after 1" in complaints(browser, build, small_page(explorer=frozen))


HEAD = """\
from calibkit.explorers import Explorer, Frame, svg
def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame(svg.picture(200, 100, dot, description="dot"), f"the dot is at {n}")
explorer = Explorer(frame, [1, 2, 3], label="place", description="A dot that moves.")
"""
FROZEN = """\
box = explorer.widget()
box.children[0].unobserve_all("value")
box"""
CALLBACK = """\
box = explorer.widget()
box.children[0].unobserve_all("value")
box.children[0].observe(lambda change: 1 / 0, names="value")
box"""
LOUD = "from IPython.display import Javascript\nJavascript('console.error(\"broken on purpose\")')"
FAR = "from IPython.display import HTML\nHTML('<img src=\"https://example.org/x.png\">')"


@pytest.fixture(scope="module")
def small_lab(build):
    work = build / "small"
    (work / "notebooks").mkdir(parents=True)
    with lab.running(work / "notebooks", work) as running:
        yield running, work / "notebooks"


@pytest.mark.parametrize(
    ("code", "noticed"),
    [
        ("explorer", ""),
        ("1 / 0", "error: ZeroDivisionError"),
        (FROZEN, "picture did not change after 1"),
        (CALLBACK, "picture did not change after 1"),
        (LOUD, "broken on purpose"),
        (FAR, "network: https://example.org/x.png"),
    ],
    ids=["good", "raises", "frozen", "callback", "loud", "far"],
)
def test_a_broken_notebook_is_noticed(browser, small_lab, code, noticed, request):
    running, folder = small_lab
    name = request.node.callspec.id
    cells = [new_code_cell(HEAD), new_code_cell(code)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": course.KERNEL})
    lab.write(notebook, folder, name)
    said = "; ".join(lab.visit_notebook(browser, running, name).complaints)
    assert noticed in said if noticed else said == ""
