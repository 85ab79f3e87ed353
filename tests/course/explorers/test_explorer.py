"""One or two sliders: frames, the page that carries them, and what is refused."""

import base64
import json
import re
import zlib

import ipywidgets
from bs4 import BeautifulSoup

from calibkit import metrics
from calibkit.course.explorers import Explorer, Frame, Slider, pooled  # noqa: F401 - the table
from calibkit.course.explorers.explorer import WIDGET_MIME, refreshed
from tests import refusals


def square(n):
    return Frame((f"<svg><text>{n * n}</text></svg>",), f"{n} squared is {n * n} < {n * n + 1}")


def squares(label="n", description="Squares.", play=False, **options):
    slider = Slider(label, [1, 2, 3], **options)
    return Explorer(square, slider, description=description, play=play)


def products(**options):
    def render(a, b):
        return Frame((f"<svg><text>{a * b}</text></svg>", "<svg/>"), f"{a} times {b} is {a * b}")

    first, second = Slider("a", [1, 2, 3], start=2), Slider("b", [4, 5], show="b={}".format)
    return Explorer(render, first, second, description="Products.", **options)


def unpacked(explorer):
    packed = re.search(r'bind\(root, "([^"]+)"\)', explorer.html())[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def images(page):
    packed = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [base64.b64decode(one).decode() for one in packed]


def test_start_is_where_it_starts():
    assert images(squares(start=3).html()) == ["<svg><text>9</text></svg>"]
    assert squares(start=3).first.readout.startswith("3 squared")
    assert products().first.readout == "2 times 4 is 8"
    assert images(products().html()) == ["<svg><text>8</text></svg>", "<svg/>"]


def test_the_page_holds_every_frame_and_reaches_for_no_network():
    explorer = squares(show=lambda n: f"{n} pieces", label="<b>", description="<b>")
    content = unpacked(explorer)
    assert content["shown"] == [["1 pieces", "2 pieces", "3 pieces"]]
    assert content["frames"][2] == [["<svg><text>9</text></svg>"], "3 squared is 9 < 10"]
    assert not re.search(r"(src|href)=(?!.data:)|https?://(?!www\.w3\.org)|<b>", explorer.html())


def test_of_two_sliders_the_last_runs_fastest():
    content = unpacked(products())
    assert [words for _, words in content["frames"]] == [
        f"{a} times {b} is {a * b}" for a in (1, 2, 3) for b in (4, 5)
    ]
    assert content["shown"] == [["1", "2", "3"], ["b=4", "b=5"]]


def test_the_page_can_be_used_by_keyboard_and_by_ear():
    page = products(play=True).html()
    controls = re.findall(r"<(?:input|button)[^>]*>", page)
    assert len(controls) == 3
    assert all('data-lm-suppress-shortcuts="true"' in control for control in controls)
    assert '<p class="readout" aria-live="off">2 times 4 is 8</p>' in page
    assert 'role="group" aria-label="a and b"' in page
    assert 'aria-label="a" aria-valuetext="2"' in page
    assert 'aria-label="b" aria-valuetext="b=4"' in page
    assert 'class="picture" role="img" aria-label="2 times 4 is 8"' in page
    assert "Products." in page
    assert '<button type="button" class="play"' in page
    assert '<button type="button" class="play"' not in products().html()  # only of a film
    assert "once all cells down to here have been run" in page  # where no script is run
    assert not re.search(r"[; \"]color:(?! inherit)", page)  # words as around it, on white


def test_equal_explorers_write_equal_pages_and_others_get_another_key():
    assert squares().html() == squares().html()
    key = re.compile(r'data-explorer="(\w+)"')
    assert key.search(squares().html())[1] != key.search(squares(label="m").html())[1]


def test_an_old_explorer_gets_the_style_and_the_script_of_today():
    page = products(play=True).html()
    old = page.replace("max-width: 60rem", "max-width: 50rem").replace("const PACE", "const OLD")
    assert old.count("OLD") == 1
    today = str(BeautifulSoup(f"<p>{page}</p>{page}", "html.parser"))
    assert refreshed(f"<p>{old}</p>{old}") == today


def test_the_live_face_is_the_page_without_its_script():
    widget = products(play=True).widget()
    assert isinstance(widget, ipywidgets.DOMWidget)
    assert "<script" not in widget.face
    assert widget.face.removesuffix("</div>") in products(play=True).html()
    assert widget.packed == products().packed
    assert widget.at == [1, 0]
    assert "rendering(bind)" in widget._esm


def test_jupyter_is_offered_the_widget_the_page_and_words():
    bundle = squares(start=2)._repr_mimebundle_()
    assert set(bundle) == {WIDGET_MIME, "text/html", "text/plain"}
    assert bundle["text/plain"] == "n: 2. 2 squared is 4 < 5"


FIVE, SIX = (metrics.reliability([[0.9, 0.1]], [0], bins=bins) for bins in (5, 6))

test_refused_by_name = refusals.table("""
    Slider("n", []) -> ValueError: values of 'n' must hold at least 2 positions
    Slider("n", [1]) -> ValueError: values of 'n' must hold at least 2 positions
    Slider("n", [1, 2], start=5) -> ValueError: start must be one of 1, 2
    Explorer(square, description="d") -> ValueError: sliders must be 1 or 2
    Explorer(square, *[Slider("n", [1, 2])] * 3, description="d") -> ValueError: sliders must be 1
    Explorer(square, [1, 2], description="d") -> TypeError: sliders must be Slider(label, values)
    Explorer(lambda n: 1 / 0, Slider("n", [1, 2]), description="d") -> ZeroDivisionError
    pooled([FIVE, SIX]) -> ValueError: edges must be the same
    pooled([]) -> ValueError: diagrams must hold at least 1
""")
