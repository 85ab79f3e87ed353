"""What the user says of a file where it is not clear: the options of the reading."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from calibkit import validate
from calibkit.auditing import kinds

LISTED = ("scores", "classes", "columns")  # names that commas part


@dataclass(frozen=True)
class Question:
    """The options of the reading.

    label, groups, scores: the columns that hold them; p_* are all that begin with p_.
    positive: the label that one column of scores is of. first_class: what labels count from.
    classes: their names, in the order of the columns.
    predicted: the column of which one score is the confidence.
    kind: what scores are, one of `kinds.KINDS`.
    columns: the names of the columns of a text without a header. missing: what stands in a table
        for no value, such as -999. drop_missing: leave out rows that lack a score or a label.
    beside: further columns to keep, such as weights.
    """

    label: str | None = None
    groups: str | None = None
    scores: list[str] | None = None
    positive: str | None = None
    first_class: int | None = None
    classes: list[str] | None = None
    predicted: str | None = None
    kind: str | None = None
    columns: list[str] | None = None
    missing: str | None = None
    drop_missing: bool = False
    beside: tuple[str, ...] = ()

    @property
    def taken(self) -> set[str]:
        """Columns that have another use than labels and scores."""
        return {name for name in (self.groups, *self.beside) if name is not None}


OPTIONS = tuple(field.name for field in fields(Question))


def question(**said: Any) -> Question:
    """The options as they are used: lists of names, texts for values, no kind for "auto".

    >>> question(scores="p_cat, p_dog", positive=1).scores
    ['p_cat', 'p_dog']

    Raises TypeError for what is no option, and ValueError for a kind that there is not.
    """
    unknown = sorted(set(said) - set(OPTIONS))
    if unknown:
        raise TypeError(f"read takes {', '.join(OPTIONS)}, not {unknown[0]}")
    said |= {name: _split(said[name]) for name in LISTED if name in said}
    for name in ("positive", "missing"):
        if said.get(name) is not None:
            said[name] = str(said[name])
    if said.get("kind") == "auto":
        said["kind"] = None
    if said.get("kind") is not None:
        validate.choice("kind", said["kind"], kinds.KINDS)
    said["beside"] = tuple(said.get("beside") or ())
    return Question(**said)


def _split(names: str | Sequence[str] | None) -> list[str] | None:
    if names is None or not isinstance(names, str):
        return None if names is None else [str(name) for name in names]
    return [name.strip() for name in next(csv.reader([names], skipinitialspace=True), [])]
