"""Arrays of any origin by their names: npz archives, npy files, dictionaries of tensors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


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
