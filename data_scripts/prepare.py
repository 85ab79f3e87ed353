"""From verified files to the prepared form, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from calibkit.lab.data import prepared
from data_scripts import fetch
from data_scripts.source import ArchiveError, Columns, FullError, Source

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room, no quota, no file of this size
LEFTOVER = 24 * 3600  # seconds after which the folder of a killed run is swept away


def prepare(source: Source, root: Path, given: Sequence[Path] = ()) -> Path:
    """Fetch, verify, parse and place one dataset; returns the folder of its prepared form.

    What is there already is hashed, and made anew only if it is damaged.
    Raises FetchError, ArchiveError or FullError; ROOT then holds what it held before, and at most
    the verified archives and the beginning of a download besides.
    """
    folder = root / source.name
    target = folder / "prepared"
    if _is_good(source.name, root):
        print(f"{source.name} is already in {target}; every file is as it was prepared")
        return target
    with _room(source.name, folder):
        files = fetch.obtain(source, folder, given)
        with _workshop(folder) as work:
            hashes = fetch.hashes(source, files, folder)
            try:
                _build(source, files, hashes, work / "new")
            except ArchiveError:
                fetch.forget(source, files, folder)
                raise
            with fetch.alone(folder):
                if target.exists():
                    os.replace(target, work / "old")
                os.replace(work / "new", target)
    print(f"{source.name} is ready in {target}")
    for file in source.files:
        if file.hash is None:
            print(
                f"{file.name}: no hash is published; recorded {hashes[file.name]} in about.json. "
                f"Compare it with that of a colleague."
            )
    return target


def state(source: Source, root: Path) -> str:
    """absent, fetched or prepared; and unverified where no hash is published."""
    folder = root / source.name
    if (folder / "prepared" / prepared.ABOUT).is_file():
        found = "prepared"
    elif all((folder / "archives" / file.name).is_file() for file in source.files):
        found = "fetched"
    else:
        found = "absent"
    if source.verified:
        return found
    recorded = all(fetch.expected_hash(file, folder) for file in source.files)
    return f"{found}, unverified" + (" (hash recorded here)" if recorded else "")


def table(sources: Mapping[str, Source], root: Path) -> str:
    """All datasets with size, licence and state."""
    rows = [("name", "download", "licence", "state", "what it is")]
    rows += [(s.name, s.size, s.licence, state(s, root), s.title) for s in sources.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)])
        for row in rows
    ]
    unsure = [f"{s.name}: {s.evidence}" for s in sources.values() if not s.verified]
    return "\n".join([*lines, "", f"in {root}", "unverified:", *(f"  {line}" for line in unsure)])


def _is_good(name: str, root: Path) -> bool:
    """Whether a prepared form is there whose every byte is as it was written."""
    try:
        return not prepared.damaged(name, root)
    except (OSError, ValueError, KeyError):  # absent, of another version, or its json is damaged
        return False


def _build(source: Source, files: Mapping[str, Path], hashes: Mapping[str, str], new: Path) -> None:
    """Parse into `new`. Whatever a reader stumbles over is the archive's fault, but a full disk."""
    new.mkdir()
    facts = {name: getattr(source, name) for name in ("name", "title", "licence", "base")}
    facts |= {"archives": hashes, "verified": source.verified}
    try:
        classes, splits = source.parse(files)
        prepared.write(new, _checked(source, splits), classes, facts)
    except Exception as error:  # of any type: these are the bytes of strangers
        if full := _full(error):
            raise full from None
        raise ArchiveError(
            f"{source.name}: {', '.join(map(str, files.values()))} cannot be read as "
            f"{source.title} ({type(error).__name__}: {error}); nothing was placed"
        ) from error


def _checked(
    source: Source, splits: Iterator[tuple[str, Columns]]
) -> Iterator[tuple[str, Columns]]:
    """The splits, refused where one is missing or has another length than is known."""
    found = {}
    for split, columns in splits:
        found[split] = len(next(iter(columns.values())))
        yield split, columns
    if source.sizes and found != dict(source.sizes):
        raise ArchiveError(f"it should have {dict(source.sizes)}, its files hold {found}")


def _full(error: BaseException | None) -> OSError | None:
    """The error of a full disk behind `error`: torch.save hides it under one of its own."""
    while error and not (isinstance(error, OSError) and error.errno in FULL):
        error = error.__cause__ or error.__context__
    return error


@contextlib.contextmanager
def _room(name: str, folder: Path) -> Iterator[None]:
    """Call a full disk by its name."""
    try:
        yield
    except OSError as error:
        if not _full(error):
            raise
        raise FullError(
            f"{name}: no room is left in {folder} or in {tempfile.gettempdir()} ({error}); "
            f"nothing was placed. Make room, or name another disk with --root (TMPDIR for the "
            f"second), and run the same command again"
        ) from error


@contextlib.contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A folder of one's own beside the target, on the same disk, gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(".making-*"):
        if time.time() - old.stat().st_mtime > LEFTOVER:
            shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as work:
        yield Path(work)
