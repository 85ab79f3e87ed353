"""Arrays of any origin by their names: npz archives, npy files, dictionaries of tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit.auditing import names


def npy(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped."""
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path.name} is no file of one array of numbers: {error}") from None


def npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an archive."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, AttributeError) as error:
        raise ValueError(f"{path.name} is no archive of arrays of numbers: {error}") from None
    except Exception as error:  # zipfile and zlib have errors of their own
        raise ValueError(f"{path.name} is damaged: {error}") from None


def pt(path: Path) -> dict[str, Any]:
    """The tensors of a dictionary, in the types that numpy knows."""
    import torch

    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # whatever unpickling may raise, at length
        raise ValueError(
            f"{path.name} is no file of tensors alone; load it yourself and call "
            f"calibkit.audit(logits, labels)"
        ) from None
    if not isinstance(held, dict):
        kind = type(held).__name__
        raise ValueError(f"{path.name} must hold a dictionary of tensors, got {kind}")
    return {str(name): _plain(value) for name, value in held.items()}


def _plain(value: Any) -> Any:
    """A tensor as an array; bfloat16, which numpy does not know, in the 32 bits that hold it."""
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.detach()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy(force=True)


def matrices(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of numbers that have a row a sample and several columns."""
    return {
        name: array
        for name, array in arrays.items()
        if array.ndim == 2 and array.shape[1] > 1 and array.dtype.kind == "f"
    }


def lists(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of one entry a sample, those of shape (n, 1) too."""
    flat = {
        name: array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
        for name, array in arrays.items()
    }
    return {name: array for name, array in flat.items() if array.ndim == 1}


def table(flat: dict[str, np.ndarray], path: Path) -> pd.DataFrame:
    """Lists of one length as the columns of a table."""
    lengths = {len(array) for array in flat.values()}
    if len(lengths) > 1:
        raise ValueError(f"{path.name} holds lists of several lengths, {sorted(lengths)}")
    return pd.DataFrame(flat)


def one_hot(arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], str]:
    """Labels that are one-hot rows as numbers, and what is to be told of it.

    >>> one_hot({"labels": np.array([[0, 1], [1, 0]])})[0]["labels"].tolist()
    [1, 0]
    """
    rows = [name for name, array in arrays.items() if _is_one_hot(name, array)]
    numbers = {name: arrays[name].argmax(1) for name in rows}
    return arrays | numbers, f"one-hot rows of {rows[0]!r} taken as labels" if rows else ""


def _is_one_hot(name: str, array: np.ndarray) -> bool:
    if names.bare(name) not in names.LABELS or array.ndim != 2 or array.shape[1] < 2:
        return False
    return bool(np.isin(array, (0, 1)).all() and (array.sum(1) == 1).all())


def spread(arrays: dict[str, np.ndarray], named: list[str]) -> dict[str, np.ndarray]:
    """With lists for the columns of arrays that are named so: probs_1 is column 1 of probs."""
    columns = {
        f"{name}_{k}": array[:, k]
        for name, array in arrays.items()
        if array.ndim == 2
        for k in range(array.shape[1])
    }
    return arrays | {name: columns[name] for name in named if name in columns}
