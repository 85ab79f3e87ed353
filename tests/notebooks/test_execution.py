"""Every notebook runs at the smoke scale, with another seed, from a fresh kernel.

The folded answers of "Go further" run behind it, as a student would run them.
"""

import pytest
from nbformat.v4 import new_code_cell

from calibkit import course
from tests.notebooks import pattern

LESSONS = course.lessons()


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.name for lesson in LESSONS])
def test_it_runs_headless(lesson, tmp_path):
    notebook = course.read(lesson)
    notebook.cells.append(new_code_cell(pattern.further(notebook)))
    done = course.execute(
        notebook,
        parameters={"SCALE": "smoke", "SEED": 7, "DEVICE": "cpu"},
        cwd=lesson.notebook.parent,
        output=tmp_path / "done.ipynb",
    )
    assert all(c.execution_count for c in done.cells if c.cell_type == "code" and c.source.strip())
