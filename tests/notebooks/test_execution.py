"""Every notebook runs at the smoke scale, with another seed, from a fresh kernel.

The folded answers of "Go further" run behind it, as a student would run them. Evidence, whose
sweeps are the longest, runs in `make test-slow`; once more it finds all its runs in the cache.
"""

import pytest
from nbformat.v4 import new_code_cell

from calibkit.course import checkout, execution
from tests.notebooks import pattern

PARAMETERS = {"SCALE": "smoke", "SEED": 7, "DEVICE": "cpu"}
NO_TRAINING = """
from calibkit.lab.training import loop
def refuse(trials, device):
    raise AssertionError(f"{len(trials)} runs are in the cache and are trained again")
loop.train_unit = refuse
"""


def headless(lesson, output, *first):
    """Run a lesson, behind some cells of our own; its code cells, with the parameters put in."""
    notebook = execution.read(lesson)
    notebook.cells[:0] = map(new_code_cell, first)
    notebook.cells.append(new_code_cell(pattern.further(notebook)))
    done = execution.execute(
        notebook, parameters=PARAMETERS, cwd=lesson.notebook.parent, output=output
    )
    return [cell for cell in done.cells if cell.cell_type == "code" and cell.source.strip()]


@pytest.mark.parametrize("lesson", checkout.lessons(), ids=lambda lesson: lesson.name)
def test_a_lesson_runs_headless(lesson, tmp_path):
    assert all(cell.execution_count for cell in headless(lesson, tmp_path / "done.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("lesson", checkout.evidence(), ids=lambda lesson: lesson.name)
def test_evidence_runs_headless_and_finds_its_runs_again(lesson, tmp_path):
    for first in ([], [NO_TRAINING]):
        headless(lesson, tmp_path / "done.ipynb", *first)
