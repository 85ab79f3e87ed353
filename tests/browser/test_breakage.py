"""Pages and notebooks broken on purpose: each kind of damage must be noticed."""

import pytest

from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
from tests.browser import drive


def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame((svg.picture(200, 100, dot),), f"the dot is at {n}")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(drive, "HANG", 1_000)


@pytest.fixture
def complaints(browser, tmp_path):
    """What a visit of a page with one slider complains of, where something is exchanged on it."""

    def complaints(old="", new=""):
        one = Explorer(frame, Slider("place", [1, 2, 3]), description="A dot.")
        path = drive.as_page(one, tmp_path / "small.html")
        html = path.read_text(encoding="utf-8")
        assert old in html
        path.write_text(html.replace(old, new) if old else html, encoding="utf-8")
        return "; ".join(drive.visit_page(browser, path).complaints)

    return complaints


def test_a_good_page_draws_no_complaint(complaints):
    assert complaints() == ""


# fmt: off
DAMAGES = [  # what is exchanged, for what, and what is noticed
    ('Listener("input"', 'Listener("no"', "picture did not change after 1"),
    ("shown[i][slider.value]", "shown[i][slider.value % 2]", "values repeat"),
    ("const show = ", "const hide = ", "show is not defined"),
    ('slider.setAttribute("aria-valuetext", `${value}. ${words}`);', "", "valuetext is 1"),
    ("readout.textContent = words;", 'readout.textContent = "";', "nothing is read out"),
    ('aria-live", "off"', 'aria-live", "polite"', "read out twice"),
    ('max="2"', 'max="3"', "not iterable"),
    ('aria-label="place" ', 'disabled aria-label="place" ', "did not change"),
]
# fmt: on
BESIDE = {  # what stands beside the slider, all at once
    "<script>console.error('broken on purpose')</script>": "broken on purpose",
    '<img src="https://example.org/x.png">': "network: https://example.org/x.png",
    "<p>so $\\frac{1}{2}$ is left</p>": "TeX: so",
    "<math></math>": "formula",
    '<a href="07_gone.html">gone</a>': "link: 07_gone.html",
    '<a href="#nowhere">gone</a>': "link: #nowhere",
}


@pytest.mark.parametrize(("old", "new", "noticed"), DAMAGES)
def test_a_broken_slider_is_noticed(complaints, old, new, noticed):
    assert noticed in complaints(old, new)


def test_what_is_wrong_beside_a_slider_is_noticed(complaints):
    said = complaints("</main>", "".join(BESIDE) + "</main>")
    assert [words for words in BESIDE.values() if words not in said] == []


HEAD = """\
from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.pictures import svg
def frame(n):
    dot = svg.tag("circle", cx=10 * n, cy=50, r=5)
    return Frame((svg.picture(200, 100, dot),), f"the dot is at {n}")
explorer = Explorer(frame, Slider("place", [1, 2, 3]), description="A dot that moves.")
"""
