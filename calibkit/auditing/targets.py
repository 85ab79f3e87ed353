"""Labels and groups as a user has them: numbers, words, columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from calibkit import validate

MOST_GROUPS = 100


def labels_of(value: Any, n: int, classes: int, names: list[str] | None) -> Tensor:
    """(n,) int64 labels; words are looked up among the names of the classes.

    Raises ValueError for labels that fit neither the rows nor the classes.
    """
    array = _array(value)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1 and len(array) == classes != n and len(array) != n:
        raise ValueError(
            f"labels have one entry a column, {classes}, but there are {n} rows: the scores look "
            f"transposed; pass scores.T"
        )
    if array.dtype.kind in "OUS":
        array = _looked_up(array, names)
    if array.dtype.kind == "f":
        if not (np.isfinite(array).all() and (array == np.round(array)).all()):
            raise ValueError("labels must be whole numbers without gaps, got fractions or NaN")
        array = array.astype(np.int64)
    array = array.astype(np.int64) if array.dtype.kind == "b" else array
    return validate.labels(array, n=n, classes=classes, of="the scores")


def _looked_up(words: np.ndarray, names: list[str] | None) -> np.ndarray:
    if names is None:
        raise ValueError(
            f"labels are words, such as {words[0]!r}, but the classes have no names; write the "
            f"numbers of the classes, from 0 on, or pass class_names in the order of the columns"
        )
    place = {name: k for k, name in enumerate(names)}
    unknown = sorted({str(word) for word in words} - set(place))
    if unknown:
        raise ValueError(f"labels name {unknown[:5]}, which are none of the classes {names[:8]}")
    return np.array([place[str(word)] for word in words])


def groups_of(value: Any, n: int) -> tuple[np.ndarray, list[str]]:
    """(n,) codes and the names of the groups, in sorted order; a missing one is a group too.

    >>> groups_of(["b", "a", "b"], 3)
    (array([1, 0, 1]), ['a', 'b'])
    """
    import pandas as pd

    column = pd.Series(_array(value).ravel())
    validate.same_length("groups", len(column), n)
    words = column.map(str).where(column.notna(), "missing")
    codes, names = pd.factorize(words, sort=True)
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"groups must be at most {MOST_GROUPS}, got {len(names)} values; cut a number into "
            f"ranges first, for example with pandas.qcut"
        )
    return codes, list(map(str, names))


def _array(value: Any) -> np.ndarray:
    return np.array(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
