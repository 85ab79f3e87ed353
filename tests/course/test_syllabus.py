"""The list of the lessons and the paths through it: the same in the file, on pages, in lessons."""

import re
from dataclasses import replace

import pytest

from calibkit.course import checkout, syllabus

ENTRIES = {entry.number: entry for entry in syllabus.entries()}
LESSONS = {lesson.number: lesson for lesson in checkout.lessons()}
PAGE = (checkout.root() / "notebooks" / "the_course.md").read_text(encoding="utf-8")
each_path = pytest.mark.parametrize("path", syllabus.routes(), ids=lambda path: path.name)


def test_every_lesson_stands_in_the_list():
    assert list(LESSONS) == list(ENTRIES)


@pytest.mark.parametrize("number", ENTRIES)
def test_the_head_of_a_lesson_needs_what_the_list_says(number):
    text = LESSONS[number].source.read_text(encoding="utf-8")
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
    told = [line[2:] for line in text.splitlines() if "**Next on your path.**" in line]
    assert told == [line for line in [following(number)] if line]


def test_minutes_and_paths_are_everywhere_those_of_the_list():
    """`python -m calibkit.course.syllabus` writes them."""
    stale = [path for path, text in syllabus.pages().items() if text != path.read_text("utf-8")]
    assert not stale, "run python -m calibkit.course.syllabus"


def test_a_changed_minute_is_written_into_heads_and_tables(monkeypatch):
    first = replace(ENTRIES["00"], minutes=[31])
    monkeypatch.setattr(syllabus, "entries", lambda: (first, *list(ENTRIES.values())[1:]))
    changed = {path.name: text for path, text in syllabus.pages().items()}
    assert "**Time.** 31 minutes; 30 more for the homework" in changed["00_start_here.py"]
    assert "**Time.** 31 minutes; 30 more for the homework" in changed["00_start_here.ipynb"]
    assert "? | 31 + 30 |" in changed["the_course.md"]
    assert "| 31 + 40 + 40 + 40 = 151 |" in changed["the_course.md"]
    assert "| 00, 01, 08, 17 | 151 |" in changed["README.md"]
    assert "(00_start_here.ipynb) (31 + 30)" in changed["class_guide.md"]


def test_the_core_can_be_read_by_itself():
    core = {number for number, entry in ENTRIES.items() if entry.track != "elective"}
    assert all(syllabus.above(number) <= core for number in core)


def test_a_prerequisite_that_comes_later_is_refused(monkeypatch, tmp_path):
    (tmp_path / "notebooks").mkdir()
    row = '[[lesson]]\nnumber = "00"\nname = "A"\nasks = "?"\ntrack = "core"\n'
    row += 'minutes = [30]\nneeds = ["01"]\n'
    (tmp_path / "notebooks" / syllabus.FILE).write_text(row, encoding="utf-8")
    monkeypatch.setattr(checkout, "root", lambda: tmp_path)
    syllabus.entries.cache_clear()
    with pytest.raises(ValueError, match=r"01.*must come before"):
        syllabus.entries()
    monkeypatch.undo()
    syllabus.entries.cache_clear()


def test_a_lesson_that_is_not_in_the_list_is_named():
    with pytest.raises(ValueError, match=r"lessons\.toml has no lesson 99"):
        syllabus.Route("a path", "anybody", ["00", "99"]).minutes  # noqa: B018


def following(number):
    """The line at the head of a lesson that names the next one on each path; "" on none."""
    after = {}
    for route in syllabus.routes():
        if other := route.after(number):
            after.setdefault(other, []).append(route.name)
    steps = []
    for other, (first, *names) in after.items():
        named = ", ".join(f"*{name}*" for name in (first.capitalize(), *names))
        steps.append(f"{named}: [{other}]({LESSONS[other].notebook.name}).")
    return f"**Next on your path.** {' '.join(steps)}" if steps else ""


@each_path
def test_a_path_leads_from_lesson_to_lesson_without_coming_back(path):
    assert set(path.numbers) <= set(LESSONS)
    walked, here = [path.numbers[0]], path.numbers[0]
    while (here := path.after(here)) is not None:
        walked.append(here)
    assert walked == list(path.numbers)
    assert len(set(walked)) == len(walked)


@each_path
def test_a_path_holds_what_its_lessons_need_before_they_need_it(path):
    met = set(path.known).union(*map(syllabus.above, path.known))
    for number in path.numbers:
        entry = syllabus.entry(number)
        parts = () if entry.for_section else entry.part_of
        assert {*entry.needs, *parts} <= met, f"{path.name}: {number}"
        met.add(number)
