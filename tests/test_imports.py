"""What an import loads: the methods neither figures nor tables nor anything above them."""

import json
import subprocess
import sys

import pytest

import calibkit

HEAVY = ("matplotlib", "pandas", "sklearn", "seaborn", "IPython", "ipywidgets")
ABOVE = ("calibkit.course", "calibkit.lab", "calibkit.pictures")
LATER = {"recalibration"}  # it fits with scikit-learn, which loads pandas
METHODS = sorted({*calibkit.METHODS, "threads", "validate"} - LATER)
STAGES = {
    "package": "import calibkit",
    "methods": "; ".join(f"import calibkit.{name}" for name in METHODS),
    "audit": "report = calibkit.audit([[2.0, 0.0]] * 40, [0] * 30 + [1] * 10, resamples=10)",
    "page": "report.html()",
}


@pytest.fixture(scope="module")
def loaded():
    """Names of the modules that a fresh Python has loaded after each stage."""
    told = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    code = "\n".join(f"{line}\n{told}" for line in STAGES.values())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return dict(zip(STAGES, map(json.loads, done.stdout.splitlines()), strict=True))


def test_the_package_alone_loads_no_method(loaded):
    assert [name for name in loaded["package"] if name.startswith("calibkit.")] == []
    assert "torch" not in loaded["package"]


def test_the_methods_load_nothing_that_draws_or_tabulates(loaded):
    names = loaded["methods"]
    assert {f"calibkit.{name}" for name in METHODS} <= set(names)
    heavy = [name for name in names if name.split(".")[0] in HEAVY or name.startswith(ABOVE)]
    assert heavy == []


def test_an_audit_loads_tables_and_its_page_what_draws(loaded):
    assert "pandas" in loaded["audit"]
    assert "calibkit.pictures" not in loaded["audit"]
    assert "calibkit.pictures.svg" in loaded["page"]
    assert "matplotlib" not in loaded["page"]


def test_every_part_is_there_when_it_is_asked_for():
    """In a fresh Python, as this one may have loaded them all."""
    parts = (*calibkit.METHODS, *calibkit.WINGS)
    code = "import calibkit\n" + "\n".join(f"assert calibkit.{name}.__name__" for name in parts)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(parts) <= set(dir(calibkit))


def test_a_part_that_does_not_exist_is_named():
    with pytest.raises(AttributeError, match="module 'calibkit' has no attribute 'metric'"):
        calibkit.metric  # noqa: B018
