"""Which columns of a table are labels and scores: one clear reading, or a question to the user."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

import pandas as pd

from calibkit.auditing import decisions, names, sets
from calibkit.auditing.chosen import Chosen
from calibkit.auditing.holds import binary, fractional, is_number
from calibkit.auditing.question import Question


def chosen(table: pd.DataFrame, asked: Question) -> Chosen:
    """The one reading of a table.

    Raises ValueError with the candidates and the option that decides between them.
    """
    demanded(table, [asked.label, asked.predicted, *asked.taken])
    named = None if asked.scores is None else expanded(table, asked.scores)
    free = [c for c in table.columns if c not in (*asked.taken, *(named or []))]
    label = asked.label or _label(table, free, asked.predicted)
    table = table[table[label].notna()]  # a last line of sums, say, is no row
    if named is not None:
        return _as_named(table, label, named, asked)
    left = [c for c in free if c not in (label, asked.predicted)]
    if asked.predicted is not None:
        score = decisions.confidence_of(table, left)
        return Chosen(label, [score], predicted=asked.predicted, event=True)
    found = sets.readings(table, table[label], left)
    answers = decisions.of_answers(table, label, left, [r.columns for r in found], asked)
    if answers is not None:
        return answers
    if len(found) > 1:
        raise ValueError(_between([reading.columns for reading in found]))
    if not found and not any(names.sure(c) and is_number(table[c]) for c in left):
        raise ValueError(_none(table, left))
    if not found:
        return decisions.of_decisions(table, label, left)
    ((scores, of_classes),) = found
    if len(scores) == 1 and asked.positive is None:
        decisions.demand_agreement(table, label, left, scores[0])
    return Chosen(label, scores, of_classes)


def _as_named(table: pd.DataFrame, label: str, scores: list[str], asked: Question) -> Chosen:
    """The reading of the scores that the user names."""
    if names.bare(label) in names.WRONG and names.sure(scores[0]):
        _refuse_wrong(label)
    if len(scores) > 1:
        return Chosen(label, scores, of_classes=True)
    left = [c for c in table.columns if c not in (label, *asked.taken, *scores)]
    if asked.predicted is not None:
        return Chosen(label, scores, predicted=asked.predicted, event=True)
    mark = decisions.mark_of(table, label, left, asked, sure=names.sure(scores[0]))
    if mark is not None:
        return Chosen(mark, scores, event=True)
    if asked.positive is None:
        decisions.demand_said(table, label, scores[0])
    return Chosen(label, scores)


def demanded(table: pd.DataFrame, columns: Iterable[str | None]) -> None:
    """Refuse names that are no columns of the table."""
    for name in columns:
        if name is not None and name not in table.columns:
            near = difflib.get_close_matches(str(name), map(str, table.columns), n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"no column {name!r} among {list(table.columns)[:12]}{meant}")


def expanded(table: pd.DataFrame, asked: list[str]) -> list[str]:
    """The columns that the user names, also as p_* for all that begin with p_."""
    columns: list[str] = []
    for name in asked:
        if name.endswith("*") and name not in table.columns:
            columns += [c for c in table.columns if c.startswith(name[:-1])] or [name]
        else:
            columns.append(name)
    demanded(table, columns)
    for name in columns:
        if table[name].dtype.kind not in "fiu":
            example = table[name].dropna().iloc[:1].tolist()
            raise ValueError(f"column {name!r} of scores holds no numbers, but such as {example}")
    return columns


# --- labels ---


def _refuse_wrong(column: str) -> None:
    """Refuse labels that say the opposite of correct: a score would be read the wrong way."""
    raise ValueError(
        f"column {column!r} says which rows are wrong: write it the other way round, 1 where the "
        f"prediction is right, and call it 'correct'"
    )


def label_of(table: pd.DataFrame) -> str:
    """The column of labels by its name."""
    return _label(table, list(table.columns), None)


def _label(table: pd.DataFrame, free: list[str], predicted: str | None) -> str:
    for usual in (names.LABELS, names.MAYBE_LABELS, names.CORRECT):
        found = [c for c in free if names.bare(c) in usual and c != predicted]
        found = [c for c in found if not fractional(table[c])]
        if len(found) == 1 or (len(found) > 1 and _all_equal(table, found)):
            return found[0]
        if found:
            raise ValueError(
                f"the labels may be {' or '.join(map(repr, found))}, which differ: say which with "
                f"{' or '.join(f'--label {names.typed(c)}' for c in found)}"
            )
    marks = decisions.judging(table, free)
    if len(marks) == 1:
        return marks[0]
    many = [c for c in free if _of_one_label(table, c)]
    if len(many) > 1:
        raise ValueError(
            f"there are labels in {len(many)} columns, {names.short(many)}: audit one of them at a "
            f"time, such as --label {names.typed(many[0])} {_beside_label(table, many[0])}"
        )
    for column in free:
        if names.bare(column) in names.WRONG:
            _refuse_wrong(column)
    decisions.demand_marks(table, free)
    soft = [c for c in free if names.bare(c) in names.LABELS and fractional(table[c])]
    why = f" ({soft[0]!r} holds fractions, which are no labels)" if soft else ""
    raise ValueError(
        f"no column of labels among {names.short(list(table.columns))}{why}: name it with --label "
        f"COLUMN"
    )


def _of_one_label(table: pd.DataFrame, column: str) -> bool:
    """Whether a column says of each row if one label of several holds, as label_cat or y_cat."""
    start = re.match(
        r"(label|labels|y|true|y_true|target|gt|truth)_(?!prob|score|pred|hat)", column
    )
    return bool(start) and (binary(table[column]) or table[column].dtype.kind == "b")


def _beside_label(table: pd.DataFrame, label: str) -> str:
    """The column of scores that is called after a label."""
    own = re.sub(r"^(labels?|y_true|y|true|target|gt|truth)_", "", label)
    like = [c for c in table.columns if c != label and c.endswith(own) and not binary(table[c])]
    return names.option(like) if len(like) == 1 else "--scores COLUMN"


def _all_equal(table: pd.DataFrame, columns: list[str]) -> bool:
    same = {"True": "1", "1.0": "1", "False": "0", "0.0": "0"}
    first, *others = (table[column].map(str).replace(same) for column in columns)
    return all((other == first).all() for other in others)


# --- questions ---


def _between(found: list[list[str]]) -> str:
    shown = [names.short(columns) for columns in found]
    options = [names.option(columns) for columns in found]
    return f"the scores may be {'; or '.join(shown[:6])}: say which with {' or '.join(options[:6])}"


def _none(table: pd.DataFrame, left: list[str]) -> str:
    numbers = [c for c in left if is_number(table[c]) and not binary(table[c])]
    numbers = [c for c in numbers if not names.beside(c)] or numbers
    best = [c for c in numbers if names.of_top([c])]
    if len(best) > 1:
        return sets.best(best)
    text = f"no column of scores is clear among {names.short(list(table.columns))}"
    words = [c for c in left if (names.parted(c) or names.sure(c)) and c not in numbers]
    if not numbers:
        texts = [cell for c in words[:1] for cell in table[c] if isinstance(cell, str)]
        why = f"; {words[0]!r} holds texts, such as {texts[0]!r}" if texts else ""
        why += ", and others without %" if texts and texts[0].strip().endswith("%") else ""
        return (
            f"{text}: none holds numbers other than 0 and 1{why}. Each row must have a score, of "
            f"every class or of one; decisions alone have no calibration"
        )
    return (
        f"{text}: name one column of scores, or one a class, such as {names.option(numbers[:1])}"
        f"{'' if len(numbers) < 2 else ' or ' + names.option(numbers)}"
    )
