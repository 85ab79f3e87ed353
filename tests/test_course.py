"""The runner: which lessons, what a failed one does, what a committed notebook leaves out."""

import base64
import io

import matplotlib.pyplot as plt
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from calibkit import __main__, course


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A course of two tiny lessons, the second of which fails."""
    source = tmp_path / "notebooks" / "source"
    source.mkdir(parents=True)
    head = "# %% [markdown]\n# # T\n\n# %% tags=['parameters']\nSCALE = 'laptop'\n\n# %%\n"
    (source / "00_good.py").write_text(head + "print(SCALE)\n")
    (source / "01_bad.py").write_text(head + "raise RuntimeError('broken on purpose')\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lessons_come_in_order_and_by_prefix(checkout):
    assert [lesson.name for lesson in course.lessons()] == ["00_good", "01_bad"]
    assert [lesson.name for lesson in course.lessons("01")] == ["01_bad"]
    assert course.lessons("00")[0].notebook == checkout / "notebooks" / "00_good.ipynb"


def test_an_unknown_lesson_is_refused_with_the_known_ones(checkout, capsys):
    assert __main__.main(["course", "--only", "99"]) == 2
    assert "00_good, 01_bad" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "names"), [(["--scale", "huge"], "scale"), (["--jobs", "0"], "jobs")]
)
def test_wrong_options_are_refused_by_name(checkout, capsys, arguments, names):
    assert __main__.main(["course", *arguments]) == 2
    assert names in capsys.readouterr().err


def test_a_failed_lesson_is_reported_and_the_others_run(checkout, capsys):
    assert __main__.main(["course", "--scale", "smoke", "--jobs", "1"]) == 1
    said = capsys.readouterr().out
    assert "FAILED" in said
    assert "broken on purpose" in said
    assert (checkout / "build" / "course" / "smoke" / "00_good.ipynb").exists()


def test_publishing_writes_good_notebooks_only(checkout):
    good, bad = (course.publish(lesson) for lesson in course.lessons())
    assert good.error is None
    assert "broken on purpose" in bad.error
    assert (checkout / "notebooks" / "00_good.ipynb").exists()
    assert not (checkout / "notebooks" / "01_bad.ipynb").exists()


def test_equal_sources_give_equal_cell_ids(checkout):
    one, again = (course.read(course.lessons("00")[0]) for _ in range(2))
    assert [c.id for c in one.cells] == [c.id for c in again.cells]


def test_outside_a_checkout_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(course, "__file__", str(tmp_path / "site-packages" / "course.py"))
    with pytest.raises(FileNotFoundError, match="checkout"):
        course.root()


def test_stripping_drops_live_widgets_and_keeps_their_pages():
    bar = new_output("display_data", {course.WIDGET_MIME: {}, "text/plain": "0%"})
    slider = new_output(
        "execute_result", {course.WIDGET_MIME: {}, "text/html": "<p>", "text/plain": "n"}
    )
    notebook = new_notebook(
        cells=[new_code_cell("x", outputs=[bar, slider])], metadata={"widgets": {}}
    )
    (kept,) = course.stripped(notebook).cells[0].outputs
    assert set(kept.data) == {"text/html", "text/plain"}
    assert "widgets" not in notebook.metadata


def test_the_table_is_sorted_and_sums_up():
    lines = course.table([course.Result("b", 2.0), course.Result("a", 1.0, "boom")]).splitlines()
    assert lines[0].split() == ["a", "1.0", "s", "FAILED"]
    assert lines[1].split() == ["b", "2.0", "s", "ok"]
    assert lines[2].split() == ["together", "3.0", "s"]
    assert lines[-1] == "a: boom"


def test_figures_are_kept_light_and_look_the_same():
    figure, ax = plt.subplots(figsize=(6, 4))
    for i in range(8):
        ax.plot(np.cumsum(np.random.default_rng(i).normal(size=200)), alpha=0.7)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    before = base64.b64encode(buffer.getvalue()).decode()
    after = course.lighter(before)
    assert len(after) < 0.6 * len(before)
    pixels = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")).astype(float)
        for png in (before, after)
    ]
    assert np.abs(pixels[0] - pixels[1]).mean() < 1  # of 255 grey levels
    assert course.lighter(after) == after
