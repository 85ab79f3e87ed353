"""Explorers kept as files: a lesson opens with the slider that its own runs made before."""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from pathlib import Path

from calibkit.course.explorers.explorer import Explorer, Frame, Slider

PUBLISHING = "CALIBKIT_PUBLISH"  # set while the committed notebooks are made
FOLDER = Path("results", "explorers")


def stored(name: str, folder: str | Path | None = None) -> Explorer:
    """The explorer that `keep` wrote when the course was published.

    folder: where it lies; by default notebooks/results/explorers of the course.
    Raises ValueError for a name that is none, FileNotFoundError with the command that makes it.
    """
    path = _path(name, folder)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; run  make notebooks  to write it")
    kept = json.loads(path.read_text(encoding="utf-8"))
    content = json.loads(zlib.decompress(base64.b64decode(kept["packed"])))
    sliders = [
        Slider(label, shown, start=shown[start])
        for label, shown, start in zip(
            kept["labels"], content["shown"], kept["starts"], strict=True
        )
    ]
    frames = iter(Frame(tuple(panels), readout) for panels, readout in content["frames"])
    return Explorer(
        lambda *values: next(frames), *sliders, description=kept["description"], play=kept["play"]
    )


def keep(explorer: Explorer, name: str, folder: str | Path | None = None) -> None:
    """Write the explorer for `stored`, while the course is published; else do nothing.

    The last of the numbers and pictures that a lesson opens with are thus those of its own runs.
    """
    if not os.environ.get(PUBLISHING):
        return
    path = _path(name, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {
        "labels": [slider.label for slider in explorer.sliders],
        "starts": [slider.start for slider in explorer.sliders],
        "description": explorer.description,
        "play": explorer.play,
        "packed": explorer.packed,
    }
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _path(name: str, folder: str | Path | None) -> Path:
    if not re.fullmatch(r"\w+", name):
        raise ValueError(f"name must be letters, digits and _ such as 'label_noise', got {name!r}")
    return (_home() / FOLDER if folder is None else Path(folder)) / f"{name}.json"


def _home() -> Path:
    """The folder of the notebooks, from which a lesson runs."""
    for place in (Path.cwd(), *Path.cwd().parents):
        for notebooks in (place, place / "notebooks"):
            if (notebooks / "results").is_dir() and (notebooks / "source").is_dir():
                return notebooks
    return Path.cwd()
