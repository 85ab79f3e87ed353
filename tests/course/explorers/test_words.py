"""The next word: bars are the network, diamonds the exact law, the law's words come first."""

import re

import pytest

from calibkit.course.explorers import next_word_frame
from calibkit.course.explorers.words import EXACT, LEFT, MOST, NETWORK, ROW, TOP, WIDTH

SAYS = {"voiture": 0.6, "route": 0.25, "car": 0.1, "house": 0.05}
LAW = {"route": 0.7, "chemin": 0.3}


def drawn(says=SAYS, law=LAW):
    frame = next_word_frame("the road", ["la"], says, law, title="300 sentences, after 1 words")
    (panel,) = frame.panels
    texts = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)</text>', panel)
    rows = [words for x, y, words in texts if float(x) == LEFT - 6]
    return frame, panel, rows


def test_the_words_of_the_law_come_first_then_those_of_the_network():
    assert drawn()[2] == ["route", "chemin", "voiture", "car", "house"]


def test_bars_are_the_network_and_diamonds_the_law():
    _, panel, rows = drawn()
    (bars,) = re.findall(rf'<path d="([^"]+)" fill="{NETWORK.pale}"', panel)
    ends = [float(x) for x in re.findall(r"H([\d.]+)V", bars)]
    assert ends == pytest.approx([LEFT + WIDTH * SAYS.get(word, 0) for word in rows], abs=0.06)
    marked = [p for p in re.findall(r"<path[^>]*>", panel) if f'fill="{EXACT.colour}"' in p]
    places = [float(re.search(r'd="M([\d.]+)', p)[1]) for p in marked]
    assert len(places) >= len(rows)
    expected = [LEFT + WIDTH * LAW.get(word, 0) for word in rows]
    assert places[: len(rows)] == pytest.approx(expected, abs=0.06)


def test_no_more_words_are_drawn_than_there_is_room_for():
    many = {f"word{k}": 0.05 for k in range(20)}
    _, panel, rows = drawn(many)
    assert len(rows) == MOST
    lowest = max(float(y) for y in re.findall(r' y="([\d.]+)"', panel))
    assert lowest < TOP + ROW * MOST + 84


def test_the_readout_has_the_favourite_and_what_the_law_gives_it():
    frame, *_ = drawn()
    told = "300 sentences, after 1 words: the network says voiture with 60.0 %, the exact law 0.0 %"
    assert frame.readout == told
