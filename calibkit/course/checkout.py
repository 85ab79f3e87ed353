"""Where the course lies and what it holds: its lessons, and the tables of their stored runs.

It imports nothing heavy, so that what only looks for the course starts fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lesson:
    """One notebook of the course and its text twin."""

    source: Path

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def notebook(self) -> Path:
        return self.source.parent.parent / f"{self.name}.ipynb"


def root() -> Path:
    """The folder that holds notebooks/; raises FileNotFoundError outside a checkout."""
    for folder in (Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[2]):
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
    every = [Lesson(path) for path in sorted((root() / "notebooks" / "source").glob("*.py"))]
    chosen = [lesson for lesson in every if lesson.name.startswith(only or "")]
    if not chosen:
        raise ValueError(
            f"no lesson starts with {only!r}; there are {', '.join(x.name for x in every)}"
        )
    return chosen


def results() -> Path:
    """The folder of the stored tables: beside the notebook that runs, else in the checkout."""
    beside = Path.cwd() / "results"
    return beside if (beside / "laptop").is_dir() else root() / "notebooks" / "results"
