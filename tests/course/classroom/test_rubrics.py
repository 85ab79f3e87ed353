"""Each exercise in words has a rubric, which says no number that its answer does not have."""

import csv
import re

import pytest

from calibkit import __main__
from calibkit.course.classroom import rubrics
from tests.course.classroom.course import EVERY

ASKED = {(task.lesson, task.title): task for task in EVERY if not task.checker}
RUBRICS = {(one.lesson, one.title): one for one in rubrics.every()}
NUMBER = re.compile(r"(?<![\w.])[.\d][\d,.]*(?<![.,])")


def test_each_exercise_in_words_has_one_rubric():
    assert RUBRICS.keys() == ASKED.keys()
    assert len(RUBRICS) == len(rubrics.every()) >= 19
    assert all(4 <= one.points <= 9 for one in RUBRICS.values())
    assert all(3 <= len(one.criteria) <= 9 for one in RUBRICS.values())


@pytest.mark.parametrize("key", RUBRICS, ids=lambda key: f"{key[0][:2]} {key[1]}")
def test_its_numbers_stand_in_the_exercise_or_its_answer(key):
    task = ASKED[key]
    known = {*NUMBER.findall(task.text), *NUMBER.findall(task.solution)}
    said = {n for row in RUBRICS[key].criteria for n in NUMBER.findall(row.full)}
    assert said <= known


def test_the_command_writes_a_table_with_a_column_for_each_student(tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nAnna\n=cmd\n", encoding="utf-8")
    words = ["rubric", str(tmp_path / "out"), "--only", "00", "08", "--roster", str(roster)]
    assert __main__.main(words) == 0
    with (tmp_path / "out" / "rubric.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = [*csv.reader(file)]
    assert rows[0] == [*rubrics.COLUMNS, "Anna", "'=cmd"]
    assert {row[0] for row in rows[1:]} == {"00_start_here", "08_temperature"}
    assert sum(float(row[3]) for row in rows[1:]) == 10
    assert "## 08_temperature: the hospital's plan (5 points)" in (
        tmp_path / "out" / "rubric.md"
    ).read_text(encoding="utf-8")
    assert __main__.main(["rubric", str(tmp_path / "all")]) == 0
    assert "given" in (tmp_path / "all" / "rubric.csv").read_text(encoding="utf-8-sig")


def test_no_cell_of_the_table_is_a_formula(tmp_path, monkeypatch):
    one = rubrics.Rubric("00_start_here", "=title", (rubrics.Criterion("+name", 1, "-words"),))
    monkeypatch.setattr(rubrics, "every", lambda only: [one])
    _, fill = rubrics.write(tmp_path)
    cells = [cell for row in csv.reader(fill.open(encoding="utf-8-sig")) for cell in row]
    assert {"'=title", "'+name", "'-words"} <= {*cells}
