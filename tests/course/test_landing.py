"""The sliders of the landing page are read back: the hundred, and the lessons' own pictures."""

import re

import pytest

from calibkit.course import checkout, explorers, syllabus
from calibkit.course.site import dark_pictures, findings, landing, prerequisites
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


def test_the_numbers_beside_the_plane_are_those_of_the_network_that_is_marked():
    explorer = landing.plane()
    right, sure = (round(100 * explorer.chosen[name]) for name in ("accuracy", "confidence"))
    assert (sure, right) == landing.hundred(explorers.stored("start_here").first)
    assert explorer.topic.label == "06 label noise"


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


def test_the_graph_has_every_lesson_and_an_arrow_from_what_it_needs():
    entries = syllabus.entries()
    links = {one.number: f"{one.number}.html" for one in entries}
    drawn = prerequisites.drawn(links)
    assert re.findall(r'href="([^"]+)"', drawn) == list(links.values())
    arrows = set(re.findall(r'class="arrow whole" data-from="(\d\d)" data-to="(\d\d)"', drawn))
    for one in entries:
        met = {other for other, to in arrows if to == one.number}
        reached = met.union(*(syllabus.above(other) for other in met))
        assert reached == syllabus.above(one.number)  # what is needed, by way of the arrows
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', drawn)
    assert len(set(boxes)) == len(entries)
    listed = re.findall(r'data-number="(\d\d)"', prerequisites.nested(links))
    assert sorted(listed) == sorted(links)
    assert drawn.count('class="map"') == sum("03" in one.part_of for one in entries)


def test_every_colour_of_a_stored_slider_has_one_for_dark_pages():
    known = dark_pictures.counterparts()
    stored = sorted((checkout.results() / "explorers").glob("*.json"))
    for path in stored:
        for frame in explorers.stored(path.stem).frames:
            found = re.findall(r'(?:fill|stroke)="(#\w+)"', "".join(frame.panels))
            assert set(found) <= set(known), path.stem
    assert len(stored) > 20
