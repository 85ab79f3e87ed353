"""Read archives member by member; refuse those that reach outside themselves or swell too far."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from data_scripts.source import ArchiveError

Wanted = Callable[[str], bool]
Member = tuple[
    str, int, str, Callable[[], bytes]
]  # name, bytes, file, folder or other, its content
# What an archive may hold: the densest of the published ones, of small numbers, hold ten times
# their own size.
TIMES, BESIDES = 30, 64 * 2**20
CHUNK = 2**20


def members(path: Path, wanted: Wanted = lambda name: True) -> Iterator[tuple[str, bytes]]:
    """Name and content of the wanted files of a tar or zip archive, in its order.

    Nothing is written to disk. Raises ArchiveError for a member with an absolute or climbing path,
    a link or a device, wanted or not, and before it reads more than `most_of(path)` bytes.
    """
    if not (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)):
        raise ArchiveError(f"{path} is neither a tar nor a zip archive")
    total, most = 0, most_of(path)
    for name, size, kind, read in (_tar if tarfile.is_tarfile(path) else _zip)(path):
        total += size
        _refuse_swollen(path, total, most)
        place = PurePosixPath(name.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or ":" in "".join(place.parts[:1]):
            raise ArchiveError(
                f"{path} is not safe: its member {name!r} points outside the archive"
            )
        if kind == "other":
            raise ArchiveError(f"{path} is not safe: its member {name!r} is a link or a device")
        plain = str(PurePosixPath(name))  # "./train.de" is train.de
        if kind == "file" and wanted(plain):
            yield plain, read()


def read(path: Path, name: str) -> bytes:
    """The content of the one member called `name`."""
    for _, content in members(path, lambda member: member == name):
        return content
    raise ArchiveError(f"{path} holds no {name}")


def most_of(path: Path) -> int:
    """How many bytes the content of an archive or of a packed file may have."""
    return TIMES * path.stat().st_size + BESIDES


def gunzip(path: Path, target: Path) -> Path:
    """Unpack a gzipped file to `target`; raises ArchiveError where it holds more than it may."""
    written, most = 0, most_of(path)
    with gzip.open(path) as packed, open(target, "wb") as plain:
        while chunk := packed.read(CHUNK):
            written += len(chunk)
            _refuse_swollen(path, written, most)
            plain.write(chunk)
    return target


def _tar(path: Path) -> Iterator[Member]:
    with tarfile.open(path) as tar:
        for one in tar:
            kind = "file" if one.isreg() else "folder" if one.isdir() else "other"
            yield one.name, one.size, kind, lambda one=one: tar.extractfile(one).read()
            tar.members = []  # hundreds of thousands of pictures: forget those gone by


def _zip(path: Path) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for one in archive.infolist():
            mode = stat.S_IFMT(one.external_attr >> 16)
            kind = "folder" if one.is_dir() else "file"
            kind = kind if mode in (0, stat.S_IFREG, stat.S_IFDIR) else "other"
            yield one.filename, one.file_size, kind, lambda one=one: archive.read(one)


def _refuse_swollen(path: Path, size: int, most: int) -> None:
    if size > most:
        raise ArchiveError(
            f"{path} has {path.stat().st_size / 1e6:.3g} MB and says that it holds at least "
            f"{size / 1e6:.3g} MB; more than {most / 1e6:.3g} MB is not unpacked"
        )
