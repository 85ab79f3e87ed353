"""What the user says of a file, and what is asked: the options, and the command to type."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from calibkit import validate

LISTED = ("label", "scores", "classes", "columns")  # names that commas part
KINDS = ("probs", "logits", "percent", "logprobs", "confidence")
LISTED_COLUMNS = 24  # that a question shows
MOST_WAYS = 6  # to answer one


@dataclass(frozen=True)
class Options:
    """The options of the reading.

    label: the column of labels, or the columns of 0 and 1 of which one is 1 in every row.
    scores: the columns of scores; p_* are all that begin with p_.
    positive: the label that one column of scores is of; of kind "confidence" the one that says
        right. predicted: the column of which one score is the confidence.
    classes: the labels that the columns of scores stand for, in the order of these columns; beside
        `predicted`, prediction=label pairs. first_class: they are numbers, from this one on.
    kind: what scores are, one of `KINDS`; of "confidence" the labels say whether a row is right.
    scale: what scores are divided by, such as 10 for a confidence from 1 to 10.
    columns: the names of the columns, where a file has none. encoding: of a text.
    missing: what stands for no value, such as -999. drop_missing: leave such rows out.
    groups, beside: further columns to keep.
    plain_quotes: quotation marks are characters of words.

    The others say that what a check found is right: joined_lines, labels_are_true,
    rows_are_samples, sorted_classes, columns_as_named.
    """

    label: list[str] | None = None
    scores: list[str] | None = None
    positive: str | None = None
    predicted: str | None = None
    classes: list[str] | None = None
    first_class: int | None = None
    kind: str | None = None
    scale: float | None = None
    columns: list[str] | None = None
    encoding: str | None = None
    missing: str | None = None
    drop_missing: bool = False
    groups: str | None = None
    beside: tuple[str, ...] = ()
    plain_quotes: bool = False
    joined_lines: bool = False
    labels_are_true: bool = False
    rows_are_samples: bool = False
    sorted_classes: bool = False
    columns_as_named: bool = False

    @property
    def taken(self) -> list[str]:
        """Columns that have another use than labels and scores."""
        return [name for name in (self.groups, *self.beside) if name is not None]

    def left(self, table: Any, used: Sequence[str | None]) -> list[str]:
        """The columns that have no use yet."""
        return [c for c in table.columns if c not in (*used, *self.taken, self.predicted)]


NAMES = tuple(field.name for field in fields(Options))


def options_of(**given: Any) -> Options:
    """The options as they are used: lists of names, texts for values, no kind for "auto".

    Raises TypeError for what is no option, and ValueError for a kind that there is not.
    """
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise TypeError(f"read takes {', '.join(NAMES)}, not {unknown[0]}")
    given |= {name: _split(given[name]) for name in LISTED if name in given}
    for name in ("positive", "missing"):
        if given.get(name) is not None:
            given[name] = str(given[name])
    if given.get("kind") == "auto":
        given["kind"] = None
    if given.get("kind") is not None:
        validate.choice("kind", given["kind"], KINDS)
    given["beside"] = tuple(given.get("beside") or ())
    return Options(**given)


def _split(names: str | Sequence[str] | None) -> list[str] | None:
    if names is None or not isinstance(names, str):
        return None if names is None else [str(name) for name in names]
    return [name.strip() for name in next(csv.reader([names], skipinitialspace=True), [])]


class Unclear(ValueError):
    """What is not clear, and the ways to say it.

    ways: what each of them means, in words, and the options that say it, the likeliest last.
    needs: the options, where there is one way. sure: whether the last one is likelier than others.
    table: what was read so far. lacks_labels: whether no column may hold labels.
    """

    def __init__(
        self, why: str, *ways: tuple[str, dict], sure: bool = True, lacks_labels: bool = False,
        **needs: Any,
    ):  # fmt: skip
        super().__init__(why)
        self.ways = [*ways[-MOST_WAYS:], *([("", needs)] if needs else [])]
        self.sure, self.lacks_labels = sure, lacks_labels
        self.table: Any = None


@dataclass(frozen=True)
class Way:
    """A command that answers a question.

    words: what it means. sure: whether it is likelier than others. note: what is read then.
    """

    words: str
    options: Options
    sure: bool = True
    note: str = ""

    @property
    def brief(self) -> str:
        """What is read, without what is not."""
        parts = self.note.split("; ")
        return "; ".join(part for part in parts if not part.startswith(("not used", "--")))


class Question(ValueError):
    """A file that needs an answer: why, its columns, and the command that gives it.

    ways: the commands, the likeliest first, none where nothing can be proposed.
    """

    def __init__(self, path: Any, why: list[str], table: Any, ways: list[Way], labels: Any = None):
        self.path, self.ways, self.labels = path, ways, labels
        shown = [] if table is None else _shown(table)
        why = [one.replace(f"({table.file!r}", f"({str(path)!r}") if table else one for one in why]
        whole = [f"{one}." if (shown or ways) and "\n" not in one else one for one in why]
        self.lines = [*whole[:1], *(f"Then: {one}" for one in whole[1:]), *shown]
        super().__init__(self.text())

    @property
    def answer(self) -> Options | None:
        """The likeliest options."""
        return self.ways[0].options if self.ways and self.ways[0].sure else None

    def text(self, more: Sequence[str] = (), program: str = "calibkit") -> str:
        """Why, the columns, and the commands to type, with further arguments.

        Of several ways the likeliest alone is a command, the last line.
        """
        labels = [] if self.labels is None else ["--labels", str(self.labels)]

        def command(way: Way) -> list[str]:
            words = ["audit", str(self.path), *labels, *typed(way.options), *more]
            return [f"  {program} {shlex.join(words)}"]

        lines, sure = [], self.answer is not None
        if sure and len(self.ways) > 1:
            lines = ["It may be one of these, the likeliest first:"]
            lines += [f"  {way.words}: {shlex.join(typed(way.options))}" for way in self.ways]
        for way in self.ways[: 1 if sure else None]:
            meant = "for the first" if lines and sure else f"if {way.words or 'this is right'}"
            lines += [f"Type, {meant} ({way.brief}):", *command(way)]
        if self.ways and not sure:
            what = "Whether this" if len(self.ways) == 1 else "Which of them"
            lines.append(f"{what} is so the file does not say: look at where it comes from.")
        return "\n".join([*self.lines, *lines])


def typed(options: Options | None) -> list[str]:
    """Options as they are typed."""
    words: list[str] = []
    for field in fields(Options):
        value = getattr(options, field.name, None)
        option = "--" + field.name.replace("_", "-")
        if value is None or value is False or field.name == "beside":
            continue
        if value is True:
            words.append(option)
            continue
        text = joined(value) if isinstance(value, list) else str(value)
        text = f"{value:g}" if isinstance(value, float) else text
        words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return words


def joined(names: Sequence[str]) -> str:
    """Names parted by commas, in quotation marks where they hold one."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def listed(names: Iterable[str]) -> str:
    """Names below a sentence, a line each."""
    return "".join(f"\n    {name}" for name in names)


def _shown(table: Any) -> list[str]:
    """A line for each column, with three of its values."""
    told = f" ({'; '.join(table.told)})" if table.told else ""
    lines = [f"{table.file} has the columns{told}"]
    for column in table.columns[:LISTED_COLUMNS]:
        cells = [
            f"{c:.6g}" if isinstance(c, float) else str(c)[:24] for c in table[column].iloc[:3]
        ]
        lines.append(f"  {column}: {', '.join(cells)}")
    left = len(table.columns) - LISTED_COLUMNS
    return [*lines, f"  ... and {left} more"] if left > 0 else lines
