"""Sets of columns that may be the scores of all classes, and columns that alone may be scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.holds import binary, fractional, is_number
from calibkit.auditing.kinds import content

MOST_WORDS = 10_000  # labels that are compared with columns
MOST_SEARCHED = 60  # columns among which rows of sum 1 are searched
ROWS_SEARCHED = 300
SORTED_ROWS = 20  # from so many on, columns that fall in every row are no classes


class Reading(NamedTuple):
    """Columns that may be the scores; of_classes: whether they surely are those of all classes."""

    columns: list[str]
    of_classes: bool = False


def readings(table: pd.DataFrame, labels: pd.Series, left: list[str]) -> list[Reading]:
    """All columns, or sets of them, that are scores by what they hold or are called."""
    words = {str(word).strip().casefold() for word in labels.dropna().unique()[:MOST_WORDS]}
    numbers = [c for c in left if is_number(table[c])]
    able = [c for c in numbers if not _no_score(table[c], words)]
    families = _families(table, able, words)
    _demand_whole(left, families, numbers)
    inside = {c for columns in families for c in columns}
    rest = [c for c in able if c not in inside and not names.sure(c) and not names.odd(c)]
    sets = [reading for columns in families for reading in _of_family(table, columns, words)]
    sets += [Reading(run, True) for run in _on_simplex(table, rest, words)]
    sets += _with_rest(table, sets, rest, words)
    single = [c for c in able if c not in inside and is_single(table[c], words)]
    single = [c for c in single if not any(c in reading.columns for reading in sets)]
    single = [c for c in single if not any(_repeats(table, c, r.columns) for r in sets)]
    return sets + [Reading([column]) for column in single]


def _families(table: pd.DataFrame, columns: list[str], words: set[str]) -> list[list[str]]:
    """Sets of columns that are called alike: p_cat and p_dog, logit0 and logit1, or 0, 1 and 2."""
    groups: dict[str, list[str]] = {}
    for column in columns:
        part = names.parted(column)
        if column.strip().isdigit():
            groups.setdefault("", []).append(column)
        elif part is not None and not names.sure(column):
            groups.setdefault(part.family, []).append(column)
        elif (ends := column.rpartition("_"))[2].casefold() in words and ends[0]:
            groups.setdefault(f"{ends[0]}_", []).append(column)
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


def _of_family(table: pd.DataFrame, columns: list[str], words: set[str]) -> list[Reading]:
    """A family, or the neighbours in it whose rows sum to 1 or 100.

    Where there are none, and some members are called after no class, it may be read in two ways.
    """
    if names.of_top(columns):
        return []
    runs = _on_simplex(table, columns, words)
    if runs:
        return [Reading(run, True) for run in runs]
    _demand_classes(table, columns, words)
    numbered = [c for c in columns if _of(c).isdigit()]
    plain = numbered if len(numbered) > 1 else [c for c in columns if not names.odd(c)]
    if not plain:
        return []
    rows = table[columns].to_numpy(dtype=np.float64)
    two = 1 < len(plain) < len(columns) and (np.nanmin(rows) < 0 or np.nanmax(rows) > 1)
    readings = [plain, columns] if two else [columns]
    return [Reading(reading, _called(reading, words)) for reading in readings]


def _on_simplex(table: pd.DataFrame, columns: list[str], words: set[str]) -> list[list[str]]:
    """All columns, or else the neighbours among them, whose rows sum to 1 or 100."""
    runs = [columns] if _sums(table, columns) else list(_runs(table, columns))
    for run in runs:
        _demand_classes(table, run, words)
    return runs


def _demand_classes(table: pd.DataFrame, columns: list[str], words: set[str]) -> None:
    """Refuse columns that are rather the k best scores of each row."""
    if _falling(table, columns, words):
        raise ValueError(best(columns))


def _with_rest(
    table: pd.DataFrame, sets: list[Reading], rest: list[str], words: set[str]
) -> list[Reading]:
    """Columns called after the labels, and all others: a class that no label names may be there."""
    if len(sets) != 1 or not rest or _sums(table, sets[0].columns):
        return []
    named = {c.strip().casefold() for c in sets[0].columns}
    if not words <= named:
        return []
    whole = {*sets[0].columns, *(c for c in rest if fractional(table[c]))}
    both = [c for c in table.columns if c in whole]
    return [Reading(both, True)] if len(both) > len(sets[0].columns) else []


def best(columns: list[str]) -> str:
    """What is said of columns that are the k best scores of each row."""
    return (
        f"the scores {names.short(columns)} fall from left to right in every row, as the k best of "
        f"more classes do: if they are all classes, say {names.option(columns)}; if the first is "
        f"how sure a prediction is, say {names.option(columns[:1])} --predicted COLUMN"
    )


def _of(column: str) -> str:
    """The class that a column is called after."""
    part = names.parted(column)
    return part.of if part else column.strip()


def _sums(table: pd.DataFrame, columns: list[str]) -> bool:
    """Whether the rows of columns, not all of them constant, sum to 1 or to 100."""
    if len(columns) < 2:
        return False
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
    if all(_of(c).isdigit() for c in columns):
        columns = sorted(columns, key=lambda c: int(_of(c)))
    rows = _finite(table[columns].to_numpy(dtype=np.float64))
    return bool((rows[:, 1:] <= rows[:, :-1]).all())


def _called(columns: list[str], words: set[str]) -> bool:
    """Whether all labels are words, not numbers, that columns are called after."""
    called = {c.strip().casefold() for c in columns}
    called |= {_of(c).casefold() for c in columns}
    called |= {c.rpartition("_")[2].casefold() for c in columns}
    return words <= called and not all(word.lstrip("+-").isdigit() for word in words)


def _repeats(table: pd.DataFrame, column: str, columns: list[str]) -> bool:
    """Whether a column says no more than a set does: one of its columns, or its largest."""
    rows = table[columns].to_numpy(dtype=np.float64)
    own = table[[column]].to_numpy(dtype=np.float64)
    near = np.abs(np.column_stack([rows, rows.max(1)]) - own) < 1e-6
    return bool((near | np.isnan(own)).all(0).any())


def _no_score(column: pd.Series, words: set[str]) -> bool:
    """Whether its name says that it is something else, and it holds nothing that contradicts."""
    name = names.bare(column.name)
    if name in names.EITHER:
        return not fractional(column)
    if {str(column.name).strip().casefold(), _of(str(column.name)).casefold()} & words:
        return False
    if names.beside(column.name) or name in (*names.DECISIONS, *names.CORRECT):
        return True
    return name in (*names.LABELS, *names.MAYBE_LABELS) and not fractional(column)


def is_single(column: pd.Series, words: set[str]) -> bool:
    """Whether one column alone may be the scores, by its name."""
    name = names.bare(column.name)
    if names.sure(column.name) or ((own := names.parted(column.name)) and "conf" in own.family):
        return False
    if name in names.MARKS and binary(column):
        return False
    called = str(column.name).strip().casefold() in words
    if names.odd(column.name) and _of(str(column.name)).casefold() not in words:
        return name in names.SCORES
    part = names.parted(column.name)
    if called or name in (*names.SCORES, *names.EITHER):
        return True
    # p_1, prob_default, score_yes: but neither decisions nor whatever score_x may be
    if part is None or binary(column):
        return False
    after = part.of.casefold() in words or part.of.isdigit()
    return names.said([column.name]) is not None or (after and fractional(column))
