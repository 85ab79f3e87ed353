"""The lecturer's guide says what is there: commands, files, minutes, names of exercises."""

import re
import shlex
from pathlib import Path

import nbformat
import pytest

import calibkit
from calibkit import __main__
from calibkit.course import checkout
from calibkit.course.classroom import grading, reading, sandbox

HOME = checkout.root() / "notebooks"
GUIDE = (HOME / "class_guide.md").read_text(encoding="utf-8")
COURSE = (checkout.root() / "notebooks" / "the_course.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]
LESSONS = {lesson.name[:2]: lesson for lesson in checkout.lessons()}


def test_its_commands_work_as_they_stand(tmp_path, monkeypatch, capsys):
    """All but the last, which grades what the class handed in, and the kernels it needs."""
    monkeypatch.chdir(tmp_path)
    *writing, last = (shlex.split(line) for line in COMMANDS)
    for words in (*writing, last):
        assert words[:3] == ["python", "-m", "calibkit"]
    for words in writing:
        assert __main__.main([*words[3:], "--only", "00"]) == 0
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"handout", "my_copy", "key", "paper", "quiz"}
    assert (tmp_path / "quiz" / "quiz.gift").exists()
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    monkeypatch.setattr(grading, "_graded", lambda *_: grading.Grade(1, "Correct"))
    (tmp_path / "submissions").mkdir()
    handed_in = tmp_path / "handout" / "00_start_here.ipynb"
    nbformat.write(nbformat.read(handed_in, 4), tmp_path / "submissions" / "anna.ipynb")
    assert __main__.main(last[3:]) == 0
    assert "anna" in (tmp_path / "grades.csv").read_text(encoding="utf-8-sig")


def test_commands_within_the_text_are_understood():
    for line in re.findall(r"`(?:python -m )?calibkit (\w[^`]*)`", GUIDE.replace("\n", " ")):
        __main__._parser().parse_known_args(shlex.split(line))


def minutes(number):
    """The minutes of each sitting, as the lesson states them."""
    text = reading.prose(reading.committed(LESSONS[number]))
    time = re.search(r"\*\*Time\.\*\*.*?(?=\*\*Needs)", text, re.DOTALL)[0]
    return " + ".join(re.findall(r"(\d+) (?:minutes|more)\b", time))


def test_the_minutes_are_those_of_the_lessons():
    guide = re.findall(r"\[(\d\d)\]\([\w.]+\) \((\d+(?: \+ \d+)*)\)", GUIDE)
    listed = re.findall(r"^\| \[(\d\d) .* \| (\d+(?: \+ \d+)*) \|$", COURSE, re.MULTILINE)
    assert len(guide) > 8
    assert len(listed) == len(LESSONS)
    for number, sittings in guide + listed:
        assert sittings == minutes(number), number


def test_the_ninety_minutes_are_ninety():
    table = GUIDE.split("## 90 minutes")[1].split("##")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))) == 90


def test_the_questions_of_its_quiz_exist():
    row = re.search(r"^\| \d+ \| quiz \|.*$", GUIDE, re.MULTILINE)[0]
    named = re.findall(r"((?:\d, )*\d) of (\d\d)", row)
    assert [number for _, number in named] == ["00", "08"]
    asked = {one: reading.questions(one, reading.committed(LESSONS[one])) for _, one in named}
    assert all(int(q) <= len(asked[one]) for numbers, one in named for q in numbers.split(", "))
    assert sum(len(numbers.split(", ")) for numbers, _ in named) == 5


def test_exercises_and_pages_that_it_names_exist():
    titles = {
        task.title
        for lesson in LESSONS.values()
        for task in reading.exercises(lesson.name, reading.committed(lesson))
    }
    plan = GUIDE.split("## 90 minutes")[1].split("## What to watch for")[0]
    named = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", plan)) - {"Predict before you run"}
    assert len(named) > 8
    assert named <= titles
    for target in re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", GUIDE):
        assert (HOME / target).exists(), target
    assert f"calibkit-{calibkit.__version__}-py3" in GUIDE


@pytest.mark.parametrize("page", ["../README.md"])
def test_it_is_linked(page):
    assert "notebooks/class_guide.md" in Path(HOME / page).read_text(encoding="utf-8")
