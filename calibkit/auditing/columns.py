"""Which columns of a table are labels and scores: one clear reading, or a question to the user."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.kinds import content

MOST_SEARCHED = 60  # columns among which rows of sum 1 are searched
ROWS_SEARCHED = 300
SORTED_ROWS = 20  # from so many on, columns that fall in every row are no classes


@dataclass(frozen=True)
class Chosen:
    """The columns of a reading.

    label: None where nothing is called so. of_classes: whether the scores are surely those of all
    classes. predicted: the column of decisions, where one score goes with them.
    """

    label: str
    scores: list[str]
    of_classes: bool = False
    predicted: str | None = None
    event: bool = False


def chosen(
    table: pd.DataFrame,
    *,
    label: str | None = None,
    scores: list[str] | None = None,
    predicted: str | None = None,
    positive: str | None = None,
    beside: Collection[str] = (),
) -> Chosen:
    """The one reading of a table.

    label, scores, predicted: columns that the user names; scores may end in a star. positive: the
    label that he names.
    beside: columns that have another use.

    Raises ValueError with the candidates and the option that decides between them.
    """
    demanded(table, [label, predicted, *beside])
    named = None if scores is None else expanded(table, scores)
    free = [c for c in table.columns if c not in beside and c not in (named or [])]
    label = label or _label(table, free, predicted)
    if named is not None:
        decided = predicted or positive
        if len(named) == 1 and decided is None and names.bare(label) not in names.CORRECT:
            _demand_said(table, label, named[0])
        return _as_named(label, named, predicted)
    left = [c for c in free if c not in (label, predicted)]
    if predicted is not None:
        return Chosen(label, [_confidence(table, left)], False, predicted, True)
    found = _readings(table, table[label], left)
    if len(found) == 1:
        event = names.bare(label) in names.CORRECT and len(found[0].columns) == 1
        if len(found[0].columns) == 1 and not event and positive is None:
            _demand_agreement(table, label, left, found[0].columns[0])
        return Chosen(label, found[0].columns, found[0].of_classes, None, event)
    if len(found) > 1:
        raise ValueError(_between([reading.columns for reading in found]))
    return _of_decisions(table, label, left)


def demanded(table: pd.DataFrame, columns: Iterable[str | None]) -> None:
    """Refuse names that are no columns of the table."""
    for name in columns:
        if name is not None and name not in table.columns:
            raise ValueError(f"no column {name!r} among {list(table.columns)[:12]}")


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


def _as_named(label: str, columns: list[str], predicted: str | None) -> Chosen:
    """The reading that the user names."""
    if len(columns) > 1:
        return Chosen(label, columns, True)
    event = predicted is not None or names.bare(label) in names.CORRECT
    return Chosen(label, columns, False, predicted, event)


def _demand_said(table: pd.DataFrame, label: str, score: str) -> None:
    """Refuse a score that is called confidence, unless the user says of what."""
    decisions = [c for c in table.columns if c != label and _decides(table[c])]
    if names.sure(score) and decisions:
        raise ValueError(
            f"{score!r} may be the confidence of what {decisions[0]!r} says, or the score of one "
            f"class: say --predicted {decisions[0]}, or --positive CLASS"
        )


# --- labels ---


def label_of(table: pd.DataFrame) -> str:
    """The column of labels by its name."""
    return _label(table, list(table.columns), None)


def _label(table: pd.DataFrame, free: list[str], predicted: str | None) -> str:
    for usual in (names.LABELS, names.MAYBE_LABELS, names.CORRECT):
        found = [c for c in free if names.bare(c) in usual and c != predicted]
        found = [c for c in found if not _fractional(table[c])]
        if len(found) == 1 or (len(found) > 1 and _all_equal(table, found)):
            return found[0]
        if found:
            raise ValueError(
                f"the labels may be {' or '.join(map(repr, found))}, which differ: say which with "
                f"--label {found[0]}"
            )
    many = [c for c in free if _of_one_label(table, c)]
    if len(many) > 1:
        raise ValueError(
            f"there are labels in {len(many)} columns, {names.short(many)}: audit one of them at a "
            f"time, such as --label {many[0]} --scores {_beside_label(table, many[0])}"
        )
    raise ValueError(
        f"no column of labels among {names.short(list(table.columns))}: name it with --label COLUMN"
    )


def _of_one_label(table: pd.DataFrame, column: str) -> bool:
    """Whether a column says of each row if one label of several holds, as label_cat or y_cat."""
    start = re.match(
        r"(label|labels|y|true|y_true|target|gt|truth)_(?!prob|score|pred|hat)", column
    )
    return bool(start) and (_binary(table[column]) or table[column].dtype.kind == "b")


def _beside_label(table: pd.DataFrame, label: str) -> str:
    """The column of scores that is called after a label."""
    own = re.sub(r"^(labels?|y_true|y|true|target|gt|truth)_", "", label)
    like = [c for c in table.columns if c != label and c.endswith(own) and not _binary(table[c])]
    return like[0] if len(like) == 1 else "COLUMN"


def _all_equal(table: pd.DataFrame, columns: list[str]) -> bool:
    first = table[columns[0]].map(str)
    return all((table[column].map(str) == first).all() for column in columns[1:])


# --- scores ---


@dataclass(frozen=True)
class Reading:
    """Columns that may be the scores; of_classes: whether they surely are those of all classes."""

    columns: list[str]
    of_classes: bool = False


def _readings(table: pd.DataFrame, labels: pd.Series, left: list[str]) -> list[Reading]:
    """All columns, or sets of them, that are scores by what they hold or are called."""
    words = {str(word).strip().casefold() for word in labels.dropna().unique()[:MOST_WORDS]}
    numbers = [c for c in left if _is_number(table[c])]
    able = [c for c in numbers if not _no_score(table[c], words)]
    families = _families(table, able, words)
    _demand_whole(left, families, numbers)
    inside = {c for columns in families for c in columns}
    single = [c for c in able if c not in inside and _is_single(table[c], words)]
    rest = [c for c in able if c not in inside and not names.sure(c)]
    sets = [reading for columns in families for reading in _sets(table, columns, words, True)]
    sets += list(_sets(table, rest, words, False))
    single = [c for c in single if not any(c in reading.columns for reading in sets)]
    single = [c for c in single if not any(_repeats(table, c, r.columns) for r in sets)]
    return sets + [Reading([column]) for column in single]


MOST_WORDS = 10_000


def _families(table: pd.DataFrame, columns: list[str], words: set[str]) -> list[list[str]]:
    """Sets of columns that are called alike: p_cat and p_dog, logit0 and logit1, or 0, 1 and 2."""
    groups: dict[str, list[str]] = {}
    for column in columns:
        part = names.parted(column)
        if column.strip().isdigit():
            groups.setdefault("", []).append(column)
        elif part is not None and not names.sure(column):
            groups.setdefault(part.family, []).append(column)
    called = [c for c in columns if c.strip().casefold() in words]
    inside = {c for group in groups.values() for c in group}
    if len(called) > 1 and not set(called) & inside:
        groups["called"] = called
    return [group for group in groups.values() if len(group) > 1 and _live(table, group)]


def _demand_whole(left: list[str], families: list[list[str]], numbers: list[str]) -> None:
    """Refuse a family of which one column holds no numbers."""
    known = {names.said(columns): columns for columns in families}
    for column in left:
        part = names.parted(column)
        if part and column not in numbers and names.said([column]) in set(known) - {None}:
            raise ValueError(
                f"column {column!r} holds no numbers but is called like the scores "
                f"{names.short(known[names.said([column])])}: mend it, or say which are the scores "
                f"with --scores"
            )


def _live(table: pd.DataFrame, columns: list[str]) -> bool:
    """Whether columns are no whole numbers, such as labels of their own, or sum to 1 or 100."""
    return any(table[c].dtype.kind == "f" for c in columns) or _sums(table, columns)


def _sets(
    table: pd.DataFrame, columns: list[str], words: set[str], family: bool
) -> Iterator[Reading]:
    """The sets of neighbours among columns whose rows sum to 1 or 100; else a whole family."""
    if len(columns) < 2 or (family and names.of_top(columns)):
        return
    runs = [columns] if _sums(table, columns) else list(_runs(table, columns))
    for run in runs or ([columns] if family else []):
        if _falling(table, run, words):
            raise ValueError(_best(run))
        yield Reading(run, run in runs or _called(run, words))


def _best(columns: list[str]) -> str:
    return (
        f"the scores {names.short(columns)} fall from left to right in every row, as the k best of "
        f"more classes do: if they are all classes, say {_option(columns)}; if the first is how "
        f"sure a prediction is, say --scores {columns[0]} --predicted COLUMN"
    )


def _sums(table: pd.DataFrame, columns: list[str]) -> bool:
    """Whether the rows of columns, not all of them constant, sum to 1 or to 100."""
    head = _finite(table[columns].iloc[:ROWS_SEARCHED].to_numpy(dtype=np.float64))
    if not len(head) or not _near(head.sum(1)) or (len(head) > 1 and (head == head[0]).all()):
        return False
    found = content(table[columns].to_numpy(dtype=np.float64))
    return found.sums_to(1) or found.sums_to(100)


def _near(sums: np.ndarray) -> bool:
    return any(np.abs(sums / total - 1).max() <= validate.MOST_OFF for total in (1, 100))


def _finite(rows: np.ndarray) -> np.ndarray:
    return rows[np.isfinite(rows).all(1)]


def _runs(table: pd.DataFrame, columns: list[str]) -> Iterator[list[str]]:
    """The longest runs of neighbours whose rows sum to 1 or 100."""
    if not 2 < len(columns) <= MOST_SEARCHED:
        return
    head = table[columns].iloc[:ROWS_SEARCHED].to_numpy(dtype=np.float64)
    start = 0
    while start < len(columns) - 1:
        for stop in range(len(columns), start + 1, -1):
            rows = _finite(head[:, start:stop])
            run = columns[start:stop]
            if len(rows) and _near(rows.sum(1)) and rows.min() >= 0 and _sums(table, run):
                yield run
                start = stop
                break
        else:
            start += 1


def _falling(table: pd.DataFrame, columns: list[str], words: set[str]) -> bool:
    """Whether columns fall from left to right in every row, as the k best scores do."""
    if len(columns) < 3 or len(table) < SORTED_ROWS or _called(columns, words):
        return False
    rows = _finite(table[columns].to_numpy(dtype=np.float64))
    return bool((rows[:, 1:] <= rows[:, :-1]).all())


def _called(columns: list[str], words: set[str]) -> bool:
    """Whether all labels are words, not numbers, that columns are called after."""
    called = {c.strip().casefold() for c in columns}
    called |= {part.of.casefold() for c in columns if (part := names.parted(c))}
    return words <= called and not all(word.lstrip("+-").isdigit() for word in words)


def _repeats(table: pd.DataFrame, column: str, columns: list[str]) -> bool:
    """Whether a column says no more than a set does: one of its columns, or its largest."""
    rows = table[columns].to_numpy(dtype=np.float64)
    own = table[[column]].to_numpy(dtype=np.float64)
    near = np.abs(np.column_stack([rows, rows.max(1)]) - own) < 1e-6
    return bool((near | np.isnan(own)).all(0).any())


# --- what a column holds ---


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "fiu" and bool(column.notna().any())


def _binary(column: pd.Series) -> bool:
    """Whether it holds nothing but 0 and 1."""
    return column.dtype.kind in "iufb" and bool(column.dropna().isin([0, 1]).all())


def _fractional(column: pd.Series) -> bool:
    if column.dtype.kind != "f":
        return False
    filled = column.dropna()
    return bool((filled != filled.round()).any())


def _no_score(column: pd.Series, words: set[str]) -> bool:
    """Whether its name says that it is something else, and it holds nothing that contradicts."""
    name = names.bare(column.name)
    if name in names.EITHER:
        return not _fractional(column)
    if str(column.name).strip().casefold() in words:
        return False
    return name in (*names.BESIDE, *names.DECISIONS, *names.CORRECT) or (
        name in (*names.LABELS, *names.MAYBE_LABELS) and not _fractional(column)
    )


def _is_single(column: pd.Series, words: set[str]) -> bool:
    """Whether one column alone may be the scores, by its name."""
    name = names.bare(column.name)
    if names.sure(column.name):
        return False
    called = str(column.name).strip().casefold() in words
    part = names.parted(column.name)
    if called or name in (*names.SCORES, *names.EITHER):
        return True
    # p_1, score_a: but neither decisions nor numbers of classes, as in top1_class
    scored = _fractional(column) or names.said([column.name]) is not None
    return part is not None and scored and not _binary(column)


# --- one score that goes with a decision ---


def _of_decisions(table: pd.DataFrame, label: str, left: list[str]) -> Chosen:
    """Where only the confidence of what a row predicts is there: with it, whether it is right."""
    sure = [c for c in left if names.sure(c) and _is_number(table[c])]
    if len(sure) != 1:
        raise ValueError(_between([[c] for c in sure]) if sure else _none(table, left))
    if names.bare(label) in names.CORRECT:
        return Chosen(label, sure, event=True)
    correct = [c for c in left if names.bare(c) in names.CORRECT]
    if len(correct) == 1:
        return Chosen(correct[0], sure, event=True)
    decisions = [c for c in left if _decides(table[c])]
    if len(decisions) != 1:
        raise ValueError(
            f"{sure[0]!r} is called the confidence of what a row predicts, but "
            f"{'several columns say' if decisions else 'no column says'} what that is"
            f"{': ' + names.short(decisions) if decisions else ''}. Name it with --predicted COLUMN, "
            f"or the column that says whether it is right with --label COLUMN; if {sure[0]!r} is "
            f"the score of one class, say --scores {sure[0]} --positive CLASS"
        )
    _demand_own(table, label, decisions[0], sure[0])
    return Chosen(label, sure, False, decisions[0], True)


def _decides(column: pd.Series) -> bool:
    name = names.bare(column.name)
    best = re.fullmatch(r"top_?1(_(class|label|pred|prediction))?", name)
    return (name in names.DECISIONS or bool(best)) and not _fractional(column)


def _demand_own(table: pd.DataFrame, label: str, decision: str, score: str) -> None:
    """Refuse a confidence of two classes that is above a threshold for one decision alone."""
    values = table[decision].dropna().unique()
    if len(values) != 2:
        return
    one, other = (table.loc[table[decision] == value, score] for value in values)
    if one.max() < other.min() or other.max() < one.min():
        yes = values[0] if one.min() > other.max() else values[1]
        raise ValueError(
            f"{score!r} may be the confidence of what {decision!r} says, or the score of {yes}, for "
            f"it is larger wherever {decision!r} is {yes}. Say --predicted {decision} for the "
            f"first, --scores {score} --positive {yes} for the second"
        )


def _demand_agreement(table: pd.DataFrame, label: str, left: list[str], score: str) -> None:
    """Refuse a score that does not say, by a threshold, what stands in a column of decisions.

    It is the confidence of these decisions then, of the other class, or of another model.
    """
    for decision in (c for c in left if c != score and _decides(table[c])):
        rows = table[[decision, score]].dropna()
        values = sorted(rows[decision].unique(), key=str)
        if len(values) != 2 or not set(map(str, values)) <= set(table[label].map(str)):
            continue
        one, other = (rows.loc[rows[decision] == value, score] for value in values)
        if not (one.max() <= other.min() or other.max() <= one.min()):
            raise ValueError(
                f"{score!r} does not tell by any threshold what {decision!r} says: it may be the "
                f"confidence of that, --predicted {decision}, or the score of one class whatever "
                f"{decision!r} says, --positive {values[1]} or --positive {values[0]}"
            )


def _confidence(table: pd.DataFrame, left: list[str]) -> str:
    """The one column that goes with the decisions that the user names."""
    numbers = [c for c in left if _is_number(table[c]) and names.bare(c) not in names.BESIDE]
    sure = [c for c in numbers if names.sure(c)] or [
        c for c in numbers if _is_single(table[c], set())
    ]
    if len(sure) != 1:
        raise ValueError(
            f"the scores of the predictions may be {names.short(sure or numbers)}: say which with "
            f"--scores COLUMN"
        )
    return sure[0]


# --- questions ---


def _option(columns: list[str], table_columns: list[str] | None = None) -> str:
    """What the user types for a set of columns."""
    start = names.parted(columns[0])
    if len(columns) > 6 and start is not None and not start.family.startswith("_"):
        stem = columns[0][: columns[0].rfind(start.of)]
        return f'--scores "{stem}*"'
    text = ",".join(columns)
    return f'--scores "{text}"' if re.search(r"[^\w.,-]", text) else f"--scores {text}"


def _between(found: list[list[str]]) -> str:
    shown = [names.short(columns) for columns in found]
    options = [_option(columns) for columns in found]
    return f"the scores may be {'; or '.join(shown[:6])}: say which with {' or '.join(options[:6])}"


def _none(table: pd.DataFrame, left: list[str]) -> str:
    numbers = [c for c in left if _is_number(table[c]) and not _binary(table[c])]
    best = [c for c in numbers if names.of_top([c])]
    if len(best) > 1:
        return _best(best)
    text = f"no column of scores is clear among {names.short(list(table.columns))}"
    words = [c for c in left if names.parted(c) and c not in numbers]
    if not numbers:
        why = f"; {words[0]!r} holds texts, such as {table[words[0]].iloc[0]!r}" if words else ""
        return (
            f"{text}: none holds numbers other than 0 and 1{why}. There must be scores a row, of "
            f"every class or of one; decisions alone have no calibration"
        )
    return (
        f"{text}: name one column of scores, or one a class, such as {_option(numbers[:1])}"
        f"{'' if len(numbers) < 2 else ' or ' + _option(numbers)}"
    )
