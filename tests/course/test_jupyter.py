"""`python -m calibkit lab`: how JupyterLab is started, and what is said where it cannot be."""

import json
import os
import re
import sys
from pathlib import Path

import jupyterlab.labapp
import pytest
from jupyter_client.manager import KernelManager
from jupyter_core.paths import jupyter_path
from jupyterlab.commands import get_app_dir
from jupyterlab_server.config import get_federated_extensions, get_page_config

from calibkit import __main__
from calibkit.course import cell_order, checkout, jupyter, workplace

OVERRIDES = "default_setting_overrides.json"
OUTPUTS, NEWS = "calibkit-outputs", "@jupyterlab/apputils-extension:announcements"


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The arguments of JupyterLab's starts; the copies lie in a folder of the test."""
    found = []
    monkeypatch.setattr(jupyterlab.labapp, "main", found.append)
    monkeypatch.setattr(workplace, "prepare", lambda folder: (folder or tmp_path, []))
    for name in jupyter.READ:
        monkeypatch.setenv(name, "own")
    monkeypatch.setenv(checkout.COURSE, "")  # so that it is put back
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    monkeypatch.delenv("OMP_NUM_THREADS")
    return found


def test_it_opens_lesson_00_of_the_copies_with_one_thread(started, tmp_path, capsys):
    assert __main__.main(["lab", "--no-browser", "--port=9999"]) == 0
    arguments = started[0]
    assert arguments[0] == f"--ServerApp.root_dir={tmp_path}"
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in arguments
    assert arguments[-2:] == ["--no-browser", "--port=9999"]
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ[checkout.COURSE] == str(checkout.root())
    assert str(tmp_path) in capsys.readouterr().out
    assert __main__.main(["lab", "--work", str(tmp_path / "mine")]) == 0
    assert started[1][0] == f"--ServerApp.root_dir={tmp_path / 'mine'}"


@pytest.mark.skipif(os.name != "posix", reason="nobody is root there")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_of_a_container_opens_the_course_too(started, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    jupyter.start()
    assert ("--ServerApp.allow_root=True" in started[0]) is allowed


def test_a_reset_opens_nothing(started, monkeypatch, capsys):
    monkeypatch.setattr(workplace, "reset", lambda only, folder: [f"{only} is new"])
    assert __main__.main(["lab", "--reset", "06"]) == 0
    assert started == []
    assert capsys.readouterr().out == "06 is new\n"


def test_widgets_are_saved_and_names_have_the_room_of_the_panel():
    """Sliders move the next day; a setting that JupyterLab does not know would be ignored."""
    settings = json.loads((jupyter.READ["JUPYTER_PATH"] / OVERRIDES).read_text("utf-8"))
    for name, values in settings.items():
        schema = Path(get_app_dir(), "schemas", *name.split(":")).with_suffix(".json")
        if name.startswith("@jupyterlab/"):
            assert values.keys() <= json.loads(schema.read_text("utf-8"))["properties"].keys()
    assert settings["@jupyter-widgets/jupyterlab-manager:plugin"]["saveState"] is True
    browser = settings["@jupyterlab/filebrowser-extension:browser"]
    assert browser == {"showLastModifiedColumn": False}


@pytest.fixture(scope="module")
def kernel():
    manager = KernelManager(kernel_spec_manager=cell_order.Kernels())
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(("code", "error", "told"), [
    ("check.signed_gap(1)", "NameError: name 'check' is not defined", True),
    ("1 / 0", "ZeroDivisionError: division by zero", False),
    ("def f(): del a\nf()", "UnboundLocalError: cannot access local variable 'a'", False),
])  # fmt: skip
def test_a_cell_that_needs_another_first_says_what_to_do(kernel, code, error, told):
    reply = kernel.execute_interactive(code, output_hook=lambda _: None)["content"]
    shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(reply["traceback"]))
    assert error in shown
    assert (cell_order.REMEDY in shown) == told


def test_a_start_changes_nothing_that_somebody_chose_and_finds_the_extension(started, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    jupyter.start()
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert {os.environ[name].split(os.pathsep)[1] for name in jupyter.READ} == {"own"}
    settings = os.path.join(get_app_dir(), "settings")
    assert NEWS in get_page_config([], settings)["disabledExtensions"]
    found = get_federated_extensions(jupyter_path("labextensions"))[OUTPUTS]
    loaded = found["jupyterlab"]["_build"]["load"]
    assert os.path.isfile(os.path.join(found["ext_path"], loaded))


def test_without_jupyterlab_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    assert __main__.main(["lab"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("calibkit: JupyterLab is not installed")
    assert 'python -m pip install "calibkit[course]"' in said
    assert said.count("\n") == 1
