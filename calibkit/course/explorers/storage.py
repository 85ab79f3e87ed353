"""Explorers kept as files: a lesson opens with the slider that its own runs made before.

Each can be written as a folder that works without this course: `python -m calibkit explorer`.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from pathlib import Path

from jinja2 import Template

from calibkit import validate
from calibkit.course import checkout
from calibkit.course.explorers.explorer import HERE, Explorer, Frame, Shown, Slider

ALL_NETWORKS = "networks"

PUBLISHING = "CALIBKIT_PUBLISH"  # set while the committed notebooks are made


def stored(name: str, folder: str | Path | None = None) -> Explorer:
    """The explorer that `keep` wrote when the course was published.

    folder: where it lies; by default notebooks/results/explorers of the course.
    Raises ValueError for a name that is none, FileNotFoundError with the command that makes it.
    """
    path = _path(name, folder)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; run  make notebooks  to write it")
    file = json.loads(path.read_text(encoding="utf-8"))
    page = json.loads(zlib.decompress(base64.b64decode(file["packed"])))
    parts = zip(file["labels"], page["shown"], file["starts"], strict=True)
    sliders = [Slider(label, shown, start=shown[start]) for label, shown, start in parts]
    values = iter(file.get("values", ()))  # an older file has none
    frames = iter(
        Frame(tuple(panels), readout, next(values, {})) for panels, readout in page["frames"]
    )
    return Explorer(
        lambda *_: next(frames), *sliders, description=file["description"], play=file["play"]
    )


def keep(explorer: Explorer, name: str, folder: str | Path | None = None) -> None:
    """Write the explorer for `stored`, while the course is published; else do nothing.

    The last of the numbers and pictures that a lesson opens with are thus those of its own runs.
    """
    if not os.environ.get(PUBLISHING):
        return
    path = _path(name, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = {
        "labels": [slider.label for slider in explorer.sliders],
        "starts": [slider.start for slider in explorer.sliders],
        "description": explorer.description,
        "play": explorer.play,
        "values": [dict(frame.values) for frame in explorer.frames],
        "packed": explorer.packed,
    }
    path.write_text(json.dumps(file, indent=1) + "\n", encoding="utf-8")


def _path(name: str, folder: str | Path | None) -> Path:
    if not re.fullmatch(r"\w+", name):
        raise ValueError(f"name must be letters, digits and _ such as 'label_noise', got {name!r}")
    return Path(folder or checkout.results() / "explorers") / f"{name}.json"


def names() -> tuple[str, ...]:
    """All explorers that the course keeps: the plane of its networks, and its lessons' sliders."""
    kept = (checkout.results() / "explorers").glob("*.json")
    return (ALL_NETWORKS, *sorted(path.stem for path in kept))


def explorer(name: str) -> Shown:
    """The explorer of that name; raises ValueError, with all names, for another one."""
    validate.choice("name", name, names())
    from calibkit.course.explorers.plane import networks  # which reads their table

    return networks() if name == ALL_NETWORKS else stored(name)


def write(name: str, folder: str | Path) -> Path:
    """Write NAME.mjs, and index.html that shows it and says how to use it; returns the page.

    The module holds all that it shows and loads nothing. The page does not need it: a browser
    reads no module from `file://`, so the page has the same explorer with a script of its own.

    Raises ValueError for a name that there is not, and for a folder that is a file.
    """
    shown, folder = explorer(name), Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder must be a folder, got the file {folder}; name another one")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.mjs").write_text(shown.module(), encoding="utf-8")
    page = Template(HERE.joinpath("anywhere.html").read_text(encoding="utf-8"), autoescape=True)
    target = folder / "index.html"
    target.write_text(page.render(name=name, explorer=shown), encoding="utf-8")
    return target
