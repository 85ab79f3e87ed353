"""Scores and labels of a table, or of arrays, as numbers that belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing import arrays, classes, columns, events, kinds, names
from calibkit.auditing.chosen import Chosen
from calibkit.auditing.given import Given
from calibkit.auditing.holds import fractional
from calibkit.auditing.question import Question
from calibkit.auditing.scores import Kind


@dataclass(frozen=True)
class Part:
    """What was taken of a file: a matrix of scores, and the columns that go with it.

    called: the names of the classes, if they have any, or of the one column.
    """

    found: Chosen
    matrix: Any
    labels: pd.Series
    called: list[str] | None
    decisions: pd.Series | None
    beside: dict[str, Any]

    @property
    def lonely(self) -> bool:
        """Whether there is one column of scores."""
        return self.matrix.shape[1] == 1

    def rows(self, kept: np.ndarray) -> Part:
        """Some of its rows."""
        decisions = None if self.decisions is None else self.decisions[kept]
        beside = {name: column[kept] for name, column in self.beside.items()}
        return Part(
            self.found, self.matrix[kept], self.labels[kept], self.called, decisions, beside
        )


def told(given: Given, *more: str) -> Given:
    """The same with more to be told of it."""
    return replace(given, told="; ".join(filter(None, (given.told, *more))))


# --- tables ---


def of_table(table: pd.DataFrame, asked: Question) -> Given:
    """The reading of a table."""
    found = columns.chosen(table, asked)
    part = Part(
        found,
        table[found.scores].to_numpy(dtype=np.float64),
        table[found.label],
        _class_names(found, table[found.label]) if len(found.scores) > 1 else found.scores,
        None if found.predicted is None else table[found.predicted],
        {name: table[name] for name in asked.taken},
    )
    used = {*found.scores, found.label, found.predicted, *asked.taken}
    unused = [c for c in table.columns if c not in used]
    text = f"labels from {found.label!r}, scores from {names.short(found.scores)}"
    text += f", of the predictions in {found.predicted!r}" if found.predicted else ""
    text += f"; not used: {names.short(unused)}" if unused else ""
    if found.event and asked.groups is None:
        kinds_of = [c for c in unused if names.bare(c) in names.QUESTIONS]
        text += "".join(f"; --groups {names.typed(c)} judges each {c}" for c in kinds_of)
    given = taken(part, asked)
    return told(replace(given, told=text), given.told)


def _countable(labels: pd.Series) -> bool:
    """Whether labels are words or whole numbers."""
    return labels.dtype.kind != "f" or not fractional(labels)


def _class_names(found: Chosen, labels: pd.Series) -> list[str]:
    """The classes that columns are called after: p_cat is cat, unless a label is p_cat."""
    raw = list(map(str, found.scores))
    parts = [names.parted(column) for column in raw]
    words = set(classes.as_words(labels)) if _countable(labels) else set()
    if not any(part is None for part in parts) and not words <= set(raw):
        return [part.of for part in parts if part is not None]
    start = raw[0][: raw[0].rfind("_") + 1]
    start = start if all(column.startswith(start) for column in raw) else ""
    rest = [column[len(start) :] for column in raw]
    return rest if words <= set(rest) and "" not in rest else raw


# --- what was taken ---


def taken(part: Part, asked: Question) -> Given:
    """Scores and labels that belong together.

    Raises ValueError for rows that lack one, and for what is not clear of kind or labels.
    """
    walked = kinds.content(part.matrix)
    lost = walked.bad | classes.unlabelled(part.labels, part.matrix.shape[1])
    if part.decisions is not None:
        lost |= part.decisions.isna().to_numpy()
    kept = _kept(lost, asked.drop_missing)
    if lost.any():
        part = part.rows(kept)
        walked = kinds.content(part.matrix)
    scored = _kind(part, walked, asked)
    part = replace(part, matrix=_scaled(part.matrix, scored, part.lonely))
    read, kind = _labelled(part, asked, scored)
    texts = [f"{lost.sum()} of {len(lost)} rows left out"] if lost.any() else []
    texts += [f"taken as {kinds.CALLED[scored]}"] if scored != "probs" else []
    return Given(
        scores=part.matrix[:, 0] if part.lonely else part.matrix,
        labels=read.labels,
        kind=kind,
        groups=None if asked.groups is None else part.beside[asked.groups],
        names=read.names,
        told="; ".join([*texts, *filter(None, [read.told])]),
        beside={name: part.beside[name] for name in asked.beside},
        kept=kept,
    )


def _kind(part: Part, walked: kinds.Content, asked: Question) -> str:
    scores = part.found.scores
    if part.lonely:
        kind = kinds.one(walked, scores[0], asked.kind)
        if part.found.event and kind == "percent":
            kinds.demand_one_unit(part.matrix[:, 0], scores[0])
        return kind
    return kinds.many(walked, scores, asked.kind, of_classes=part.found.of_classes)


def _labelled(part: Part, asked: Question, scored: str) -> tuple[classes.Classes, Kind]:
    """The labels as numbers, and the kind of the scores as `audit` takes it."""
    kind: Kind = "logits" if scored == "logits" else "probs"
    if not part.lonely:
        return _of_classes(part, asked), "logits" if scored == "logprobs" else kind
    if part.found.event:
        return events.hits(part.labels, part.decisions), "confidence"
    score, column = part.matrix[:, 0], part.found.scores[0]
    read = events.of_one(part.labels, _after(column), score, asked.positive)
    if asked.kind is None and scored == "probs":
        kinds.demand_scale(score, read.labels, column)
    return read, kind


def _of_classes(part: Part, asked: Question) -> classes.Classes:
    count, called = part.matrix.shape[1], asked.classes or part.called
    if asked.positive is not None:
        raise ValueError(
            f"--positive goes with one column of scores, but there are {count}: name one of them "
            f"with --scores"
        )
    if called is not None and len(called) != count:
        raise ValueError(f"classes must name {count} columns, got {len(called)}")
    return classes.of_columns(
        part.labels,
        called,
        count,
        first=asked.first_class,
        largest=lambda: _largest(part.matrix),
    )


def _after(column: str) -> list[str]:
    """What one column of scores may be called after."""
    own = names.parted(column)
    return [str(column).strip(), *([own.of] if own else [])]


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


def _largest(matrix) -> np.ndarray:
    """(n,) the column of the largest score, a block of rows at a time."""
    blocks = kinds.slices(*matrix.shape)
    return np.concatenate([np.asarray(matrix[rows]).argmax(1) for rows in blocks])


# --- arrays ---


def of_arrays(held: dict[str, Any], asked: Question, path: Path) -> Given:
    """The reading of arrays by their names and shapes."""
    held, text = arrays.one_hot({name: np.asanyarray(value) for name, value in held.items()})
    held = _with_named(held, asked, path)
    wide = arrays.matrices(held)
    wide = {name: array for name, array in wide.items() if asked.scores in (None, [name])}
    flat = arrays.lists(held)
    if not wide and len(flat) > 1:
        return told(of_table(arrays.table(flat, path), asked), text)
    name = _only(wide, flat, held, asked, path)
    return told(_of_matrix(name, wide[name], flat, asked, path), text)


def _with_named(held: dict[str, Any], asked: Question, path: Path) -> dict[str, Any]:
    """The arrays, with the columns that the user names as lists of their own."""
    named = [name for name in (asked.label, *asked.taken, *(asked.scores or [])) if name]
    if any(name not in held for name in named):
        held = arrays.spread(held, named)
    for name in named:
        if name not in held:
            raise ValueError(f"no array {name!r} in {path.name}, which holds {_shapes(held)}")
    return held


def _shapes(held: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in held.items()}


def _only(wide: dict, flat: dict, held: dict, asked: Question, path: Path) -> str:
    """The name of the one array of scores; refuses several, or none."""
    single = [name for name in flat if names.bare(name) in names.SCORES and asked.scores is None]
    able = [*wide, *single] if wide else []
    if len(able) == 1 and flat:
        return able[0]
    what = _holds(held)
    if len(able) > 1:
        what = f"say which with {' or '.join(f'--scores {name}' for name in able)}"
    raise ValueError(f"{path.name} holds arrays of the shapes {_shapes(held)}: {what}")


def _of_matrix(name: str, matrix, flat: dict[str, Any], asked: Question, path: Path) -> Given:
    """The reading of one array of scores and the lists beside it."""
    count = matrix.shape[1]
    listed = [n for n in _NAMES if n in flat and len(flat[n]) == count and n != asked.label]
    called = list(map(str, flat.pop(listed[0]))) if listed else None
    label = _label(flat, asked, path, matrix)
    known = names.bare(name) in (*names.SCORES, *names.EITHER) or names.parted(name) is not None
    found = Chosen(label, [f"{name}_{k}" for k in range(count)], known or asked.scores is not None)
    beside = {n: pd.Series(flat[n]) for n in asked.taken}
    given = taken(Part(found, matrix, pd.Series(flat[label]), called, None, beside), asked)
    return told(replace(given, told=f"labels from {label!r}, scores from {name!r}"), given.told)


_NAMES = ("class_names", "classes", "names")


def _holds(held: dict[str, Any]) -> str:
    """What is missing; of several labels a row, how one of them is audited."""
    scores = next(iter(arrays.matrices(held)), None)
    many = [n for n, a in held.items() if n != scores and a.ndim == 2 and a.shape[1] > 1]
    if scores is None or not many:
        return _HOLDS
    return f"audit one label at a time, such as --label {many[0]}_0 --scores {scores}_0"


_HOLDS = "it must hold floating scores (n, K) and labels (n,), for example as 'logits' and 'labels'"


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
