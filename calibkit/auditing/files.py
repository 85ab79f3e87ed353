"""Predictions from a file: which of it is taken for what, or what must be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing import arrays, classes, columns, kinds, names, tables

# what the user may say of a file; the options of the command line have these names
ASKED = ("scores", "positive", "first_class", "classes", "predicted", "kind", "columns", "missing")
READING = (*ASKED, "drop_missing", "beside")
FORMS = ".csv, .tsv, .txt, .parquet, .feather, .jsonl, .npz, .npy or .pt"


@dataclass(frozen=True)
class Given:
    """What a file holds: scores and labels, perhaps groups and the names of the classes.

    scores: (n, K), or (n,) of the class 1 of two. labels: (n,) numbers of the columns. kind: as
    `audit` takes it. beside: further columns that were asked for. kept: (rows of the file,) which
    of them these are. told: which columns were taken for what.
    """

    scores: Any
    labels: Any
    kind: str = "auto"
    groups: Any = None
    names: list[str] | None = None
    told: str = ""
    beside: dict[str, Any] = field(default_factory=dict)
    kept: Any = None

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


@dataclass(frozen=True)
class Question:
    """What the user says of a file, where he does; see `read`."""

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


def read(
    path,
    *,
    label: str | None = None,
    groups: str | None = None,
    labels=None,
    scores: str | Sequence[str] | None = None,
    positive: str | None = None,
    first_class: int | None = None,
    classes: str | Sequence[str] | None = None,
    predicted: str | None = None,
    kind: str | None = None,
    columns: str | Sequence[str] | None = None,
    missing: str | float | None = None,
    drop_missing: bool = False,
    beside: Sequence[str] = (),
) -> Given:
    """The predictions of a file. What is not clear is asked, by an error that names the option.

    .csv, .tsv, .txt (also .gz), .parquet, .feather, .jsonl: one row a sample; a column of labels,
        and one of scores for every class, for one of two, or for what the row predicts.
    .npz, .pt: arrays, found by their names and shapes.
    .npy: the scores alone, memory-mapped; `labels` names a second .npy file.

    label, scores, groups: the columns that hold them. Several scores are parted by commas, p_*
        are all that begin with p_. predicted: what one score is the confidence of.
    positive: the label that one column of scores is of. first_class: what labels count from.
    classes: their names, in the order of the columns.
    kind: what scores are, probs, logits, percent or logprobs. columns: the names of the columns
        of a text without a header. missing: what stands in a table for no value, such as -999.
        drop_missing: leave out rows that lack a score or a label.
    beside: further columns to keep, such as weights.

    Raises FileNotFoundError, and ValueError that says what was found and which option decides.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}; pass a {FORMS} file")
    asked = Question(
        label,
        groups,
        _split(scores),
        None if positive is None else str(positive),
        first_class,
        _split(classes),
        predicted,
        None if kind == "auto" else kind,
        _split(columns),
        None if missing is None else str(missing),
        drop_missing,
        tuple(beside),
    )
    if asked.kind is not None:
        validate.choice("kind", asked.kind, kinds.KINDS)
    ending = "".join(path.suffixes[-2:]).lower()
    if ending.removesuffix(".gz").endswith(tables.ENDINGS):
        table, told = tables.table(path, asked.columns, asked.missing)
        return _told(_of_table(table, asked), told)
    if ending.endswith(".npy"):
        if labels is None:
            raise ValueError(f"{path.name} holds scores alone: name the labels, --labels FILE.npy")
        return _of_arrays(
            {"scores": arrays.npy(path), "labels": arrays.npy(Path(labels))}, asked, path
        )
    if ending.endswith(".npz"):
        return _of_arrays(arrays.npz(path), asked, path)
    if ending.endswith((".pt", ".pth")):
        return _of_arrays(arrays.pt(path), asked, path)
    raise ValueError(
        f"cannot read {path.name}; pass a {FORMS} file (a spreadsheet can be saved as CSV)"
    )


def _split(asked: str | Sequence[str] | None) -> list[str] | None:
    """Names that are parted by commas, or a list of them."""
    if asked is None or not isinstance(asked, str):
        return None if asked is None else [str(name) for name in asked]
    return [name.strip() for name in asked.split(",")]


def _told(given: Given, *more: str) -> Given:
    return replace(given, told="; ".join(filter(None, (given.told, *more))))


# --- tables ---


def _of_table(table: pd.DataFrame, asked: Question) -> Given:
    found = columns.chosen(
        table,
        label=asked.label,
        scores=asked.scores,
        predicted=asked.predicted,
        positive=asked.positive,
        beside=asked.taken,
    )
    matrix = table[found.scores].to_numpy(dtype=np.float64)
    decisions = None if found.predicted is None else table[found.predicted]
    given = _given(
        matrix,
        table[found.label],
        _class_names(found, table[found.label]) if len(found.scores) > 1 else found.scores,
        found,
        asked,
        decisions,
        {name: table[name] for name in asked.taken},
    )
    used = {*found.scores, found.label, found.predicted, *asked.taken}
    unused = [c for c in table.columns if c not in used]
    told = f"labels from {found.label!r}, scores from {names.short(found.scores)}"
    told += f", of the predictions in {found.predicted!r}" if found.predicted else ""
    told += f"; not used: {names.short(unused)}" if unused else ""
    return replace(_told(replace(given, told=told), given.told))


def _class_names(found: columns.Chosen, labels: pd.Series) -> list[str]:
    """The classes that columns are called after: p_cat is cat, unless a label is p_cat."""
    raw = list(map(str, found.scores))
    parts = [names.parted(column) for column in raw]
    words = set(labels.dropna().map(str).str.strip())
    if any(part is None for part in parts) or words <= set(raw):
        return raw
    return [part.of for part in parts if part is not None]


def _given(matrix, labels, called, found, asked, decisions, beside) -> Given:
    """Scores and labels that belong together; `called`: names of classes, or of the one column."""
    walked = kinds.content(matrix)
    lonely = matrix.shape[1] == 1
    lost = walked.bad | classes.unlabelled(labels, matrix.shape[1])
    if decisions is not None:
        lost |= decisions.isna().to_numpy()
    kept = _kept(lost, asked.drop_missing)
    columns_ = found.scores
    if lonely:
        kind = kinds.one(walked, columns_[0], asked.kind)
    else:
        kind = kinds.many(walked, columns_, asked.kind, of_classes=found.of_classes)
    if lost.any():
        matrix, labels = matrix[kept], labels[kept]
        decisions = None if decisions is None else decisions[kept]
        beside = {name: column[kept] for name, column in beside.items()}
    matrix = _scaled(matrix, kind, lonely)
    told = [f"{lost.sum()} of {len(lost)} rows left out"] if lost.any() else []
    told += [f"taken as {kinds.CALLED[kind]}"] if kind != "probs" else []
    kind = "logits" if kind == "logits" or (kind == "logprobs" and not lonely) else "probs"
    if not lonely:
        read = _of_classes(matrix, labels, called, asked)
    elif found.event:
        read = classes.Classes(classes.hits(labels, decisions), ["wrong", "right"])
        kind = "confidence"
        told.append("judged by whether the prediction is right")
    else:
        read = classes.of_one(labels, _after(called[0]), matrix[:, 0], asked.positive)
    groups = None if asked.groups is None else beside[asked.groups]
    more = {name: beside[name] for name in asked.beside}
    told.append(read.told)
    return Given(
        matrix[:, 0] if lonely else matrix,
        read.labels,
        kind,
        groups,
        read.names,
        "; ".join(filter(None, told)),
        more,
        kept,
    )


def _after(column: str) -> list[str]:
    """What one column of scores may be called after."""
    part = names.parted(column)
    return [str(column).strip()] + ([part.of] if part else [])


def _kept(lost: np.ndarray, drop: bool) -> np.ndarray:
    """Which rows stay; a missing score or label is refused, unless such rows may be left out."""
    places = np.flatnonzero(lost)
    if len(places) == len(lost):
        raise ValueError(f"every one of the {len(lost)} rows lacks a label or a number")
    if len(places) and not drop:
        shown = ", ".join(map(str, places[:5])) + (", ..." if len(places) > 5 else "")
        raise ValueError(
            f"{len(places)} of {len(lost)} rows lack a label or a finite score: row {shown} (the "
            f"first is 0). Look why; --drop-missing leaves them out"
        )
    return ~lost


def _scaled(matrix, kind: str, lonely: bool):
    if kind == "percent":
        return np.asarray(matrix, dtype=np.float64) / 100
    if kind == "logprobs" and lonely:
        return np.exp(matrix)
    return matrix


def _of_classes(matrix, labels: pd.Series, called: list[str] | None, asked: Question):
    count = matrix.shape[1]
    if asked.positive is not None:
        raise ValueError(
            "--positive goes with one column of scores, but there are "
            f"{count}: name one of them with --scores"
        )
    if asked.classes is not None:
        if len(asked.classes) != count:
            raise ValueError(f"classes must name {count} columns, got {len(asked.classes)}")
        called = asked.classes

    def right(places: np.ndarray) -> float:
        return float(np.mean(_largest(matrix) == places))

    return classes.of_columns(labels, called, count, first=asked.first_class, right=right)


def _largest(matrix) -> np.ndarray:
    """(n,) the column of the largest score, a block of rows at a time."""
    blocks = kinds.slices(*matrix.shape)
    return np.concatenate([np.asarray(matrix[rows]).argmax(1) for rows in blocks])


# --- arrays ---


def _of_arrays(held: dict[str, Any], asked: Question, path: Path) -> Given:
    held, told = arrays.one_hot({name: np.asanyarray(value) for name, value in held.items()})
    shapes = {name: array.shape for name, array in held.items()}
    named = [name for name in (asked.label, *asked.taken, *(asked.scores or [])) if name]
    if any(name not in held for name in named):
        held = arrays.spread(held, named)
    for name in named:
        if name not in held:
            raise ValueError(f"no array {name!r} in {path.name}, which holds {shapes}")
    wide = arrays.matrices(held)
    wide = {name: array for name, array in wide.items() if asked.scores in (None, [name])}
    flat = arrays.lists(held)
    single = [name for name in flat if names.bare(name) in names.SCORES and asked.scores is None]
    if wide and single:
        both = " or ".join(f"--scores {name}" for name in (*wide, *single))
        raise ValueError(f"{path.name} holds arrays of the shapes {shapes}: say which with {both}")
    if not wide and len(flat) > 1:
        return _told(_of_table(arrays.table(flat, path), asked), told)
    if len(wide) != 1 or not flat:
        several = f"say which with --scores {next(iter(wide))}" if len(wide) > 1 else _holds(held)
        raise ValueError(f"{path.name} holds arrays of the shapes {shapes}: {several}")
    ((name, matrix),) = wide.items()
    return _told(_of_matrix(name, matrix, flat, asked, path), told)


def _of_matrix(name: str, matrix, flat: dict[str, Any], asked: Question, path: Path) -> Given:
    """The reading of one array of scores and the lists beside it."""
    listed = [
        n for n in _NAMES if n in flat and len(flat[n]) == matrix.shape[1] and n != asked.label
    ]
    called = list(map(str, flat.pop(listed[0]))) if listed else None
    label = _label(flat, asked, path, matrix)
    columns_ = [f"{name}_{k}" for k in range(matrix.shape[1])]
    known = names.bare(name) in (*names.SCORES, *names.EITHER) or names.parted(name) is not None
    found = columns.Chosen(label, columns_, of_classes=known or asked.scores is not None)
    beside = {n: pd.Series(flat[n]) for n in asked.taken}
    given = _given(matrix, pd.Series(flat[label]), called, found, asked, None, beside)
    return _told(replace(given, told=f"labels from {label!r}, scores from {name!r}"), given.told)


_NAMES = ("class_names", "classes", "names")


def _holds(held: dict[str, Any]) -> str:
    """What is missing; of several labels a row, how one of them is audited."""
    scores = next(iter(arrays.matrices(held)), None)
    many = [n for n, a in held.items() if n != scores and a.ndim == 2 and a.shape[1] > 1]
    if scores is None or not many:
        return _HOLDS
    return f"audit one label at a time, such as --label {many[0]}_0 --scores {scores}_0"


_HOLDS = "it must hold scores (n, K) and labels (n,), for example as 'logits' and 'labels'"


def _label(flat: dict[str, np.ndarray], asked: Question, path: Path, matrix) -> str:
    """The list of labels: as named, as usually called, or the only one there is."""
    n, count = matrix.shape
    left = [name for name in flat if name not in asked.taken]
    fits = [name for name in left if len(flat[name]) == n] or left
    if asked.label is None and not fits:
        raise ValueError(
            f"{path.name} holds no list beside its scores of shape {(n, count)}: {_HOLDS}"
        )
    label = asked.label or (fits[0] if len(fits) == 1 else None)
    label = label or columns.label_of(pd.DataFrame({name: flat[name] for name in fits}))
    if len(flat[label]) == count != n:
        raise ValueError(
            f"labels have one entry a column, {count}, but there are {n} rows: the scores look "
            f"transposed; pass scores.T"
        )
    validate.same_length("labels", len(flat[label]), n)
    return label


# --- two files ---


def like(given: Given, first: Given) -> Given:
    """The same predictions with the columns in the order of another file's classes."""
    if given.names == first.names:
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


def paired(first: Given, second: Given, names_: tuple[str, str]) -> tuple[Given, Given]:
    """Two models on the same rows: those that neither file lacks.

    names_: of the files, for the error where the labels differ.
    """
    second = like(second, first)
    same = np.shape(first.kept) == np.shape(second.kept)
    if same and first.kept is not None:
        both = first.kept & second.kept
        first, second = first.rows(both), second.rows(both)
    if not np.array_equal(np.asarray(first.labels), np.asarray(second.labels)):
        raise ValueError(
            f"{names_[1]} has other labels than {names_[0]}: two models are compared on the same "
            f"rows in the same order"
        )
    return first, second
