"""A right answer goes to mine.py, alone and once; what is read from it, and what stands in."""

import linecache

import pytest
import torch

import calibkit
from calibkit.course import check, checkout, execution, mine
from calibkit.course.classroom import contents

ECE = """
import numpy as np
import torch
from math import floor
from statistics import fmean as average
M = 2


def inner(bins):
    return torch.arange(1, floor(bins), dtype=torch.float64) / average([bins])


def my_ece(probs, labels, bins):
    def bin_of(confidence):
        return torch.bucketize(confidence, inner(bins))

    off = probs.amax(1).double() - (probs.argmax(1) == labels).double()
    which = bin_of(probs.amax(1).double())
    return np.abs(torch.bincount(which, off, minlength=M).numpy()).sum().item() / len(labels)
"""
PROBS, LABELS = [[0.9, 0.1], [0.6, 0.4]], [0, 1]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cell(source, name="my_ece"):
    """A function of a cell, as a kernel makes it: its module is __main__, its source is known."""
    file = f"<cell {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), space)
    return space[name]


def test_a_right_answer_is_kept_with_what_it_needs_and_read_again(folder):
    told = check.keep(cell(ECE))
    assert told, told
    assert "kept in `mine.py`" in told.text
    code = (folder / "mine.py").read_text(encoding="utf-8")
    assert "def ece(" in code
    assert "my_ece" not in code
    assert "def inner(" in code
    assert "M = 2" in code
    assert code.count("import torch") == 1
    renamed = {"import numpy as np", "from statistics import fmean as average"}
    assert {"from math import floor", *renamed} <= {*code.splitlines()}
    assert mine.whose("ece", "brier") == "ece: yours, brier: the course's"
    assert mine.ece.__module__ == "mine"


@pytest.mark.parametrize("name", check.LESSON_OF)
def test_what_is_read_again_returns_what_the_course_does(folder, name):
    """A checker takes lists and arrays; a later cell would stop at `.abs()` of a list."""
    exercise = getattr(check, name)
    (folder / "mine.py").write_text(
        f"from calibkit.course.check import {name} as of_course\n"
        f"def {name}(*arguments):\n"
        "    right = of_course.reference(*arguments)\n"
        "    return right.detach().tolist() if hasattr(right, 'tolist') else right\n",
        encoding="utf-8",
    )
    mine_too = getattr(mine, name)
    for case in list(exercise.inputs.values())[:3]:
        right, own = exercise.reference(**case), mine_too(*case.values())
        assert type(own) is type(right)
        assert getattr(own, "dtype", None) == getattr(right, "dtype", None)


def test_nothing_is_overwritten_unasked(folder):
    assert check.keep(cell(ECE))
    before = (folder / "mine.py").read_text(encoding="utf-8")
    assert "already" in check.keep(cell(ECE)).text
    other = cell(ECE.replace("off = ", "# signed\n    off = "))
    told = check.keep(other)
    assert told
    assert "replace=True" in told.text
    assert (folder / "mine.py").read_text(encoding="utf-8") == before
    assert "is kept" in check.keep(other, replace=True).text
    after = (folder / "mine.py").read_text(encoding="utf-8")
    assert "# signed" in after
    assert after.count("def ece(") == 1


def test_a_helper_of_the_same_name_is_not_overwritten(folder):
    for source, name in (
        ("def inner(x):\n    return x\n", "inner"),
        ("import math as torch\n", "torch"),
    ):
        (folder / "mine.py").write_text(source, encoding="utf-8")
        assert f"another `{name}`" in check.keep(cell(ECE)).text
        assert (folder / "mine.py").read_text(encoding="utf-8") == source


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def my_ece(probs, labels, bins):\n    ...\n", "Not yet"),
        ("def my_ece(probs, labels, bins):\n    return 0.5\n", "Not quite"),
        (
            ECE.replace("confidence, inner(bins)", "confidence, EDGES[bins]")
            + "EDGES = {b: inner(b) for b in range(1, 200)}\n",
            "uses `EDGES`",
        ),
        (
            "from calibkit import metrics\nmy_ece = lambda p, y, b: metrics.ece(p, y, bins=b)\n",
            "under its own name",
        ),
        ("def my_own(x):\n    return x\nmy_ece = my_own\n", "not my_own"),
        (
            "import functools" + ECE.replace("def my_ece", "@functools.cache\ndef my_ece"),
            "write it with `def`",
        ),
    ],
)
def test_what_cannot_be_kept_is_told(folder, source, words):
    told = check.keep(cell(source))
    assert words in told.text
    assert told.passed == told.text.startswith("Correct")
    assert not (folder / "mine.py").exists()


def test_a_file_with_an_error_is_left_as_it_is(folder, capsys):
    (folder / "mine.py").write_text("def ece(:\n", encoding="utf-8")
    assert "error in line 1" in check.keep(cell(ECE)).text
    assert (folder / "mine.py").read_text(encoding="utf-8") == "def ece(:\n"
    assert mine.ece is check.ece.reference
    assert "stands in" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written_is_told(folder, monkeypatch):
    (folder / "mine.py").mkdir()  # what root cannot write to, either
    told = check.keep(cell(ECE))
    assert told
    assert "stands in" in told.text
    assert mine.ece is check.ece.reference


def test_only_what_an_exercise_asks_for_can_be_imported():
    with pytest.raises(AttributeError, match="no_such"):
        mine.__getattr__("no_such")


def test_what_was_kept_in_01_and_05_agrees_with_the_audit(folder):
    for name, number in (("ece", "01"), ("gap_interval", "05")):
        (source,) = [
            task.solution
            for lesson in checkout.lessons(number)
            for task in contents.exercises(lesson.name, execution.read(lesson))
            if task.checker == name
        ]
        assert check.keep(cell(f"import torch\n{source}", f"my_{name}"))
    assert mine.whose("ece", "gap_interval") == "ece: yours, gap_interval: yours"
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn(500, 4, generator=generator, dtype=torch.float64)
    labels = torch.randint(4, (500,), generator=generator)
    audit, probs = calibkit.audit(logits, labels), logits.softmax(dim=1)
    low, gap, high = mine.gap_interval(probs, labels)
    assert mine.ece(probs, labels, 15) == pytest.approx(audit.measures["ece"].value)
    assert float(gap) == pytest.approx(audit.measures["gap"].value)
    assert float(low) == pytest.approx(audit.measures["gap"].low, abs=0.01)
    assert float(high) == pytest.approx(audit.measures["gap"].high, abs=0.01)
