"""Read archives member by member; refuse those that reach outside themselves or swell too far."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from data_scripts.errors import ArchiveError

Wanted = Callable[[str], bool]
# What an archive may hold: the densest of the published ones, of small numbers, hold ten times
# their own size.
TIMES, BESIDES = 30, 64 * 2**20
CHUNK = 2**20


def members(path: Path, wanted: Wanted = lambda name: True) -> Iterator[tuple[str, bytes]]:
    """Name and content of the wanted files of a tar or zip archive, in its order.

    Nothing is written to disk. Raises ArchiveError for a member with an absolute or climbing path,
    a link or a device, wanted or not, and before it reads more than `most_of(path)` bytes.
    """
    if tarfile.is_tarfile(path):
        yield from _tar_members(path, wanted)
    elif zipfile.is_zipfile(path):
        yield from _zip_members(path, wanted)
    else:
        raise ArchiveError(f"{path} is neither a tar nor a zip archive")


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


def _tar_members(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    total, most = 0, most_of(path)
    with tarfile.open(path) as tar:
        for member in tar:
            total += member.size
            _refuse_swollen(path, total, most)
            _refuse_unsafe(path, member.name, regular=member.isreg() or member.isdir())
            tarfile.data_filter(member, ".")
            name = _plain(member.name)
            if member.isreg() and wanted(name):
                yield name, tar.extractfile(member).read()
            tar.members = []  # hundreds of thousands of pictures: forget those gone by


def _zip_members(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    total, most = 0, most_of(path)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            total += member.file_size
            _refuse_swollen(path, total, most)
            mode = member.external_attr >> 16
            link = bool(mode) and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
            _refuse_unsafe(path, member.filename, regular=not link)
            if not member.is_dir() and wanted(_plain(member.filename)):
                yield _plain(member.filename), archive.read(member)


def _plain(name: str) -> str:
    return str(PurePosixPath(name))  # "./train.de" is train.de


def _refuse_swollen(path: Path, size: int, most: int) -> None:
    if size > most:
        raise ArchiveError(
            f"{path} has {path.stat().st_size / 1e6:.3g} MB and says that it holds at least "
            f"{size / 1e6:.3g} MB; more than {most / 1e6:.3g} MB is not unpacked"
        )


def _refuse_unsafe(path: Path, name: str, *, regular: bool) -> None:
    place = PurePosixPath(name.replace("\\", "/"))
    if place.is_absolute() or ".." in place.parts or ":" in "".join(place.parts[:1]):
        raise ArchiveError(f"{path} is not safe: its member {name!r} points outside the archive")
    if not regular:
        raise ArchiveError(f"{path} is not safe: its member {name!r} is a link or a device")
