"""One score that goes with a column of decisions: how sure a row is of what it predicts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from calibkit.auditing import names
from calibkit.auditing.chosen import Chosen
from calibkit.auditing.classes import NEGATIVE, as_words
from calibkit.auditing.events import known
from calibkit.auditing.holds import binary, fractional, is_number
from calibkit.auditing.sets import is_single


def demand_said(table: pd.DataFrame, label: str, score: str) -> None:
    """Refuse a score that is called confidence, unless the user says of what."""
    decisions = [c for c in table.columns if c != label and decides(table[c])]
    if names.sure(score) and decisions:
        raise ValueError(
            f"{score!r} may be the confidence of what {decisions[0]!r} says, or the score of one "
            f"class: say --predicted {names.typed(decisions[0])}, or --positive CLASS"
        )


def of_decisions(table: pd.DataFrame, label: str, left: list[str]) -> Chosen:
    """Where only the confidence of what a row predicts is there: with it, whether it is right."""
    sure = [c for c in left if names.sure(c) and is_number(table[c])]
    if len(sure) != 1:
        several = " or ".join(names.option([column]) for column in sure)
        raise ValueError(f"the scores may be {names.short(sure)}: say which with {several}")
    if names.bare(label) in names.CORRECT:
        return Chosen(label, sure, event=True)
    correct = [c for c in left if names.bare(c) in names.CORRECT]
    if len(correct) == 1:
        return Chosen(correct[0], sure, event=True)
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
