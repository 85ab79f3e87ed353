"""The student's, the teacher's and the grader's form of the course, each made once."""

import copy
import re

import nbformat
import pytest

from calibkit import __main__
from calibkit.course import check, checkout, execution, experiments, explorers, syllabus
from calibkit.course.classroom import contents, editions
from calibkit.course.experiments import photograph_runs
from tests.course.classroom.course import COMMITTED, EXERCISES, LESSONS, PROSE, QUESTIONS

each = pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class") / "student"
    editions.student(folder)
    return folder


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class") / "teacher"
    editions.teacher(folder)
    return folder


def read(folder, lesson):
    return nbformat.read(folder / f"{lesson.name}.ipynb", as_version=4)


def flat(text):
    return " ".join(text.split())


def test_reading_finds_every_exercise_and_question():
    checkers = [task.checker for tasks in EXERCISES.values() for task in tasks if task.checker]
    assert sorted(checkers) == sorted(check.EXERCISES)
    for name, tasks in EXERCISES.items():
        assert any(not task.checker for task in tasks)
        assert 3 <= len(QUESTIONS[name]) <= 8
        assert all(question.text and question.answer for question in QUESTIONS[name])
        assert len(tasks) == len(re.findall(r"^### Exercise", PROSE[name], re.MULTILINE))


@each
def test_a_student_finds_stubs_hints_questions_and_room_and_no_output_or_answer(lesson, student):
    notebook, whole = read(student, lesson), PROSE[lesson.name]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    text = contents.prose(notebook)
    titles = [*contents.folded(text)]
    assert not any(t in ("Solution", "Answer") or contents.QUESTION.match(t) for t in titles)
    assert not re.search(r"^## The answer\n+\*\*", text, re.MULTILINE)  # folded
    asked, tasks = QUESTIONS[lesson.name], EXERCISES[lesson.name]
    answers = [part.solution for part in tasks] + [question.answer for question in asked]
    further = contents.FOLDED.finditer(contents.section(whole, "Go further"))
    answers += [found["body"] for found in further if found["title"] == "Answer"]
    shown = flat(text)
    assert [answer for answer in answers if len(answer) > 30 and flat(answer) in shown] == []
    stubs = [task.stub for task in tasks if task.checker]
    assert {*stubs} <= {cell.source for cell in code}
    assert text.count("<summary>Hint</summary>") == len(stubs)
    assert all(question.text in shown for question in asked)
    rooms = len(asked) + whole.count("<summary>Answer</summary>")
    assert text.count(editions.OWN_WORDS.strip()) == rooms
    beside = re.findall(r"\]\(([\w./]+\.(?:ipynb|md|svg|png))\)", text)
    assert [target for target in beside if not (student / target).exists()] == []


def test_a_part_of_the_course_links_to_no_other_lesson(tmp_path):
    (path,) = editions.student(tmp_path / "part", only=["06"])
    text = contents.prose(nbformat.read(path, as_version=4))
    assert "Needs.** 02 Measuring calibration." in text
    assert "(your_numbers_differ.md)" in text
    assert ".ipynb)" not in text
    first = (path.parent / editions.START).read_text(encoding="utf-8")
    assert ".venv/bin/python -m jupyterlab part\n" in first.replace("`", "\n")
    assert ".venv/bin/jupyter execute part/06_label_noise.ipynb\n" in first.replace("`", "\n")
    assert "open `06_label_noise.ipynb` first" in first
    assert "Do not use *Run All*" in first
    guide = (checkout.root() / "notebooks" / "class_guide.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ +(\S+ -m .+)$", first, re.MULTILINE)
    assert len(commands) == 3
    assert all(f"\n    {command}\n" in guide for command in commands)
    for page in path.parent.glob("*.md"):
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        assert [link for link in links if not (path.parent / link).exists()] == [], page.name


def test_what_lessons_load_is_found_without_the_checkout(student, monkeypatch):
    tables = {path.stem for path in (checkout.root() / "notebooks" / "results").rglob("*.csv")}

    def outside():
        raise FileNotFoundError("this is no checkout")

    monkeypatch.setattr(execution, "root", outside)
    monkeypatch.chdir(student)
    source = "\n".join(c.source for lesson in LESSONS.values() for c in read(student, lesson).cells)
    for name in set(re.findall(r"explorers\.stored\(\"(\w+)\"\)", source)):
        assert explorers.stored(name).sliders
    loaded = set(re.findall(r"experiments\.on_photographs\(\"(\w+)\"", source))
    assert len(loaded & tables) >= 5
    for name in loaded & tables:
        assert len(experiments.on_photographs(name, "laptop"))
    assert len(experiments.stored("augmentation", "night", part="epochs"))
    assert len(experiments.on_text("sst2"))
    assert len(experiments.stored("captions", "laptop", part="temperatures"))
    assert photograph_runs.logits("cross-entropy", 0)  # which 10 reads; nothing reads the epochs
    assert not [*student.rglob("runs/*-epochs.csv")]


@each
def test_the_teacher_sees_notes_mistakes_and_open_answers(lesson, teacher):
    notebook = read(teacher, lesson)
    noted = [c.source for c in notebook.cells if "teacher" in c.metadata.get("tags", ())]
    said = editions.notes(lesson)
    assert sum("known mistakes" in source for source in noted) == sum(
        bool(task.checker) for task in EXERCISES[lesson.name]
    )
    assert [h for h in said if not any(f"**{h or 'Before the class'}**" in n for n in noted)] == []
    text = contents.prose(notebook)
    assert text.count("<details open><summary>Solution") == text.count("<summary>Solution")
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_the_known_mistakes_are_those_of_the_checker():
    told = editions.misconceptions("noise_matrix")
    hints = [mistake.hint for mistake in check.noise_matrix.mistakes]
    assert told.count("\n- ") == len(hints)
    assert all(hint[1:] in told for hint in hints)


@each
def test_the_notes_follow_the_lesson_and_nobody_else_sees_them(lesson, student):
    said, text = editions.notes(lesson), PROSE[lesson.name]
    assert said, f"notebooks/teaching/{lesson.name}.md is not written"
    sections = re.findall(r"^## (\d+\. .*)$", text, re.MULTILINE)
    assert [*said] == ["", *sections, "Three things to take away"]
    minutes = [int(re.search(r"\*\*(\d+) minutes?\.\*\*", words)[1]) for words in said.values()]
    entry = syllabus.entry(lesson.number)
    assert sum(minutes) == sum((*entry.minutes, *entry.home))
    asked = [flat(words).partition("**Ask.** ")[2][:50] for words in said.values()]
    others = [execution.read(lesson), read(student, lesson)]
    for other in (flat(text), *(flat(contents.prose(notebook)) for notebook in others)):
        assert "For the teacher" not in other
        assert not any(words and words in other for words in asked)
    assert not (student / editions.NOTES).exists()


def test_the_key_holds_executed_solutions_that_pass(tmp_path, capsys):
    assert __main__.main(["key", str(tmp_path / "key"), "--only", "00", "06"]) == 0
    said = capsys.readouterr().out
    assert said.count("Correct") == 3
    assert "06 noisy_nll: Correct" in said
    notebook = nbformat.read(tmp_path / "key" / "06_label_noise_key.ipynb", as_version=4)
    shown = [c.outputs[0].data["text/plain"] for c in notebook.cells if c.get("outputs")]
    assert [text.startswith("Correct") for text in shown] == [True, True]
    text = contents.prose(notebook)
    assert "you need some of them, perhaps 250" in text  # the exercise in words
    assert "About 0.2 * 9/10 = 18 %" in text  # recall
    assert "It is calibrated for these labels" in text  # go further


def test_a_wrong_solution_shows_in_the_key():
    notebook = copy.deepcopy(COMMITTED["06_label_noise"])
    for cell in notebook.cells:
        cell.source = cell.source.replace("return torch.diag(1 - p) +", "return")
    _, replies = editions.answered("06_label_noise", notebook)
    assert replies["noise_matrix"].startswith("Not quite")


@pytest.mark.parametrize("form", ["student", "teacher", "key"])
def test_no_folder_with_somebodys_work_is_written_into(form, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("work", encoding="utf-8")
    assert __main__.main([form, str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_evidence_is_given_to_a_class_on_demand_alone(student, teacher, tmp_path):
    *_, beside = editions.student(tmp_path / "with", ["03"], with_evidence=True)
    assert beside == tmp_path / "with" / "evidence" / "03_overconfidence.ipynb"
    assert any(cell.get("outputs") for cell in nbformat.read(beside, as_version=4).cells)
    assert not [folder for folder in (student, teacher) if (folder / "evidence").exists()]
    assert [*(tmp_path / "with").rglob("runs/*-epochs.csv")]
