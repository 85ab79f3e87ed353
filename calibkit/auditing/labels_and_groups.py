"""What an audit is given beside the scores: labels, groups, and which rows are independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from calibkit import validate

MOST_GROUPS = 100


@dataclass(frozen=True)
class Units:
    """Rows with weights, in units that are drawn independently of one another.

    weight: (n,) float64, none negative; only their ratios count. of: (n,) the cluster of each row,
    from 0 on, or None where every row is a unit of its own.
    """

    weight: Tensor
    of: Tensor | None = None

    @property
    def plain(self) -> bool:
        """Whether these are rows of weight 1."""
        return self.of is None and self.even

    @property
    def even(self) -> bool:
        """Whether all rows have weight 1."""
        return bool((self.weight == 1).all())

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def count(self) -> int:
        """How many units weigh anything."""
        return int((self.sums(torch.ones_like(self.weight)) > 0).sum())

    @property
    def worth(self) -> int:
        """How many units of equal weight say as much (Kish)."""
        ones = self.sums(torch.ones_like(self.weight))
        return int(self.total**2 / float(ones.square().sum()) + 1e-9)

    def sums(self, values: Tensor) -> Tensor:
        """(units,) the weighted sums of (n,) values."""
        each = self.weight * values
        return each if self.of is None else torch.bincount(self.of, each)

    def mean(self, values: Tensor) -> float:
        """The weighted mean of (n,) values."""
        return float((self.weight * values).sum() / self.weight.sum())

    def error(self, values: Tensor) -> float:
        """The standard error of that mean, by what the units differ; 0 for a single unit."""
        off = self.sums(values.double() - self.mean(values))
        count = self.count
        if count < 2:
            return 0.0
        return math.sqrt(float(off.square().sum()) * count / (count - 1)) / self.total

    def part(self, mine: Tensor) -> Units:
        """Those of some rows alone, by their places."""
        return Units(self.weight[mine], None if self.of is None else self.of[mine])

    def effective(self, share: float, values: Tensor) -> float:
        """How many independent rows would know a share as well as these do.

        values: (n,) the 0s and 1s whose weighted mean the share is.
        """
        off = float(self.sums(values - share).square().sum())
        if off > 0:
            return share * (1 - share) * self.total**2 / off
        ones = self.sums(torch.ones_like(self.weight))
        return self.total**2 / float(ones.square().sum())


def units_of(n: int, weights=None, clusters=None) -> Units:
    """Checked `Units` of n rows.

    weights: (n,) numbers, none negative and not all 0. clusters: (n,) values of any kind; rows of
    one value belong together. Raises ValueError and TypeError naming the argument.
    """
    weight = torch.ones(n, dtype=torch.float64)
    if weights is not None:
        given = weights.detach().cpu() if hasattr(weights, "detach") else np.array(weights)
        weight = validate.weights(given, n=n)
    return Units(weight, None if clusters is None else _clusters(clusters, n))


def _clusters(value, n: int) -> Tensor:
    import pandas as pd

    column = pd.Series(value.tolist() if hasattr(value, "tolist") else list(value))
    validate.same_length("clusters", len(column), n)
    if column.isna().any():
        row = int(column.isna().to_numpy().nonzero()[0][0])
        raise ValueError(
            f"clusters have no value in row {row}; give such a row a cluster of its own"
        )
    codes, _ = pd.factorize(column, sort=True)
    if codes.max() < 1:
        raise ValueError("clusters must hold at least 2 values, got one; leave the argument out")
    return torch.from_numpy(codes.astype(np.int64))


# --- labels and groups as a user has them ---


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
    """(n,) codes and the names of the groups, in sorted order; a missing one is a group too."""
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
