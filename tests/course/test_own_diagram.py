"""The page of one's own diagram, before any browser opens it: its questions, its network."""

import json
import re
from urllib.parse import urlparse

from calibkit.course import browser
from calibkit.course.classroom import contents, placeholders

OWN = browser.HERE / "own_diagram"
QUESTIONS = json.loads((OWN / "questions.json").read_text(encoding="utf-8"))
NETWORK = json.loads((OWN / "network.json").read_text(encoding="utf-8"))


def test_thirty_questions_each_with_two_options_a_reason_and_a_source():
    assert len({one["id"] for one in QUESTIONS}) == len(QUESTIONS) == 30
    for one in QUESTIONS:
        assert one.keys() == {"id", "text", "options", "right", "why", "source"}
        assert len(set(one["options"])) == 2
        assert "?" in one["text"]
        assert one["why"].endswith((".", ".)"))
        assert urlparse(one["source"]).scheme == "https"
    assert sum(one["right"] for one in QUESTIONS) == 15  # neither place is right more often


def test_the_network_is_that_of_lesson_00():
    """To half a point: another machine rounds otherwise, and a training ends a little apart."""
    (lesson,) = contents.chosen(["00"])
    printed = placeholders.printed(contents.committed(lesson))
    line = re.search(r"the network: +right on ([\d.]+)%.*?([\d.]+)% sure.*?([-+.\d]+)", printed)
    right, sure = (float(line[place]) / 100 for place in (1, 2))
    assert abs(NETWORK["score"]["right"] - right) < 0.005
    assert abs(NETWORK["score"]["sure"] - sure) < 0.005
