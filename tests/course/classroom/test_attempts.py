"""What an answer tries to do to files is told, and what libraries do by themselves is not."""

import textwrap

import pytest

from calibkit.course.classroom import sandbox

WALLS = sandbox.bubblewrap()


def tried(body, walls=WALLS or []):
    """What is told of a function with this body, called once."""
    code = "import os, pathlib, shutil, subprocess, tempfile\nimport torch\ndef f(p):\n"
    code += textwrap.indent(textwrap.dedent(body), "    ")
    with sandbox.Answer([code], "f", walls=walls) as answer:
        answer(1.0)
    return answer.attempts


def test_attempts_on_files_and_programs_are_told():
    told = tried(
        """
        def harm(): return [
            lambda: os.remove("/nowhere/a"), lambda: pathlib.Path("/nowhere/b").unlink(),
            lambda: shutil.rmtree("/nowhere"), lambda: os.rename("/nowhere/c", "/nowhere/d"),
            lambda: open("/nowhere/e", "a"), lambda: os.open("/nowhere/f", os.O_CREAT),
            lambda: os.remove("other_student.ipynb"), lambda: os.remove(b"/nowhere/\\xff"),
            lambda: os.system("/nowhere/program"), lambda: subprocess.run(["/nowhere/other"]),
            lambda: os.remove("../up"), lambda: os.chmod("/nowhere/g", 0),
        ]
        for one in harm():
            for _ in range(2):
                try: one()
                except Exception: pass
        return 0.0
        """
    )
    expected = [
        *("delete /nowhere/a", "delete /nowhere/b", "delete /nowhere"),
        *("rename /nowhere/c", "write /nowhere/e", "write /nowhere/f"),
        *("delete other_student.ipynb", "start the program /nowhere/program"),
        *("start the program /nowhere/other", "delete ../up", "change the rights of /nowhere/g"),
    ]
    for words in expected:
        assert told.count(words) == 1, (words, told)


def test_what_is_read_or_stays_in_the_own_room_is_not_told(monkeypatch):
    monkeypatch.setattr(sandbox.running, "SECONDS", 100.0)  # a first figure takes its time
    told = tried(
        """
        import matplotlib.pyplot as plt
        open(os.__file__).read()
        with open("own.txt", "w") as file:
            file.write("mine")
        os.rename("own.txt", "other.txt")
        os.remove("other.txt")
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "a"))
            torch.save(torch.ones(2), os.path.join(folder, "a", "b"))
        open(os.devnull, "w").close()
        plt.figure().savefig("figure.png")
        try: open("/nowhere/at/all").read()
        except OSError: pass
        return 0.0
        """
    )
    assert told == []


def test_what_was_told_stays_told_when_the_process_ends():
    code = "import os\ndef f(p):\n    try: os.remove('/nowhere/a')\n    finally: os._exit(0)"
    answer = sandbox.Answer([code], "f", walls=WALLS or [])
    with answer, pytest.raises(sandbox.Ended):
        answer(1.0)
    assert answer.attempts == ["delete /nowhere/a"]


def test_a_flood_of_attempts_ends_at_the_deadline_and_is_cut(monkeypatch):
    monkeypatch.setattr(sandbox.running, "SECONDS", 3.0)
    monkeypatch.setattr(sandbox.running, "WAITS", 1)  # who floods waits, and computes little
    code = """
import os
def f(p):
    n = 0
    while True:
        n += 1
        try: os.remove(f"/nowhere/{n}")
        except OSError: pass
"""
    answer = sandbox.Answer([code], "f", walls=WALLS or [])
    with answer, pytest.raises(sandbox.running.TimeUp):
        answer(1.0)
    assert len(answer.attempts) == sandbox.ATTEMPTS
