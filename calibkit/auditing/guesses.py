"""What a question proposes: the likeliest columns, classes and kinds, for the user to confirm.

Nothing here is taken unasked. Truth depends on the scores; what follows from them in every row is a
prediction; and of several orders of the classes the likeliest is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from calibkit.auditing.names import (
    BESIDE,
    CONFIDENCES,
    CORRECT,
    DECISIONS,
    KINDS,
    LABELS,
    MARK,
    NEGATIVE,
    PARTS,
    POSITIVE,
    SCORES,
    WRONG,
    bare,
    parts,
    short,
    word,
)
from calibkit.auditing.names import words as as_words  # fmt: skip
from calibkit.auditing.questions import Options, Unclear, joined
from calibkit.auditing.scores import double

FEW = 20  # rows, below which a pattern may be chance
LIKELY = 2.0  # standard errors of an area under the ROC curve
CLEARLY = 3.0  # standard errors
SURELY = 10.0  # of the log-likelihood
SAMPLED = 5000  # rows that a likelihood is computed of
MOST_VALUES = 50  # of a column that may be labels
MOST_COLUMNS = 400  # that are searched for families and sums


def is_number(column: pd.Series) -> bool:
    """Whether it holds numbers, and not only missing ones."""
    return column.dtype.kind in "fiu" and bool(column.notna().any())


def fractional(column: pd.Series) -> bool:
    """Whether it holds numbers that are not whole."""
    return column.dtype.kind == "f" and bool((column.dropna() % 1 != 0).any())


def area(scores: np.ndarray, of_one: np.ndarray) -> tuple[float, float]:
    """The area under the ROC curve, and by how many standard errors it lies above one half.

    >>> area(np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, False, True, True]))[0]
    1.0
    """
    from scipy.stats import rankdata

    of_one, n = np.asarray(of_one, bool), len(scores)
    ones = int(of_one.sum())
    zeros = n - ones
    if not ones or not zeros:
        return 0.5, 0.0
    found = (rankdata(scores)[of_one].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    return float(found), float((found - 0.5) / np.sqrt((n + 1) / (12 * ones * zeros)))


# --- names of columns and classes ---


def middles(columns: list[str]) -> list[str]:
    """What differs in the names of columns: p_cat, p_car are cat, car.

    >>> middles(["p_cat", "p_car"]), middles(["MEL_x", "NV_x"]), middles(["prob0", "prob1"])
    (['cat', 'car'], ['MEL', 'NV'], ['0', '1'])
    """
    if len(columns) < 2:
        return list(columns)
    start, end = _common(columns), _common([column[::-1] for column in columns])[::-1]
    start = re.sub(r"[^\W_]+$" if not _numbered(columns, start) else r"\d+$", "", start)
    end = re.sub(r"^[^\W_]+", "", end)
    found = [column[len(start) : len(column) - len(end)] for column in columns]
    found = [text.strip(" _()[]=:") for text in found]
    return found if all(found) and len(set(found)) == len(found) else list(columns)


def _common(columns: list[str]) -> str:
    least = min(columns), max(columns)
    place = next((k for k, (a, b) in enumerate(zip(*least, strict=False)) if a != b), None)
    return least[0] if place is None else least[0][:place]


def _numbered(columns: list[str], start: str) -> bool:
    return all(re.match(r"\d", column[len(start.rstrip("0123456789")) :]) for column in columns)


def _templates(column: str, words: Collection[str], *, strict: bool) -> list[tuple[str, str]]:
    """The name with a mark in place of each word that it holds, and the word."""
    text = re.sub(r"(\d)\.0+(?!\d)", r"\1", column.strip()).casefold()
    found = []
    for one in words:
        place = text.find(one)
        while place >= 0:
            end = place + len(one)
            before, after = text[:place], text[end:]
            digit = one.lstrip("+-").isdigit()
            free = not before or not before[-1].isalnum() or (digit and not before[-1].isdigit())
            free &= not after or not after[0].isalnum()
            free &= not (
                digit and one[0] not in "+-" and before[-1:] == "-" and before[-2:-1] in "_ "
            )
            if free or (not strict and not digit):
                found.append((f"{before}\0{after}", one))
            place = text.find(one, place + 1)
    return found


def class_in(column: str, words: Collection[str]) -> str | None:
    """The one of some words, in small letters, that a column of scores is called after.

    >>> class_in("p_cat", {"cat", "dog"}), class_in("prob0", {"0", "1"}), class_in("cats", {"cat"})
    ('cat', '0', None)
    """
    if bare(column) in SCORES:
        return None
    found = [
        (len(one), one)
        for template, one in _templates(column, words, strict=True)
        if parts(template.replace("\0", " ")) <= PARTS
    ]
    return max(found)[1] if found else None


def families(
    table: Any, columns: list[str], words: Collection[str], *, strict: bool
) -> list[list[str]]:
    """Sets of columns of numbers that are called after all of the words, a column a word.

    strict: the words stand alone in the names, beside nothing but words of `names.PARTS`.
    """
    folded = {one.casefold() for one in words}
    if len(folded) < 2 or len(folded) < len(set(words)) or len(folded) > len(columns):
        return []
    by_template: dict[str, dict[str, str]] = {}
    numeric = [column for column in columns if table[column].dtype.kind in "fiu"]
    for column in numeric:
        for template, one in _templates(column, folded, strict=strict):
            if not strict or parts(template.replace("\0", " ")) <= PARTS:
                by_template.setdefault(template, {}).setdefault(one, column)
    found: list[list[str]] = []
    for template, own in by_template.items():
        if set(own) != folded or len(set(own.values())) < len(own):
            continue
        chosen = _with_others(table, template, list(own.values()), numeric, folded)
        if chosen is not None and chosen not in found:
            found.append(chosen)
    return found


def _with_others(
    table: Any, template: str, own: list[str], numeric: list[str], words: set[str]
) -> list[str] | None:
    """A set with the columns of classes that no row has; None where these are not clear."""
    before, after = template.split("\0")
    digits = all(one.lstrip("+-").isdigit() for one in words)
    middle = r"[+-]?\d+" if digits else r".+"
    pattern = re.compile(re.escape(before) + middle + re.escape(after))
    texts = {c: re.sub(r"(\d)\.0+(?!\d)", r"\1", c.strip()).casefold() for c in numeric}
    more = [
        c
        for c in numeric
        if c in own or ((before or after or digits) and pattern.fullmatch(texts[c]))
    ]
    ordered = [c for c in numeric if c in own]
    alone = not (before or after or digits)
    if (len(more) == len(own) and not alone) or _sum_to_one(table, ordered):
        return ordered
    if (digits and template != "\0") or _sum_to_one(table, more):
        return more
    if before or after:
        return None
    near = [c for c in numeric if c not in own and fractional(table[c]) and not parts(c) & BESIDE]
    signed = [c for c in near if (table[c].dropna() < 0).any() and _beside(table.columns, c, own)]
    return None if signed else ordered


def _beside(columns: list[str], column: str, own: list[str]) -> bool:
    """Whether a column is the neighbour of some."""
    place = columns.index(column)
    return any(c in own for c in columns[max(place - 1, 0) : place + 2])


def numbered(table: Any, columns: list[str]) -> list[list[str]]:
    """Columns of numbers that count from 0, or 1, on, beside nothing but words of `names.PARTS`."""
    groups: dict[str, dict[int, str]] = {}
    for column in columns:
        found = re.fullmatch(r"(\D*?)(\d+)(?:\.0+)?(\D*)", column.strip())
        if found and fractional(table[column]) and parts(f"{found[1]} {found[3]}") <= PARTS:
            template = f"{found[1]}\0{found[3]}".casefold()
            groups.setdefault(template, {})[int(found[2])] = column
    return [
        [column for column in columns if column in own.values()]
        for own in groups.values()
        if len(own) > 2 and sorted(own) in (list(range(len(own))), list(range(1, len(own) + 1)))
    ]


def alike(table: Any, columns: list[str]) -> list[list[str]]:
    """Columns that differ in one word beside words of `names.PARTS`, and whose rows sum to 1."""
    found = []
    for own in _alike([c for c in columns if fractional(table[c])], whole=False):
        rest = own[0].replace(middles(own)[0], " ") if middles(own) != own else ""
        if rest.strip() and parts(rest) and parts(rest) <= PARTS and _sum_to_one(table, own):
            found.append(own)
    return found


def first_class(found: list[str] | None) -> str:
    """The option for classes that count from another number on, as words of a question."""
    if (
        not found
        or not _is_whole(found[0])
        or found != list(map(str, range(int(found[0]), int(found[0]) + len(found))))
    ):
        return ""
    return f", or --first-class {found[0]}"


def said(table: Any, columns: list[str]) -> list[str]:
    """Columns as they are typed: the name of an array, p_* for very many, else each."""
    for name, own in table.blocks.items():
        if own == columns:
            return [name]
    start = _common(columns)
    if len(columns) > 30 and start and [c for c in table.columns if c.startswith(start)] == columns:
        return [f"{start}*"]
    return columns


def _sum_to_one(table: Any, columns: list[str]) -> bool:
    sums = np.sum([table[column].astype(float) for column in columns], axis=0)
    sums = sums[np.isfinite(sums)]
    return len(sums) > 0 and bool(
        (np.abs(sums - 1).max() < 0.05) or (np.abs(sums / 100 - 1).max() < 0.05)
    )


def classes_of(table: Any, columns: list[str], words: Collection[str]) -> list[str]:
    """The classes that columns of scores are called after."""
    if columns in table.blocks.values():
        return list(map(str, range(len(columns))))
    exact = {word(column): column for column in columns}
    if set(words) <= set(exact):
        return [word(column) for column in columns]
    folded = {one.casefold(): one for one in words}
    by_template: dict[str, dict[str, str]] = {}
    for column in columns[:2000]:
        for template, one in _templates(column, folded, strict=False):
            by_template.setdefault(template, {})[column] = folded[one]
    for own in by_template.values():
        if len(set(own.values())) == len(folded) == len(columns) == len(own):
            return [own[column] for column in columns]
    return list(map(word, middles([re.sub(r"(\d)\.0+(?!\d)", r"\1", c) for c in columns])))


# --- which column holds the labels ---


def one_hot(table: Any, columns: list[str]) -> bool:
    matrix = np.column_stack([table[c] for c in columns])
    return bool(np.isin(matrix, (0, 1)).all() and (matrix.sum(1) == 1).all())


def label_column(table: Any, label: list[str]) -> pd.Series:
    """(n,) the labels; of several columns of 0 and 1 the class of the one that is 1."""
    if len(label) == 1:
        return table[label[0]]
    if not one_hot(table, label):
        raise ValueError(
            f"{short(label)} hold no single 1 in every row: audit one label at a time, such as "
            f"--label {joined(label[:1])} --scores COLUMN"
        )
    places = np.column_stack([table[c] for c in label]).argmax(1)
    return pd.Series(np.array(middles(label))[places])


def label(table: Any, named: list[str], scores: list[str] | None, options: Options) -> Unclear:
    """The question which column holds the labels."""
    if len(named) > 1:
        why = f"the labels may be {' or '.join(map(repr, named))}, which differ: say which with "
        why += " or ".join(f"--label {joined([c])}" for c in named)
    else:
        why = f"no column of labels among {short(table.columns)}: name it with --label COLUMN, or "
        why += "their file with --labels FILE"
    marks = [c for c in table.columns if bare(c) in (*CORRECT, MARK) and is_number(table[c])]
    sure = [c for c in table.columns if bare(c) in (*CONFIDENCES, *SCORES) and c not in marks]
    if marks and sure and not named:
        odd = ~table[marks[0]].isin((0, 1)) & table[marks[0]].notna()
        row = int(odd.to_numpy().argmax())
        return Unclear(
            f"column {marks[0]!r} must say which answers are right, by 0 and 1, got "
            f"{str(table[marks[0]].iloc[row])!r} in row {row} (the first is 0): decide from which "
            f"mark on an answer is right, and write that as a column 'correct'; or name what says "
            f"it with --label COLUMN"
        )
    wrong = [c for c in table.columns if bare(c) in WRONG and table[c].nunique() == 2]
    if wrong and not named:
        return Unclear(
            f"{why}. {wrong[0]!r} may say which rows are wrong: write it the other way round, as a "
            f"column 'correct'"
        )
    return Unclear(why, **_best_label(table, named, scores, options))


def _best_label(
    table: Any, named: list[str], scores: list[str] | None, options: Options
) -> dict[str, Any]:
    hot = {} if named or scores else _hot(table)
    if hot:
        return hot
    many = _tags(table)
    if many and scores is None:
        return many
    taken = {*options.taken, *(scores or []), options.predicted}
    limit = max(2, min(MOST_VALUES, len(table) // 4))
    able = named or [
        c for c in table.columns
        if c not in taken and not parts(c) & BESIDE and not c.lower().endswith("id")
        and not any(c in own for own in table.blocks.values())
        and not fractional(table[c]) and 2 <= table[c].nunique() <= limit
    ]  # fmt: skip
    ranked = []
    for place, column in enumerate(able):
        found = _set_beside(table, [column], scores, options)
        if found is None:
            continue
        rank, fit, follows = found
        decides = bool(parts(column) & DECISIONS)
        called = LABELS.index(bare(column)) if bare(column) in LABELS else len(LABELS)
        ranked.append((follows, rank, decides, called, -fit, place, column))
    if not ranked:
        return {"label": [named[0]]} if named else {}
    best = min(ranked)
    if best[0] and not named:  # nothing but what the model predicts
        return {}
    if named and len(named) > 1:
        best = min(ranked, key=lambda row: (row[0], row[3]))
    return {"label": [best[-1]]}


def _set_beside(
    table: Any, column: list[str], scores: list[str] | None, options: Options
) -> tuple[int, float, bool] | None:
    """How well the best scores beside a column fit it: rank, fit, whether it follows from them."""
    found = _ranked(table, column, scores, options)
    if not found:
        return None
    rank, fit, _follows, _ = min(found, key=lambda row: (row[0], -row[1]))
    return rank, fit, any(row[2] for row in found)


def _ranked(
    table: Any, column: list[str], scores: list[str] | None, options: Options
) -> list[tuple[int, float, bool, list[str]]]:
    """Sets of scores beside labels: a rank, how well they fit, whether labels follow from them."""

    labels = label_column(table, column)
    words = as_words(labels.dropna())
    values = sorted(set(words))
    if not len(values) > 1:
        return []
    rows = labels.notna().to_numpy()
    left = [c for c in table.columns if c not in (*column, *options.taken, options.predicted)]
    ranked = []
    for rank, own in [(0, scores)] if scores else _sets(table, left, values):
        matrix = np.column_stack([np.asarray(table[c], float) for c in own])[rows]
        good = np.isfinite(matrix).all(1)
        matrix, mine = matrix[good], words.to_numpy()[good]
        if len(matrix) < 4:
            continue
        if len(own) > 1 and len(values) <= len(own):
            fit = _agreement(mine, values, matrix.argmax(1), len(own))
            ranked.append((rank, fit, fit == 1.0 and len(mine) >= FEW, own))
        elif len(own) == 1 and len(values) == 2:
            of_one = mine == values[1]
            found, z = area(matrix[:, 0], of_one)
            follows = found in (0.0, 1.0) and len(mine) >= FEW
            ranked.append((rank + 10, abs(z), follows, own))
        elif len(own) == 1 and _same_words(table, column[0], values):
            ranked.append((rank + 12, 0.0, False, own))
    return ranked


def _agreement(labels: np.ndarray, values: list[str], said: np.ndarray, count: int) -> float:
    from scipy.optimize import linear_sum_assignment

    codes = np.searchsorted(values, labels)
    pairs = np.bincount(codes * count + said, minlength=len(values) * count)
    pairs = pairs.reshape(len(values), count)
    rows, columns = linear_sum_assignment(pairs, maximize=True)
    return float(pairs[rows, columns].sum() / len(labels))


def _same_words(table: Any, label: str, values: list[str]) -> list[str]:
    """Columns of the same words as a column of labels."""
    own = set(values)
    found = []
    for column in table.columns:
        if column == label or fractional(table[column]):
            continue
        words = set(as_words(table[column].dropna()))
        if 1 < len(words) <= len(own) + 1 and len(words & own) >= min(2, len(own)):
            found.append(column)
    return found


def _sets(table: Any, left: list[str], values: list[str]) -> list[tuple[int, list[str]]]:
    """What may be scores, the likelier first: (rank, columns)."""
    inside = {c for own in table.blocks.values() for c in own}
    flat = [c for c in left if c not in inside][:MOST_COLUMNS]
    found = [(0, own) for own in families(table, flat, values, strict=True)]
    found += [(1, own) for own in families(table, flat, values, strict=False)]
    for name, own in table.blocks.items():
        if own[0] in left and table.entries[name].dtype.kind == "f":
            found.append((1 if parts(name) <= PARTS else 2, own))
    found += [(1, own) for own in numbered(table, flat)]
    found += [(1, own) for own in alike(table, flat)]
    whole = [c for c in flat if is_number(table[c]) and table[c].nunique() > 10]
    found += [
        (2, own) for own in _runs(table, [c for c in whole if not parts(c) & BESIDE - {"no"}])
    ]
    numeric = [c for c in whole if fractional(table[c]) and not parts(c) & BESIDE]
    found += [(rank, [c]) for c in numeric for rank in [_single_rank(table, c)]]
    whole = [c for c in flat if bare(c) in (*SCORES, *CONFIDENCES) and c not in numeric]
    found += [(4, [c]) for c in whole if is_number(table[c]) and table[c].nunique() > 2]
    return found


def _single_rank(table: Any, column: str) -> int:
    named = bare(column) in (*SCORES, *CONFIDENCES) or bool(
        parts(column) & (PARTS - {"y", "class"})
    )
    filled = table[column].dropna()
    probable = bool(filled.between(0, 1).all())
    return 3 if named and probable else 4 if named or probable else 6


def _runs(table: Any, columns: list[str]) -> list[list[str]]:
    """Neighbours whose rows sum to 1 or to 100, the longest from each column on."""
    found: list[list[str]] = []
    values = {c: np.asarray(table[c], float) for c in columns}
    start = 0
    while start < len(columns) - 1:
        total, end = values[columns[start]].copy(), 0
        for place in range(start + 1, len(columns)):
            total = total + values[columns[place]]
            good = total[np.isfinite(total)]
            sums = (
                (np.abs(good - 1).max() < 0.02, np.abs(good - 100).max() < 2) if len(good) else ()
            )
            if any(sums):
                end = place
        if end:
            found.append(columns[start : end + 1])
        start = end + 1 if end else start + 1
    return found


def _hot(table: Any) -> dict[str, Any]:
    """Columns of 0 and 1 of which one is 1 in every row, beside as many scores."""
    binary = [c for c in table.columns if _binary(table[c])]
    for own in _alike(binary):
        matrix = np.column_stack([table[c] for c in own]).astype(float)
        numeric = [c for c in table.columns if is_number(table[c]) and fractional(table[c])]
        if len(own) > 1 and (matrix.sum(1) == 1).all():
            scores = [c for c in _alike(numeric) if len(c) == len(own)]
            if scores:
                return {"label": own, "scores": scores[0]}
    return {}


def _tags(table: Any) -> dict[str, Any]:
    """One of the labels of a row, and its score, where labels do not exclude each other."""
    binary = [c for c in table.columns if _binary(table[c])]
    numeric = [c for c in table.columns if is_number(table[c]) and fractional(table[c])]
    for own in _alike(binary):
        for scores in _alike(numeric):
            if len(own) > 1 and middles(own) == middles(scores):
                return {"label": own[:1], "scores": scores[:1]}
    return {}


def _binary(column: pd.Series) -> bool:
    return column.dtype.kind in "iufb" and set(column.dropna().unique()) == {0, 1}


def _alike(columns: list[str], *, whole: bool = True) -> list[list[str]]:
    """Columns whose names are alike but for one word; if none are and `whole`, all of them."""
    groups: dict[tuple, list[str]] = {}
    for column in columns:
        words = re.split(r"([^\W_]+)", column)
        if len(words) == 3:  # one word: alike but for its number
            stem = words[1].rstrip("0123456789")
            words = [words[0] + stem, words[1][len(stem) :], words[2]]
        for place in range(1, len(words), 2):
            if words[place]:
                groups.setdefault((place, *words[:place], *words[place + 1 :]), []).append(column)
    found = [own for own in groups.values() if len(own) > 1]
    return found or ([columns] if whole and len(columns) > 1 else [])


# --- which columns hold the scores ---


def scores(table: Any, label: list[str], able: list[list[str]], options: Options) -> Unclear:
    """The question which columns hold the scores."""
    for column in table.columns:
        texts = table[column].dropna()
        called = bare(column) in (*SCORES, *CONFIDENCES) and not parts(column) & DECISIONS
        if called and not able and column not in label and texts.map(type).eq(str).any():
            texts = texts.map(str).str.strip()
            percent = texts[texts.str.endswith("%")]
            more = ", and others without %: write all of it in one unit" if len(percent) else ""
            such = (percent if len(percent) else texts).iloc[0]
            return Unclear(f"column {column!r} holds texts, such as {such!r}{more}")
    near = _near(table, label)
    if near and (not able or len(able[0]) == 1):
        return Unclear(f"the scores may be {' or '.join(map(short, near))}: say which with "
                       f"{_options(table, near)}")  # fmt: skip
    if len(able) > 1:
        why = f"the scores may be {' or '.join(map(short, able))}: say which with "
        why += _options(table, able)
    else:
        left = [c for c in table.columns if c not in label]
        why = f"no column of scores is clear among {short(left)}: name one column of scores, or "
        why += "one a class in the order of the classes, with --scores"
    sorted_ = _best_of_more(table, label, options)
    if sorted_:
        return Unclear(why, **sorted_)
    found = _ranked(table, label, None, options)
    if able:
        found = [row for row in found if row[3] in able] or found
    elif found:
        best = min(row[0] for row in found)
        why += f", such as {_options(table, [row[3] for row in found if row[0] == best])}"
    if not found:
        return Unclear(why)
    probable = KINDS["probs"]
    own = min(
        found, key=lambda row: (row[0], not all(parts(c) & probable for c in row[3]), -row[1])
    )[3]
    if len(own) == 1:  # one score among others must say something of the labels
        singles = [row[3][0] for row in found if len(row[3]) == 1]
        clear = {c: _evidence(table, label, c) for c in singles}
        column = max(singles, key=lambda c: (bare(c) in (*SCORES, *CONFIDENCES), clear[c]))
        if clear[column] < CLEARLY and bare(column) not in (*SCORES, *CONFIDENCES):
            return Unclear(why)
        return Unclear(why, scores=[column])
    return Unclear(why, scores=said(table, own))


def _evidence(table: Any, label: list[str], column: str) -> float:
    """By how many standard errors a score tells labels, or right predictions, from others."""
    words, score = as_words(label_column(table, label)), np.asarray(table[column], float)
    good = np.isfinite(score) & words.notna().to_numpy()
    events = [as_words(table[c]) == words for c in _decided(table, label[0], column)]
    values = sorted(set(words[good]))
    events += [words == values[-1]] if len(values) == 2 else []
    return max((abs(area(score[good], e.to_numpy()[good])[1]) for e in events), default=0.0)


def _options(table: Any, able: list[list[str]]) -> str:
    texts = [f"--scores {joined(said(table, own))}" for own in able[:6]]
    return " or ".join(text for text in texts if len(text) < 200) or "--scores COLUMN,COLUMN"


def _near(table: Any, label: list[str]) -> list[list[str]]:
    """Columns that are called after all labels, and those with their neighbours."""
    words = {w.casefold() for w in as_words(table[label[0]].dropna())} if len(label) == 1 else set()
    own = [c for c in table.columns if word(c).casefold() in words and is_number(table[c])]
    near = [c for c in table.columns if c in own or (
        is_number(table[c]) and (table[c].dropna() < 0).any() and fractional(table[c])
        and not parts(c) & BESIDE and _beside(table.columns, c, own))]  # fmt: skip
    return [own, near] if len(own) > 1 and near != own else []


def _best_of_more(table: Any, label: list[str], options: Options) -> dict[str, Any]:
    """The first of scores that fall from left to right in every row, and what it predicts."""
    left = [c for c in table.columns if c not in (*label, *options.taken)]
    numeric = [c for c in left if is_number(table[c]) and fractional(table[c])]
    for own in map(in_order, _alike(numeric, whole=False)):
        matrix = np.column_stack([table[c] for c in own]).astype(float)
        if len(own) > 1 and len(matrix) >= FEW and (np.diff(matrix, axis=1) <= 0).all():
            decision = first_predicted(table, own, own[0], table[label[0]])
            if decision:
                return {"scores": own[:1], "predicted": decision}
    return {}


def in_order(columns: list[str]) -> list[str]:
    """Columns by the number in their names, where each has one."""
    found = [re.findall(r"\d+", name) for name in middles(columns)]
    if not all(len(one) == 1 for one in found):
        return columns
    return [name for _, name in sorted((int(n[0]), c) for n, c in zip(found, columns, strict=True))]


def first_predicted(table: Any, columns: list[str], best: str, labels: Any) -> str | None:
    """The column of predictions that agrees best with the labels."""
    words = as_words(pd.Series(np.asarray(labels))).to_numpy()
    able = []
    for place, column in enumerate(table.columns):
        if column in columns or fractional(table[column]) or len(table[column]) != len(words):
            continue
        other = as_words(table[column]).to_numpy()
        share = float((other == words).mean())
        strange = np.isin(other, words, invert=True).mean()
        if share < 1 and strange < 0.2 and len(set(other)) > 1 and _agree(words, other):
            able.append((-share, place, column))
    return min(able)[2] if able else None


def _agree(words: np.ndarray, other: np.ndarray) -> bool:
    """Whether two columns hold the same more often than by chance."""
    chance = sum((other == one).mean() * (words == one).mean() for one in np.unique(words))
    clear = 4 * np.sqrt(chance * (1 - chance) / len(words))
    return bool((other == words).mean() - chance > clear)


# --- what a score is of ---


def right_or_class(table: Any, mark: str, own: list[str]) -> Unclear:
    """The question whether `correct` says if the largest score is right, or which class is."""
    why = (
        f"{mark!r} may say whether the largest of {short(own)} is right, --kind confidence, or "
        f"which of them is, --label {joined([mark])}"
    )
    matrix = np.column_stack([np.asarray(table[c], float) for c in own])
    right = as_words(table[mark]).str.casefold().isin(POSITIVE).to_numpy()
    if matrix.shape[1] != 2 or matrix.min() < 0 or not _sum_to_one(table, own):
        return Unclear(why, label=[mark], kind="confidence")
    matrix = np.clip(matrix / matrix.sum(1, keepdims=True), 1e-3, 1 - 1e-3)
    largest = matrix.max(1)
    says_right = np.log(np.where(right, largest, 1 - largest)).sum()
    says_class = np.log(matrix[np.arange(len(matrix)), right.astype(int)]).sum()
    if says_class > says_right + SURELY:
        return Unclear(why, label=[mark], scores=own)
    return Unclear(why, label=[mark], scores=own, kind="confidence")


def right_or_positive(table: Any, label: str, mark: str, score: str) -> Unclear:
    """The question whether a score is of one label, or of what `correct` judges."""
    why = (
        f"{score!r} may be the confidence of what {mark!r} judges, --label {joined([mark])}, or a "
        f"score of one of the labels in {label!r}, --positive VALUE"
    )
    values = np.asarray(table[score], float)
    if np.nanmin(values) >= 0.5:
        return Unclear(why, label=[mark])
    words = as_words(table[label])
    best = higher(values, words, sorted(set(words.dropna())))
    return Unclear(why, label=[label], **({"positive": best} if best else {}))


def of_what(table: Any, label: str, score: str) -> Unclear:
    """The question what a confidence is of: a column of predictions, or one label."""
    words = as_words(table[label])
    decided = joined(_decided(table, label, score)[:1] or ["COLUMN"])
    values = sorted(set(words.dropna()))
    why = (
        f"{score!r} is called a confidence: say of which column of predictions, --predicted "
        f"{decided}, or, if it is the score of one class, --scores {joined([score])} --positive "
        f"{joined([values[-1]]) if len(values) == 2 else 'VALUE'}"
    )
    return Unclear(why, scores=[score], **_of_predicted(table, label, score, words))


def of_many(table: Any, roles: Any, words: pd.Series, after: list[str]) -> Unclear:
    """The question what one score is of, beside more than two labels."""
    values, label, score = sorted(set(words)), roles.label[0], roles.scores[0]
    why = (
        f"there is one column of scores, {score!r}, but the labels have {len(values)} values, "
        f"{', '.join(values[:6])}: say which of them it is the score of, such as --positive "
        f"{joined(after[:1] or values[:1])}, or what each row predicts with --predicted "
        f"{joined((_decided(table, label, score) or ['COLUMN'])[:1])}"
    )
    of_one = as_words(table[label]) == (after or values)[0]
    if len(after) == 1 and area(np.asarray(table[score], float), of_one)[1] > CLEARLY:
        return Unclear(why, positive=after[0])
    if len(roles.label) > 1:
        return Unclear(why)
    found = _of_predicted(table, label, score, words)
    return Unclear(why, **({} if "positive" in found else found))


def _of_predicted(table: Any, label: str, score: str, words: pd.Series) -> dict[str, Any]:
    """A column of predictions whose confidence a score may be, or else the label it is of."""
    values, able = sorted(set(words.dropna())), _decided(table, label, score)
    scores = np.asarray(table[score], float)
    if len(values) == 2:
        of_class = np.nanmin(scores) < 0.5 and np.nanmax(scores) <= 1
        for column in able:
            decided = as_words(table[column])
            both = decided.nunique() == 2
            if both and area(scores, decided == sorted(set(decided))[1])[0] in (0.0, 1.0):
                of_class = True
        if of_class or not able:
            best = higher(scores, words, values)
            return {"positive": best} if best and (of_class or np.nanmin(scores) < 0.5) else {}
    if not able:
        return {}
    return {"predicted": able[0]}


def _decided(table: Any, label: str, score: str) -> list[str]:
    """Columns of what rows may predict: in the words of the labels, or called so."""
    values = sorted(set(as_words(table[label].dropna())))
    able = [c for c in _same_words(table, label, values) if not parts(c) & BESIDE and c != score]
    words = as_words(table[label]).to_numpy()
    able = [c for c in able if parts(c) & DECISIONS or _agree(words, as_words(table[c]).to_numpy())]
    for column in table.columns:
        decides = parts(column) & (DECISIONS | {"label", "class"}) and not fractional(table[column])
        if column not in able and column not in (label, score) and decides:
            able += [column] if table[column].nunique() == len(values) else []
    return [c for c in able if parts(c) & DECISIONS] or able


def pairs(words: pd.Series, said: pd.Series) -> Unclear:
    """The question which prediction means which label."""
    from scipy.optimize import linear_sum_assignment

    labels, own = sorted(set(words)), sorted(set(said))
    why = (
        f"labels, such as {words.iloc[0]!r}, and predictions, such as {said.iloc[0]!r}, have no "
        f"value in common: pair them as --classes PREDICTION=LABEL,PREDICTION=LABEL, or name "
        f"with --label and --predicted"
    )
    if len(labels) != len(own):
        return Unclear(why)
    table = pd.crosstab(pd.Categorical(said, own), pd.Categorical(words, labels), dropna=False)
    rows, columns = linear_sum_assignment(table.to_numpy(), maximize=True)
    known = [one for one in own if one.casefold() in (*POSITIVE, *NEGATIVE)]
    order = {own[r]: labels[c] for r, c in zip(rows, columns, strict=True)}
    if len(labels) == 2 and len(known) == 2 and {*labels} == {"0", "1"}:
        order = {one: "1" if one.casefold() in POSITIVE else "0" for one in own}
    return Unclear(why, classes=[f"{one}={order[one]}" for one in own])


def higher(scores: np.ndarray, words: pd.Series, values: list[str]) -> str | None:
    """Which of two labels has the higher scores, if it is clear."""
    if len(values) != 2:
        return None
    good = np.isfinite(scores)
    z = area(np.asarray(scores)[good], (words == values[1]).to_numpy()[good])[1]
    return None if abs(z) < LIKELY else values[1] if z > 0 else values[0]


def demand_below_half(
    scores: np.ndarray, labels: np.ndarray, table: Any, roles: Any, positive: str,
    options: Options, *, surely: bool,
) -> None:  # fmt: skip
    """Ask of scores that never fall below one half, though the other label is frequent."""
    inside = len(scores) >= FEW and scores.min() >= 0.5 and scores.max() <= 1
    if not inside or labels.mean() >= 0.9 or (surely and not positive.lstrip("+-").isdigit()):
        return
    column, label = roles.scores[0], roles.label[0]
    values = sorted(set(as_words(table[label].dropna())))
    found = _of_predicted(table, label, column, as_words(table[label]))
    if "predicted" not in found and not options.label:  # the label may be the prediction
        other = _best_label(table.without(label), [], None, options).get("label")
        found = {"label": other, "predicted": label} if other else {}
    found.pop("positive", None)
    raise Unclear(
        f"no score in {column!r} is below one half, but {1 - labels.mean():.0%} of the labels are "
        f"not {positive}: the scores may be of what each row predicts, --predicted "
        f"{joined((_decided(table, label, column) or ['COLUMN'])[:1])}, or of one label, "
        f"{' or '.join(f'--positive {joined([v])}' for v in sorted(values, key=positive.__ne__))}",
        **found,
    )


def of_two(table: Any, roles: Any, scores: np.ndarray, words: pd.Series) -> Unclear:
    """The question of which of two labels a score is."""
    values = sorted(set(words))
    why = (
        f"labels are {' and '.join(values)}: say which of them the score is of, "
        f"{' or '.join(f'--positive {joined([v])}' for v in values)}"
    )
    best = higher(scores, words, values)
    if (len(scores) >= FEW and scores.min() >= 0.5 and scores.max() <= 1) or not best:
        found = _of_predicted(
            table, roles.label[0], roles.scores[0], as_words(table[roles.label[0]])
        )
        if "predicted" in found:
            return Unclear(f"{why}, or of what each row predicts, --predicted COLUMN", **found)
    return Unclear(why, **({"positive": best} if best else {}))


# --- which label a column stands for ---


def classes(
    words: pd.Series, own: list[str], unknown: list[str], matrix: Any, kind: str, options: Options
) -> Unclear:
    """The question which label each column of scores stands for."""
    values, count = sorted(set(words), key=_order), len(own)
    why = (
        f"labels name {unknown[:5]}, which are none of the classes {own[:8]}: say which label each "
        f"column of scores stands for, in their order, with --classes"
    )
    if len(values) > count and len(unknown) == 1 and _is_whole(unknown[0]):
        share = (words == unknown[0]).mean()
        return Unclear(
            f"labels name {unknown[0]} in {share:.0%} of the rows, which is none of the classes "
            f"{own[:8]}: if it marks rows without a label, say --missing={unknown[0]} and "
            f"--drop-missing",
            missing=unknown[0], drop_missing=True,
        )  # fmt: skip
    if len(values) > count:
        return Unclear(why)
    found = _assigned(words, values, own, matrix, kind)
    return Unclear(why + first_class(found), **({"classes": found} if found else {}))


def _order(value: str) -> tuple:
    return (0, int(value), "") if _is_whole(value) else (1, 0, value)


def _is_whole(value: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+", value))


def _assigned(
    words: pd.Series, values: list[str], own: list[str], matrix: Any, kind: str
) -> list[str] | None:
    """The likeliest labels of the columns; whole numbers that lack some are counted on."""
    from scipy.optimize import linear_sum_assignment

    count = len(own)
    costs = _costs(words.to_numpy(), values, matrix, kind)
    if len(values) < count and all(map(_is_whole, values)):
        low, high = int(values[0]), int(values[-1])
        starts = [s for s in sorted({0, 1, low, high - count + 1}) if s <= low and high < s + count]
        if not starts:
            return None
        places = [int(value) for value in values]
        able = {s: sum(costs[k, place - s] for k, place in enumerate(places)) for s in starts}
        best = min(able, key=lambda start: able[start])
        return [str(best + k) for k in range(count)]
    rows, columns = linear_sum_assignment(costs)
    found = list(own)
    for row, column in zip(rows, columns, strict=True):
        found[column] = values[row]
    return found if len(set(found)) == count else None


def _costs(words: np.ndarray, values: list[str], matrix: Any, kind: str) -> np.ndarray:
    """(labels, columns) less the log-likelihood of the rows of a label as of a column."""
    some = np.unique(np.linspace(0, len(words) - 1, min(len(words), SAMPLED)).astype(int))
    logs = log_scores(matrix, some, kind)
    return np.stack([-logs[words[some] == value].sum(0) for value in values])


def better_classes(
    labels: np.ndarray, matrix: Any, classes: list[str], kind: str
) -> list[str] | None:
    """The likeliest labels of the columns, where their names give a bad order."""
    words = pd.Series(np.array(classes)[labels])
    values = sorted(set(words), key=_order)
    return _assigned(words, values, [f"unnamed_{k}" for k in range(len(classes))], matrix, kind)


def log_scores(matrix, rows: np.ndarray, kind: str) -> np.ndarray:
    """(m, K) logarithms of the probabilities of some rows."""
    block = double(np.asarray(matrix[rows]))
    if kind in ("logits", "logprobs"):
        return block.log_softmax(1).numpy()
    return block.clamp(min=1e-6).log().numpy()


# --- files without names ---


def names_of(table: Any, options: Options) -> Unclear:
    """The question what the columns are called, where a file has no header."""
    first = [str(table[c].iloc[0])[:20] for c in table.columns[:4]]
    why = (
        f"{table.file} has no header: its first line starts with the values {first}. Name its "
        f"{len(table.columns)} columns with --columns, such as --columns label,cat,dog"
    )
    found = _best_label(table, [], None, options).get("label")
    if not found or len(found) > 1:
        return Unclear(why)
    ranked = _ranked(table, found, None, options)
    if not ranked:
        return Unclear(why)
    own = min(ranked, key=lambda row: (row[0], -row[1]))[3]
    names = {c: c for c in table.columns} | {found[0]: "label"}
    words = as_words(table[found[0]])
    values = sorted(set(words.dropna()), key=_order)
    if len(own) > 1:
        matrix = np.column_stack([np.asarray(table[c], float) for c in own])
        order = _assigned(words, values, list(map(str, range(len(own)))), matrix, "probs")
        names |= {c: f"p_{name}" for c, name in zip(own, order or range(len(own)), strict=True)}
    elif len(values) == 2:
        names[own[0]] = "p"
    else:
        decided = _same_words(table, found[0], values)
        if not decided:
            return Unclear(why)
        names |= {own[0]: "confidence", decided[0]: "predicted"}
    return Unclear(why, columns=[names[c] for c in table.columns])
