"""The explorer of all networks: dots in their places, words, size, and who may use it."""

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit.course import explorers
from calibkit.course.experiments import networks as data
from calibkit.course.explorers.plane import said
from calibkit.pictures.percent import spaced

SVG = "{http://www.w3.org/2000/svg}"
MOST = 200_000  # bytes of the whole


@pytest.fixture(scope="module")
def table():
    return data.stored()


@pytest.fixture(scope="module")
def explorer():
    return explorers.networks("06", "label noise")


@pytest.fixture(scope="module")
def content(explorer):
    packed = re.search(r'bindPlane\(root, "([^"]+)"\)', explorer.html())[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def stills(page):
    """The pictures that the page holds for those who run no script."""
    packed = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [ElementTree.fromstring(base64.b64decode(one)) for one in packed]


def classed(root, name):
    return next(e for e in root.iter() if e.get("class") == name)


def scale(root, anchor):
    """From pixels to shares on one axis, by the ticks that stand there, in points."""
    ticks = [e for e in root.iter(f"{SVG}text") if re.fullmatch(r"−?[\d.]+", e.text or "")]
    ticks = [e for e in ticks if e.get("text-anchor") == anchor]
    along = "x" if anchor == "middle" else "y"
    pixels = np.array([float(e.get(along)) - 4 * (along == "y") for e in ticks])
    slope, start = np.polyfit(pixels, [float(e.text.replace("−", "-")) / 100 for e in ticks], 1)
    return lambda pixel: slope * np.asarray(pixel) + start


def points(path):
    return np.array([[float(x) for x in p.split(",")] for p in re.findall(r"M([-\d.,]+)", path)])


def test_every_network_is_a_dot_in_its_place(explorer, table):
    plane, _ = stills(explorer.html())
    dots = points(classed(plane, "all").get("d"))
    across, up = scale(plane, "middle")(dots[:, 0]), scale(plane, "end")(dots[:, 1])
    rows = table.sort_values(["lost", "claimed"])
    order = np.lexsort((up.round(3), across.round(3)))
    assert len(dots) == len(table)
    np.testing.assert_allclose(across[order], rows.lost, atol=4e-3)
    np.testing.assert_allclose(sorted(up), sorted(table.claimed), atol=2e-3)


def test_the_script_is_given_the_same_places_and_numbers(explorer, content, table):
    assert len(content["topics"]) == len(explorer.topics)
    plane, _ = stills(explorer.html())
    across, up = scale(plane, "middle"), scale(plane, "end")
    count = 0
    for topic, drawn in zip(content["topics"], explorer.topics, strict=True):
        for one, (_, row) in zip(topic["networks"], drawn.table.iterrows(), strict=True):
            x, y, words, right, sure, bins = one
            assert across(x / 10) == pytest.approx(row.lost, abs=2e-3)
            assert up(y / 10) == pytest.approx(row.claimed, abs=2e-3)
            assert words == spaced(said(row))
            assert (right, sure) == (round(1000 * row.accuracy), round(1000 * row.confidence))
            counted = data.reliability(row)
            assert (bins is None) == (counted is None)
            if bins:
                assert [b[0] if b else 0 for b in bins] == counted.counts.tolist()
            count += 1
    assert count == len(table)


def test_the_ring_is_at_the_network_whose_diagram_is_shown(explorer):
    plane, diagram = stills(explorer.html())
    x, y = map(float, re.findall(r"-?[\d.]+", classed(plane, "ring").get("transform")))
    row = explorer.chosen
    assert scale(plane, "middle")(x) == pytest.approx(row.lost, abs=2e-3)
    assert scale(plane, "end")(y) == pytest.approx(row.claimed, abs=2e-3)
    assert classed(diagram, "sure").text == f"confidence {100 * row.confidence:.1f}\u00a0%"
    assert classed(diagram, "right").text == f"accuracy {100 * row.accuracy:.1f}\u00a0%"
    bars = classed(diagram, "accuracy").get("d").count("M")
    assert bars == (data.reliability(row).counts > 0).sum()
    assert classed(diagram, "none").get("visibility") == "hidden"


def test_it_is_small_loads_nothing_and_can_be_used_by_keyboard_and_by_ear(explorer):
    page = explorer.html()
    assert len(page.encode()) <= MOST
    assert not re.search(r"(src|href)=(?!.data:)|https?://(?!www\.w3\.org)", page)
    controls = re.findall(r"<(?:input|button|select)[^>]*>", page)
    assert len(controls) == 2
    assert all('data-lm-suppress-shortcuts="true"' in control for control in controls)
    assert page.count("<option") == len(explorer.topics)
    assert re.findall(r"<option[^>]* selected>([^<]+)<", page) == ["06 label noise"]
    assert re.search(r"<label>lesson\s+<select", page)
    last, start = len(explorer.topic.table) - 1, explorer.at[1]
    slider = re.search(r"<input[^>]*>", page)[0]
    assert f'max="{last}"' in slider
    assert f'value="{start}"' in slider
    assert f'aria-valuetext="{start + 1} of {last + 1}"' in slider
    assert 'aria-label="network"' in slider


@pytest.mark.parametrize(("asked", "names"), [
    (("16",), "lesson must be"),
    (("06", "mixup"), "changed must be"),
    ((None, "luck"), "changed must be"),
])  # fmt: skip
def test_what_there_is_not_is_refused_with_the_choices(asked, names):
    with pytest.raises(ValueError, match=names):
        explorers.networks(*asked)
