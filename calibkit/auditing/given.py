"""What was read of a file of predictions, and two such readings that belong together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibkit.auditing.scores import Kind, Scores, scores_of


@dataclass(frozen=True)
class Given:
    """What a file holds: scores and labels, perhaps groups and the names of the classes.

    scores: (n, K), or (n,) of the class 1 of two. labels: (n,) numbers of the columns. kind: as
    `audit` takes it. beside: further columns that were asked for. kept: (rows of the file,) which
    of them these are. told: which columns were taken for what.
    """

    scores: Any
    labels: Any
    kind: Kind = "auto"
    groups: Any = None
    names: list[str] | None = None
    told: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    kept: Any = None

    def checked(self) -> Scores:
        """The scores with what they are, as `audit` takes those of a second file."""
        return scores_of(self.scores, self.kind)[0]

    def rows(self, chosen: np.ndarray) -> Given:
        """Some rows of it, as a mask over those of the file."""
        if self.kept is None or np.array_equal(self.kept, chosen):
            return self
        part = chosen[self.kept]
        groups = None if self.groups is None else self.groups[part]
        beside = {name: column[part] for name, column in self.beside.items()}
        return replace(
            self,
            scores=self.scores[part],
            labels=self.labels[part],
            groups=groups,
            beside=beside,
            kept=chosen,
        )


def like(given: Given, first: Given) -> Given:
    """The same predictions with the columns in the order of another file's classes."""
    if _counted(given.names) == _counted(first.names):
        return given
    if given.names is None or first.names is None or set(given.names) != set(first.names):
        raise ValueError(
            f"two files must have the same classes, got {first.names} and {given.names}; name them "
            f"with --classes, or --positive"
        )
    if np.ndim(given.scores) == 1:
        raise ValueError(
            f"two files must have the same positive class, got {first.names[1]!r} and "
            f"{given.names[1]!r}; say it with --positive"
        )
    order = [given.names.index(name) for name in first.names]
    place = np.argsort(order)
    return replace(
        given, scores=given.scores[:, order], labels=place[given.labels], names=first.names
    )


def _counted(words: list[str] | None) -> list[str] | None:
    """Names, but for those that only count the columns from 0."""
    return None if words is None or words == list(map(str, range(len(words)))) else words


def paired(first: Given, second: Given, names_: tuple[str, str]) -> tuple[Given, Given]:
    """Two models on the same rows: those that neither file lacks.

    names_: of the files, for the error where the labels differ. Of answers each model has its own
    labels, whether it is right, so that only the number of rows is compared.
    """
    second = like(second, first)
    same = np.shape(first.kept) == np.shape(second.kept)
    if same and first.kept is not None:
        both = first.kept & second.kept
        first, second = first.rows(both), second.rows(both)
    if first.kind == second.kind == "confidence" and len(first.labels) == len(second.labels):
        return first, second
    if not np.array_equal(np.asarray(first.labels), np.asarray(second.labels)):
        raise ValueError(
            f"{names_[1]} has other labels than {names_[0]}: two models are compared on the same "
            f"rows in the same order"
        )
    return first, second
