"""The labels of a file as numbers of its columns, or as 0 and 1 beside one column of scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibkit.auditing.names import typed

POSITIVE = ("1", "yes", "true", "positive", "pos", "y", "t", "+1", "+")
NEGATIVE = ("0", "no", "false", "negative", "neg", "n", "f", "-1", "-")
UNLABELLED = (-100, 255, -1)  # what other packages write where a row has no label
CLEAR = 4.0  # standard errors


class Classes(NamedTuple):
    """(n,) whole numbers, the names of the classes if they have any, and what is to be told."""

    labels: np.ndarray
    names: list[str] | None
    told: str = ""


def unlabelled(labels: pd.Series, classes: int) -> np.ndarray:
    """(n,) whether a row has no label: a missing one, or a number that others write for none.

    classes: how many columns of scores there are; beside one, 255 and -1 may be labels.

    >>> unlabelled(pd.Series([0, 1, -100]), 3).tolist()
    [False, False, True]
    """
    missing = labels.isna().to_numpy(dtype=bool, copy=True)
    if labels.dtype.kind not in "iuf":
        return missing
    marks = [mark for mark in UNLABELLED if not 0 <= mark < classes]
    marks = marks if classes > 2 else [-100]
    return missing | labels.isin(marks).to_numpy()


# --- one column a class ---


def of_columns(
    labels: pd.Series,
    names: list[str] | None,
    classes: int,
    *,
    first: int | None,
    largest: Callable[[], np.ndarray],
) -> Classes:
    """Labels as places of the K columns.

    names: of the columns, as classes. first: the number of the first class, if the user says it.
    largest: gives the (n,) columns of the largest scores, by which a shift is noticed.

    Raises ValueError that names the option which decides.
    """
    if _worded(labels):
        return Classes(_by_word(labels.map(str).str.strip(), names), names)
    numbers = whole(labels)
    if first is not None:
        return Classes(_placed(numbers - first, classes, first), names, f"class {first} first")
    if set(np.unique(numbers)) == {-1, 1} and classes == 2:
        numbers = (numbers + 1) // 2
    stated, said = _whole_names(names), cache(largest)

    def right(places: np.ndarray) -> float:
        return float(np.mean(said() == places))

    if stated is None:
        places = _by_place(numbers, classes, names, right)
    else:
        places = _by_number(numbers, stated, right)
    _demand_present(places, classes, said)
    return Classes(places, names)


def _demand_present(places: np.ndarray, classes: int, said: Callable[[], np.ndarray]) -> None:
    """Refuse numbers of which the model's most frequent classes are missing."""
    present = np.unique(places)
    if len(present) == classes or len(places) < ENOUGH * classes:
        return
    absent = ~np.isin(said(), present)
    if absent.mean() > MOST_ABSENT:
        raise ValueError(
            f"the labels are {', '.join(map(str, present[:6]))}, but in {absent.mean():.0%} of the "
            f"rows the model predicts another of the {classes} classes: name the column of their "
            f"labels with --label, or say --first-class 0 if they count from 0"
        )


ENOUGH = 20  # rows a class, so that no class is missing by chance
MOST_ABSENT = 0.2  # of the rows may be predicted as classes that no label names


def _worded(labels: pd.Series) -> bool:
    return labels.dtype.kind not in "iufb" and not pd.api.types.is_bool_dtype(labels)


def whole(labels: pd.Series) -> np.ndarray:
    """(n,) int64 from whole numbers of any type."""
    numbers = labels.to_numpy(dtype=np.float64)
    if not (numbers == np.round(numbers)).all():
        example = numbers[numbers != np.round(numbers)][0]
        raise ValueError(
            f"labels must be whole numbers or words, got {example:g}; name their column with "
            f"--label"
        )
    return numbers.astype(np.int64)


def _by_word(words: pd.Series, names: list[str] | None) -> np.ndarray:
    found = sorted(set(words))
    order = f"--classes {typed(','.join(found[:8]) + (',...' if len(found) > 8 else ''))}"
    if names is None:
        raise ValueError(
            f"labels are words, such as {found[0]!r}, but the columns have no names; name the "
            f"classes in the order of the columns, such as {order}"
        )
    place = {name: k for k, name in enumerate(names)}
    if not set(found) <= set(place):
        place = {_folded(name): k for k, name in enumerate(names)}
        words = words.map(_folded)
    unknown = sorted(set(words) - set(place))
    if unknown or len(place) != len(names):
        raise ValueError(
            f"labels name {unknown[:5] or found[:5]}, which are none of the classes {names[:8]}; "
            f"name the classes in the order of the columns, such as {order}"
        )
    return words.map(place).to_numpy()


def _folded(word: str) -> str:
    """A word in small letters, with spaces for underscores.

    >>> _folded("Big_cat ")
    'big cat'
    """
    return word.replace("_", " ").strip().casefold()


def _placed(places: np.ndarray, classes: int, first: int) -> np.ndarray:
    if places.min() < 0 or places.max() >= classes:
        wrong = (places.min() if places.min() < 0 else places.max()) + first
        raise ValueError(
            f"labels must lie in [{first}, {first + classes}) for {classes} classes from {first} "
            f"on, got {wrong}; say --first-class with the smallest label of all classes, or leave "
            f"out rows that have no label"
        )
    return places


def _whole_names(names: list[str] | None) -> dict[int, int] | None:
    """The place of each class whose name is a whole number, if all are."""
    if names is None or not all(name.lstrip("+-").isdigit() for name in names):
        return None
    return {int(name): k for k, name in enumerate(names)}


def _by_number(numbers: np.ndarray, stated: dict[int, int], right) -> np.ndarray:
    """Labels that are the names of columns."""
    classes = len(stated)
    unknown = sorted(set(numbers.tolist()) - set(stated))
    if unknown:
        raise ValueError(
            f"labels hold {unknown[:5]}, which are none of the classes "
            f"{list(map(str, stated))[:8]}; {_first(numbers, classes)}"
        )
    places = pd.Series(numbers).map(stated).to_numpy()
    if list(stated) != list(range(classes)):
        others = [numbers] if numbers.min() >= 0 and numbers.max() < classes else []
        return _unless_better(places, others, right, numbers.min())
    return _unless_shifted(places, classes, right)


def _by_place(numbers: np.ndarray, classes: int, names, right) -> np.ndarray:
    """Labels that are places of columns, from 0 on."""
    if numbers.min() < 0 or numbers.max() >= classes:
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise ValueError(
            f"labels must lie in [0, {classes}) for {classes} classes, got {wrong}; "
            f"{_first(numbers, classes)}"
        )
    if classes == 2 and names is not None:
        _demand_order(numbers, names, right)
    return _unless_shifted(numbers, classes, right)


def _first(numbers: np.ndarray, classes: int) -> str:
    """The option that helps, where labels leave the range of the columns."""
    if numbers.min() >= 0 and numbers.max() - numbers.min() < classes:
        return f"if {numbers.min()} is the first class, say --first-class {numbers.min()}"
    return (
        "say which number the first class has, with --first-class, name the column of labels with "
        "--label, or leave out rows that have no label"
    )


def _unless_shifted(places: np.ndarray, classes: int, right) -> np.ndarray:
    """Labels from 1 on, of which neither 0 nor K stands in the file, may be shifted by one."""
    if places.min() != 1:
        return places
    return _unless_better(places, [places - 1], right, 1, absent=True)


def _unless_better(places, others: list, right, least: int, absent: bool = False) -> np.ndarray:
    """Refuse labels of which another reading is right more often, or as often.

    absent: whether the other reading is likely enough to be refused where neither is clear.
    """
    n = len(places)
    for other in others:
        mine, theirs = right(places), right(other)
        error = np.sqrt(max(mine * (1 - mine) + theirs * (1 - theirs), 1 / n) / n)
        if theirs > mine + CLEAR * error or (absent and not mine > theirs + CLEAR * error):
            raise ValueError(
                f"labels begin with {least} and may count from 0 or from {least}: read from 0 the "
                f"model is right on {mine if absent else theirs:.1%}, from {least} on "
                f"{theirs if absent else mine:.1%}. Say --first-class 0 or --first-class {least}"
            )
    return places


def _demand_order(numbers: np.ndarray, names: list[str], right) -> None:
    """Refuse 0 and 1 beside the columns yes, no, or where their other order is right more often."""
    words = [name.strip().casefold() for name in names]
    swapped = words[0] in POSITIVE or words[1] in NEGATIVE
    mine, error = right(numbers), 0.5 / np.sqrt(len(numbers))
    if swapped or mine < 0.5 - CLEAR * error:
        raise ValueError(
            f"labels are 0 and 1 but the columns {', '.join(names)}: with {names[0]} as 0 the "
            f"model is right on {mine:.1%}. Say --first-class 0 if it is so, or name the columns "
            f"in the order of the labels: --scores COLUMN_OF_0,COLUMN_OF_1"
        )


# --- one column of scores ---


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
    known = _known(found) if not after else after[0]
    if known is None:
        raise ValueError(
            f"labels are {' and '.join(found)}: say which of them the score is of, "
            f"{' or '.join(f'--positive {typed(word)}' for word in found)}"
        )
    read = _against(words, found, known)
    _demand_direction(read, scores, known, found)
    return read


def as_words(labels: pd.Series) -> pd.Series:
    """Labels as words: whole numbers of any type alike.

    >>> as_words(pd.Series([1.0, 0.0])).tolist()
    ['1', '0']
    """
    labels = labels.dropna()
    if _worded(labels) or labels.dtype.kind not in "iuf":
        return labels.map(str).str.strip()
    return pd.Series(whole(labels), index=labels.index).map(str)


def _same(word: str, found: list[str]) -> str:
    alike = [other for other in found if other == word] or [
        other for other in found if other.casefold() == word.strip().casefold()
    ]
    if len(alike) != 1:
        raise ValueError(f"--positive must be one of the labels {found[:8]}, got {word!r}")
    return alike[0]


def _known(found: list[str]) -> str | None:
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
    if (0.5 - area) / np.sqrt((n + 1) / (12 * ones * zeros)) > CLEAR:
        other = next(word for word in found if word != positive)
        raise ValueError(
            f"the scores are higher where the label is {other} (area under the ROC curve of "
            f"{positive}: {area:.3f}): say which label they are of, --positive {typed(other)} "
            f"or --positive {typed(positive)}"
        )


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
