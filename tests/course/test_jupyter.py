"""`python -m calibkit lab`: how JupyterLab is started, and what is said where it cannot be."""

import os
import sys

import jupyterlab.labapp
import pytest
from jupyterlab.commands import get_app_dir
from jupyterlab_server.config import get_page_config

from calibkit import __main__
from calibkit.course import checkout, jupyter

NEWS = "@jupyterlab/apputils-extension:announcements"


@pytest.fixture
def started(monkeypatch):
    """The arguments of JupyterLab's starts."""
    found = []
    monkeypatch.setattr(jupyterlab.labapp, "main", found.append)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "own")
    monkeypatch.setenv("OMP_NUM_THREADS", "")  # so that it is put back
    monkeypatch.delenv("OMP_NUM_THREADS")
    return found


def test_it_opens_lesson_00_with_one_thread(started, monkeypatch, tmp_path):
    monkeypatch.chdir(checkout.root() / "notebooks")
    assert __main__.main(["lab", "--no-browser", "--port=9999"]) == 0
    first = str(checkout.root() / "notebooks" / "00_start_here.ipynb")
    assert started == [
        [f"--ServerApp.root_dir={checkout.root()}", first, "--no-browser", "--port=9999"]
    ]
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_threads_that_somebody_chose_stay(started, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    jupyter.start()
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_the_question_about_news_is_off_and_own_settings_stay(started):
    jupyter.start()
    assert os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)[1] == "own"
    settings = os.path.join(get_app_dir(), "settings")
    assert NEWS in get_page_config([], settings)["disabledExtensions"]


def test_without_jupyterlab_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    assert __main__.main(["lab"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("calibkit: JupyterLab is not installed")
    assert 'python -m pip install "calibkit[course]"' in said
    assert said.count("\n") == 1


def test_other_commands_take_no_more_than_they_know(capsys):
    with pytest.raises(SystemExit, match="2"):
        __main__.main(["doctor", "--no-browser"])
    assert "unrecognized arguments: --no-browser" in capsys.readouterr().err
