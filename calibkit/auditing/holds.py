"""What a column of a table holds."""

from __future__ import annotations

import pandas as pd


def is_number(column: pd.Series) -> bool:
    """Whether it holds numbers, and not only missing ones."""
    return column.dtype.kind in "fiu" and bool(column.notna().any())


def binary(column: pd.Series) -> bool:
    """Whether it holds nothing but 0 and 1."""
    return column.dtype.kind in "iufb" and bool(column.dropna().isin([0, 1]).all())


def fractional(column: pd.Series) -> bool:
    """Whether it holds numbers that are not whole."""
    if column.dtype.kind != "f":
        return False
    filled = column.dropna()
    return bool((filled != filled.round()).any())
