"""An explorer as a folder that works without this course: `python -m calibkit explorer`."""

from __future__ import annotations

from html import escape
from pathlib import Path

from calibkit import validate
from calibkit.course import checkout
from calibkit.course.explorers.explorer import HERE, Shown
from calibkit.course.explorers.library import stored

ALL_NETWORKS = "networks"


def names() -> tuple[str, ...]:
    """All explorers that the course keeps: the plane of its networks, and its lessons' sliders."""
    kept = (checkout.results() / "explorers").glob("*.json")
    return (ALL_NETWORKS, *sorted(path.stem for path in kept))


def explorer(name: str) -> Shown:
    """The explorer of that name; raises ValueError, with all names, for another one."""
    validate.choice("name", name, names())
    from calibkit.course.explorers import networks

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
    words = {"NAME": name, "TITLE": escape(shown.name), "EXPLORER": shown.html()}
    page = HERE.joinpath("anywhere.html").read_text(encoding="utf-8")
    for place, filling in words.items():
        page = page.replace(f"[[{place}]]", filling)
    target = folder / "index.html"
    target.write_text(page, encoding="utf-8")
    return target
