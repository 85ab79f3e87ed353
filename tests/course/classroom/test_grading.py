"""A made-up class is graded: right, wrong, copied, hostile and unreadable notebooks."""

import csv
import json
import shutil

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from calibkit import __main__
from calibkit.course import check, checkout
from calibkit.course.check import running
from calibkit.course.classroom import forms, grading, reading, sandbox, slicing, unseen

LESSON = checkout.lessons("06")[0]
TASKS = {t.checker: t for t in reading.exercises(LESSON.name, reading.committed(LESSON))}
MATRIX, NLL = TASKS["noise_matrix"], TASKS["noisy_nll"]
IMPORTS = "import os\nimport torch\nfrom calibkit import check, curation"
RENAMED = MATRIX.solution.replace("my_noise_matrix", "anna") + "\ncheck.noise_matrix(anna)"
CALL = "\n\n\ncheck.noise_matrix(my_noise_matrix)"
WALLS = sandbox.bubblewrap()
ANSWERS = {
    "right": MATRIX.solution + CALL,
    "stub": MATRIX.stub,
    "wrong": "def my_noise_matrix(p):\n    return torch.diag(1 - p)" + CALL,
    "=cmd": "def my_noise_matrix(p):\n    raise ValueError('=1+1')",
    "does not parse": "def my_noise_matrix(p:\n    return p",
}


def write(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A folder of submissions; the second exercise is handed in by "right" alone."""
    folder = tmp_path_factory.mktemp("class")
    for name, answer in ANSWERS.items():
        other = NLL.solution if name == "right" else "other = 0"
        write(folder / f"{name}.ipynb", IMPORTS, answer, other)
    write(folder / "in a folder" / "06_label_noise.ipynb", IMPORTS, RENAMED)
    write(folder / ".ipynb_checkpoints" / "right-checkpoint.ipynb", IMPORTS)
    (folder / "junk.ipynb").write_bytes(b"\x00\xff{")
    (folder / "deep.ipynb").write_text("[" * 100_000, encoding="utf-8")
    (folder / "linked.ipynb").symlink_to(folder / "right.ipynb")
    return folder


class Here(sandbox.Answer):
    """The answer in this process, which is quick: its own process has tests of its own."""

    def __enter__(self):
        space = {}
        try:
            found = slicing.needed(self.order["cells"], self.order["function"])
            exec(compile(found, "<answer>", "exec"), space)
        except Exception as error:  # as its own process tells it
            raise sandbox._error(type(error).__name__, str(error)) from None
        return space[self.order["function"]]

    def __exit__(self, *_):
        pass


@pytest.fixture(scope="module")
def table(handed_in):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "Answer", Here)
        patch.setattr(sandbox, "bubblewrap", list)
        found = grading.grade(handed_in, seed=1)
    return found.set_index("student")


def test_right_wrong_and_hostile_in_processes_of_their_own(tmp_path, monkeypatch):
    """In the sandbox where there is one; else the hostile one only loops and prints."""
    monkeypatch.setattr(running, "SECONDS", 3.0)
    walls = sandbox.bubblewrap()
    ours = tmp_path / "precious.txt"
    ours.write_text("precious", encoding="utf-8")
    harm = f"os.remove({str(ours)!r})" if walls else "pass"
    hostile = f"""
def my_noise_matrix(p):
    try:
        {harm}
    except OSError:
        pass
    while True:
        print("x" * 10**6)
"""
    for name, answer in {"right": ANSWERS["right"], "wrong": ANSWERS["wrong"]}.items():
        write(tmp_path / "class" / f"{name}.ipynb", IMPORTS, answer)
    write(tmp_path / "class" / "hostile.ipynb", IMPORTS, hostile)
    graded = grading.grade(tmp_path / "class", trust=not walls).set_index("student")
    assert dict(graded.total) == {"hostile": 0, "right": 1, "wrong": 0}
    assert "had not ended" in graded.message["hostile"]
    assert ours.read_text(encoding="utf-8") == "precious"


def test_one_row_a_student_and_one_column_an_exercise(table):
    assert sorted(table.index) == sorted([*ANSWERS, "in a folder", "junk", "deep"])
    assert [*table.columns] == ["noisy_nll", "noise_matrix", "total", "message"]


SOLVED = {lesson.name: reading.committed(lesson) for lesson in checkout.lessons()}
ALL = [task for name in SOLVED for task in reading.exercises(name, SOLVED[name]) if task.checker]


def solved_by_a_student(names):
    """The student's form of these lessons with the key's solutions put in: cells by file name."""
    solved = {}
    for name in names:
        tasks = [task for task in ALL if task.lesson == name]
        handout = forms.without_answers(reading.committed(checkout.lessons(name)[0]))
        solved[f"{name}.ipynb"] = reading.filled(handout, tasks)
    return grading.Submission("anna", solved)


def test_the_keys_solutions_in_the_students_form_are_graded_right(monkeypatch):
    """All exercises, in this process; none takes the trainings of its lesson with it."""
    monkeypatch.setattr(sandbox, "Answer", Here)
    anna = solved_by_a_student(SOLVED)
    found = {task.checker: grading._graded(anna, task, 1, []) for task in ALL}
    assert len(found) == len(check.EXERCISES) >= 35
    assert {name: g.message for name, g in found.items() if g.points != 1} == {}
    sizes = [len(slicing.needed(*grading._cells(anna, task)).body) for task in ALL]
    assert max(sizes) <= 5


def test_a_lessons_solutions_are_graded_right_in_the_sandbox():
    """Lessons that begin with trainings, whose variables are called as an answer's arguments."""
    tasks = [task for task in ALL if task.lesson[:2] in ("08", "16")]
    anna = solved_by_a_student({task.lesson for task in tasks})
    walls = sandbox.bubblewrap() or []
    found = {task.checker: grading._graded(anna, task, 1, walls) for task in tasks}
    assert len(found) >= 3
    assert {name: g.message for name, g in found.items() if g.points != 1} == {}


def test_a_package_within_tmp_is_seen_in_the_sandbox(tmp_path, monkeypatch):
    copied = tmp_path / "calibkit"
    shutil.copytree(sandbox.PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sandbox, "PACKAGE", copied)
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: sandbox._walls() if WALLS else [])
    write(tmp_path / "class" / "anna.ipynb", IMPORTS, ANSWERS["right"])
    assert grading.grade(tmp_path / "class", exercises=["noise_matrix"]).total.tolist() == [1]


def test_nobody_is_graded_where_the_sandbox_does_not_work(handed_in, monkeypatch):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: ["false"])
    with pytest.raises(ValueError, match=r"nobody was graded.*does not start: its process ended"):
        grading.grade(handed_in)


def test_an_error_of_the_grader_is_no_zero(monkeypatch, tmp_path):
    def broken(*_):
        raise KeyError("a bug")

    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    monkeypatch.setattr(grading, "_rehearse", lambda *_: None)
    monkeypatch.setattr(unseen, "extended", broken)
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["right"])
    graded = grading.grade(tmp_path)
    assert (graded.noise_matrix[0], graded.total[0]) == ("?", 0)
    assert "an error of the grader: KeyError('a bug')" in graded.message[0]
    assert [*grading.summary(graded)] == [
        "anna: 0 of 1, 1 not graded: see the message in the table"
    ]


def test_exercises_that_were_not_set_have_no_column(handed_in, monkeypatch):
    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    graded = grading.grade(handed_in, exercises=["noisy_nll"]).set_index("student")
    assert [*graded.columns] == ["noisy_nll", "total", "message"]
    assert graded.total["right"] == 1
    with pytest.raises(ValueError, match=r"called noise; there are signed_gap, .*noise_matrix"):
        grading.grade(handed_in, exercises=["noise"])


def test_right_answers_get_their_points_and_all_others_none(table):
    right = {"right", "in a folder"}
    assert {name for name, points in table.noise_matrix.items() if points} == right
    assert table.total["right"] == 2
    assert table.total["wrong"] == 0


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("stub", "Not yet"),
        ("wrong", "the drawn labels are missing"),
        ("does not parse", "SyntaxError"),
        ("in a folder", "noisy_nll: not handed in"),
        ("junk", "no notebook that can be read"),
        ("deep", "no notebook that can be read"),
    ],
)
def test_the_message_says_why(table, student, said):
    assert said in table.message[student]


def test_the_csv_holds_no_formula(table, tmp_path):
    path = grading.write(table.reset_index(), tmp_path / "grades.csv")
    rows = [*csv.reader(path.open(encoding="utf-8-sig"))]
    assert rows[0] == ["student", *table.columns]
    assert len(rows) == 1 + len(table)
    assert not [cell for row in rows for cell in row if cell.startswith(grading.FORMULA)]
    assert any(row[0] == "'=cmd" for row in rows)


def test_the_last_notebook_by_name_counts(tmp_path):
    write(tmp_path / "anna" / "a.ipynb", ANSWERS["right"])
    write(tmp_path / "anna" / "b.ipynb", ANSWERS["wrong"])
    (anna,) = grading.submissions(tmp_path)
    cells, function = grading._cells(anna, MATRIX)
    assert (cells, function) == ([ANSWERS["wrong"]], "my_noise_matrix")


def test_a_second_download_comes_after_the_first(tmp_path):
    write(tmp_path / "anna" / "06_label_noise.ipynb", "first = 1" + CALL)
    write(tmp_path / "anna" / "06_label_noise (1).ipynb", "second = 2" + CALL)
    (anna,) = grading.submissions(tmp_path)
    assert "second = 2" in grading._cells(anna, MATRIX)[0][0]


def test_the_notebook_that_calls_the_checker_counts_before_one_that_names_the_function(tmp_path):
    write(tmp_path / "anna" / "06_label_noise.ipynb", MATRIX.solution + CALL)
    write(tmp_path / "anna" / "08_temperature.ipynb", "# as my_noise_matrix of 06")
    (anna,) = grading.submissions(tmp_path)
    assert grading._cells(anna, MATRIX)[0] == [MATRIX.solution + CALL]


def test_a_large_notebook_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "LARGEST", 100)
    (tmp_path / "anna.ipynb").write_text(
        json.dumps({"cells": [], "x": "x" * 200}), encoding="utf-8"
    )
    (anna,) = grading.submissions(tmp_path)
    assert "clear its outputs" in anna.troubles[0]


def test_without_a_sandbox_it_refuses_until_told_to_trust(handed_in, monkeypatch, capsys):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    assert __main__.main(["grade", str(handed_in)]) == 2
    assert "--trust" in capsys.readouterr().err


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"NAME\.ipynb"):
        grading.grade(tmp_path, trust=True)
    write(tmp_path / "anna.ipynb", "x = 1")
    with pytest.raises(ValueError, match="holds an exercise"):
        grading.grade(tmp_path, trust=True)


def test_the_command_writes_the_table(tmp_path, monkeypatch, capsys):
    graded = pd.DataFrame([{"student": "anna", "ece": 1, "total": 1, "message": "ece: Correct"}])
    monkeypatch.setattr(grading, "grade", lambda folder, only, exercises, trust: graded)
    out = tmp_path / "grades.csv"
    assert __main__.main(["grade", "class", "--out", str(out)]) == 0
    assert "anna: 1 of 1" in capsys.readouterr().out
    assert "ece: Correct" in out.read_text(encoding="utf-8-sig")


def test_the_students_form_handed_back_untouched_gets_nothing(tmp_path):
    (path,) = forms.student(tmp_path / "out", ["06"])
    cells, _ = grading._cells(grading.Submission("anna", {"a": grading.code(path)}), NLL)
    assert any(NLL.stub in cell for cell in cells)
