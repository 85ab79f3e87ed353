"""What must fail does fail: a changed number, a raising callback, a misspelt parameter."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from calibkit.course import execution

PARAMETERS = new_code_cell('SCALE = "smoke"', metadata={"tags": ["parameters"]})
SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")


def notebook(*sources):
    return new_notebook(
        cells=[PARAMETERS, *map(new_code_cell, sources)], metadata={"kernelspec": execution.KERNEL}
    )


VERDICT = (
    "# NBVAL_CHECK_OUTPUT\n"
    "print('M6 {word}: it grows | +0.{digits} [+0.010, +0.020] 95% over 5 seeds')"
)


def test_a_verdicts_word_is_compared_and_its_digits_are_not(tmp_path):
    done = execution.execute(notebook(VERDICT.format(word="HOLDS", digits="014")), cwd=tmp_path)
    for word, digits in (("HOLDS", "017"), ("REVERSED", "014")):
        done.cells[1].source = VERDICT.format(word=word, digits=digits)
        nbformat.write(execution.stripped(done), tmp_path / f"{word}.ipynb")
    options = ["--nbval-lax", "--nbval-current-env", f"--nbval-sanitize-with={SANITIZE}", "-rf"]
    apart = ["-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, *apart, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    assert "FAILED REVERSED.ipynb" in said
    assert "FAILED HOLDS.ipynb" not in said
    assert "1 failed, 3 passed" in said


HIDDEN = "import ipywidgets\nipywidgets.interact(lambda n: 1 / n, n=ipywidgets.IntSlider(0))"
EXPLORER = """from calibkit.course.explorers import Explorer, Frame, Slider
Explorer(lambda n: Frame((), str(1 / (n - 3))), Slider("n", [1, 2, 3]), description="d")"""


@pytest.mark.parametrize(("code", "parameters", "words"), [
    ("1", {"SKALE": "smoke"}, r"unknown parameter SKALE.*SCALE"),
    ("1 / 0", {}, "ZeroDivisionError"),
    (HIDDEN, {}, r"callback raised.*ZeroDivisionError"),  # in the state of the widget alone
    (EXPLORER, {}, "ZeroDivisionError"),  # at its last position
])  # fmt: skip
def test_what_goes_wrong_fails(tmp_path, monkeypatch, code, parameters, words):
    # while nbclient sends to a widget it may overlook the reply; it looks again after the limit
    monkeypatch.setitem(execution.CELL_LIMITS, "laptop", 30)
    with pytest.raises(execution.NotebookError, match=words):
        execution.execute(notebook(code), parameters=parameters, cwd=tmp_path)


def test_a_cell_that_does_not_end_fails(tmp_path, monkeypatch):
    monkeypatch.setitem(execution.CELL_LIMITS, "laptop", 1)
    with pytest.raises(execution.NotebookError, match="a cell took longer than 1 s"):
        execution.execute(notebook("import time; time.sleep(60)"), cwd=tmp_path)
