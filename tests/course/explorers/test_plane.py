"""The explorer of all networks: dots in their places, words, size, and who may use it."""

import base64
import json
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest

from calibkit import metrics
from calibkit.course import explorers
from calibkit.course.experiments import networks as data
from calibkit.course.explorers.plane import said
from calibkit.pictures import palette
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


def test_a_topic_is_drawn_group_by_group_in_colour_marker_and_words(explorer):
    plane, _ = stills(explorer.html())
    for topic in explorer.topics:
        group = ElementTree.fromstring(
            f'<g xmlns="http://www.w3.org/2000/svg">{explorer.drawn(topic)}</g>'
        )
        marked = [
            e
            for e in group.iter(f"{SVG}path")
            if e.get("class") == "marker" and e.get("stroke") == "#fff"
        ]
        within(group, plane)
        sizes = {e.get("fill"): e.get("d").count("M") for e in marked}
        groups = topic.table.groupby("group", sort=False)
        colours = [role.colour for role in topic.roles.values()]
        assert sizes == dict(zip(colours, groups.size(), strict=True))
        order = [colours.index(e.get("fill")) for e in marked]
        assert order[-1] == 0  # the first group lies on top, of the others the narrow ones
        wide = [np.ptp(part.lost) + np.ptp(part.claimed) for _, part in groups]
        assert [wide[place] for place in order[:-1]] == sorted(wide[1:], reverse=True)
        assert len({e.get("fill") for e in marked}) == len(marked) <= len(palette.CYCLE)
        words = [e.text for e in group.iter(f"{SVG}text")]
        assert words == [role.words for role in topic.roles.values()]
        assert all(float(e.get("fill-opacity")) < 1 for e in marked)  # what lies below is seen
    assert (
        max(len(words) for t in explorer.topics for words in (r.words for r in t.roles.values()))
        < 50
    )


def test_the_lines_join_the_means_over_the_seeds(explorer):
    topic = explorer.topic
    drawn = ElementTree.fromstring(
        f'<g xmlns="http://www.w3.org/2000/svg">{explorer.drawn(topic)}</g>'
    )
    line = [*drawn.iter(f"{SVG}polyline")][-1].get("points")  # the first group lies on top
    part = topic.table[topic.table.group == "noisy digits"]
    means = part.groupby("value", sort=False)[["lost", "claimed"]].mean()
    found = np.array([[float(x) for x in pair.split(",")] for pair in line.split()])
    axes = explorer.axes
    np.testing.assert_allclose(found[:, 0], [axes.x(x) for x in means.lost], atol=0.06)
    np.testing.assert_allclose(found[:, 1], [axes.y(y) for y in means.claimed], atol=0.06)


def test_the_words_of_a_group_have_the_slopes_of_its_ends(explorer):
    words = [role.words for role in explorer.topic.roles.values()]
    assert re.fullmatch(r"noisy digits: kappa 0\.6\d to 0\.\d\d", words[0])
    assert words[1] == "clusters: loses too little for a kappa"
    kappas = data.kappas(explorer.topic.table)
    own = kappas[kappas.group == "noisy digits"].kappa
    assert words[0].endswith(f"{own.iloc[0]:.2f} to {own.iloc[-1]:.2f}")


def test_both_lines_that_need_no_training_are_there(explorer):
    plane, _ = stills(explorer.html())
    words = [e.text for e in plane.iter(f"{SVG}text")]
    assert {"kappa = 1: nearest neighbour", "kappa = 0: confidence = accuracy"} <= set(words)
    assert "accuracy lost on new data (points)" in words
    assert "claimed: signed gap on new data (points)" in words
    across, up = scale(plane, "middle"), scale(plane, "end")
    lines = [[float(e.get(k)) for k in ("x1", "y1", "x2", "y2")] for e in plane.iter(f"{SVG}line")]
    for (x1, y1, x2, y2), slope in zip(lines, (1, 0), strict=True):
        assert up(y2) - up(y1) == pytest.approx(slope * (across(x2) - across(x1)), abs=2e-3)
        assert up(y1) - slope * across(x1) == pytest.approx(0, abs=2e-3)


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


def test_the_words_tell_lesson_change_value_seed_loss_claim_and_ece(table):
    row = table[(table.group == "noisy digits") & (table.value.str.startswith("30 %"))].iloc[0]
    row = row.copy()
    row["lost"], row["claimed"], row["ece"], row["seed"] = 0.5432, 0.3511, 0.3522, 301
    row["accuracy"], row["confidence"] = 0.4511, 0.8022
    row["lesson"], row["changed"] = "06", "label noise"
    assert said(row) == (
        f"Lesson 06, label noise: {row.value}, noisy digits, seed 301. Accuracy lost on new data: "
        "54.3 points. Claimed (signed gap): +35.1 points, kappa 0.65. ECE 35.2 %."
    )
    row["lost"], row["ece"] = 0.01, float("nan")
    assert said(row).endswith("Claimed (signed gap): +35.1 points.")


@pytest.mark.parametrize(("asked", "names"), [
    (("16",), "lesson must be"),
    (("06", "mixup"), "changed must be"),
    ((None, "luck"), "changed must be"),
])  # fmt: skip
def test_what_there_is_not_is_refused_with_the_choices(asked, names):
    with pytest.raises(ValueError, match=names):
        explorers.networks(*asked)


def test_a_topic_opens_with_a_diagram_within_the_picture(explorer):
    joined = [topic.table.joined[0] for topic in explorer.topics]
    for place in (joined.index(True), joined.index(False)):
        topic = explorer.topics[place]
        opened = explorers.networks(topic.lesson, topic.changed)
        assert (opened.topic.lesson, opened.topic.changed) == (topic.lesson, topic.changed)
        first = topic.table[topic.table.group == topic.table.group[0]]
        known = first.index[first.counts.notna()]  # of joined values the first, else the middle
        assert opened.at[1] == known[0 if first.joined.all() else len(known) // 2]
        assert isinstance(data.reliability(opened.chosen), metrics.Reliability)
        assert opened.key != explorer.key
        for panel in opened.first.panels:
            root = ElementTree.fromstring(panel)
            assert float(root.get("width")) <= 360
            within(root, root)


def within(words, root):
    """Words stand in the picture, and are not too small."""
    for e in words.iter(f"{SVG}text"):
        assert 0 < float(e.get("x")) < float(root.get("width"))
        assert 0 < float(e.get("y")) < float(root.get("height"))
        assert float(e.get("font-size")) >= 13
