"""The labels of a file as 0 and 1, beside one column of scores: of a class, or of what is said."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibkit.auditing.classes import NEGATIVE, POSITIVE, Classes, as_words
from calibkit.auditing.names import typed

LIKELY = 2.0  # standard errors
MUCH = 5.0  # of the log-likelihood


def of_one(
    labels: pd.Series, named: list[str], scores: np.ndarray, positive: str | None
) -> Classes:
    """Labels as 0 and 1, of which the column of scores judges the 1.

    named: what the column may be called after, such as ["p_default", "default"]. positive: the
    label that the user calls so.

    Raises ValueError that names the option which decides.
    """
    words = as_words(labels)
    found = sorted(set(words))
    if positive is not None:
        return _against(words, found, _same(positive, found))
    after = [word for word in found if word.casefold() in [name.casefold() for name in named]]
    if len(found) > 2:
        chosen = after[0] if len(after) == 1 else found[0]
        raise ValueError(
            f"there is one column of scores, but the labels have {len(found)} values, "
            f"{', '.join(found[:6])}: say which of them it is the score of, such as "
            f"--positive {typed(chosen)}; of the class that a row predicts, name the column that "
            f"says it with --predicted"
        )
    chosen = known(found) if not after else after[0]
    if chosen is None:
        raise ValueError(
            f"labels are {' and '.join(found)}: say which of them the score is of, "
            f"{' or '.join(f'--positive {typed(word)}' for word in found)}"
        )
    read = _against(words, found, chosen)
    _demand_direction(read, scores, chosen, found)
    if not after or chosen.lstrip("+-").isdigit():
        _demand_below_half(read, scores, chosen)
    return read


def _demand_below_half(read: Classes, scores: np.ndarray, positive: str) -> None:
    """Refuse scores that never fall below one half, though the other label is frequent."""
    inside = len(scores) >= SOME and scores.min() >= 0.5 and scores.max() <= 1
    if inside and read.labels.mean() < MOSTLY:
        raise ValueError(
            f"no score is below one half, but {1 - read.labels.mean():.0%} of the labels are not "
            f"{positive or 1}: the scores may be of what each row predicts, --predicted COLUMN, or "
            f"of one label, --positive {typed(positive or '1')}"
        )


SOME = 20  # rows
MOSTLY = 0.9  # of the labels: then no score below one half is no wonder


def _same(word: str, found: list[str]) -> str:
    alike = [other for other in found if other == word] or [
        other for other in found if other.casefold() == word.strip().casefold()
    ]
    if len(alike) != 1:
        raise ValueError(f"--positive must be one of the labels {found[:8]}, got {word!r}")
    return alike[0]


def known(found: list[str]) -> str | None:
    """Which of two labels is surely the positive one; a single one may be either."""
    folded = [word.casefold() for word in found]
    if len(found) == 1:
        return found[0] if folded[0] in POSITIVE else "" if folded[0] in NEGATIVE else None
    pairs = [*list(zip(POSITIVE, NEGATIVE, strict=True)), ("1", "-1")]
    for yes, no in pairs:
        if set(folded) == {yes, no}:
            return found[folded.index(yes)]
    return None


def _against(words: pd.Series, found: list[str], positive: str) -> Classes:
    others = [word for word in found if word != positive]
    other = others[0] if len(others) == 1 else "other" if others else "not " + positive
    labels = (words == positive).to_numpy().astype(np.int64)
    usual = not positive or (positive, other) in (("1", "0"), ("1", "not 1"))
    if usual:
        return Classes(labels, None)
    return Classes(labels, [other, positive], f"positive class {positive!r}")


def _demand_direction(read: Classes, scores: np.ndarray, positive: str, found: list[str]) -> None:
    """Refuse scores that are clearly higher where the label is the other one."""
    from scipy.stats import rankdata

    of_one, n = read.labels == 1, len(scores)
    ones, zeros = int(of_one.sum()), int(n - of_one.sum())
    if not ones or not zeros:
        return
    area = (rankdata(scores)[of_one].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    sure = (area - 0.5) / np.sqrt((n + 1) / (12 * ones * zeros))  # in standard errors
    if sure < -LIKELY or (sure < LIKELY and _fits_reversed(scores, of_one)):
        other = next(word for word in found if word != positive)
        raise ValueError(
            f"the scores fit the label {other} better (area under the ROC curve of {positive}: "
            f"{area:.3f}): say which label they are of, --positive {typed(other)} or --positive "
            f"{typed(positive)}"
        )


def _fits_reversed(scores: np.ndarray, of_one: np.ndarray) -> bool:
    """Whether probabilities are far likelier as those of the other label."""
    if scores.min() < 0 or scores.max() > 1:
        return False
    said = np.clip(scores, 1e-3, 1 - 1e-3)
    odds = np.log(said / (1 - said))
    return float(np.where(of_one, odds, -odds).sum()) < -MUCH


# --- of the class that a row predicts ---


def hits(labels: pd.Series, decisions: pd.Series | None) -> Classes:
    """0 and 1: whether the label is the decision; without one the label says it itself.

    >>> hits(pd.Series(["a", "b"]), pd.Series(["a", "a"])).labels.tolist()
    [1, 0]
    >>> hits(pd.Series([True, False]), None).labels.tolist()
    [1, 0]
    """
    right = _right(labels, decisions).to_numpy().astype(np.int64)
    return Classes(right, ["wrong", "right"], "judged by whether the prediction is right")


def _demand_alike(labels: pd.Series, decisions: pd.Series) -> None:
    """Refuse labels and predictions that do not speak of the same classes."""
    if not set(labels) & set(decisions):
        raise ValueError(
            f"labels, such as {labels.iloc[0]!r}, and predictions, such as "
            f"{decisions.iloc[0]!r}, have no value in common; name others with --label and "
            f"--predicted"
        )
    numbers = [pd.to_numeric(words, errors="coerce") for words in (labels, decisions)]
    apart = numbers[0] - numbers[1]
    if len(set(labels)) > 2 and max((apart == 1).mean(), (apart == -1).mean()) > 0.5:
        raise ValueError(
            "most labels differ from the predictions by 1: number both from the same class on, or "
            "name others with --label and --predicted"
        )


def _right(labels: pd.Series, decisions: pd.Series | None) -> pd.Series:
    if decisions is not None:
        mine, theirs = as_words(labels), as_words(decisions)
        if {*mine, *theirs} <= {"0", "1", "True", "False"}:
            mine, theirs = (words.replace({"True": "1", "False": "0"}) for words in (mine, theirs))
        _demand_alike(mine, theirs)
        return mine == theirs
    words = as_words(labels).str.casefold()
    unknown = sorted(set(words) - {*POSITIVE, *NEGATIVE})
    if unknown:
        raise ValueError(
            f"column {labels.name!r} must say whether a row is right, by 0 and 1 or yes and no, "
            f"got {unknown[:4]}; name another with --label"
        )
    return words.isin(POSITIVE)
