"""The runner: which lessons, what a failed one does, what a committed notebook leaves out."""

import base64
import io
import json
import os
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from calibkit import __main__
from calibkit.course import checkout, execution, lesson_processes
from calibkit.course.explorers.storage import PUBLISHING
from calibkit.pictures import alt_text

HEAD = "# %% [markdown]\n# # T\n\n# %% tags=['parameters']\nSCALE = 'laptop'\n\n# %%\n"
# a kernel with a child of its own; the file tells that both are there
HANGS = """\
import os, subprocess, time
child = subprocess.Popen(["sleep", "600"])
open("running.new", "w").write(f"{os.getpid()} {child.pid}")
os.rename("running.new", "running")
time.sleep(600)
"""


@pytest.fixture
def two_lessons(tmp_path, monkeypatch):
    """A course of two tiny lessons, the second of which fails."""
    (tmp_path / "notebooks" / "source").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    add("00_good", "print(SCALE)\n")
    add("01_bad", "raise RuntimeError('broken on purpose')\n")
    return tmp_path


def add(name, code):
    Path("notebooks", "source", f"{name}.py").write_text(HEAD + code, encoding="utf-8")


def verdicts(said):
    """The last word of each lesson's line of the table."""
    lines = [line.split() for line in said.split("together")[0].splitlines()]
    return {words[0]: " ".join(words[3:]) for words in lines if words}


def pids(file):
    return [int(pid) for pid in file.read_text(encoding="utf-8").split()]


def all_gone(those, seconds=300):
    """Whether these processes end in time; one that only waits to be reaped has ended."""
    end = time.monotonic() + seconds
    while any(map(runs, those)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(runs, those))


def runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(("arguments", "names"), [
    (["--only", "99"], "00_good, 01_bad"),
    (["--scale", "huge"], "scale"),
    (["--jobs", "0"], "jobs"),
    (["--limit", "0"], "limit"),
    (["--limit", "nan"], "limit"),
])  # fmt: skip
def test_wrong_options_are_refused_by_name(two_lessons, capsys, arguments, names):
    assert __main__.main(["course", *arguments]) == 2
    assert names in capsys.readouterr().err


@pytest.mark.slow
def test_failed_lessons_dead_kernels_and_dead_processes_are_named_and_others_run(
    two_lessons, capsys
):
    add("02_dies", "import os; os._exit(3)")
    add("03_killed", "import os, time; os.kill(os.getppid(), 9); time.sleep(60)")
    assert __main__.main(["course", "--scale", "smoke", "--jobs", "1", "--only", "0"]) == 1
    said = capsys.readouterr()
    failed = dict.fromkeys(("01_bad", "02_dies", "03_killed"), "FAILED")
    assert verdicts(said.out) == {"00_good": "ok"} | failed
    assert "broken on purpose" in said.out
    assert "02_dies: its kernel died" in said.out
    assert "03_killed: its process died (exit code -9" in said.out
    assert "WARNING" not in said.err  # what kernels print goes to their logs
    assert (two_lessons / "build" / "course" / "logs" / "00_good.log").exists()
    assert (two_lessons / "build" / "course" / "smoke" / "00_good.ipynb").exists()


@pytest.mark.slow
def test_a_lesson_that_hangs_is_ended_and_no_child_of_any_lesson_stays(
    two_lessons, capsys, monkeypatch
):
    child = 'import subprocess; open("pid", "w").write(str(subprocess.Popen(["sleep", "600"]).pid))'
    add("02_hangs", HANGS)
    add("03_good", f"{child}\nimport time; time.sleep(2)")
    mark = two_lessons / "notebooks" / "running"
    # a day passes as soon as the lesson hangs, and nothing waits for it
    clock = lambda: time.monotonic() + 86_400 * mark.exists()  # noqa: E731
    monkeypatch.setattr(lesson_processes, "clock", clock)
    arguments = ["course", "--scale", "smoke", "--limit", "1000", "--jobs", "1"]
    assert __main__.main(arguments) == 1
    said = capsys.readouterr().out
    assert verdicts(said)["02_hangs"] == "FAILED"
    assert verdicts(said)["03_good"] == "ok"
    assert "02_hangs: it was ended after 1000 s" in said
    assert all_gone(pids(mark) + pids(two_lessons / "notebooks" / "pid"))


def test_where_no_terminal_is_no_bar_is_drawn(tmp_path, capsys):
    tasks = {"one": ("no_such_module",)}
    (result,) = lesson_processes.spread(tasks, jobs=1, limit=600, logs=tmp_path)
    assert "its process died (exit code 1" in result.error
    assert 0 < result.seconds < 600
    assert capsys.readouterr().err == ""


def test_publishing_writes_good_notebooks_only_with_equal_ids_of_cells(two_lessons):
    add("00_good", f"import os\nassert os.environ['{PUBLISHING}'] == '1'")
    one, again = (execution.read(checkout.lessons("00")[0]) for _ in range(2))
    assert [c.id for c in one.cells] == [c.id for c in again.cells]
    good, bad = (execution.publish(lesson) for lesson in checkout.lessons())
    assert good.error is None
    assert PUBLISHING not in os.environ
    assert "broken on purpose" in bad.error
    assert (two_lessons / "notebooks" / "00_good.ipynb").exists()
    assert not (two_lessons / "notebooks" / "01_bad.ipynb").exists()


def test_stripping_drops_live_widgets_and_keeps_their_pages():
    bar = new_output("display_data", {execution.WIDGET_MIME: {}, "text/plain": "0%"})
    slider = new_output(
        "execute_result", {execution.WIDGET_MIME: {}, "text/html": "<p>", "text/plain": "n"}
    )
    cells = [new_code_cell("x", outputs=[bar, slider])]
    notebook = new_notebook(cells=cells, metadata={"widgets": {}})
    (kept,) = execution.stripped(notebook).cells[0].outputs
    assert set(kept.data) == {"text/html", "text/plain"}
    assert "widgets" not in notebook.metadata


def test_the_table_is_sorted_and_sums_up():
    lines = execution.table(
        [execution.Result("b", 2.0), execution.Result("a", 1.0, "boom")]
    ).splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["a", "1.0", "s", "FAILED"], ["b", "2.0", "s", "ok"], ["together", "3.0", "s"]
    ]  # fmt: skip
    assert lines[-1] == "a: boom"


@pytest.mark.parametrize(("tags", "folded"), [
    ([], None),
    (["answer"], {"outputs_hidden": True}),
    (["drawing", "nbval-check-output"], {"source_hidden": True}),
    (["aside"], {"source_hidden": True, "outputs_hidden": True}),
])  # fmt: skip
def test_tags_say_what_is_folded_when_read_and_when_published(tmp_path, tags, folded):
    twin = tmp_path / "notebooks" / "source" / "07_x.py"
    twin.parent.mkdir(parents=True)
    marks = f" tags={json.dumps(tags)}" if tags else ""
    twin.write_text(f"# %%{marks}\nx = 1\n", encoding="utf-8")
    notebook = execution.read(checkout.Lesson(twin))
    for cells in (notebook.cells, execution.stripped(notebook).cells):
        assert cells[0].metadata.get("jupyter") == folded
        assert cells[0].metadata.get("tags", []) == tags


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")).astype(float)


def test_published_figures_are_lighter_look_the_same_and_keep_their_text():
    figure = Figure(figsize=(6, 4))
    ax = figure.subplots()
    for i in range(8):
        ax.plot(np.cumsum(np.random.default_rng(i).normal(size=200)), alpha=0.7)
    png, told = alt_text.png(figure)
    metadata = {"image/png": told, "text/plain": {"other": 1}}
    output = new_output("display_data", data={"image/png": png}, metadata=metadata)
    cell = new_code_cell("figure", outputs=[output])
    (kept,) = execution.stripped(new_notebook(cells=[cell])).cells[0].outputs
    after = kept.data["image/png"]
    assert len(after) < 0.6 * len(png)
    assert np.abs(pixels(png) - pixels(after)).mean() < 1  # of 255 grey levels
    assert execution.lighter(after) == after
    assert kept.metadata == {"image/png": told}
    assert set(told) == {"alt"}
    assert Image.open(io.BytesIO(base64.b64decode(after))).mode == "P"
