"""A made-up class is graded: right, wrong, copied, hostile and unreadable notebooks."""

import csv
import json
import re
import shutil

import nbformat
import pandas as pd
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from calibkit import __main__
from calibkit.course import check, checkout
from calibkit.course.check import running
from calibkit.course.classroom import (
    contents,
    feedback,
    forms,
    grading,
    sandbox,
    slicing,
    submissions,
    unseen,
)

LESSON = checkout.lessons("06")[0]
TASKS = {t.checker: t for t in contents.exercises(LESSON.name, contents.committed(LESSON))}
MATRIX, NLL = TASKS["noise_matrix"], TASKS["noisy_nll"]
IMPORTS = "import os\nimport torch\nfrom calibkit import check, curation"
RENAMED = MATRIX.solution.replace("my_noise_matrix", "anna") + "\ncheck.noise_matrix(anna)"
CALL = "\n\n\ncheck.noise_matrix(my_noise_matrix)"
LAST = ["total", "warning", "seed", "fingerprint", "message"]
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


@pytest.fixture(scope="module")
def table(handed_in):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "Answer", Here)
        patch.setattr(sandbox, "bubblewrap", list)
        found = grading.grade(handed_in, seed=1).table()
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
    graded = grading.grade(tmp_path / "class", trust=not walls).table().set_index("student")
    assert dict(graded.total) == {"hostile": 0, "right": 1, "wrong": 0}
    assert "had not ended" in graded.message["hostile"]
    assert ours.read_text(encoding="utf-8") == "precious"


def test_one_row_a_student_and_one_column_an_exercise(table):
    assert sorted(table.index) == sorted([*ANSWERS, "in a folder", "junk", "deep"])
    shown = ["noisy_nll", "noisy_nll_unseen", "noise_matrix", "noise_matrix_unseen"]
    assert [*table.columns] == [*shown, *LAST]


SOLVED = {lesson.name: contents.committed(lesson) for lesson in checkout.lessons()}
ALL = [task for name in SOLVED for task in contents.exercises(name, SOLVED[name]) if task.checker]


def solved_by_a_student(names):
    """The student's form of these lessons with the key's solutions put in: cells by file name."""
    solved = {}
    for name in names:
        tasks = [task for task in ALL if task.lesson == name]
        handout = forms.without_answers(contents.committed(checkout.lessons(name)[0]))
        solved[f"{name}.ipynb"] = contents.filled(handout, tasks)
    return submissions.Submission("anna", solved)


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
    assert {name: g.attempts for name, g in found.items() if g.attempts} == {}  # nobody is accused


def test_a_package_within_tmp_is_seen_in_the_sandbox(tmp_path, monkeypatch):
    copied = tmp_path / "calibkit"
    shutil.copytree(sandbox.PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sandbox, "PACKAGE", copied)
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: sandbox._walls() if WALLS else [])
    write(tmp_path / "class" / "anna.ipynb", IMPORTS, ANSWERS["right"])
    assert grading.grade(tmp_path / "class", exercises=["noise_matrix"]).table().total.tolist() == [
        1
    ]


def test_nobody_is_graded_where_the_sandbox_does_not_work(handed_in, monkeypatch):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: ["false"])
    with pytest.raises(ValueError, match=r"nobody was graded.*does not start: its process ended"):
        grading.grade(handed_in)


def test_an_error_of_the_grader_is_no_zero(monkeypatch, tmp_path):
    class Broken:
        """Breaks on the student, after the course's own solution."""

        def __init__(self):
            self.asked = 0

        def __call__(self, *asked, **more):
            self.asked += 1
            if self.asked > 1:
                raise KeyError("a bug")
            return cases(*asked, **more)

    cases = unseen.cases
    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    monkeypatch.setattr(unseen, "cases", Broken())
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["right"])
    book = grading.grade(tmp_path)
    graded = book.table()
    assert (graded.noise_matrix[0], graded.total[0]) == ("?", 0)
    assert "an error of the grader: KeyError('a bug')" in graded.message[0]
    assert [*book.summary()] == [
        "anna: 0 of 1, 1 not graded: see the message in the table",
        f"the seed of this run: {book.seed}",
    ]


def test_exercises_that_were_not_set_have_no_column(handed_in, monkeypatch):
    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    book = grading.grade(handed_in, exercises=["noisy_nll"])
    graded = book.table().set_index("student")
    assert [*graded.columns] == ["noisy_nll", "noisy_nll_unseen", *LAST]
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
    (anna,) = submissions.read(tmp_path)
    cells, function = grading._cells(anna, MATRIX)
    assert (cells, function) == ([ANSWERS["wrong"]], "my_noise_matrix")


def test_a_second_download_comes_after_the_first(tmp_path):
    write(tmp_path / "anna" / "06_label_noise.ipynb", "first = 1" + CALL)
    write(tmp_path / "anna" / "06_label_noise (1).ipynb", "second = 2" + CALL)
    (anna,) = submissions.read(tmp_path)
    assert "second = 2" in grading._cells(anna, MATRIX)[0][0]


def test_the_notebook_that_calls_the_checker_counts_before_one_that_names_the_function(tmp_path):
    write(tmp_path / "anna" / "06_label_noise.ipynb", MATRIX.solution + CALL)
    write(tmp_path / "anna" / "08_temperature.ipynb", "# as my_noise_matrix of 06")
    (anna,) = submissions.read(tmp_path)
    assert grading._cells(anna, MATRIX)[0] == [MATRIX.solution + CALL]


def test_a_large_notebook_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(submissions, "LARGEST", 100)
    (tmp_path / "anna.ipynb").write_text(
        json.dumps({"cells": [], "x": "x" * 200}), encoding="utf-8"
    )
    (anna,) = submissions.read(tmp_path)
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


def marked(*grades, student="anna"):
    """A gradebook of one student."""
    given = {f"exercise_{place}": one for place, one in enumerate(grades)}
    titles = dict.fromkeys(given, "a title")
    return grading.Gradebook(5, titles, (grading.Marked(student, given),))


def test_the_command_writes_the_table_and_the_pages(tmp_path, monkeypatch, capsys):
    book = marked(grading.Grade(1, "Correct", 1.0))
    monkeypatch.setattr(grading, "grade", lambda *_, **__: book)
    out = tmp_path / "grades.csv"
    assert __main__.main(["grade", "class", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "anna: 1 of 1" in said
    assert "seed of this run: 5" in said
    assert "exercise_0: Correct" in out.read_text(encoding="utf-8-sig")
    assert (tmp_path / "grades_feedback" / "anna.html").exists()


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(sandbox, "Answer", Here)
    monkeypatch.setattr(sandbox, "bubblewrap", list)


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
    page = (tmp_path / "grades_feedback" / "anna.html").read_text(encoding="utf-8")
    first = pd.read_csv(out).set_index("student")
    seed = int(first.seed["anna"])
    mark = first.fingerprint["anna"]
    options = f"--exercises noise_matrix --seed {seed} --fingerprint {mark} --only anna"
    assert f"grade FOLDER {options}" in page
    capsys.readouterr()
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
    assert grading.grade(tmp_path, seed=2).table().fingerprint[0] == mark
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["right"])
    words = ["grade", str(tmp_path), "--seed", "1", "--fingerprint", mark, "--only", "anna"]
    assert __main__.main(words) == 0
    assert f"NOT the code that was graded, which has {mark}" in capsys.readouterr().out


def test_a_run_without_a_seed_draws_one_and_records_it(tmp_path, quick):
    write(tmp_path / "anna.ipynb", IMPORTS, ANSWERS["wrong"])
    seeds = {grading.grade(tmp_path).table().seed[0] for _ in range(3)}
    assert len(seeds) == 3
    assert max(seeds) < 10**9


def test_the_cases_depend_on_the_seed_alone():
    one, same, other = (unseen.cases(check.EXERCISES["noisy_nll"], seed) for seed in (3, 3, 4))
    for name, case in one.items():
        assert all(map(torch.equal, case, same[name]))
        assert not all(map(torch.equal, case, other[name]))


def test_the_share_of_unseen_cases_stands_beside_the_point(table):
    assert table.noise_matrix_unseen["right"] == 1
    assert table.noise_matrix_unseen["wrong"] == 0
    assert pd.isna(table.noisy_nll_unseen["in a folder"])  # not handed in
    assert set(table.seed) == {1}


def test_a_partly_right_answer_has_a_share_and_its_smallest_failing_case():
    exercise = check.EXERCISES["noise_matrix"]
    others = [case for (case,) in unseen.cases(exercise, 7).values()][1:]

    def answer(p):
        right = exercise.reference(p)
        return right + 0.25 if any(torch.equal(p, one) for one in others) else right

    found = grading.examine(exercise, 7, answer)
    assert (found.right, found.unseen) == (1, 3)
    assert not found.reply.passed
    case = eval(found.smallest.call.removeprefix("noise_matrix"), {"torch": torch})
    smallest = min(others, key=len)
    assert len(case) == len(smallest)
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
    path = roster_of(tmp_path, "id;student\n1;Anna\n2;Ben\n3; Carl  U\u0308\n")
    book = grading.grade(folder, roster=path)
    table = book.table().set_index("student")
    assert dict(table.total) == {"Anna": 1, "Ben": 0, "Carl U\u0308": 0, "stranger": 1}
    assert "nothing was handed in" in table.message["Ben"]
    assert "not on the roster" in table.message["stranger"]
    assert "not on the roster: stranger" in [*book.summary()]
    again = grading.grade(folder, roster=path, students=["Anna"], seed=book.seed).table()
    assert [*again.student] == ["Anna"]


def test_two_submissions_of_one_student_are_taken_together(tmp_path, quick):
    folder = tmp_path / "class"
    write(folder / "Anna_1_assignsubmission_file_" / "a.ipynb", IMPORTS, ANSWERS["right"])
    write(folder / "anna" / "b.ipynb", IMPORTS, NLL.solution + "\ncheck.noisy_nll(my_noisy_nll)")
    table = grading.grade(folder, roster=roster_of(tmp_path, "student\nAnna\n")).table()
    assert table.total.tolist() == [2]
    assert "taken together" in table.message[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [("student\n", "names nobody"), ("student\nAnna\nanna\n", "twice"), ("", "names nobody")],
)
def test_a_roster_that_is_none_is_refused(tmp_path, quick, text, words):
    write(tmp_path / "class" / "anna.ipynb", IMPORTS, ANSWERS["right"])
    with pytest.raises(ValueError, match=words):
        grading.grade(tmp_path / "class", roster=roster_of(tmp_path, text))
    with pytest.raises(ValueError, match="cannot be read"):
        grading.grade(tmp_path / "class", roster=tmp_path / "none.csv")


def test_moodles_list_names_students_by_first_and_last_name(tmp_path):
    text = "First name,Last name,Email address\nAnna,Muster,a@example.org\n,,\n"
    assert submissions.roster(roster_of(tmp_path, text)) == ["Anna Muster"]
    assert submissions.roster(roster_of(tmp_path, "name,group\nBen,2\n")) == ["Ben"]


def test_only_names_lessons_and_students_and_asks_where_both_are_meant(tmp_path):
    write(tmp_path / "anna.ipynb", "x = 1")
    write(tmp_path / "06.ipynb", "x = 1")
    assert grading.named(["anna", "08"], tmp_path) == (["08"], ["anna"])
    assert grading.named(["student:06", "lesson:06"], tmp_path) == (["06"], ["06"])
    with pytest.raises(ValueError, match="lesson:06 or student:06"):
        grading.named(["06"], tmp_path)
    with pytest.raises(ValueError, match=r"nothing is there of bert; there are 06, anna"):
        submissions.of(["bert"], submissions.read(tmp_path))


SWALLOWED = """
def my_noise_matrix(p):
    for harm in (os.remove, os.rmdir, lambda path: open(path, "w")):
        try:
            harm({path!r})
        except OSError:
            pass
    return torch.diag(1 - p) + p[:, None] * p / p.sum()
"""


def test_who_tries_to_delete_and_hides_it_is_right_and_warned_of(tmp_path):
    """Behind walls where there are some; else on a folder that cannot be there."""
    ours = tmp_path / "precious.txt"
    ours.write_text("precious", encoding="utf-8")
    path = str(ours) if WALLS else "/nowhere/precious.txt"
    write(tmp_path / "class" / "anna.ipynb", IMPORTS, SWALLOWED.format(path=path) + CALL)
    write(tmp_path / "class" / "ben.ipynb", IMPORTS, ANSWERS["right"])
    out = tmp_path / "grades.csv"
    trust = [] if WALLS else ["--trust"]
    assert __main__.main(["grade", str(tmp_path / "class"), "--out", str(out), *trust]) == 0
    table = pd.read_csv(out, keep_default_na=False).set_index("student")
    assert dict(table.total) == {"anna": 1, "ben": 1}
    assert table.warning["ben"] == ""
    assert table.warning["anna"].startswith("The code of noise_matrix tried to delete ")
    for words in (f"delete {path}", f"to write {path}"):
        assert words in table.warning["anna"]
    assert ("nothing was harmed" in table.warning["anna"]) == bool(WALLS)
    pages = tmp_path / "grades_feedback"
    assert "Warning." in (pages / "anna.html").read_text(encoding="utf-8")
    assert "Warning." not in (pages / "ben.html").read_text(encoding="utf-8")
    assert ours.read_text(encoding="utf-8") == "precious"


def test_a_page_of_feedback_runs_and_hides_nothing(tmp_path):
    words = "<script>alert(1)</script>\x1b[31m"
    failing = grading.Failing("a case", "ece(<b>)", "1", words)
    book = marked(grading.Grade(0, words, 1 / 3, failing), student="a/<b>:?")
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


def test_the_students_form_handed_back_untouched_gets_nothing(tmp_path):
    (path,) = forms.student(tmp_path / "out", ["06"])
    cells, _ = grading._cells(submissions.Submission("anna", {"a": submissions.code(path)}), NLL)
    assert any(NLL.stub in cell for cell in cells)
