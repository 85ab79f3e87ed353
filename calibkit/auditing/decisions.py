"""One score that goes with a column of decisions: how sure a row is of what it predicts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from calibkit.auditing import names
from calibkit.auditing.chosen import Chosen
from calibkit.auditing.classes import NEGATIVE, POSITIVE, as_words
from calibkit.auditing.events import known
from calibkit.auditing.holds import binary, fractional, is_number
from calibkit.auditing.question import Question
from calibkit.auditing.sets import is_single


def demand_said(table: pd.DataFrame, label: str, score: str) -> None:
    """Refuse a score that is called confidence, unless the user says of what."""
    decisions = [c for c in table.columns if c != label and decides(table[c])]
    if names.sure(score) and decisions:
        raise ValueError(
            f"{score!r} may be the confidence of what {decisions[0]!r} says, or the score of one "
            f"class: say --predicted {names.typed(decisions[0])}, or --positive CLASS"
        )


def judging(table: pd.DataFrame, columns: list[str]) -> list[str]:
    """The columns that say which rows are right: by their names, marks by what they hold, too."""
    return [
        column
        for column in columns
        if (names.bare(column) in names.CORRECT and not fractional(table[column]))
        or (names.bare(column) in names.MARKS and _odd_mark(table[column]) is None)
    ]


def _odd_mark(column: pd.Series) -> int | None:
    """The first row whose mark is neither right nor wrong, by 0 and 1 or false and true."""
    odd = ~column.map(str).str.casefold().isin(_MARKED) & column.notna()
    return int(odd.to_numpy().argmax()) if odd.any() else None


_MARKED = ("0", "1", "0.0", "1.0", "false", "true")


def demand_marks(table: pd.DataFrame, columns: list[str]) -> None:
    """Refuse marks other than right and wrong beside the confidence that they would judge."""
    marks = [c for c in columns if names.bare(c) in (*names.CORRECT, *names.MARKS)]
    for column in marks:
        others = [c for c in columns if c not in marks and is_number(table[c])]
        beside = [c for c in others if names.sure(c) or is_single(table[c], set())]
        row = _odd_mark(table[column])
        if beside and row is not None:
            held = str(table[column].iloc[row])
            raise ValueError(
                f"column {column!r} must say which answers are right, by 0 and 1, got {held!r} in "
                f"row {table.index[row]} (the first is 0): decide from which mark on an answer is "
                f"right, and write that as a column 'correct'; or name what judges them with "
                f"--label COLUMN, or --predicted COLUMN"
            )


def mark_of(
    table: pd.DataFrame, label: str, left: list[str], asked: Question, *, sure: bool
) -> str | None:
    """The column that says whether each row is right, where the one score is of that.

    So it is where the labels say it themselves; and where the user calls none of them positive,
    and the score is called a confidence (`sure`), or there are more than two labels.

    Raises ValueError where such columns differ.
    """
    marks = judging(table, [label] if asked.label else [label, *left])
    of_one = asked.positive is not None or not (sure or table[label].nunique() > 2)
    if not marks or (of_one and label not in marks):
        return None
    right = [table[c].map(str).str.casefold().isin(("1.0", *POSITIVE)) for c in marks]
    if any(not column.equals(right[0]) for column in right[1:]):
        raise ValueError(
            f"which rows are right may be said by {' or '.join(map(repr, marks))}, which differ: "
            f"say which with {' or '.join(f'--label {names.typed(c)}' for c in marks)}"
        )
    return marks[0]


def of_answers(
    table: pd.DataFrame, label: str, left: list[str], found: list[list[str]], asked: Question
) -> Chosen | None:
    """Answers that a column calls right or wrong, and how sure each is; None for all else.

    found: the columns that may be scores, or sets of them.

    Raises ValueError where several columns may say how sure, or which answers are right.
    """
    sure = [c for c in left if names.sure(c) and is_number(table[c])]
    if not (sure or found):
        return None
    mark = mark_of(table, label, left, asked, sure=bool(sure) and not found)
    if mark is None:
        if sure and not asked.label and table[label].nunique() > 2:
            demand_marks(table, left)
        return None
    sets = [columns for columns in found if len(columns) > 1]
    if sets and mark == label and not asked.label and _odd_mark(table[label]) is None:
        raise ValueError(
            f"{label!r} may say whether the largest of {names.short(sets[0])} is right, or which "
            f"of them is: in the first case write the largest as a column 'confidence', in the "
            f"second say --label {names.typed(label)}"
        )
    if sets:
        return None
    able = list(dict.fromkeys([*sure, *(column for (column,) in found)]))
    if len(able) > 1:
        options = " or ".join(names.option([column]) for column in able)
        raise ValueError(
            f"how sure an answer is may be said by {names.short(able)}: say which with {options}"
        )
    return Chosen(mark, able, event=True)


def of_decisions(table: pd.DataFrame, label: str, left: list[str]) -> Chosen:
    """Where only the confidence of what a row predicts is there: with it, whether it is right."""
    sure = [c for c in left if names.sure(c) and is_number(table[c])]
    if len(sure) != 1:
        several = " or ".join(names.option([column]) for column in sure)
        raise ValueError(f"the scores may be {names.short(sure)}: say which with {several}")
    decisions = [c for c in left if decides(table[c])]
    if len(decisions) != 1:
        columns = f"the columns {names.short(decisions)} say" if decisions else "no column says"
        raise ValueError(
            f"{sure[0]!r} is called the confidence of what a row predicts, but {columns} what that "
            f"is. Name it with --predicted COLUMN, or the column that says whether it is right "
            f"with --label COLUMN; if {sure[0]!r} is the score of one class, say --scores "
            f"{sure[0]} --positive CLASS"
        )
    _demand_own(table, label, decisions[0], sure[0])
    return Chosen(label, sure, False, decisions[0], True)


def decides(column: pd.Series) -> bool:
    """Whether a column is called after what a row predicts, and holds no fractions."""
    name = names.bare(column.name)
    called = name in names.DECISIONS or bool(_DECISION & {*name.split("_")})
    best = re.fullmatch(r"top_?1(_(class|label|pred|prediction))?", name)
    return (called or bool(best)) and not fractional(column)


_DECISION = {"pred", "predicted", "predict", "prediction", "decision", "yhat", "hat", "argmax"}


def _demand_own(table: pd.DataFrame, label: str, decision: str, score: str) -> None:
    """Refuse a confidence that may be the score of one of two classes.

    Such a score is above a threshold for one decision alone, or falls below one half.
    """
    if table[label].nunique() > 2:
        return
    rows = table[[decision, score]].dropna()
    values = rows[decision].unique()
    parts = [rows.loc[rows[decision] == value, score] for value in values]
    apart = len(values) == 2 and (
        parts[0].max() < parts[1].min() or parts[1].max() < parts[0].min()
    )
    if apart or (rows[score].min() < 0.5 and rows[score].max() <= 1):
        first = len(values) == 1 or parts[0].min() > parts[1].max()
        yes = values[0] if first else values[1]
        raise ValueError(
            f"{score!r} may be the confidence of what {decision!r} says, or the score of one "
            f"class: of two classes the one predicted is at least one half. Say --predicted "
            f"{names.typed(decision)} for the first, {names.option([score])} --positive "
            f"{names.typed(str(yes))} for the second"
        )


def demand_agreement(table: pd.DataFrame, label: str, left: list[str], score: str) -> None:
    """Refuse a score that does not say, by a threshold, what stands in a column of decisions.

    It is the confidence of these decisions then, of the other class, or of another model.
    """
    labels = sorted(as_words(table[label]).unique(), key=str)
    if len(labels) > 2:
        return
    for column, decisions, option in _decisions(table, label, left, score):
        rows = pd.DataFrame({"decision": decisions, "score": table[score]}).dropna()
        if not _by_threshold(rows):
            raise ValueError(
                f"{score!r} does not tell by any threshold what {column!r} says: it may be the "
                f"confidence of that, {option}, or the score of one class whatever {column!r} "
                f"says, {' or '.join(f'--positive {names.typed(word)}' for word in labels[::-1])}"
            )


def _decisions(
    table: pd.DataFrame, label: str, left: list[str], score: str
) -> Iterator[tuple[str, pd.Series, str]]:
    """Columns of decisions, and those that follow from what is right; with the option of each."""
    for column in (c for c in left if c != score and decides(table[c])):
        yield column, as_words(table[column]), f"--predicted {names.typed(column)}"
    words = as_words(table[label])
    for column in (c for c in left if names.bare(c) in names.CORRECT and binary(table[c])):
        # right where the label is 1, and wrong where it is 0: 1 was predicted
        yield (
            column,
            (table[column] == 1) == (words == words.max()),
            f"--label {names.typed(column)}",
        )


def _by_threshold(rows: pd.DataFrame) -> bool:
    """Whether all scores of one decision lie above those of the other, if there is one."""
    values = list(rows["decision"].unique())
    parts = [rows.loc[rows["decision"] == value, "score"] for value in values]
    if len(values) == 1:
        return not (str(values[0]).casefold() in NEGATIVE and parts[0].min() >= 0.5)
    if len(values) > 2:
        return True
    rising, falling = parts[0].max() <= parts[1].min(), parts[1].max() <= parts[0].min()
    positive = known([str(value) for value in values])
    if positive is None:
        return bool(rising or falling)
    return bool(falling if str(values[0]) == positive else rising)


def confidence_of(table: pd.DataFrame, left: list[str]) -> str:
    """The one column that goes with the decisions that the user names."""
    numbers = [c for c in left if is_number(table[c]) and not names.beside(c)]
    sure = [c for c in numbers if names.sure(c)] or [
        c for c in numbers if is_single(table[c], set())
    ]
    if len(sure) != 1:
        raise ValueError(
            f"the scores of the predictions may be {names.short(sure or numbers)}: say which with "
            f"--scores COLUMN"
        )
    return sure[0]
