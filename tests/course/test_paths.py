"""The paths through the course: lessons in their order, named alike in README and lessons."""

import pytest

from calibkit.course import checkout, syllabus
from calibkit.course.site import sharing

LESSONS = {lesson.number: lesson for lesson in checkout.lessons()}


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


def minutes(number):
    return syllabus.entry(number).times.sittings


@pytest.mark.parametrize("path", syllabus.routes(), ids=lambda path: path.name)
def test_a_path_leads_from_lesson_to_lesson_without_coming_back(path):
    assert set(path.numbers) <= set(LESSONS)
    walked, here = [path.numbers[0]], path.numbers[0]
    while (here := path.after(here)) is not None:
        walked.append(here)
    assert walked == list(path.numbers)
    assert len(set(walked)) == len(walked)
    assert set(path.halves) <= set(walked)


@pytest.mark.parametrize("path", syllabus.routes(), ids=lambda path: path.name)
def test_a_path_holds_what_its_lessons_need_before_they_need_it(path):
    met = set(path.known).union(*map(syllabus.above, path.known))
    for number in path.numbers:
        entry = syllabus.entry(number)
        parts = () if entry.for_section else entry.part_of
        assert {*entry.needs, *parts} <= met, f"{path.name}: {number}"
        met.add(number)


def test_no_lesson_of_a_path_is_followed_by_one_off_it():
    (short, *_) = syllabus.routes()
    assert short.after("05") is None
    assert short.after(short.numbers[-1]) is None


@pytest.mark.parametrize("number", sorted(LESSONS))
def test_the_head_of_a_lesson_names_the_next_one_on_each_path(number):
    source = LESSONS[number].source.read_text(encoding="utf-8")
    told = [line[2:] for line in source.splitlines() if "**Next on your path.**" in line]
    assert told == [line for line in [following(number)] if line]


def test_minutes_are_those_of_the_sittings_without_homework_and_project():
    assert minutes("02") == [40]
    assert minutes("03") == [30]
    assert minutes("17") == [45]


def test_three_hours_are_not_many_more_than_three():
    (short, *_) = syllabus.routes()
    assert short.name == "three hours"
    assert sum(short.sittings) == sum(minutes(n)[0] for n in short.numbers) <= 200


def test_the_page_of_the_course_has_the_table_of_the_paths_and_the_readme_three():
    page = checkout.root() / "notebooks" / "the_course.md"
    every = table(
        syllabus.routes(),
        linked,
        lambda one: f"{' + '.join(map(str, one.sittings))} = {sum(one.sittings)}",
    )
    assert every in page.read_text(encoding="utf-8")
    readme = (checkout.root() / "README.md").read_text(encoding="utf-8")
    assert three(sharing.site()) in readme
