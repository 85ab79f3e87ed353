"""Pages and notebooks broken on purpose: each kind of damage must be noticed."""

import pytest

from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
from tests.browser import drive
from tests.browser.lab import visit_notebook, write


def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame((svg.picture(200, 100, dot),), f"the dot is at {n}")


def small_page(path, change=None, explorer=None):
    """A page with one slider, damaged by `change`."""
    explorer = explorer or Explorer(frame, Slider("place", [1, 2, 3]), description="A dot.")
    html = drive.as_page(explorer, path).read_text(encoding="utf-8")
    changed = change(html) if change else html
    assert change is None or changed != html, "the damage was not done"
    path.write_text(changed, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(drive, "HANG", 1_000)


@pytest.fixture
def complaints(browser, tmp_path):
    """What a visit of a small page complains of."""

    def complaints(*damage):
        path = small_page(tmp_path / "small.html", *damage)
        return "; ".join(drive.visit_page(browser, path).complaints)

    return complaints


def test_a_good_page_draws_no_complaint(complaints):
    assert complaints() == ""


def into_body(extra):
    return lambda html: html.replace("</main>", extra + "</main>")


def swap(old, new):
    return lambda html: html.replace(old, new)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        (swap('Listener("input"', 'Listener("no"'), "picture did not change after 1"),
        (swap("frames[place]", "frames[0]"), "picture did not change after 1"),
        (swap("shown[i][slider.value]", "shown[i][slider.value % 2]"), "values repeat"),
        (swap("const show = ", "const hide = "), "show is not defined"),
        (
            swap('slider.setAttribute("aria-valuetext", `${value}. ${words}`);', ""),
            "valuetext is 1",
        ),
        (swap("readout.textContent = words;", 'readout.textContent = "";'), "nothing is read out"),
        (swap('aria-live", "off"', 'aria-live", "polite"'), "read out twice"),
        (swap('max="2"', 'max="3"'), "not iterable"),
        (
            swap('aria-label="place" aria-valuetext', 'disabled aria-label="place" aria-valuetext'),
            "did not change",
        ),
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
def test_a_broken_page_is_noticed(complaints, change, noticed):
    assert noticed in complaints(change)


def test_equal_pictures_are_noticed(complaints):
    frozen = Explorer(lambda n: Frame(("<svg/>",), str(n)), Slider("n", [1, 2]), description="d")
    assert "did not change after 1" in complaints(None, frozen)


HEAD = """\
from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame((svg.picture(200, 100, dot),), f"the dot is at {n}")
explorer = Explorer(frame, Slider("place", [1, 2, 3]), description="A dot that moves.")
"""
FROZEN = """\
widget = explorer.widget()
widget._esm = widget._esm.replace("frames[place]", "frames[0]")
widget"""
BROKEN = """\
widget = explorer.widget()
widget._esm = widget._esm.replace("const show = ", "const hide = ")
widget"""
LOUD = "from IPython.display import Javascript\nJavascript('console.error(\"broken on purpose\")')"
FAR = "from IPython.display import HTML\nHTML('<img src=\"https://example.org/x.png\">')"


@pytest.mark.parametrize(
    ("code", "noticed"),
    [
        ("explorer", ""),
        ("1 / 0", "error: ZeroDivisionError"),
        (FROZEN, "picture did not change after 1"),
        (BROKEN, "show is not defined"),
        (LOUD, "broken on purpose"),
        (FAR, "network: https://example.org/x.png"),
    ],
    ids=["good", "raises", "frozen", "broken", "loud", "far"],
)
def test_a_broken_notebook_is_noticed(browser, lab, code, noticed, request):
    name = request.node.callspec.id
    write(lab, name, HEAD, code)
    said = "; ".join(visit_notebook(browser, lab, name).complaints)
    assert noticed in said if noticed else said == ""
