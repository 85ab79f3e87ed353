"""What one row of the registry says, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

Columns = Mapping[str, Tensor | Sequence[str]]


class FetchError(RuntimeError):
    """A file that could not be had, or is not the one that was published."""


class ArchiveError(RuntimeError):
    """An archive that is damaged, unsafe, or not laid out as its dataset is."""


class FullError(RuntimeError):
    """A disk without room, which no fresh copy of an archive would mend."""


class Parsed(NamedTuple):
    """A dataset read from its own format: class names, and the splits one after the other."""

    classes: Sequence[str]
    splits: Iterator[tuple[str, Columns]]


@dataclass(frozen=True)
class File:
    """One file to fetch. `hash` is "md5:..." or "sha256:..." as published, or None."""

    url: str
    hash: str | None
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.url.rsplit("/", 1)[-1])


@dataclass(frozen=True)
class Source:
    """A dataset: where it is, how it is read, and what one must know before using it.

    size: of the download, in words. parse: from the verified files by name to `Parsed`.
    sizes: samples per split, where they are known beforehand; anything else is refused.
    evidence: where address and hash are published.
    base: dataset and split whose images, statistics and other splits serve.
    """

    name: str
    title: str
    size: str
    licence: str
    parse: Callable[[Mapping[str, Path]], Parsed]
    sizes: Mapping[str, int]
    evidence: str
    files: tuple[File, ...]
    base: tuple[str, str] | None = None

    @property
    def verified(self) -> bool:
        """Whether every file has a published hash."""
        return all(file.hash for file in self.files)
