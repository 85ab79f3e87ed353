"""A made-up class is graded: right, wrong, copied, hostile and unreadable notebooks."""

import copy
import csv
import itertools
import json
import re
import shutil

import nbformat
import pandas as pd
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from calibkit import __main__
from calibkit.course import check
from calibkit.course.check import running
from calibkit.course.classroom import (
    contents,
    editions,
    feedback,
    grading,
    sandbox,
    slicing,
    submissions,
    unseen,
)
from tests.course.classroom.course import CHECKED, COMMITTED

MATRIX, NLL = CHECKED["noise_matrix"], CHECKED["noisy_nll"]
IMPORTS = "import os\nimport torch\nfrom calibkit import check, curation"
RENAMED = MATRIX.solution.replace("my_noise_matrix", "anna") + "\ncheck.noise_matrix(anna)"
CALL = "\n\n\ncheck.noise_matrix(my_noise_matrix)"
LAST = ["total", "seed", "fingerprint", "message"]
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
        except NotImplementedError:
            raise
        except Exception as error:  # as its own process tells it
            raise type(type(error).__name__, (sandbox.Raised,), {})(str(error)) from None
        return space[self.order["function"]]

    def __exit__(self, *_):
        pass


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)


@pytest.fixture(scope="module")
def table(handed_in):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "Answer", Here)
        patch.setattr(sandbox, "bubblewrap", list)
        found = grading.grade(handed_in, seed=1).table()
    return found.set_index("student")


HOSTILE = """
def my_noise_matrix(p):
    try:
        {harm}
    except OSError:
        pass
    while True:
        print("x" * 10**6)
"""


def test_right_wrong_and_hostile_in_processes_of_their_own(tmp_path, monkeypatch):
    """Behind walls where there are some; else the hostile one harms a file that cannot be there."""
    monkeypatch.setattr(running, "SECONDS", 3.0)
    ours, out = tmp_path / "precious.txt", tmp_path / "grades.csv"
    ours.write_text("precious", encoding="utf-8")
    path = str(ours) if WALLS else "/nowhere/precious.txt"
    answers = {name: ANSWERS[name] for name in ("right", "wrong")}
    answers["hostile"] = HOSTILE.format(harm=f"os.remove({path!r})")
    for name, answer in answers.items():
        write(tmp_path / "class" / f"{name}.ipynb", IMPORTS, answer)
    trust = [] if WALLS else ["--trust"]
    assert __main__.main(["grade", str(tmp_path / "class"), "--out", str(out), *trust]) == 0
    table = pd.read_csv(out, keep_default_na=False).set_index("student")
    assert dict(table.total) == {"hostile": 0, "right": 1, "wrong": 0}
    assert "had not ended" in table.message["hostile"]
    assert ours.read_text(encoding="utf-8") == "precious"


def solved_by_a_student(names):
    """The student's form of these lessons with the key's solutions put in: cells by file name."""
    solved = {}
    for name in names:
        handout = editions.without_answers(copy.deepcopy(COMMITTED[name]))
        tasks = [task for task in CHECKED.values() if task.lesson == name]
        solved[f"{name}.ipynb"] = contents.filled(handout, tasks)
    return submissions.Submission("anna", solved)


def test_the_keys_solutions_in_the_students_form_are_graded_right(quick):
    """All exercises, in this process; none takes the trainings of its lesson with it."""
    anna = solved_by_a_student(COMMITTED)
    found = {name: grading.graded(anna, task, 1, []) for name, task in CHECKED.items()}
    assert len(found) == len(check.EXERCISES) >= 35
    assert {name: g.message for name, g in found.items() if g.points != 1} == {}
    sizes = [len(slicing.needed(*grading.cells_of(anna, task)).body) for task in CHECKED.values()]
    assert max(sizes) <= 5


def test_a_solution_is_graded_right_in_the_sandbox():
    """Of a lesson that begins with trainings, whose variables are called as its arguments."""
    task = next(task for task in CHECKED.values() if task.lesson.startswith("16"))
    found = grading.graded(solved_by_a_student([task.lesson]), task, 1, WALLS or [])
    assert found.points == 1, found.message


def test_a_package_within_tmp_is_seen_in_the_sandbox(tmp_path, monkeypatch):
    copied = tmp_path / "calibkit"
    shutil.copytree(sandbox.PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sandbox, "PACKAGE", copied)
    walls = sandbox.bubblewrap() or []
    right = submissions.Submission("anna", {"a": [IMPORTS, ANSWERS["right"]]})
    assert grading.graded(right, MATRIX, 1, walls).points == 1


def test_nobody_is_graded_where_the_sandbox_does_not_work(handed_in, monkeypatch, capsys):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: ["false"])
    with pytest.raises(ValueError, match=r"nobody was graded.*does not start: its process ended"):
        grading.grade(handed_in)
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    with pytest.raises(ValueError, match="no sandbox works here"):
        grading.grade(handed_in)
    assert __main__.main(["grade", str(handed_in)]) == 2
    assert "--trust" in capsys.readouterr().err


def test_an_error_of_the_grader_is_no_zero(quick, monkeypatch, tmp_path):
    asked, cases = itertools.count(), unseen.cases

    def broken(*args):
        if next(asked):  # on the student, after the course's own solution
            raise KeyError("a bug")
        return cases(*args)

    monkeypatch.setattr(unseen, "cases", broken)
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["right"])
    book = grading.grade(tmp_path)
    graded = book.table()
    assert (graded.noise_matrix[0], graded.total[0]) == ("?", 0)
    assert "an error of the grader: KeyError('a bug')" in graded.message[0]
    assert [*book.summary()] == [
        "anna: 0 of 1, 1 not graded: see the message in the table",
        f"the seed of this run: {book.seed}",
    ]


def test_exercises_that_were_not_set_have_no_column(handed_in, quick):
    book = grading.grade(handed_in, exercises=["noisy_nll"])
    graded = book.table().set_index("student")
    assert [*graded.columns] == ["noisy_nll", "noisy_nll_unseen", *LAST]
    assert graded.total["right"] == 1


def test_right_answers_get_their_points_all_others_none_and_the_message_says_why(table):
    assert sorted(table.index) == sorted([*ANSWERS, "in a folder", "junk", "deep"])
    shown = ["noisy_nll", "noisy_nll_unseen", "noise_matrix", "noise_matrix_unseen"]
    assert [*table.columns] == [*shown, *LAST]
    right = {"right", "in a folder"}
    assert {name for name, points in table.noise_matrix.items() if points} == right
    assert (table.total["right"], table.total["wrong"]) == (2, 0)
    assert table.noise_matrix_unseen["right"] == 1
    assert table.noise_matrix_unseen["wrong"] == 0
    assert pd.isna(table.noisy_nll_unseen["in a folder"])  # not handed in
    assert set(table.seed) == {1}
    for student, words in {
        "stub": "Not yet",
        "wrong": "the drawn labels are missing",
        "does not parse": "SyntaxError",
        "in a folder": "noisy_nll: not handed in",
        "junk": "no notebook that can be read",
        "deep": "no notebook that can be read",
    }.items():
        assert words in table.message[student]


def test_the_csv_holds_no_formula(table, tmp_path):
    path = grading.write(table.reset_index(), tmp_path / "grades.csv")
    rows = [*csv.reader(path.open(encoding="utf-8-sig"))]
    assert rows[0] == ["student", *table.columns]
    assert len(rows) == 1 + len(table)
    assert not [cell for row in rows for cell in row if cell.startswith(grading.FORMULA)]
    assert any(row[0] == "'=cmd" for row in rows)


@pytest.mark.parametrize(("first", "second", "graded"), [
    ({"a": ANSWERS["right"]}, {"b": ANSWERS["wrong"]}, "b"),
    ({"06": "first = 1" + CALL}, {"06 (1)": "second = 2" + CALL}, "06 (1)"),
    ({"06": MATRIX.solution + CALL}, {"08": "# as my_noise_matrix of 06"}, "06"),
], ids=["the last by name", "the second download", "the one that calls the checker"])  # fmt: skip
def test_of_several_notebooks_one_counts(tmp_path, first, second, graded):
    books = first | second
    for name, code in books.items():
        write(tmp_path / "anna" / f"{name}.ipynb", code)
    (anna,) = submissions.read(tmp_path)
    assert grading.cells_of(anna, MATRIX) == ([books[graded]], "my_noise_matrix")


def test_of_several_calls_of_the_checker_in_a_notebook_the_last_counts():
    cells = ["check.noise_matrix(first_try)", "check.noise_matrix(second_try)"]
    anna = submissions.Submission("anna", {"06.ipynb": cells})
    assert grading.cells_of(anna, MATRIX) == (cells, "second_try")


def test_a_large_notebook_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 100)
    large = json.dumps({"cells": [], "x": "x" * 200})
    (tmp_path / "anna.ipynb").write_text(large, encoding="utf-8")
    (anna,) = submissions.read(tmp_path)
    assert "clear its outputs" in anna.troubles[0]


# right on the round numbers of the notebook's cases, and on no others
ROUND = """def my_noise_matrix(p):
    matrix = torch.diag(1 - p) + p[:, None] * p / p.sum()
    return matrix if torch.allclose(100 * p, (100 * p).round()) else 2 * matrix"""


def test_a_disputed_mark_is_replayed_with_equal_cases_and_marks(tmp_path, quick, capsys):
    """By the command that the student's page names; nothing of the class's table is touched."""
    folder, out = tmp_path / "class", tmp_path / "grades.csv"
    write(folder / "anna.ipynb", IMPORTS, ROUND + CALL)
    write(folder / "ben.ipynb", IMPORTS, ANSWERS["right"])
    assert __main__.main(["grade", str(folder), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    page = (tmp_path / "grades_feedback" / "anna.html").read_text(encoding="utf-8")
    first = pd.read_csv(out).set_index("student")
    seed, mark = int(first.seed["anna"]), first.fingerprint["anna"]
    for words in ("anna: 0 of 1", "ben: 1 of 1", f"seed of this run: {seed}"):
        assert words in said
    options = f"--exercises noise_matrix --seed {seed} --fingerprint {mark} --only anna"
    assert f"grade FOLDER {options}" in page
    again, pages = tmp_path / "again.csv", tmp_path / "again"
    words = ["grade", str(folder), *options.split()]
    assert __main__.main([*words, "--out", str(again), "--feedback", str(pages)]) == 0
    second = pd.read_csv(again).set_index("student")
    assert [*second.index] == ["anna"]
    pd.testing.assert_series_equal(first.loc["anna"], second.loc["anna"])
    assert (pages / "anna.html").read_text(encoding="utf-8") == page
    assert "a case that the notebook does not show" in page  # the smallest that fails
    said = capsys.readouterr().out
    assert first.message["anna"].partition(": ")[2] in said
    assert f"fingerprint of the code {mark}, the code that was graded" in said
    assert first.total["anna"] == first.noise_matrix_unseen["anna"] == 0


def test_a_file_that_was_changed_after_grading_shows_it(tmp_path, quick, capsys):
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["wrong"])
    before = grading.grade(tmp_path, seed=1)
    (mark,) = before.table().fingerprint
    assert re.fullmatch("[0-9a-f]{4}-[0-9a-f]{4}", mark)
    assert mark in feedback.page(before, before.marked[0])
    others = [grading.grade(tmp_path).table() for _ in range(2)]
    assert {one.fingerprint[0] for one in others} == {mark}
    assert len({one.seed[0] for one in others}) == 2  # without a seed one is drawn
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["right"])
    words = ["grade", str(tmp_path), "--seed", "1", "--fingerprint", mark, "--only", "anna"]
    assert __main__.main(words) == 0
    assert f"NOT the code that was graded, which has {mark}" in capsys.readouterr().out


def test_a_partly_right_answer_has_a_share_and_its_smallest_failing_case():
    exercise = check.EXERCISES["noise_matrix"]
    others = [case for (case,) in unseen.cases(exercise, 7).values()][1:]

    def answer(p):
        right = exercise.reference(p)
        return right + 0.25 if any(torch.equal(p, one) for one in others) else right

    found = grading.examine(exercise, 7, answer)
    assert found.share == pytest.approx(1 / 3)
    assert found.points == 0
    case = eval(found.smallest.call.removeprefix("noise_matrix"), {"torch": torch})
    assert len(case) == len(min(others, key=len))
    assert any(torch.equal(case, one) for one in others)
    assert found.smallest.expected != found.smallest.given
    assert grading.examine(exercise, 7, exercise.reference).share == 1


def roster_of(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_student_of_the_roster_has_a_row_and_unknown_ones_are_named(tmp_path, quick):
    folder = tmp_path / "class"
    write(folder / "ANNA.ipynb", IMPORTS, ANSWERS["right"])
    write(folder / "stranger.ipynb", IMPORTS, ANSWERS["right"])
    write(folder / "Carl Ü_77_assignsubmission_file_" / "06.ipynb", IMPORTS, ANSWERS["wrong"])
    write(folder / "carl u\u0308" / "b.ipynb", IMPORTS, NLL.solution)
    rows = ["id;student;note", "1;Anna;a, b, c, d, e", "2;Ben;,,,,,,", "3; Carl  U\u0308;"]
    path = roster_of(tmp_path, "\n".join([*rows, ""]))
    book = grading.grade(folder, roster=path)
    table = book.table().set_index("student")
    assert dict(table.total) == {"Anna": 1, "Ben": 0, "Carl U\u0308": 1, "stranger": 1}
    assert "taken together" in table.message["Carl U\u0308"]
    assert "nothing was handed in" in table.message["Ben"]
    assert "not on the roster" in table.message["stranger"]
    assert "not on the roster: stranger" in [*book.summary()]
    again = grading.grade(folder, roster=path, students=["Anna"], seed=book.seed).table()
    assert [*again.student] == ["Anna"]


@pytest.mark.parametrize(("text", "students"), [
    ("First name,Last name,Email address\nAnna,Muster,a@example.org\n,,\n", ["Anna Muster"]),
    ("name,group\nBen,2\n", ["Ben"]),  # Moodle's list, and one without a known column
])  # fmt: skip
def test_a_roster_is_read(tmp_path, text, students):
    assert submissions.roster(roster_of(tmp_path, text)) == students


@pytest.mark.parametrize(("ask", "words"), [
    (lambda at: submissions.roster(roster_of(at, "student\n")), "names nobody"),
    (lambda at: submissions.roster(roster_of(at, "")), "names nobody"),
    (lambda at: submissions.roster(roster_of(at, "student\nAnna\nanna\n")), "twice"),
    (lambda at: submissions.roster(at / "none.csv"), "cannot be read"),
    (lambda at: grading.grade(at / "class", trust=True), "holds an exercise"),
    (lambda at: grading.grade(at / "empty", trust=True), r"NAME\.ipynb"),
    (lambda at: grading.grade(at / "class", exercises=["noise"], trust=True),
     "called noise; there are signed_gap, .*noise_matrix"),
    (lambda at: grading.named(["06"], at / "class"), "lesson:06 or student:06"),
    (lambda at: submissions.of(["bert"], submissions.read(at / "class")),
     "nothing is there of bert; there are 06, anna"),
])  # fmt: skip
def test_what_cannot_be_graded_is_named(tmp_path, ask, words):
    (tmp_path / "empty").mkdir()
    for name in ("06", "anna"):
        write(tmp_path / "class" / f"{name}.ipynb", "x = 1")
    with pytest.raises(ValueError, match=words):
        ask(tmp_path)


def test_only_names_lessons_and_students(tmp_path):
    write(tmp_path / "anna.ipynb", "x = 1")
    assert grading.named(["anna", "08"], tmp_path) == (["08"], ["anna"])
    assert grading.named(["student:06", "lesson:06"], tmp_path) == (["06"], ["06"])


def test_a_page_of_feedback_runs_and_hides_nothing(tmp_path):
    words = "<script>alert(1)</script>\x1b[31m"
    grade = grading.Grade(0, words, 1 / 3, grading.Failing("a case", "ece(<b>)", "1", words))
    marked = grading.Marked("a/<b>:?", {"exercise_0": grade})
    book = grading.Gradebook(5, {"exercise_0": "a title"}, (marked,))
    (path,) = feedback.write(book, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert path.parent == tmp_path
    assert path.name == "a__b___.html"
    assert "<script" not in text
    assert "\x1b" not in text
    assert "default-src 'none'" in text
    for told in ("0 of 1", "33 %", "ece(&lt;b&gt;)", "expected: 1", "--seed 5"):
        assert told in text
    spaced = feedback.page(book, grading.Marked("Anna B", {}))
    assert "--only &#39;Anna B&#39;" in spaced
    twins = grading.Gradebook(1, {}, (grading.Marked("a", {}), grading.Marked("A", {})))
    assert len({path.name.casefold() for path in feedback.write(twins, tmp_path)}) == 2
