"""Predictions from a file, and two such files that belong together."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit.auditing import names, questions, tables
from calibkit.auditing.columns import Predictions, predictions
from calibkit.auditing.guesses import MOST_VALUES
from calibkit.auditing.names import LABELS, bare, fractional
from calibkit.auditing.questions import Options, Question, Unclear, Way, options_of

__all__ = ["Predictions", "Question", "like", "paired", "read"]

TRIES = 6  # answers that one command may join


def read(path: str | Path, *, labels: str | Path | None = None, **options: Any) -> Predictions:
    """The predictions of a file; what the convention of `reading` leaves open is asked.

    .csv, .tsv, .txt, .json, .jsonl (also packed), .parquet, .feather: a row a sample.
    .npz, .pt: arrays of a row a sample. .npy: the scores alone, memory-mapped.
    labels: a second file of one column, the labels of the same rows.
    options: see `questions.Options`.

    Raises FileNotFoundError, ValueError for what is no such file, and `Question`, a ValueError with
    the columns of the file and the command to type.
    """
    reading = _Reading(Path(path), labels)
    chosen = options_of(**options)
    try:
        return reading.read(chosen)
    except Unclear as problem:
        raise reading.question(chosen, problem) from None


class _Reading:
    """A file that is read until nothing is left to ask; its table is loaded once."""

    def __init__(self, path: Path, labels: str | Path | None):
        self.path, self.labels = path, labels
        self.tables: dict[str, tables.Table] = {}

    def table(self, options: Options) -> tables.Table:
        layout = Options(**{name: getattr(options, name) for name in tables.LAYOUT})
        if str(layout) not in self.tables:
            self.tables[str(layout)] = tables.load(self.path, layout)
        return self.tables[str(layout)]

    def read(self, options: Options) -> Predictions:
        table = None
        try:
            table = self.table(options)
            if self.labels is not None:
                column, told = _labels(Path(self.labels), table, options)
                if len(column) != len(table):
                    raise ValueError(
                        f"labels must have as many rows as the scores, {len(table)}, got "
                        f"{len(column)}, or name each row once, in a column of both files"
                    )
                name = f"labels of {Path(self.labels).name}"
                name = column.name if column.name and column.name not in table else name
                entries = {name: column, **table.entries}
                table = replace(table, entries=entries, told=[*table.told, told])
                options = replace(options, label=[name])
            elif self.path.suffix.lower() == ".npy":
                why = f"{self.path.name} holds scores alone: name the labels, --labels FILE.npy"
                raise Unclear(why, lacks_labels=True)
            return predictions(table, options)
        except Unclear as problem:
            problem.table = problem.table or table
            raise

    def question(self, options: Options, problem: Unclear) -> Question:
        """The question with the commands that answer it, and what else would be asked then."""
        asked: list[str] = []  # on the way that was tried last

        def ways(problem: Unclear, before: Way, whys: list[str]) -> Iterator[tuple[Way, list[str]]]:
            whys = asked[:] = [*whys, str(problem)]
            for meant, needs in problem.ways if len(whys) <= TRIES else []:
                words = ", and ".join(filter(None, [before.words, meant]))
                way = Way(words, replace(before.options, **needs), before.sure and problem.sure)
                try:
                    yield replace(way, note=self.read(way.options).note), whys
                except Unclear as more:
                    yield from ways(more, way, whys)
                except ValueError as error:
                    asked[:] = [*whys, str(error)]

        found: dict[str, tuple[Way, list[str]]] = {}  # a command may have several names
        for way, whys in ways(problem, Way("", options), []):
            one = found.pop(str(way.options), (way, whys))
            found[str(way.options)] = min((way, whys), one, key=lambda pair: len(pair[0].words))
        ordered = [*found.values()][: -questions.MOST_WAYS - 1 : -1]  # the likeliest first
        if problem.lacks_labels and self.labels is None:
            for labels in _beside(self.path):
                with contextlib.suppress(ValueError):
                    offered = _Reading(self.path, labels).offered(options, asked)
                    if offered.ways:
                        return offered
        why = ordered[0][1] if ordered else asked
        able = [way for way, _ in ordered]
        return Question(self.path, list(dict.fromkeys(why)), problem.table, able, self.labels)

    def offered(self, options: Options, asked: list[str]) -> Question:
        """The question whether the labels stand in the second file."""
        words, why = f"its labels stand in {self.labels}", asked[:1]
        try:
            ways = [Way(words, options, False, self.read(options).note)]
        except Unclear as problem:
            more = self.question(options, problem)
            ways = [replace(way, words=", and ".join(filter(None, [words, way.words])), sure=False)
                    for way in more.ways]  # fmt: skip
            why = [*why, str(problem)]
        return Question(self.path, why, self.table(options), ways, self.labels)


def _beside(path: Path) -> list[Path]:
    """Files of labels in the same folder, called labels or truth, or that and as this file is."""
    called = re.compile(r"(?<![a-z])(labels?|truth|targets?|gt|solution|y)(?![a-z])")
    endings, found = (*tables.TEXTS, *tables.JSON, ".npy"), []
    for one in sorted(path.parent.iterdir()):
        rest = called.sub("", one.stem.lower()).strip("_-. ")
        if one != path and one.suffix in endings and called.search(one.stem.lower()):
            found += [one] if rest in path.stem.lower() else []
    return found


def _labels(path: Path, table: tables.Table, options: Options) -> tuple[pd.Series, str]:
    """The labels of a second file in the order of the rows, and how they were put in that; a text
    may have a header or none."""
    ordered = f"labels of {path.name} in the order of its rows"
    if path.suffix.lower() in tables.TEXTS:
        with contextlib.suppress(ValueError):  # of one column, unless a mark parts more
            lost: dict[str, Any] = {"na_values": tables.MISSING, "keep_default_na": False}
            lines = pd.read_csv(path, header=None, sep="\0", dtype=str, **lost)[0]
            if not lines.str.contains(r"[,;\t|]", na=False).any():
                lines = lines.iloc[int(len(lines) == len(table) + 1) :]
                return lines.reset_index(drop=True).rename(None), ordered
    own = tables.load(path, Options())
    for block in own.blocks.values():
        if names.one_hot(own, block):
            return pd.Series(own.matrix(block).argmax(1)), ordered
    flat = own.flat(own.columns)
    marks = [c for c in flat if own[c].isin((0, 1)).all()]
    if len(marks) > 1 and names.one_hot(own, marks):
        place = own.matrix(marks).argmax(1)
        words = place if marks[0].startswith("column_") else np.array(marks)[place]
        own.entries[LABELS[0]] = pd.Series(words)
        flat = [*flat, LABELS[0]]
    named = [c for c in options.label or [] if c in own] or [c for c in flat if bare(c) in LABELS]
    if not named:
        few = max(2, min(MOST_VALUES, len(own) // 4))
        named = [c for c in flat if not fractional(own[c]) and 2 <= own[c].nunique() <= few]
        named = named or flat[: int(len(flat) == 1)]
    if len(named) != 1:
        ways = ((f"{name!r} holds the labels", {"label": [name]}) for name in named)
        raise Unclear(f"{path.name} must hold one column of labels: say --label", *ways, sure=False)
    for column in flat:  # that names the rows
        keys = own.words(column)
        if column in named or keys.isna().any() or keys.duplicated().any():
            continue
        for other in table.flat(table.columns):
            rows = table.words(other)
            found = rows.isin(keys)
            if not rows.duplicated().any() and (found.all() or (other == column and found.any())):
                placed = own[named[0]].set_axis(keys).reindex(rows).reset_index(drop=True)
                return placed, f"labels of {path.name} by {column!r}"
            if other == column and not fractional(table[other]):
                raise ValueError(
                    f"{column!r} names other rows in {path.name}, such as {keys.iloc[0]!r}, than "
                    f"in {table.file}, such as {rows.iloc[0]!r}"
                )
    return own[named[0]], ordered


def like(given: Predictions, first: Predictions) -> Predictions:
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


def _counted(classes: list[str] | None) -> list[str] | None:
    """Names, but for those that only count the columns from 0."""
    return None if classes is None or classes == list(map(str, range(len(classes)))) else classes


def paired(first: Predictions, second: Predictions, files: tuple[str, str]) -> Predictions:
    """The second of two models on the same rows, with the classes in the order of the first.

    files: their names, for the error where the rows or the labels differ. Of answers each model has
    its own labels, whether it is right, so that only the rows are compared.
    """
    second = like(second, first)
    if not np.array_equal(first.kept, second.kept):
        raise ValueError(
            f"{files[0]} and {files[1]} lack labels or scores in different rows: two models are "
            f"compared on the same rows, so leave those out of both files"
        )
    answers = first.kind == second.kind == "confidence"
    if not answers and not np.array_equal(np.asarray(first.labels), np.asarray(second.labels)):
        raise ValueError(
            f"{files[1]} has other labels than {files[0]}: two models are compared on the same "
            f"rows in the same order"
        )
    return second
