"""The sliders of the landing page are read back: the hundred, and the lessons' own pictures."""

import base64
import json
import re
import zlib
from itertools import pairwise

import pytest

from calibkit.course import checkout, explorers, syllabus
from calibkit.course.site import figures, findings, graph, landing
from calibkit.pictures import palette
from tests.pictures.reading import Look
from tests.pictures.reading_svg import picture

EXPECTED = Look(palette.CONFIDENCE.colour, marker="s")
RIGHT = Look(palette.ACCURACY.colour, marker="o")
WRONG = Look(palette.OVER.colour)


def pairs(shown, lesson):
    """Frames of the landing page beside those of the lesson's stored explorer."""
    return zip(landing.sliders()[shown].frames, explorers.stored(lesson).frames, strict=True)


def test_the_hundred_are_as_many_as_the_words_and_the_lesson_say():
    for frame, stored in pairs("promise", "start_here"):
        (panel,) = frame.panels
        check_hundred(panel, *map(int, re.findall(r"(\d+) are", frame.readout)))
        right, said = map(float, re.findall(r"([\d.]+)%(?:,|$)", stored.readout))
        check_hundred(panel, round(said), round(right))
        assert frame.readout.startswith(stored.readout.split(":")[0])
    assert not re.search("NLL|logit", "".join(f.readout for x in landing.sliders().values()
                                              for f in x.frames))  # fmt: skip


def check_hundred(panel, said, right):
    """Left squares for the answers expected to be right, right dots for those that were."""
    drawn = picture(panel)
    left, middle = places(drawn, EXPECTED), places(drawn, RIGHT)
    crosses = places(drawn, WRONG)
    assert (len(left), len(middle), len(crosses)) == (said, right, 200 - said - right)
    assert len({*left, *middle, *crosses}) == 200
    assert max(x for x, _ in left) < 180 < min(x for x, _ in middle)
    assert {f"{said} right", f"{right} right", "It says:", "In truth:"} == set(drawn.words)


def places(drawn, look):
    """Where the marks of one look stand; the middle of a cross is that of its strokes."""
    shapes = [shape for shape in drawn.loose if shape.look == look]
    return [(round(shape.x.mean()), round(shape.y.mean())) for shape in shapes]


@pytest.mark.parametrize(("shown", "lesson", "chosen"), [
    ("training", "overconfidence", (0, 1, 3)),
    ("temperature", "temperature", (0,)),
    ("test_images", "test_images", (0, 1)),
])  # fmt: skip
def test_the_other_sliders_show_the_lessons_own_pictures(shown, lesson, chosen):
    for frame, stored in pairs(shown, lesson):
        assert [inside(panel) for panel in frame.panels[: len(chosen)]] == [
            inside(stored.panels[place]) for place in chosen
        ]
        told, known = (re.findall(r"[+-]?\d+\.\d+", one.readout) for one in (frame, stored))
        assert told
        assert set(told) <= set(known)
        if shown == "training":  # in the same words
            assert stored.readout.startswith(frame.readout.removesuffix("."))


def inside(panel):
    """A picture without its size, that of its words, and the dashes of a piece in a legend."""
    panel = re.sub(r' viewBox="[^"]+" width="\d+" height="\d+"', "", panel, count=1)
    panel = re.sub(r'(v20"[^>]*)stroke-dasharray="[^"]+"', r"\1", panel)
    return re.sub(r' font-size="\d+"', "", panel)


def test_beside_the_temperature_the_error_is_drawn_up_to_it():
    frames = landing.sliders()["temperature"].frames
    for place, frame in enumerate(frames):
        (plot,) = picture(frame.panels[1]).plots
        assert (plot.x_label, plot.y_label) == ("temperature T", "ECE (%)")
        known = [one.values for one in explorers.stored("temperature").frames[: place + 1]]
        line = Look(palette.TRAINED.colour)
        if place:
            drawn = plot.one("line", line)
            places, errors = [one["T"] for one in known], [one["ece"] for one in known]
            plot.is_at(drawn, places, errors)
        hint = "drag T to draw the curve" in frame.panels[1]
        assert hint == (place + 1 < len(frames) / 3)


def test_the_numbers_beside_the_plane_are_those_of_the_network_that_is_marked():
    explorer = landing.plane()
    right, sure = (round(100 * explorer.chosen[name]) for name in ("accuracy", "confidence"))
    assert (sure, right) == landing.hundred(explorers.stored("start_here").first)
    assert explorer.topic.label == "06 label noise"


def test_who_has_read_no_lesson_can_read_the_plane():
    """On the landing page alone: no term of the lessons in its words, whatever is chosen."""
    plain, in_terms = landing.plane(), explorers.networks("06", "label noise")
    drawn = picture(plain.plane()).words
    assert {
        "confidence − accuracy on new data (points)",
        "as sure as before",
        "confidence = accuracy",
    } <= set(drawn)
    assert {"noisy digits", "MNIST"} <= set(drawn)
    told = json.loads(zlib.decompress(base64.b64decode(plain.packed)))["topics"]
    written = [plain.description, plain.alt, *drawn, json.dumps(told)]
    assert not re.search(r"kappa|claimed|signed|ECE", " ".join(written), re.IGNORECASE)
    assert "kappa" in in_terms.plane() + in_terms.description


FOUND = {one.lesson: one for one in findings.findings()}


def test_there_are_fifteen_findings_of_fifteen_lessons_in_order_twelve_on_the_landing_page():
    assert len(FOUND) == len(findings.findings()) == 15
    assert list(FOUND) == sorted(FOUND)
    shown = [one.lesson for one in findings.twelve()]
    assert len(shown) == 12
    assert set(FOUND) - set(shown) == set(findings.table()["apart"])


# 05 states its mean confidence by accuracy and signed gap
STATED = [row for row in findings.table()["finding"] if row["lesson"] != "05"]


@pytest.mark.parametrize("row", STATED, ids=lambda row: row["lesson"])
def test_every_number_of_a_finding_stands_in_its_lessons_own_readouts(row):
    """Which have a decimal more."""
    explorer = explorers.stored(row["slider"])
    readouts = numbers(" ".join(frame.readout for frame in explorer.frames))
    values = numbers(" ".join(value for slider in explorer.sliders for value in slider.values))
    whole = {int(x + half) for x in readouts for half in (0.49, 0.5)}
    told = numbers(FOUND[row["lesson"]].words)
    assert len(told) >= 3
    assert set(told) <= {*readouts, *values, *whole, 90}  # 90 is the limit that 11 speaks of


def numbers(words):
    return [float(x.replace(",", "")) for x in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", words)]


@pytest.mark.parametrize("lesson", FOUND)
def test_the_picture_of_a_finding_shows_its_curves_below_their_words(lesson):
    one = FOUND[lesson]
    drawn = picture(one.picture)
    for curve in one.curves:
        assert curve.told in drawn.words
        assert f"{curve.word} {findings.percent(curve.shares[0])}{curve.unit}" in curve.told
        assert len(curve.told) < 30  # more letters would not fit
    hatched = [f'"url(#finding-{lesson}-{name})"' in one.picture for name in ("over", "under")]
    off = [0.0]
    if one.area:
        sure, right = (curve.shares for curve in one.curves)
        off += [a - b for a, b in zip(sure, right, strict=True)]
    assert hatched == [max(off) > 0, min(off) < 0]
    # a line each, in the colour of the curve
    told = re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]* fill="(#\w+)" font-weight', one.picture)
    heights = [float(height) for height, _ in told]
    assert all(b - a == findings.LINE for a, b in pairwise(heights))
    assert all(contrast(figures.THIN.get(colour, colour), "#ffffff") >= 4.5 for _, colour in told)
    lines = re.findall(r'<polyline points="([^"]+)"', one.picture)
    assert len(told) == len(lines) == len(one.curves)
    down = [float(pair.split(",")[1]) for line in lines for pair in line.split()]
    assert heights[-1] < min(down)


def test_the_graph_has_every_lesson_and_an_arrow_from_what_it_needs():
    entries = syllabus.entries()
    links = {one.number: f"{one.number}.html" for one in entries}
    drawn = graph.drawn(links)
    assert re.findall(r'href="([^"]+)"', drawn) == list(links.values())
    arrows = set(re.findall(r'class="arrow whole" data-from="(\d\d)" data-to="(\d\d)"', drawn))
    for one in entries:
        met = {other for other, to in arrows if to == one.number}
        reached = met.union(*(syllabus.above(other) for other in met))
        assert reached == syllabus.above(one.number)  # what is needed, by way of the arrows
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', drawn)
    assert len(set(boxes)) == len(entries)
    listed = re.findall(r'data-number="(\d\d)"', graph.nested(links))
    assert sorted(listed) == sorted(links)
    assert drawn.count('class="map"') == sum("03" in one.part_of for one in entries)


def test_every_colour_of_a_stored_slider_has_one_for_dark_pages():
    known = figures.counterparts()
    stored = sorted((checkout.results() / "explorers").glob("*.json"))
    for path in stored:
        for frame in explorers.stored(path.stem).frames:
            found = re.findall(r'(?:fill|stroke)="(#\w+)"', "".join(frame.panels))
            assert set(found) <= set(known), path.stem
    assert len(stored) > 20


def contrast(one, other):
    """The ratio of two colours that WCAG defines."""
    tones = []
    for colour in (one, other):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        lines = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        tones.append(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), lines, strict=True)))
    return (max(tones) + 0.05) / (min(tones) + 0.05)


def test_words_and_lines_can_be_read_on_dark_paper():
    for light, dark in figures.DARK.items():
        if dark != figures.PAPER:
            assert contrast(dark, figures.PAPER) >= 4.5, light
