"""The sliders of the landing page are read back: the hundred, and the lessons' own pictures."""

import re

import pytest

from calibkit.course import explorers
from calibkit.course.site import landing
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


@pytest.mark.parametrize(
    ("shown", "lesson", "chosen"),
    [
        ("training", "overconfidence", (0, 1, 3)),
        ("temperature", "temperature", (0, 2)),
        ("test_images", "test_images", (0, 1)),
    ],
)
def test_the_other_sliders_show_the_lessons_own_pictures(shown, lesson, chosen):
    for frame, stored in pairs(shown, lesson):
        assert [inside(panel) for panel in frame.panels] == [
            inside(stored.panels[place]) for place in chosen
        ]
        told = re.findall(r"\d+\.\d+", frame.readout)
        assert told
        assert set(told) <= set(re.findall(r"\d+\.\d+", stored.readout))


def inside(panel):
    """A picture without the size at which it is shown."""
    return re.sub(r' width="\d+" height="\d+"', "", panel, count=1)
