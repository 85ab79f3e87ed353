"""The doctor's report: healthy here, and plain about what is missing."""

import importlib.metadata
import subprocess
import sys

import pytest

from calibkit import __main__, doctor


def test_everything_is_in_place_here():
    text, healthy = doctor.report()
    assert healthy, text
    assert "device" in text
    assert "make lab" in text


def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch, capsys):
    real = importlib.metadata.version

    def version(name):
        if name == "papermill":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor, "version", version)
    assert __main__.main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "papermill is missing" in said
    assert "pip install papermill" in said


def test_it_speaks_even_where_torch_is_missing():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from calibkit.__main__ import main\nsys.exit(main(['doctor']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no device can be chosen" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("device", "end"), [("cpu", "device cpu"), ("cuda:0", "device cuda:0")])
def test_the_line_for_notebooks_has_no_path(device, end):
    line = doctor.machine(device)
    assert line.endswith(end)
    assert "/" not in line
