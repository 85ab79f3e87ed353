"""The list of the lessons: the same in its file, on its page and at the head of each lesson."""

import re

import pytest

from calibkit.course import checkout, syllabus

ENTRIES = {entry.number: entry for entry in syllabus.entries()}


def test_every_lesson_stands_in_the_list():
    assert [lesson.number for lesson in checkout.lessons()] == list(ENTRIES)


@pytest.mark.parametrize("number", ENTRIES)
def test_the_head_of_a_lesson_needs_what_the_list_says(number):
    (lesson,) = checkout.lessons(number)
    text = lesson.source.read_text(encoding="utf-8")
    needs = re.search(r"\*\*Needs\.\*\* (.*)", text)[1]
    named = re.findall(r"\]\((\d\d)_", needs)
    entry = ENTRIES[number]
    assert sorted(named) == sorted({*entry.needs, *entry.part_of})
    for other, part in entry.part_of.items():
        words = part.replace("its map", "the map of")
        assert re.search(rf"{words} (of )?\[{other}", needs), f"{part} of {other}: {needs}"
    assert ("; for " in needs) == bool(entry.for_section)
    if entry.for_section:
        assert re.search(rf"; for (section |the part \*){entry.for_section}\*? the map", needs)
        assert re.search(rf"(?m)^# (## |\*\*){entry.for_section}[. ].*$", text), entry.for_section


def test_the_page_of_the_course_has_the_table_of_the_lessons():
    rows = [
        f"| [{one.short}]({one.file.name}) | {one.asks} | {' + '.join(map(str, one.minutes))} |"
        for one in syllabus.entries()
    ]
    head = ["| notebook | asks | minutes to work through |", "|---|---|---|"]
    page = checkout.root() / "notebooks" / "the_course.md"
    assert "\n".join([*head, *rows]) in page.read_text(encoding="utf-8")


def test_the_core_can_be_read_by_itself():
    core = {number for number, entry in ENTRIES.items() if entry.track != "elective"}
    assert all(syllabus.above(number) <= core for number in core)


def test_a_prerequisite_that_comes_later_is_refused(monkeypatch, tmp_path):
    (tmp_path / "notebooks").mkdir()
    row = '[[lesson]]\nnumber = "00"\nname = "A"\nasks = "?"\ntrack = "core"\nneeds = ["01"]\n'
    (tmp_path / "notebooks" / syllabus.FILE).write_text(row, encoding="utf-8")
    monkeypatch.setattr(checkout, "root", lambda: tmp_path)
    syllabus.entries.cache_clear()
    with pytest.raises(ValueError, match=r"01.*must come before"):
        syllabus.entries()
    monkeypatch.undo()
    syllabus.entries.cache_clear()
