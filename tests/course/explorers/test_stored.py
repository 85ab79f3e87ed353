"""Explorers in files: what is read is what was kept, and only publishing writes."""

import json
import re

import pytest

from calibkit.course import checkout, explorers
from calibkit.course.experiments import hallucination
from calibkit.course.explorers import Explorer, Frame, Slider
from calibkit.course.explorers.storage import PUBLISHING


@pytest.fixture
def publishing(monkeypatch):
    monkeypatch.setenv(PUBLISHING, "1")


def two(play=True):
    return Explorer(
        lambda rate, epoch: Frame(
            (f"<svg>{rate} {epoch}</svg>", "<svg/>"), f"{rate}, {epoch}", {"rate": rate / 3}
        ),
        Slider("noise", [0.0, 0.3], show="{:.0%}".format, start=0.3),
        Slider("epoch", [1, 2, 3]),
        description="Left & right.",
        play=play,
    )


@pytest.mark.parametrize("play", [True, False])
def test_what_is_read_is_what_was_kept(tmp_path, publishing, play):
    made = two(play)
    explorers.keep(made, "noise", tmp_path)
    again = explorers.stored("noise", tmp_path)
    assert again.frames == made.frames
    assert again.first == made.first
    assert again.html() == made.html()


def test_the_page_carries_no_values_and_a_file_of_an_older_version_has_none(tmp_path, publishing):
    made = two()
    explorers.keep(made, "noise", tmp_path)
    file = tmp_path / "noise.json"
    old = json.loads(file.read_text(encoding="utf-8"))
    del old["values"]
    file.write_text(json.dumps(old), encoding="utf-8")
    again = explorers.stored("noise", tmp_path)
    assert {len(frame.values) for frame in again.frames} == {0}
    assert again.html() == made.html()


def test_only_publishing_writes(tmp_path, monkeypatch):
    monkeypatch.delenv(PUBLISHING, raising=False)
    explorers.keep(two(), "noise", tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match="make notebooks"):
        explorers.stored("noise", tmp_path)


@pytest.mark.parametrize("name", ["", "../x", "a b", "x.json"])
def test_a_name_is_no_path(tmp_path, publishing, name):
    with pytest.raises(ValueError, match="name must be"):
        explorers.keep(two(), name, tmp_path)


def test_a_notebook_finds_the_file_of_the_course(tmp_path, monkeypatch, publishing):
    for folder in ("source", "results"):
        (tmp_path / "notebooks" / folder).mkdir(parents=True)
    for place in (tmp_path / "notebooks", tmp_path, tmp_path / "notebooks" / "source"):
        monkeypatch.chdir(place)
        explorers.keep(two(), "noise")
        assert explorers.stored("noise").first == two().first
    kept = tmp_path / "notebooks" / "results" / "explorers"
    assert [path.name for path in kept.iterdir()] == ["noise.json"]


def test_the_stored_slider_of_21_shows_the_stored_table():
    """Each frame tells the means of the table from which it was drawn."""
    table = hallucination.stored()
    table = table[(table.steps == 600) & (table.limit == 0)]
    made_up = explorers.stored("made_up", checkout.results() / "explorers")
    assert len(made_up.frames) == table.rare.nunique()
    for (share, rows), frame in zip(table.groupby("rare"), made_up.frames, strict=True):
        told = [float(word) for word in re.findall(r"([\d.]+)\s?%", frame.readout)]
        mean = rows.mean(numeric_only=True)
        exact = [100 * share, 100 * mean.invented, 100 * mean.invented_unseen]
        assert told[0] == pytest.approx(exact[0], abs=0.5)
        assert told[1:] == pytest.approx(exact[1:], abs=0.05 + 1e-9)
