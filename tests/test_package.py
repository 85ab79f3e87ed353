"""What `pip install` brings to others: the wheel, built and installed once, used far from here."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = sysconfig.get_path("purelib")  # torch and the rest, which are not installed again
KEPT = {"__init__.py", "checkout.py", "verdicts.py", "explorers"}  # of calibkit/course
USE = """
import importlib.util, sys
import torch, calibkit
from calibkit import metrics, recalibration
from calibkit.course import explorers, verdicts
from calibkit.lab import data

assert "site-packages" in calibkit.__file__, calibkit.__file__
assert importlib.util.find_spec("data_scripts") is None
logits, labels = torch.eye(3).repeat(40, 1) * 3, torch.arange(120) % 3
labels[::5] = 0
assert 0 < metrics.ece(logits.softmax(1), labels) < 1
scaler = recalibration.TemperatureScaler().fit(logits, labels)
calibkit.audit(logits, labels).write("own.html")
data.digits()
frame = lambda n: explorers.Frame(("<svg></svg>",), f"{n} of 2")
slider = explorers.Explorer(frame, explorers.Slider("a", [1, 2]), description="Two.")
assert "export" in slider.module() and "a" in slider.html()
assert verdicts.judge("X1", "it falls", [-0.10, -0.12, -0.11], expect="below").word == "HOLDS"
try:
    from calibkit.course import check
except ModuleNotFoundError as error:
    assert "needs the folder of the course" in str(error), error
data.load("cifar10", root=".")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy: a build leaves folders behind that the next one would take up."""
    folder = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "calibkit", folder / "calibkit", ignore=shutil.ignore_patterns("__py*"))
    shutil.copytree(ROOT / "data_scripts", folder / "data_scripts")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of a new environment that has the wheel and sees the packages it needs."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    own = ["--python", str(folder / "bin" / "python"), "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", *own, str(wheel)], check=True)
    (site / "heavy.pth").write_text(f"{HEAVY}\n", encoding="utf-8")
    return folder / "bin" / "python"


def run(python, *arguments, cwd, **env):
    return subprocess.run([python, *arguments], cwd=cwd, capture_output=True, text=True, env=env)


def test_the_wheel_holds_the_package_and_its_data_and_of_the_course_what_serves_everybody(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"calibkit", "calibkit-0.1.0.dist-info"}
    inside = [p for p in (ROOT / "calibkit").rglob("*") if p.is_file() and p.suffix != ".pyc"]
    inside = {path.relative_to(ROOT) for path in inside}
    course = {path for path in inside if path.parts[1] == "course"}
    kept = {path for path in course if path.parts[2] in KEPT}
    assert {str(path) for path in inside - course | kept} == {n for n in names if "info/" not in n}
    assert {path.parts[2] for path in kept} == KEPT
    scripts = {f"calibkit/course/explorers/{name}.js" for name in ("slider", "plane")}
    assert {"calibkit/py.typed", *scripts} <= set(names)


def test_it_brings_a_command(python, tmp_path):
    assert run(python.with_name("calibkit"), "--version", cwd=tmp_path).stdout == "calibkit 0.1.0\n"


# where the packages of the course are not, as a hook of imports that the environment loads
BARE = """
import os, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in os.environ.get("MISSING", "").split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""
COURSE = (
    "torchvision jupyterlab IPython ipykernel ipywidgets anywidget sacrebleu seaborn papermill "
    "jupytext pooch filelock psutil nbconvert nbformat nbclient bleach math_core bs4 sphinx pyarrow"
)


@pytest.fixture(scope="module")
def bare(python):
    """The same Python, from which what MISSING names is hidden."""
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    (site / "hidden.py").write_text(BARE, encoding="utf-8")
    (site / "hidden.pth").write_text("import hidden\n", encoding="utf-8")
    return python


@pytest.mark.parametrize("command", ["lab", "grade", "site"])
def test_a_command_of_the_course_says_in_a_line_what_it_needs(python, tmp_path, command):
    done = run(python, "-m", "calibkit", command, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"calibkit: {command} needs the folder of the course")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_without_the_course_the_audit_and_the_methods_work(bare, tmp_path):
    code = (
        "import torch; from calibkit import *; import calibkit\n"
        "from calibkit import metrics, recalibration, mixing, losses, curation, theory\n"
        "from calibkit.lab import data, models, training, sweep\n"
        "train, cal, test = data.noisy_digits(100, noise=0.4, seed=0)\n"
        "run = training.fit(lambda: models.mlp(64, 10), train, epochs=1, seed=0)\n"
        "print(metrics.ece(run.predict(test).probs, test.labels))\n"
        "mixing.cutmix(torch.ones(2, 1, 8, 8), torch.tensor([1, 1]), classes=2)"
    )
    done = run(bare, "-c", code, cwd=tmp_path, MISSING=COURSE)
    assert 0 < float(done.stdout) < 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.endswith('cutmix needs torchvision: python -m pip install "calibkit[course]"')
    (tmp_path / "p.csv").write_text("label,p\n" + "1,0.8\n0,0.3\n1,0.2\n" * 30, encoding="utf-8")
    for arguments in (["audit", "p.csv"], ["doctor"], ["--version"]):
        done = run(bare, "-m", "calibkit", *arguments, cwd=tmp_path, MISSING=COURSE)
        assert done.returncode == 0, done.stderr
    (tmp_path / "p.parquet").write_bytes(b"PAR1")
    done = run(bare, "-m", "calibkit", "audit", "p.parquet", cwd=tmp_path, MISSING=COURSE)
    assert done.stderr == (
        'calibkit: p.parquet needs pyarrow: python -m pip install "calibkit[files]"\n'
    )


@pytest.mark.slow
def test_it_measures_and_audits_from_another_folder(python, tmp_path):
    said = run(python, "-c", USE, cwd=tmp_path).stderr
    last = said.splitlines()[-1]  # the one thing that the wheel cannot do, in words
    assert last.startswith("FileNotFoundError"), said
    assert "in the folder of the course, run  python -m data_scripts cifar10" in last
    assert (tmp_path / "own.html").stat().st_size > 10_000
    rows = "".join(f"{k % 2},{0.8 if k % 3 else 0.3}\n" for k in range(60))
    (tmp_path / "predictions.csv").write_text("label,p\n" + rows, encoding="utf-8")
    done = run(python, "-m", "calibkit", "audit", "predictions.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<title>Calibration audit of predictions" in (tmp_path / "audit.html").read_text("utf-8")
