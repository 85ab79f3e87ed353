"""Where the course lies and what it holds: lessons, evidence, and the tables of their stored runs.

It imports nothing heavy, so that what only looks for the course starts fast.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

COURSE = "CALIBKIT_COURSE"  # the environment's word for the folder of the course
EVIDENCE = "evidence"  # the folder of what referees read, beside the lessons and their twins


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course, a lesson or the evidence beside it, and its text twin."""

    source: Path

    @property
    def is_evidence(self) -> bool:
        return self.source.parent.name == EVIDENCE

    @property
    def name(self) -> str:
        """Such as 06_label_noise; of its evidence evidence/06_label_noise."""
        return f"{EVIDENCE}/{self.source.stem}" if self.is_evidence else self.source.stem

    @property
    def number(self) -> str:
        return self.source.stem[:2]

    @property
    def notebook(self) -> Path:
        """notebooks/NAME.ipynb of notebooks/source/NAME.py."""
        home = self.source.parents[2 if self.is_evidence else 1]
        return home / f"{self.name}.ipynb"


def root() -> Path:
    """The folder that holds notebooks/; raises FileNotFoundError outside a checkout."""
    named = [Path(os.environ[COURSE])] if COURSE in os.environ else []
    for folder in (Path.cwd(), *Path.cwd().parents, *named, Path(__file__).resolve().parents[2]):
        if (folder / "notebooks" / "source").is_dir():
            return folder
    raise FileNotFoundError(
        f"no notebooks/source above {Path.cwd()}: the lessons are not part of the installed "
        f"package; run this in the folder of the course"
    )


def lessons(only: str | None = None) -> list[Lesson]:
    """The lessons in order, or those whose name starts with `only`.

    Raises ValueError, with the names that there are, where no lesson starts so.
    """
    every = _twins(root() / "notebooks" / "source")
    chosen = [lesson for lesson in every if lesson.name.startswith(only or "")]
    if not chosen:
        raise ValueError(
            f"no lesson starts with {only!r}; there are {', '.join(x.name for x in every)}"
        )
    return chosen


def evidence(only: str | None = None) -> list[Lesson]:
    """The evidence of the lessons whose name starts with `only`, in order: those that have some."""
    every = _twins(root() / "notebooks" / "source" / EVIDENCE)
    return [twin for twin in every if twin.source.stem.startswith(only or "")]


def _twins(folder: Path) -> list[Lesson]:
    return [Lesson(path) for path in sorted(folder.glob("*.py"))]


def with_study() -> None:
    """Let `study`, the package beside the evidence, be imported, here and in processes to come."""
    folder = str(root() / "notebooks" / EVIDENCE)
    if folder not in sys.path:
        sys.path.append(folder)
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, known), folder])


def study(module: str) -> ModuleType:
    """A module of the study: the one way to it, for two commands and the scales gpu and paper."""
    with_study()
    return importlib.import_module(f"study.{module}")


def results() -> Path:
    """The folder of the stored tables: near the notebook that runs, else in the checkout."""
    for folder in (Path.cwd(), Path.cwd().parent):
        if (folder / "results" / "laptop").is_dir():
            return folder / "results"
    return root() / "notebooks" / "results"
