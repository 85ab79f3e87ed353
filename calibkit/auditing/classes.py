"""The labels of a file as numbers of its columns."""

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
    if worded(labels):
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
        _demand_sorted(places, names, right)
    else:
        places = _by_number(numbers, stated, right)
    _demand_best(places, said(), classes)
    _demand_present(places, classes, said)
    return Classes(places, names)


def _demand_sorted(places: np.ndarray, names: list[str] | None, right) -> None:
    """Refuse numbers beside names that are not in the order in which others number them.

    Unless the order of the columns is surely the better one.
    """
    if names is None or names == sorted(names):
        return
    other = np.array([names.index(name) for name in sorted(names)])[places]
    mine, theirs = right(places), right(other)
    if not mine > theirs + CLEAR * 0.7 / np.sqrt(len(places)):
        raise ValueError(
            f"labels are numbers and the columns {', '.join(names[:6])} are in no order of the "
            f"alphabet: read in the order of the columns the model is right on {mine:.1%}, in that "
            f"of the alphabet on {theirs:.1%}. Say --first-class 0 for the first, or name the "
            f"columns in the order of the labels: --scores COLUMN_OF_0,COLUMN_OF_1,..."
        )


def _demand_best(places: np.ndarray, said: np.ndarray, classes: int) -> None:
    """Refuse numbers that fit the columns far better in another order."""
    from scipy.optimize import linear_sum_assignment

    n, mine = len(places), float(np.mean(places == said))
    if mine >= 0.5 or n < 5 * classes or classes > MOST_ORDERED:
        return
    pairs = np.zeros((classes, classes))
    np.add.at(pairs, (places, said), 1)
    best = pairs[linear_sum_assignment(pairs, maximize=True)].sum() / n
    if best > mine + 0.1 + 3 * 0.5 / np.sqrt(n):
        raise ValueError(
            f"labels are numbers: in the order of the columns the model is right on {mine:.1%}, in "
            f"another order on {best:.1%}. Say --first-class 0 if the order is right, or name the "
            f"columns in the order of the labels: --scores COLUMN_OF_0,COLUMN_OF_1,..."
        )


MOST_ORDERED = 300  # classes of which other orders are tried


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


def worded(labels: pd.Series) -> bool:
    """Whether labels are words, neither numbers nor true and false."""
    return labels.dtype.kind not in "iufb" and not pd.api.types.is_bool_dtype(labels)


def as_words(labels: pd.Series) -> pd.Series:
    """Labels as words: whole numbers of any type alike.

    >>> as_words(pd.Series([1.0, 0.0])).tolist()
    ['1', '0']
    """
    labels = labels.dropna()
    if worded(labels) or labels.dtype.kind not in "iuf":
        return labels.map(str).str.strip()
    return pd.Series(whole(labels), index=labels.index).map(str)


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
