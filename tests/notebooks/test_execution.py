"""Every notebook runs at the smoke scale, with another seed, from a fresh kernel."""

import pytest

from calibkit import course

LESSONS = course.lessons()


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.name for lesson in LESSONS])
def test_it_runs_headless(lesson, tmp_path):
    done = course.execute(
        course.read(lesson),
        parameters={"SCALE": "smoke", "SEED": 7, "DEVICE": "cpu"},
        cwd=lesson.notebook.parent,
        output=tmp_path / "done.ipynb",
    )
    assert all(c.execution_count for c in done.cells if c.cell_type == "code" and c.source.strip())
