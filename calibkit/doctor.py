"""Say in plain words what is installed, which device is used, what is missing and how to get it."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

BESIDES = {"magika"}  # of the course: lesson 17 has a stored walk, and says how it is installed
ASKED = re.compile(r"([\w.-]+)(?:.*extra == .(\w+))?")  # torch>=2.11; extra == "course"
# double quotes: cmd and PowerShell take them as bash does
BY_NAME = 'python -m pip install "calibkit[course]"'
INSTALL = 'python -m pip install -c constraints.txt -e ".[course]"'
ADVICE = f"What the course needs is installed, in its folder, by\n    {INSTALL}"


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    good: bool
    text: str


def report() -> tuple[str, bool]:
    """The whole report, and whether all is there that the package needs, or the course beside it.

    The course is judged where its folder is, and its window, JupyterLab, is installed.
    """
    notebooks, opening = _notebooks()
    package = [_python(), *map(_package, needed()), _device()]
    course = [*map(_package, needed("course")), notebooks]
    judged = _package("jupyterlab").good and notebooks.good and bool(opening)
    marks = {True: "ok", False: "!!" if judged else "--"}
    lines = [f"[{'ok' if f.good else '!!'}] {f.text}" for f in package]
    lines += [f"[{marks[f.good]}] {f.text}" for f in course]
    healthy, complete = all(f.good for f in package), all(f.good for f in course)
    if healthy and complete:
        lines.append(f"Everything is in place. {opening}".rstrip())
    elif healthy and not judged:
        lines.append(f"The package is complete. What is marked -- the course would add: {BY_NAME}")
    elif healthy:
        lines.append(f"Something is missing. {ADVICE}")
    else:
        lines.append("Something is missing: python -m pip install calibkit")
    return "\n".join(lines), healthy and (complete or not judged)


def advice(error: ModuleNotFoundError) -> str:
    """One line that says what is missing and how it is installed.

    >>> advice(ModuleNotFoundError(name="papermill"))
    'papermill is missing: python -m pip install "calibkit[course]"'
    """
    if "pip install" in str(error):
        return str(error)
    name = (error.name or "a package").partition(".")[0]
    package = {"sklearn": "scikit-learn"}.get(name, name)
    install = "python -m pip install calibkit" if package in needed() else BY_NAME
    return f"{package} is missing: {install}"


def needed(extra: str = "") -> list[str]:
    """What pyproject.toml asks for: the package itself, or one of its extras beside that."""
    try:
        lines = requires("calibkit") or []
    except PackageNotFoundError:
        lines = []
    asked = [found.groups() for line in lines if (found := ASKED.match(line))]
    own = [name for name, of in asked if of is None]
    if not extra:
        return ["calibkit", *own]
    return [name for name, of in asked if of == extra and name not in {*own, *BESIDES}]


def _python() -> Finding:
    return Finding(True, f"Python {platform.python_version()} at {sys.executable}")


def _package(name: str) -> Finding:
    try:
        return Finding(True, f"{name} {version(name)}")
    except PackageNotFoundError:
        return Finding(False, f"{name} is missing; get it with  python -m pip install {name}")


def _device() -> Finding:
    try:
        import torch

        from calibkit.lab.training import as_device
    except ImportError as error:
        return Finding(False, f"no device can be chosen: {error}")
    device = as_device("auto")
    if device.type == "cuda":
        memory = torch.cuda.get_device_properties(device).total_memory / 2**30
        return Finding(True, f"device cuda: {torch.cuda.get_device_name()}, {memory:.0f} GiB")
    if device.type == "mps":
        return Finding(True, "device mps: an Apple GPU")
    return Finding(
        True,
        f"device cpu, {torch.get_num_threads()} threads: enough for SCALE=smoke and laptop; "
        "SCALE=gpu and paper want a GPU",
    )


def _notebooks() -> tuple[Finding, str]:
    """Where the lessons are, and how they are opened; the installed package has none to open."""
    if find_spec("calibkit.course.check") is None:
        return Finding(True, "the package alone: lessons are in the folder of the course"), ""
    try:
        from calibkit.course.checkout import lessons

        notebooks = lessons()
    except FileNotFoundError:  # a student's machine has the package, and a folder of lessons
        text = "no folder of the course here: the lessons are those that somebody gave you"
        return Finding(True, text), "To open your folder of lessons: python -m jupyterlab FOLDER"
    except (ImportError, ValueError) as error:
        return Finding(False, f"the notebooks are not here: {error}"), ""
    text = f"{len(notebooks)} notebooks in {notebooks[0].notebook.parent}"
    return Finding(True, text), "To open the course: python -m calibkit lab  or  make lab"


def machine(device) -> str:
    """One line for a notebook: the versions that shape its numbers, and the device."""
    import torch

    from calibkit import __version__

    return f"calibkit {__version__}, torch {torch.__version__.split('+')[0]}, device {device}"
