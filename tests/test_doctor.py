"""The doctor's report: healthy here, and plain about what is missing."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from calibkit import __main__, doctor
from calibkit.course import commands

ROOT = Path(__file__).parents[1]


def test_everything_is_in_place_here():
    text, healthy = doctor.report()
    assert healthy, text
    assert "device" in text
    assert "make lab" in text


COURSE = {*doctor.needed("course"), "sphinx"}


def without(*names):
    """What `doctor.version` says where these packages are missing."""

    def version(name):
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return importlib.metadata.version(name)

    return version


def test_what_is_missing_is_named_with_the_way_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "version", without("papermill"))
    assert __main__.main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "papermill is missing" in said
    assert "pip install papermill" in said
    monkeypatch.setattr(doctor, "version", without(*COURSE))  # the package alone is healthy
    assert __main__.main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "[!!]" not in said
    assert "[--] papermill is missing; get it with" in said
    assert said.splitlines()[-1].endswith(
        'the course would add: python -m pip install "calibkit[course]"'
    )
    monkeypatch.setattr(doctor, "version", without(*COURSE, "pandas"))
    assert __main__.main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "[!!] pandas is missing" in said
    assert said.splitlines()[-1] == "Something is missing: python -m pip install calibkit"


@pytest.mark.parametrize(
    ("name", "install"), [("nbformat.v4", '"calibkit[course]"'), ("sklearn.metrics", "calibkit")]
)
def test_a_command_that_misses_a_package_says_it_in_one_line(name, install, monkeypatch, capsys):
    def missing(_):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(commands, "_claims", missing)
    assert __main__.main(["claims"]) == 2
    said = capsys.readouterr().err
    assert said.endswith(f"is missing: python -m pip install {install}\n")
    assert said.count("\n") == 1


def test_it_asks_for_all_that_the_course_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["course"]]
    names = {re.match(r"[\w-]+", line)[0] for line in wanted}
    assert names - doctor.BESIDES == {*doctor.needed(), *doctor.needed("course")} - {"calibkit"}


def test_a_student_has_the_package_and_a_folder_of_lessons_alone(monkeypatch):
    def outside():
        raise FileNotFoundError("no notebooks/source above this folder")

    monkeypatch.setattr("calibkit.course.checkout.root", outside)
    text, healthy = doctor.report()
    assert healthy, text
    assert text.splitlines()[-1].startswith("Everything is in place.")
    assert "python -m jupyterlab FOLDER" in text
    assert "make lab" not in text


def test_it_speaks_even_where_torch_is_missing():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from calibkit.__main__ import main\nsys.exit(main(['doctor']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no device can be chosen" in done.stdout
    assert "Traceback" not in done.stderr
