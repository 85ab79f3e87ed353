"""The lecturer's guide says what is there: commands, files, minutes, names of exercises."""

import re
import shlex

import nbformat

from calibkit import __main__
from calibkit.course import checkout
from calibkit.course.classroom import grading, kits, sandbox
from tests.course.classroom.course import EVERY

HOME = checkout.root() / "notebooks"
GUIDE = (HOME / "class_guide.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.replace("\\\n", " ").splitlines()]


def test_its_commands_work_as_they_stand(tmp_path, monkeypatch, capsys):
    """All those that write, then the two that grade what the class handed in."""
    monkeypatch.chdir(tmp_path)
    words = [shlex.split(line) for line in COMMANDS]
    assert all(one[:3] == ["python", "-m", "calibkit"] for one in words)
    *writing, grade, replay = (one[3:] for one in words)
    alone = {"kit", "own-diagram"}  # commands that need no choice of lessons to be quick
    assert alone < {one[0] for one in writing}
    for one in writing:
        assert __main__.main(one if one[0] in alone else [*one, "--only", "00"]) == 0
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"kit", "own.html", "handout", "my_copy", "key", "paper", "quiz", "rubric"}
    assert (tmp_path / "quiz" / "quiz.gift").exists()
    monkeypatch.setattr(sandbox, "bubblewrap", list)
    monkeypatch.setattr(grading, "graded", lambda *_: grading.Grade(1, "Correct"))
    (tmp_path / "submissions").mkdir()
    (tmp_path / "class.csv").write_text("student\nAnna\nBen\n", encoding="utf-8")
    handed_in = tmp_path / "handout" / "00_start_here.ipynb"
    nbformat.write(nbformat.read(handed_in, 4), tmp_path / "submissions" / "anna.ipynb")
    assert __main__.main(grade) == 0
    table = (tmp_path / "grades.csv").read_text(encoding="utf-8-sig")
    assert "Anna" in table
    assert "Ben" in table
    assert (tmp_path / "grades_feedback" / "Anna.html").exists()
    capsys.readouterr()
    assert __main__.main(replay) == 0
    assert "seed of this run: 1234" in capsys.readouterr().out
    assert (tmp_path / "grades.csv").read_text(encoding="utf-8-sig") == table


def test_commands_within_the_text_are_understood():
    for line in re.findall(r"`(?:python -m )?calibkit (\w[^`]*)`", GUIDE.replace("\n", " ")):
        __main__._parser().parse_known_args(shlex.split(line))


def test_the_kits_of_its_table_are_those_that_there_are():
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", GUIDE, re.MULTILINE)
    assert sorted(name for name, _ in rows) == kits.names()
    for name, lessons in rows:
        source = (HOME / "teaching" / "kits" / f"{name}.md").read_text(encoding="utf-8")
        numbers = re.search(r"^Lessons: (.+)$", source, re.MULTILINE)[1].split()
        assert re.findall(r"\[(\d\d)\]", lessons) == numbers


def test_exercises_and_pages_that_it_names_exist():
    titles = {task.title for task in EVERY}
    plan = GUIDE.split("## Six weeks")[1].split("## Before and after")[0]
    named = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", plan))
    assert len(named) >= 7
    assert named <= titles
    for target in re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", GUIDE):
        assert (HOME / target).exists(), target
    (parts,) = re.findall(r"course\.zip HEAD ([^`]+)`", GUIDE)
    assert all((HOME.parent / part).exists() for part in parts.split())


def test_it_is_linked():
    readme = (HOME.parent / "README.md").read_text(encoding="utf-8")
    assert "notebooks/class_guide.md" in readme
