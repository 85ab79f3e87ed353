"""The lecturer's guide says what is there: commands, files, minutes, names of exercises."""

import re
import shlex

import nbformat

from calibkit import __main__
from calibkit.course import checkout
from calibkit.course.classroom import grading, sandbox

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
