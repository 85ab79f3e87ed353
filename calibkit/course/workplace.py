"""A learner's own copies of the lessons: what `make lab` opens, so that the checkout stays clean.

`work/` (ignored by git) holds a copy of every lesson, of the evidence, and of the pages and
pictures that they link to. A copy is made once and never overwritten; how the lesson was then is
kept in `work/.origins`, so that a newer lesson can be offered beside it, with the answers in it.
"""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from calibkit.course import checkout
from calibkit.course.checkout import Lesson

NAME = "work"
ORIGINS = ".origins"
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
COPIED = ("", checkout.EVIDENCE, "images")  # folders of notebooks/ whose files a link may name


def prepare(folder: Path | None = None) -> tuple[Path, list[str]]:
    """Make what is missing in the folder of a learner; where it is, and what there is to say.

    folder: by default `work` in the folder of the course, or `calibkit` at home where the course
        cannot be written to.

    Raises ValueError where a named folder cannot be written to.
    """
    place, told = _writable(folder)
    home = checkout.root() / "notebooks"
    shutil.copytree(home / "images", place / "images", dirs_exist_ok=True)
    for page in sorted(home.glob("*.md")):
        text = _linked(page.read_text(encoding="utf-8"), page.parent)
        (place / page.name).write_text(text, encoding="utf-8")
    for lesson in (*checkout.lessons(), *checkout.evidence()):
        told += _copy(lesson, place)
    return place, told


def reset(only: str, folder: Path | None = None) -> list[str]:
    """Put a lesson's own copy aside, under a name with the date, and copy the lesson anew.

    only: with what the lesson's name begins, such as "06". Returns what there is to say.

    Raises ValueError for a name that no lesson begins with.
    """
    place, told = _writable(folder)
    for lesson in checkout.lessons(only):
        own = place / f"{lesson.name}.ipynb"
        if own.exists():
            aside = own.with_name(f"{lesson.name}_{time.strftime('%Y-%m-%d_%H%M%S')}.ipynb")
            own.rename(aside)
            told.append(f"{own.name} is new; yours is kept as {aside.name}")
        told += _copy(lesson, place)
    return told


def _writable(folder: Path | None) -> tuple[Path, list[str]]:
    """The folder, made if need be."""
    places = [Path(folder)] if folder else [checkout.root() / NAME, Path.home() / "calibkit"]
    for place in places:
        try:
            (place / ORIGINS / checkout.EVIDENCE).mkdir(parents=True, exist_ok=True)
            (place / checkout.EVIDENCE).mkdir(exist_ok=True)
            (place / ORIGINS / "written").write_text("", encoding="utf-8")
        except OSError as error:
            why = error.strerror
            continue
        elsewhere = f"{places[0]} cannot be written to, so your lessons are in {place}"
        return place, [elsewhere] if place != places[0] else []
    raise ValueError(
        f"your copies of the lessons cannot be written to {places[-1]}: {why}; "
        "name another folder with  calibkit lab --work FOLDER"
    )


def _copy(lesson: Lesson, place: Path) -> list[str]:
    """Copy a lesson that is not there yet, or offer a newer one beside it."""
    import nbformat

    fresh = nbformat.read(lesson.notebook, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "markdown":
            cell.source = _linked(cell.source, lesson.notebook.parent)
    target, kept = place / f"{lesson.name}.ipynb", place / ORIGINS / f"{lesson.name}.ipynb"
    if not (target.exists() and kept.exists()):
        return [] if target.exists() else _store(fresh, target, kept)
    own, origin = (nbformat.read(path, as_version=4) for path in (target, kept))
    # equal cells and outputs, however often it was opened since
    held = [[(c.source, c.get("outputs")) for c in one.cells] for one in (fresh, own, origin)]
    if held[0] == held[2]:
        return []
    if held[1] == held[2]:
        return _store(fresh, target, kept)
    offered = target.with_name(f"{target.stem}_new.ipynb")
    if offered.exists():
        return [f"{offered.name} waits beside your {target.name}; rename or delete one of them"]
    _store(fresh, kept)
    _store(answered(fresh, own, origin), offered)
    return [f"{target.name} has a newer form: {offered.name} beside yours, with your answers in it"]


def answered(fresh, own, origin):
    """The notebook `fresh` with what somebody wrote in `own`, a changed copy of `origin`.

    A cell that was changed goes where `fresh` has its original; a cell that was added follows the
    one that it followed, or stands at the end.
    """
    before = {cell.id: cell.source for cell in origin.cells}
    place, last = {cell.source: i for i, cell in enumerate(fresh.cells)}, None
    added: list[tuple[int, dict]] = []
    for cell in own.cells:
        was = before.get(cell.id)
        if was is not None:
            last = place.get(was, last)
            if cell.source != was and was in place:
                target = fresh.cells[place[was]]
                target.source = cell.source
                if cell.cell_type == "code":
                    target.outputs, target.execution_count = [], None
        elif cell.source.strip():
            added.append((len(fresh.cells) if last is None else last + 1, cell))
    for number, cell in reversed(added):
        fresh.cells.insert(number, cell)
    return fresh


def _store(notebook, *targets: Path) -> list[str]:
    """Write a notebook of the course, trusted: its sliders move before anything is run."""
    import nbformat
    from nbformat.sign import NotebookNotary

    for target in targets:
        nbformat.write(notebook, target)
    NotebookNotary().sign(nbformat.read(targets[0], as_version=4))
    return []


def _linked(text: str, folder: Path) -> str:
    """A text whose links stay among the copies; of what lies elsewhere it names the path."""
    home = checkout.root() / "notebooks"

    def link(found: re.Match) -> str:
        words, path, _ = found.groups()
        target = (folder / path).resolve()
        if any(target.parent == home / name for name in COPIED) and target.suffix:
            return found[0]
        return f"{words} (`{target.relative_to(checkout.root())}` in the folder of the course)"

    return LINK.sub(link, text)
