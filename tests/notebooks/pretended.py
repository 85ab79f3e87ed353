"""Every notebook runs at the smoke scale on a stand-in for CUDA: `make test-notebooks`.

Named in the Makefile and collected nowhere else, as it takes minutes.
"""

import pytest
from nbformat.v4 import new_code_cell

from calibkit.course import checkout, execution
from tests import pretend_cuda

PARAMETERS = {"SCALE": "smoke", "SEED": 7, "DEVICE": pretend_cuda.KIND}
BEGIN = f"""
import sys
sys.path.insert(0, {str(checkout.root())!r})
from tests import pretend_cuda
pretended = pretend_cuda.pretend_cuda()
pretended.__enter__()
"""
END = """
assert pretend_cuda.COUNTS[0].launches > 500, pretend_cuda.COUNTS[0]
"""
# these train nothing on a device: their networks are too small to gain by one
ON_THE_CPU = ("16_translation", "18_estimators_in_depth", "21_language_models")


def runs(lesson, folder):
    notebook = execution.read(lesson)
    notebook.cells.insert(0, new_code_cell(BEGIN))
    if lesson.name.removeprefix("evidence/") not in ON_THE_CPU:
        notebook.cells.append(new_code_cell(END))
    execution.execute(
        notebook, parameters=PARAMETERS, cwd=lesson.notebook.parent, output=folder / "done.ipynb"
    )


@pytest.fixture(autouse=True)
def no_run_of_before(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("lesson", checkout.lessons(), ids=lambda lesson: lesson.name)
def test_a_lesson_runs(lesson, tmp_path):
    runs(lesson, tmp_path)


@pytest.mark.parametrize("lesson", checkout.evidence(), ids=lambda lesson: lesson.name)
def test_its_evidence_runs(lesson, tmp_path):
    runs(lesson, tmp_path)
