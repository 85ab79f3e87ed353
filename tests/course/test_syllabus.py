"""The list of the lessons and the paths through it: the same in the file, on pages, in lessons."""

import re

import pytest

from calibkit.course import checkout, syllabus
from calibkit.course.site import sharing

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


def test_the_page_of_the_course_has_the_table_of_the_lessons():
    rows = [
        f"| [{one.short}]({one.file.name}) | {one.asks} | {' + '.join(map(str, one.minutes))} |"
        for one in syllabus.entries()
    ]
    head = ["| notebook | asks | minutes to work through |", "|---|---|---|"]
    assert "\n".join([*head, *rows]) in PAGE


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


# --- paths ---------------------------------------------------------------------------------------

HEAD = ("| path | if | lessons | minutes |", "|---|---|---|---|")


def table(routes, words, total):
    """Markdown: the paths with their lessons and minutes."""
    rows = [f"| {one.name} | {one.reader} | {one.listed(words)} | {total(one)} |" for one in routes]
    return "\n".join([*HEAD, *rows])


def linked(lesson):
    return f"[{lesson.number}]({lesson.file.name})"


def three(site):
    """The first three as the README has them: on a repository's page every answer is shown."""

    def words(lesson):
        return f"[{lesson.number}]({site}{lesson.file.stem}.html)" if site else lesson.number

    return table(syllabus.routes()[:3], words, lambda one: sum(one.sittings))


def following(number):
    """The line at the head of a lesson that names the next one on each path; "" on none."""
    after = {}
    for route in syllabus.routes():
        if other := route.after(number):
            after.setdefault(other, []).append(route.name)
    steps = []
    for other, (first, *names) in after.items():
        named = ", ".join(f"*{name}*" for name in (first.capitalize(), *names))
        steps.append(f"{named}: {linked(syllabus.entry(other))}.")
    return f"**Next on your path.** {' '.join(steps)}" if steps else ""


@each_path
def test_a_path_leads_from_lesson_to_lesson_without_coming_back(path):
    assert set(path.numbers) <= set(LESSONS)
    walked, here = [path.numbers[0]], path.numbers[0]
    while (here := path.after(here)) is not None:
        walked.append(here)
    assert walked == list(path.numbers)
    assert len(set(walked)) == len(walked)
    assert set(path.halves) <= set(walked)


@each_path
def test_a_path_holds_what_its_lessons_need_before_they_need_it(path):
    met = set(path.known).union(*map(syllabus.above, path.known))
    for number in path.numbers:
        entry = syllabus.entry(number)
        parts = () if entry.for_section else entry.part_of
        assert {*entry.needs, *parts} <= met, f"{path.name}: {number}"
        met.add(number)


def test_three_hours_are_not_many_more_than_three_and_minutes_are_those_of_the_sittings():
    (short, *_) = syllabus.routes()
    assert short.name == "three hours"
    assert sum(short.sittings) <= 200
    assert short.after("05") is None  # which is on no short path
    assert short.after(short.numbers[-1]) is None
    sittings = {number: syllabus.entry(number).times.sittings for number in ("02", "03", "17")}
    assert sittings == {"02": [40], "03": [35], "17": [45]}  # without homework and project


def test_the_page_of_the_course_has_the_table_of_the_paths_and_the_readme_three():
    every = table(
        syllabus.routes(),
        linked,
        lambda one: f"{' + '.join(map(str, one.sittings))} = {sum(one.sittings)}",
    )
    assert every in PAGE
    readme = (checkout.root() / "README.md").read_text(encoding="utf-8")
    assert three(sharing.site()) in readme
