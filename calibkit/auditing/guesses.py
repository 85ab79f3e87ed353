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

from calibkit.auditing import names
from calibkit.auditing.names import bare, parts, short, word
from calibkit.auditing.questions import Options, Unclear, choices, joined
from calibkit.auditing.scores import double

FEW = 20  # rows, below which a pattern may be chance
LIKELY, CLEARLY = 2.0, 3.0  # standard errors of an area under the ROC curve
SURELY = 10.0  # of the log-likelihood
SAMPLED = 5000  # rows that a likelihood is computed of
MOST_VALUES = 50  # of a column that may be labels
MOST_COLUMNS = 400  # that are searched for sets of columns


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
    value = (rankdata(scores)[of_one].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    return float(value), float((value - 0.5) / np.sqrt((n + 1) / (12 * ones * zeros)))


def matrix_of(table: Any, columns: list[str]) -> np.ndarray:
    """(n, K) columns as float64."""
    return np.column_stack([np.asarray(table[column], float) for column in columns])


# --- sets of columns, by their names ---


def middles(columns: list[str]) -> list[str]:
    """What differs in the names of columns: p_cat, p_car are cat, car.

    >>> middles(["p_cat", "p_car"]), middles(["MEL_x", "NV_x"]), middles(["prob0", "prob1"])
    (['cat', 'car'], ['MEL', 'NV'], ['0', '1'])
    """
    if len(columns) < 2:
        return list(columns)
    start, end = _common(columns), _common([column[::-1] for column in columns])[::-1]
    head = start.rstrip("0123456789")
    counted = all(column[len(head) :][:1].isdigit() for column in columns)
    start = head if counted else re.sub(r"[^\W_]+$", "", start)
    end = re.sub(r"^[^\W_]+", "", end)
    rest = [column[len(start) : len(column) - len(end)].strip(" _()[]=:") for column in columns]
    return rest if all(rest) and len(set(rest)) == len(rest) else list(columns)


def _common(columns: list[str]) -> str:
    """What the first and the last in alphabetical order, and so all, begin with."""
    first, last = min(columns), max(columns)
    return first[: next((k for k, c in enumerate(first) if last[k : k + 1] != c), len(first))]


def _folded(column: str) -> str:
    return re.sub(r"(\d)\.0+(?!\d)", r"\1", column.strip()).casefold()


def _templates(column: str, words: Collection[str], *, strict: bool) -> list[tuple[str, str]]:
    """The name with a mark in place of each word that it holds, and the word."""
    text, templates = _folded(column), []
    for one in words:
        digit = one.lstrip("+-").isdigit()
        for place in (m.start() for m in re.finditer(f"(?={re.escape(one)})", text)):
            before, after = text[:place], text[place + len(one) :]
            free = not before[-1:].isalnum() or (digit and not before[-1].isdigit())
            free &= not after[:1].isalnum()
            signed = digit and one[0] not in "+-" and before[-1:] == "-"
            free &= not (signed and before[-2:-1] in ("_", " ", ""))
            if free or (not strict and not digit):
                templates.append((f"{before}\0{after}", one))
    return templates


def _beside_class(template: str) -> bool:
    """Whether nothing but words of `names.PARTS` stands beside the mark."""
    return parts(template.replace("\0", " ")) <= names.PARTS


def class_in(column: str, words: Collection[str]) -> str | None:
    """The one of some words, in small letters, that a column of scores is called after.

    >>> class_in("p_cat", {"cat", "dog"}), class_in("prob0", {"0", "1"}), class_in("cats", {"cat"})
    ('cat', '0', None)
    """
    able = [one for t, one in _templates(column, words, strict=True) if _beside_class(t)]
    return (
        None if bare(column) in names.SCORES else max(able, key=lambda w: (len(w), w), default=None)
    )


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
            if not strict or _beside_class(template):
                by_template.setdefault(template, {}).setdefault(one, column)
    sets: list[list[str]] = []
    for template, own in by_template.items():
        if set(own) == folded and len(set(own.values())) == len(own):
            whole = _with_others(table, template, list(own.values()), numeric, folded)
            sets += [whole] if whole is not None and whole not in sets else []
    return sets


def _with_others(
    table: Any, template: str, own: list[str], numeric: list[str], words: set[str]
) -> list[str] | None:
    """A set with the columns of classes that no row has; None where these are not clear."""
    before, after = template.split("\0")
    digits, alone = all(one.lstrip("+-").isdigit() for one in words), not (before or after)
    middle = r"[+-]?\d+" if digits else r".+"
    pattern = re.compile(re.escape(before) + middle + re.escape(after))
    like = [c for c in numeric if (digits or not alone) and pattern.fullmatch(_folded(c))]
    more = [c for c in numeric if c in own or c in like]
    ordered = [c for c in numeric if c in own]
    if (more == ordered and (digits or not alone)) or sum_to_one(table, ordered):
        return ordered
    if (digits and not alone) or sum_to_one(table, more):
        return more
    return None if not alone or _neighbours(table, own) else ordered


def _neighbours(table: Any, own: list[str]) -> list[str]:
    """Columns of numbers of both signs that stand beside some: they may be classes, too."""
    places = [table.columns.index(column) for column in own]
    return [
        column
        for place, column in enumerate(table.columns)
        if column not in own and not parts(column) & names.BESIDE and fractional(table[column])
        and (table[column].dropna() < 0).any() and min(abs(place - one) for one in places) == 1
    ]  # fmt: skip


def regular(table: Any, columns: list[str]) -> list[list[str]]:
    """Columns alike but for one word beside words of `names.PARTS`: they count, or sum to 1."""
    sets = []
    for own in alike([c for c in columns if fractional(table[c])]):
        one = middles(own)
        rest = parts(own[0].replace(one[0], " ", 1) if one != own else "")
        numbers = sorted(int(float(w)) for w in one if re.fullmatch(r"\d+(\.0+)?", w))
        count = len(own) > 2 and numbers in ([*range(len(own))], [*range(1, len(own) + 1)])
        if rest <= names.PARTS and (count or (rest and sum_to_one(table, own))) and own not in sets:
            sets.append(own)
    return sets


def alike(columns: list[str], *, whole: bool = False) -> list[list[str]]:
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
    sets = [own for own in groups.values() if len(own) > 1]
    return sets or ([columns] if whole and len(columns) > 1 else [])


def sum_to_one(table: Any, columns: list[str]) -> bool:
    """Whether the rows of some columns sum to 1, or to 100."""
    sums = matrix_of(table, columns).sum(1)
    sums = sums[np.isfinite(sums)]
    return len(sums) > 0 and any(np.abs(sums / whole - 1).max() < 0.05 for whole in (1, 100))


def _runs(table: Any, columns: list[str]) -> list[list[str]]:
    """Neighbours whose rows sum to 1 or to 100, the longest from each column on."""
    sets: list[list[str]] = []
    start = 0
    while start < len(columns) - 1:
        total = matrix_of(table, columns[start:]).cumsum(1)
        total = total[np.isfinite(total[:, -1])]
        off = [np.abs(total / whole - 1).max(0, initial=0) < 0.02 for whole in (1, 100)]
        ends = np.flatnonzero(off[0] | off[1]) if len(total) else np.array([], int)
        end = start + int(ends.max(initial=0))
        sets += [columns[start : end + 1]] if end > start else []
        start = end + 1
    return sets


def in_order(columns: list[str]) -> list[str]:
    """Columns by the number in their names, where each has one."""
    numbers = [re.findall(r"\d+", name) for name in middles(columns)]
    if not all(len(one) == 1 for one in numbers):
        return columns
    return sorted(columns, key=lambda c: (int(numbers[columns.index(c)][0]), c))


def as_typed(table: Any, columns: list[str]) -> list[str]:
    """Columns as they are typed: the name of an array, p_* for very many, else each."""
    for name, own in table.blocks.items():
        if own == columns:
            return [name]
    start = _common(columns)
    if len(columns) > 30 and start and [c for c in table.columns if c.startswith(start)] == columns:
        return [f"{start}*"]
    return columns


def classes_of(table: Any, columns: list[str], words: Collection[str]) -> list[str]:
    """The classes that columns of scores are called after."""
    if columns in table.blocks.values():
        return list(map(str, range(len(columns))))
    if set(words) <= set(map(word, columns)):
        return list(map(word, columns))
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
    return pd.Series(np.array(middles(label))[matrix_of(table, label).argmax(1)])


def label(table: Any, named: list[str], scores: list[str] | None, options: Options) -> Unclear:
    """The question which column holds the labels."""
    why = f"no column of labels among {short(table.columns)}: name it with --label COLUMN, or " \
        "their file with --labels FILE"  # fmt: skip
    if named:
        why = f"the labels may be {' or '.join(map(repr, named))}, which differ: say which with "
        return Unclear(why + choices("label", named), **_best_label(table, named, scores, options))
    marks = [
        c for c in table.columns if bare(c) in (*names.CORRECT, names.MARK) and is_number(table[c])
    ]
    if marks and any(
        bare(c) in (*names.CONFIDENCES, *names.SCORES) and c not in marks for c in table.columns
    ):
        odd = ~table[marks[0]].isin((0, 1)) & table[marks[0]].notna()
        row = int(odd.to_numpy().argmax())
        return Unclear(
            f"column {marks[0]!r} must say which answers are right, by 0 and 1, got "
            f"{str(table[marks[0]].iloc[row])!r} in row {row} (the first is 0): decide from which "
            f"mark on an answer is right, and write that as a column 'correct'; or name what says "
            f"it with --label COLUMN"
        )
    wrong = [c for c in table.columns if bare(c) in names.WRONG and table[c].nunique() == 2]
    if wrong:
        return Unclear(
            f"{why}. {wrong[0]!r} may say which rows are wrong: write it the other way round, as a "
            f"column 'correct'"
        )
    return Unclear(why, **_best_label(table, named, scores, options))


def _best_label(
    table: Any, named: list[str], scores: list[str] | None, options: Options
) -> dict[str, Any]:
    marks = {} if named or scores else _of_marks(table)
    if marks:
        return marks
    taken = {*options.taken, *(scores or []), options.predicted}
    taken |= {c for own in table.blocks.values() for c in own}
    limit = max(2, min(MOST_VALUES, len(table) // 4))
    able = named or [
        c for c in table.columns
        if c not in taken and not parts(c) & names.BESIDE and not c.lower().endswith("id")
        and not fractional(table[c]) and 2 <= table[c].nunique() <= limit
    ]  # fmt: skip
    ranked = []
    for place, column in enumerate(able):
        sets = _ranked(table, [column], scores, options)
        if sets:
            rank, fit, *_ = min(sets, key=lambda row: (row[0], -row[1]))
            follows = any(row[2] for row in sets)
            called = (
                names.LABELS.index(bare(column))
                if bare(column) in names.LABELS
                else len(names.LABELS)
            )
            first = (called,) if named else (rank, bool(parts(column) & names.DECISIONS), called)
            ranked.append((follows, *first, -fit, place, column))
    if not ranked:
        return {"label": named[:1]} if named else {}
    follows, *_, column = min(ranked)
    return {} if follows and not named else {"label": [column]}  # nothing but predictions


def _of_marks(table: Any) -> dict[str, Any]:
    """Columns of 0 and 1 beside as many scores: one class a row, or labels of their own."""
    binary, numeric = (
        [c for c in table.columns if table[c].dtype.kind in "iufb" and fits(table[c])]
        for fits in (lambda column: set(column.dropna().unique()) == {0, 1}, fractional)
    )
    pairs = [(a, b) for a in alike(binary, whole=True) for b in alike(numeric, whole=True)]
    for own, scores in pairs:
        if len(own) == len(scores) and one_hot(table, own):
            return {"label": own, "scores": scores}
    for own, scores in pairs:
        if middles(own) == middles(scores):
            return {"label": own[:1], "scores": scores[:1]}
    return {}


def _ranked(
    table: Any, column: list[str], scores: list[str] | None, options: Options
) -> list[tuple[int, float, bool, list[str]]]:
    """Sets of scores beside labels: a rank, how well they fit, whether labels follow from them."""
    from scipy.optimize import linear_sum_assignment

    labels = label_column(table, column)
    words = names.words(labels.dropna())
    values, known = sorted(set(words)), labels.notna().to_numpy()
    if len(values) < 2:
        return []
    left = [c for c in table.columns if c not in (*column, *options.taken, options.predicted)]
    ranked = []
    for rank, own in [(0, scores)] if scores else _sets(table, left, values):
        matrix = matrix_of(table, own)[known]
        good = np.isfinite(matrix).all(1)
        matrix, mine, count = matrix[good], words.to_numpy()[good], len(own)
        if len(matrix) < 4:
            continue
        if count > 1 and len(values) <= count:
            cells = np.searchsorted(values, mine) * count + matrix.argmax(1)
            pairs = np.bincount(cells, minlength=len(values) * count).reshape(len(values), count)
            fit = float(pairs[linear_sum_assignment(pairs, maximize=True)].sum() / len(mine))
            ranked.append((rank, fit, fit == 1.0 and len(mine) >= FEW, own))
        elif count == 1 and len(values) == 2:
            of_one, z = area(matrix[:, 0], mine == values[1])
            ranked.append((rank + 10, abs(z), of_one in (0.0, 1.0) and len(mine) >= FEW, own))
        elif count == 1 and _same_words(table, column[0], values):
            ranked.append((rank + 12, 0.0, False, own))
    return ranked


def _same_words(table: Any, label: str, values: list[str]) -> list[str]:
    """Columns of the same words as a column of labels."""
    columns, own = [], set(values)
    for column in table.columns:
        words = set() if fractional(table[column]) else set(names.words(table[column].dropna()))
        if 1 < len(words) <= len(own) + 1 and len(words & own) >= min(2, len(own)):
            columns.append(column)
    return [column for column in columns if column != label]


def _sets(table: Any, left: list[str], values: list[str]) -> list[tuple[int, list[str]]]:
    """What may be scores, the likelier first: (rank, columns)."""
    inside = {c for own in table.blocks.values() for c in own}
    flat = [c for c in left if c not in inside][:MOST_COLUMNS]
    sets = [(0, own) for own in families(table, flat, values, strict=True)]
    sets += [(1, own) for own in families(table, flat, values, strict=False)]
    for name, own in table.blocks.items():
        if own[0] in left and table.entries[name].dtype.kind == "f":
            sets.append((1 if parts(name) <= names.PARTS else 2, own))
    sets += [(1, own) for own in regular(table, flat)]
    numeric = [c for c in flat if is_number(table[c]) and table[c].nunique() > 2]
    many = [c for c in numeric if table[c].nunique() > 10]
    sets += [
        (2, own) for own in _runs(table, [c for c in many if not parts(c) & names.BESIDE - {"no"}])
    ]
    for column in numeric:
        called = bare(column) in (*names.SCORES, *names.CONFIDENCES)
        if column in many and fractional(table[column]) and not parts(column) & names.BESIDE:
            probable = bool(table[column].dropna().between(0, 1).all())
            known = called or bool(parts(column) & (names.PARTS - {"y", "class"}))
            sets.append((3 if known and probable else 4 if known or probable else 6, [column]))
        elif called:
            sets.append((4, [column]))
    return sets


# --- which columns hold the scores ---


def scores(table: Any, label: list[str], able: list[list[str]], options: Options) -> Unclear:
    """The question which columns hold the scores."""
    for column in table.columns:
        texts = table[column].dropna()
        called = (
            bare(column) in (*names.SCORES, *names.CONFIDENCES)
            and not parts(column) & names.DECISIONS
        )
        if called and not able and column not in label and texts.map(type).eq(str).any():
            texts = texts.map(str).str.strip()
            percent = texts[texts.str.endswith("%")]
            more = ", and others without %: write all of it in one unit" if len(percent) else ""
            such = (percent if len(percent) else texts).iloc[0]
            return Unclear(f"column {column!r} holds texts, such as {such!r}{more}")
    near = _near(table, label) if not able or len(able[0]) == 1 else []
    if len(able) > 1 or near:
        why = f"the scores may be {' or '.join(map(short, near or able))}: say which with "
        why += _options(table, near or able)
    else:
        left = [c for c in table.columns if c not in label]
        why = f"no column of scores is clear among {short(left)}: name one column of scores, or "
        why += "one a class in the order of the classes, with --scores"
    best = {} if near else _best_of_more(table, label, options)
    ranked = [] if near or best else _ranked(table, label, None, options)
    if not ranked:
        return Unclear(why, **best)
    if able:
        ranked = [row for row in ranked if row[3] in able] or ranked
    else:
        first = min(row[0] for row in ranked)
        why += f", such as {_options(table, [row[3] for row in ranked if row[0] == first])}"
    likely = names.KINDS["probs"]
    own = min(ranked, key=lambda r: (r[0], not all(parts(c) & likely for c in r[3]), -r[1]))[3]
    if len(own) == 1:  # one score among others must say something of the labels
        clear = {c: _evidence(table, label, c) for *_, (c, *rest) in ranked if not rest}
        usual = (*names.SCORES, *names.CONFIDENCES)
        column = max(clear, key=lambda c: (bare(c) in usual, clear[c]))
        if clear[column] < CLEARLY and bare(column) not in usual:
            return Unclear(why)
        own = [column]
    return Unclear(why, scores=as_typed(table, own))


def _evidence(table: Any, label: list[str], column: str) -> float:
    """By how many standard errors a score tells labels, or right predictions, from others."""
    words, score = names.words(label_column(table, label)), np.asarray(table[column], float)
    good = np.isfinite(score) & words.notna().to_numpy()
    events = [names.words(table[c]) == words for c in decisions(table, label[0], column)]
    values = sorted(set(words[good]))
    events += [words == values[-1]] if len(values) == 2 else []
    return max((abs(area(score[good], e.to_numpy()[good])[1]) for e in events), default=0.0)


def _options(table: Any, able: list[list[str]]) -> str:
    texts = [f"--scores {joined(as_typed(table, own))}" for own in able[:6]]
    return " or ".join(text for text in texts if len(text) < 200) or "--scores COLUMN,COLUMN"


def _near(table: Any, label: list[str]) -> list[list[str]]:
    """Columns that are called after all labels, and those with their neighbours."""
    words = {w.casefold() for w in names.words(table[label[0]].dropna())}
    own = [c for c in table.columns if word(c).casefold() in words and is_number(table[c])]
    beside = _neighbours(table, own) if len(own) > 1 and len(label) == 1 else []
    return [own, [c for c in table.columns if c in (*own, *beside)]] if beside else []


def _best_of_more(table: Any, label: list[str], options: Options) -> dict[str, Any]:
    """The first of scores that fall from left to right in every row, and what it predicts."""
    left = [c for c in table.columns if c not in (*label, *options.taken)]
    for own in map(in_order, alike([c for c in left if fractional(table[c])])):
        if len(table) >= FEW and (np.diff(matrix_of(table, own), axis=1) <= 0).all():
            decision = first_predicted(table, own, table[label[0]])
            if decision:
                return {"scores": own[:1], "predicted": decision}
    return {}


def first_predicted(table: Any, columns: list[str], labels: Any) -> str | None:
    """The column of predictions that agrees best with the labels."""
    words = names.words(pd.Series(np.asarray(labels))).to_numpy()
    able = []
    for place, column in enumerate(table.columns):
        if column in columns or fractional(table[column]) or len(table[column]) != len(words):
            continue
        other = names.words(table[column]).to_numpy()
        share, strange = (other == words).mean(), np.isin(other, words, invert=True).mean()
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
    matrix = matrix_of(table, own)
    if matrix.shape[1] != 2 or matrix.min() < 0 or not sum_to_one(table, own):
        return Unclear(why, label=[mark], kind="confidence")
    right = names.words(table[mark]).str.casefold().isin(names.POSITIVE).to_numpy()
    matrix = np.clip(matrix / matrix.sum(1, keepdims=True), 1e-3, 1 - 1e-3)
    as_right = np.log(np.where(right, matrix.max(1), matrix.min(1))).sum()
    as_class = np.log(matrix[np.arange(len(matrix)), right.astype(int)]).sum()
    needs = {} if as_class > as_right + SURELY else {"kind": "confidence"}
    return Unclear(why, label=[mark], scores=own, **needs)


def right_or_positive(table: Any, label: str, mark: str, score: str) -> Unclear:
    """The question whether a score is of one label, or of what `correct` judges."""
    why = (
        f"{score!r} may be the confidence of what {mark!r} judges, --label {joined([mark])}, or a "
        f"score of one of the labels in {label!r}, --positive VALUE"
    )
    values = np.asarray(table[score], float)
    if np.nanmin(values) >= 0.5:
        return Unclear(why, label=[mark])
    return Unclear(why, label=[label], **_higher(values, names.words(table[label])))


def of_what(table: Any, label: str, score: str) -> Unclear:
    """The question what a confidence is of: a column of predictions, or one label."""
    words = names.words(table[label])
    values = sorted(set(words.dropna()))
    why = (
        f"{score!r} is called a confidence: say of which column of predictions, "
        f"{_predicted(table, label, score)}, or, if it is the score of one class, --scores "
        f"{joined([score])} --positive {joined([values[-1]]) if len(values) == 2 else 'VALUE'}"
    )
    if {*values} and {*map(str.casefold, values)} <= {"correct", "incorrect", "right", "wrong"}:
        return Unclear(f"{why}; or if {label!r} says what is right, --kind confidence",
                       label=[label], scores=[score], kind="confidence")  # fmt: skip
    return Unclear(why, scores=[score], **_of_predicted(table, label, score, words))


def of_many(table: Any, roles: Any, words: pd.Series, after: list[str]) -> Unclear:
    """The question what one score is of, beside more than two labels."""
    values, label, score = sorted(set(words)), roles.label[0], roles.scores[0]
    why = (
        f"there is one column of scores, {score!r}, but the labels have {len(values)} values, "
        f"{', '.join(values[:6])}: say which of them it is the score of, such as --positive "
        f"{joined(after[:1] or values[:1])}, or what each row predicts with "
        f"{_predicted(table, label, score)}"
    )
    if len(after) == 1 and area(np.asarray(table[score], float),
                                names.words(table[label]) == after[0])[1] > CLEARLY:  # fmt: skip
        return Unclear(why, positive=after[0])
    needs = {} if len(roles.label) > 1 else _of_predicted(table, label, score, words)
    return Unclear(why, **({} if "positive" in needs else needs))


def of_two(table: Any, roles: Any, scores: np.ndarray, words: pd.Series) -> Unclear:
    """The question of which of two labels a score is."""
    values, (label, *_), (score, *_) = sorted(set(words)), roles.label, roles.scores
    why = f"labels are {' and '.join(values)}: say which of them the score is of, "
    why += choices("positive", values)
    best = _higher(scores, words)
    if (len(scores) >= FEW and scores.min() >= 0.5 and scores.max() <= 1) or not best:
        needs = _of_predicted(table, label, score, names.words(table[label]))
        if "predicted" in needs:
            return Unclear(f"{why}, or of what each row predicts, --predicted COLUMN", **needs)
    return Unclear(why, **best)


def demand_below_half(
    scores: np.ndarray, labels: np.ndarray, table: Any, roles: Any, positive: str,
    options: Options, *, surely: bool,
) -> None:  # fmt: skip
    """Ask of scores that never fall below one half, though the other label is frequent."""
    inside = len(scores) >= FEW and scores.min() >= 0.5 and scores.max() <= 1
    if not inside or labels.mean() >= 0.9 or (surely and not positive.lstrip("+-").isdigit()):
        return
    column, label = roles.scores[0], roles.label[0]
    words = names.words(table[label])
    needs = _of_predicted(table, label, column, words)
    if "predicted" not in needs and not options.label:  # the label may be the prediction
        other = _best_label(table.without(label), [], None, options).get("label")
        needs = {"label": other, "predicted": label} if other else {}
    needs.pop("positive", None)
    raise Unclear(
        f"no score in {column!r} is below one half, but {1 - labels.mean():.0%} of the labels are "
        f"not {positive}: the scores may be of what each row predicts, "
        f"{_predicted(table, label, column)}, or of one label, "
        f"{choices('positive', sorted(set(words.dropna()), key=lambda v: (v != positive, v)))}",
        **needs,
    )


def _of_predicted(table: Any, label: str, score: str, words: pd.Series) -> dict[str, Any]:
    """A column of predictions whose confidence a score may be, or else the label it is of."""
    able, scores = decisions(table, label, score), np.asarray(table[score], float)
    if words.nunique() == 2:
        least = np.nanmin(scores)
        of_class = least < 0.5 and np.nanmax(scores) <= 1
        for decided in (names.words(table[column]) for column in able):
            if decided.nunique() == 2:
                of_class |= area(scores, decided == max(decided))[0] in (0.0, 1.0)
        if of_class or not able:
            return _higher(scores, words) if of_class or least < 0.5 else {}
    return {"predicted": able[0]} if able else {}


def _predicted(table: Any, label: str, score: str) -> str:
    return f"--predicted {joined((decisions(table, label, score) or ['COLUMN'])[:1])}"


def decisions(table: Any, label: str, score: str) -> list[str]:
    """Columns of what rows may predict: in the words of the labels, or called so."""
    words = names.words(table[label])
    values = sorted(set(words[table[label].notna()]))
    able = [
        c for c in _same_words(table, label, values) if not parts(c) & names.BESIDE and c != score
    ]
    able = [
        c for c in able
        if parts(c) & names.DECISIONS or _agree(words.to_numpy(), names.words(table[c]).to_numpy())
    ]  # fmt: skip
    for column in table.columns:
        decides = parts(column) & (names.DECISIONS | {"label", "class"}) and not fractional(
            table[column]
        )
        if column not in (*able, label, score) and decides:
            able += [column] if table[column].nunique() == len(values) else []
    return [c for c in able if parts(c) & names.DECISIONS] or able


def pairs(words: pd.Series, predicted: pd.Series) -> Unclear:
    """The question which prediction means which label."""
    from scipy.optimize import linear_sum_assignment

    labels, own = sorted(set(words)), sorted(set(predicted))
    why = (
        f"labels, such as {words.iloc[0]!r}, and predictions, such as {predicted.iloc[0]!r}, have "
        f"no value in common: pair them as --classes PREDICTION=LABEL,PREDICTION=LABEL, or name "
        f"others with --label and --predicted"
    )
    if len(labels) != len(own):
        return Unclear(why)
    table = pd.crosstab(pd.Categorical(predicted, own), pd.Categorical(words, labels), dropna=False)
    columns = linear_sum_assignment(table.to_numpy(), maximize=True)[1]
    order = {one: labels[column] for one, column in zip(own, columns, strict=True)}
    if {*labels} == {"0", "1"} and all(
        one.casefold() in (*names.POSITIVE, *names.NEGATIVE) for one in own
    ):
        order = {one: "1" if one.casefold() in names.POSITIVE else "0" for one in own}
    return Unclear(why, classes=[f"{one}={order[one]}" for one in own])


def _higher(scores: np.ndarray, words: pd.Series) -> dict[str, str]:
    """Which of two labels has the higher scores, if it is clear."""
    values, good = sorted(set(words.dropna())), np.isfinite(scores)
    if len(values) != 2:
        return {}
    z = area(np.asarray(scores)[good], (words == values[1]).to_numpy()[good])[1]
    return {} if abs(z) < LIKELY else {"positive": values[int(z > 0)]}


# --- which label a column stands for ---


def classes(
    words: pd.Series, own: list[str], unknown: list[str], matrix: Any, kind: str
) -> Unclear:
    """The question which label each column of scores stands for."""
    why = (
        f"labels name {unknown[:5]}, which are none of the classes {own[:8]}: say which label each "
        f"column of scores stands for, in their order, with --classes"
    )
    if words.nunique() > len(own):
        if len(unknown) > 1 or not _is_whole(unknown[0]):
            return Unclear(why)
        return Unclear(
            f"labels name {unknown[0]} in {(words == unknown[0]).mean():.0%} of the rows, which is "
            f"none of the classes {own[:8]}: if it marks rows without a label, say "
            f"--missing={unknown[0]} and --drop-missing",
            missing=unknown[0], drop_missing=True,
        )  # fmt: skip
    order = likeliest(words, own, matrix, kind)
    return Unclear(why + first_class(order), **({"classes": order} if order else {}))


def first_class(order: list[str] | None) -> str:
    """The option for classes that count from another number on, as words of a question."""
    if not order or not all(map(_is_whole, order)):
        return ""
    first = int(order[0])
    counts = order == [str(first + k) for k in range(len(order))]
    return f", or --first-class {first}" if counts else ""


def _order(value: str) -> tuple:
    return (0, int(value), "") if _is_whole(value) else (1, 0, value)


def _is_whole(value: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+", value))


def likeliest(words: pd.Series, own: list[str], matrix: Any, kind: str) -> list[str] | None:
    """The likeliest labels of the columns; whole numbers that lack some are counted on."""
    from scipy.optimize import linear_sum_assignment

    count, values = len(own), sorted(set(words), key=_order)
    some = np.unique(np.linspace(0, len(words) - 1, min(len(words), SAMPLED)).astype(int))
    block, mine = double(np.asarray(matrix[some])), words.to_numpy()[some]
    logs = block.log_softmax(1) if kind in ("logits", "logprobs") else block.clamp(min=1e-6).log()
    costs = np.stack([-logs.numpy()[mine == value].sum(0) for value in values])
    if len(values) < count and all(map(_is_whole, values)):
        places = [int(value) for value in values]
        low, high = places[0], places[-1]
        starts = [s for s in sorted({0, 1, low, high - count + 1}) if s <= low and high < s + count]
        able = {s: sum(costs[k, place - s] for k, place in enumerate(places)) for s in starts}
        best = min(able, key=lambda start: able[start], default=None)
        return None if best is None else [str(best + k) for k in range(count)]
    order = list(own)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        order[column] = values[row]
    return order if len(set(order)) == count else None


# --- files without names ---


def names_of(table: Any, options: Options) -> Unclear:
    """The question what the columns are called, where a file has no header."""
    first = [str(table[c].iloc[0])[:20] for c in table.columns[:4]]
    why = (
        f"{table.file} has no header: its first line starts with the values {first}. Name its "
        f"{len(table.columns)} columns with --columns, such as --columns label,cat,dog"
    )
    label = _best_label(table, [], None, options).get("label", [])
    ranked = _ranked(table, label, None, options) if len(label) == 1 else []
    if not ranked:
        return Unclear(why)
    own = min(ranked, key=lambda row: (row[0], -row[1]))[3]
    called = {c: c for c in table.columns} | {label[0]: "label"}
    words = names.words(table[label[0]])
    decided = _same_words(table, label[0], sorted(set(words.dropna())))
    if len(own) > 1:
        counted = list(map(str, range(len(own))))
        order = likeliest(words, counted, matrix_of(table, own), "probs") or counted
        called |= {c: f"p_{name}" for c, name in zip(own, order, strict=True)}
    elif words.nunique() == 2:
        called[own[0]] = "p"
    elif decided:
        called |= {own[0]: "confidence", decided[0]: "predicted"}
    else:
        return Unclear(why)
    return Unclear(why, columns=[called[c] for c in table.columns])
