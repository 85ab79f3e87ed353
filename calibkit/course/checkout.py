"""Where the course lies. It imports nothing heavy, so that what only looks for it starts fast."""

from __future__ import annotations

from pathlib import Path


def root() -> Path:
    """The folder that holds notebooks/; raises FileNotFoundError outside a checkout."""
    for folder in (Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parents[2]):
        if (folder / "notebooks" / "source").is_dir():
            return folder
    raise FileNotFoundError(
        f"no notebooks/source above {Path.cwd()}: the lessons are not part of the installed "
        f"package; run this in the folder of the course"
    )
