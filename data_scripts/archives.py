"""Read archives member by member, in memory: no path is used, no link followed, nothing written."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from data_scripts.source import ArchiveError


def members(
    path: Path, wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, bytes]]:
    """Name and content of the wanted files of a tar or zip archive, in its order.

    Raises ArchiveError for what is neither.
    """
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for one in tar:
                name = str(PurePosixPath(one.name))  # "./train.de" is train.de
                if one.isreg() and wanted(name):
                    yield name, tar.extractfile(one).read()
                tar.members = []  # hundreds of thousands of pictures: forget those gone by
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                name = str(PurePosixPath(one.filename))
                if not one.is_dir() and wanted(name):
                    yield name, archive.read(one)
    else:
        raise ArchiveError(f"{path} is neither a tar nor a zip archive")


def read(path: Path, name: str) -> bytes:
    """The content of the one member called `name`."""
    for _, content in members(path, lambda member: member == name):
        return content
    raise ArchiveError(f"{path} holds no {name}")
