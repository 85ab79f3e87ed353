"""Get the files of a dataset, from its address or from a folder, and never trust them.

A file counts as there when it has its published hash. Where none is published, the SHA-256 of the
first copy that could be prepared stands in about.json, and every later copy has to equal it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import filelock
import pooch
import requests

from calibkit.lab.data import prepared
from data_scripts.source import FetchError, File, Source

TIMEOUT = 60  # seconds without a byte
CHUNK = 2**16  # what a broken connection loses at most


def obtain(source: Source, folder: Path, given: Sequence[Path] = ()) -> dict[str, Path]:
    """The verified files of `source` by name: downloaded into folder/archives, or among `given`.

    Two processes that fetch the same dataset take turns; the second finds what the first fetched.
    Raises FetchError for a file that is missing, incomplete or not the published one.
    """
    if given:
        found = _match(source, given)
        for file in source.files:
            _verify(file, found[file.name], folder)
        return found
    with alone(folder):
        return {file.name: _download(file, folder) for file in source.files}


def alone(folder: Path) -> filelock.FileLock:
    """What keeps other processes that fetch or place the same dataset waiting."""
    folder.mkdir(parents=True, exist_ok=True)
    return filelock.FileLock(folder / ".lock")


def hashes(source: Source, files: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """The hash of each file: the expected one, which it has, or its own where none is known."""
    return {
        file.name: expected_hash(file, folder) or _hash_like("sha256:", files[file.name])
        for file in source.files
    }


def forget(source: Source, files: Mapping[str, Path], folder: Path) -> None:
    """Drop downloads of unknown hash that cannot be read: perhaps a page that asks to log in."""
    for file in source.files:
        path = files[file.name]
        if expected_hash(file, folder) is None and path.parent == folder / "archives":
            path.unlink(missing_ok=True)


def expected_hash(file: File, folder: Path) -> str | None:
    """The published hash of a file, or that of the copy that was prepared, or None."""
    with contextlib.suppress(OSError, ValueError):  # not prepared yet, or damaged
        return file.hash or prepared.about(folder.name, folder.parent)["archives"].get(file.name)
    return None


def _match(source: Source, given: Sequence[Path]) -> dict[str, Path]:
    """Which of the given files, or of the files in a given folder, is which."""
    if len(source.files) == 1 and len(given) == 1 and given[0].is_file():
        return {source.files[0].name: given[0]}  # under any name
    candidates = [p for path in given for p in (path.iterdir() if path.is_dir() else [path])]
    by_name = {path.name: path for path in candidates if path.is_file()}
    missing = [file.name for file in source.files if file.name not in by_name]
    if missing:
        raise FetchError(
            f"{source.name} needs {', '.join(missing)}, not found in "
            f"{', '.join(map(str, given))}; name the files or a folder that holds them"
        )
    return {file.name: by_name[file.name] for file in source.files}


def _verify(file: File, path: Path, folder: Path) -> None:
    """Refuse a file whose hash is not the expected one."""
    expected = expected_hash(file, folder)
    if expected and not pooch.hashes.hash_matches(str(path), expected):
        raise FetchError(
            f"{path} is not {file.name} as {_authority(file, folder)}: expected {expected}, got "
            f"{_hash_like(expected, path)}; it is incomplete, damaged or another file: get it anew"
        )


def _authority(file: File, folder: Path) -> str:
    return "published" if file.hash else f"first seen (recorded in {folder / 'prepared'})"


def _hash_like(expected: str, path: Path) -> str:
    algorithm = expected.split(":")[0]
    return f"{algorithm}:{pooch.file_hash(str(path), alg=algorithm)}"


def _download(file: File, folder: Path) -> Path:
    """The file in folder/archives, which it enters whole and verified or not at all."""
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    expected = expected_hash(file, folder)
    try:
        path = pooch.retrieve(
            file.url,
            known_hash=expected,
            fname=file.name,
            path=archives,
            downloader=partial(_stream, part=archives / f"{file.name}.part", resume=bool(expected)),
        )
    except requests.RequestException as error:
        reason = f"{type(error).__name__}: {error}"
        raise FetchError(
            f"{file.name} did not arrive from {file.url} ({reason[:200]}); run the same command "
            f"again to go on, or pass --from-file with a copy of it"
        ) from error
    except ValueError as error:  # pooch found another hash and threw the file away
        raise FetchError(
            f"{file.name} from {file.url} is not the file {_authority(file, folder)}: {error} "
            f"Nothing was kept; run the command again, or pass --from-file with a good copy"
        ) from error
    _verify(file, Path(path), folder)
    return Path(path)


def _stream(url: str, output_file: str, _pooch, *, part: Path, resume: bool) -> None:
    """Download into `part`, going on where an earlier try broke off if the server can do that.

    Without a hash to check the joined pieces against (`resume` false) every try starts afresh.
    """
    with open(part, "ab" if resume else "wb") as kept:
        fetch = pooch.HTTPDownloader(
            progressbar=True,
            chunk_size=CHUNK,
            timeout=TIMEOUT,
            # as stored: a server that compresses on the way would make offsets meaningless
            headers={"Range": f"bytes={kept.tell()}-", "Accept-Encoding": "identity"},
            hooks={"response": partial(_start_over_unless_partial, kept)},
        )
        fetch(url, kept, None)
    os.replace(part, output_file)


def _start_over_unless_partial(kept: BinaryIO, response: requests.Response, **_) -> None:
    """Drop what was kept where the server sends the whole file, or has nothing after it."""
    if response.status_code in (requests.codes.ok, requests.codes.range_not_satisfiable):
        kept.truncate(0)
