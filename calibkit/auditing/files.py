"""Predictions from a file: csv, npz, npy or pt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate

LABELS = ("label", "labels", "target", "targets", "ground_truth", "y_true", "true", "truth", "y")
LOGITS = ("logits", "logit")
PROBS = ("probs", "probabilities", "prob", "probability", "softmax", "y_prob", "p")
OTHERS = ("predictions", "scores", "y_pred", "outputs", "preds")
LOST = ("index", "id", "unnamed: 0", "predicted", "prediction", "split", "fold")


@dataclass(frozen=True)
class Given:
    """What a file holds: scores and labels, perhaps groups and the names of the classes."""

    scores: Any
    labels: Any
    kind: str = "auto"
    groups: Any = None
    names: list[str] | None = None


def read(path, *, label: str | None = None, groups: str | None = None, labels=None) -> Given:
    """The predictions of a file.

    .csv (also .csv.gz): one row a sample; a column of labels, and one column of scores a class.
    .npz, .pt: an array of scores and one of labels, found by their usual names or by their shapes.
    .npy: the scores alone, memory-mapped; `labels` names a second .npy file.
    label, groups: the column or array that holds them, where the name is not a usual one.

    Raises FileNotFoundError, and ValueError that says what was found and what is missing.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}; pass a .csv, .npz, .npy or .pt file")
    ending = "".join(path.suffixes[-2:]).lower()
    if ending.endswith((".csv", ".csv.gz", ".tsv")):
        return _table(_csv(path), label, groups)
    if ending.endswith(".npy"):
        if labels is None:
            raise ValueError(f"{path.name} holds scores alone: name the labels, --labels FILE.npy")
        return Given(_npy(path), _npy(Path(labels)))
    if ending.endswith(".npz"):
        return _arrays(_npz(path), label, groups, path.name)
    if ending.endswith((".pt", ".pth")):
        return _arrays(_pt(path), label, groups, path.name)
    raise ValueError(f"cannot read {path.name}; pass a .csv, .npz, .npy or .pt file")


def _csv(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, sep="\t" if ".tsv" in path.suffixes else ",")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no table of values with commas: {error}") from None
    if len(table.columns) < 2 or table.empty:
        raise ValueError(
            f"{path.name} must hold a header, a column of labels and one of scores a class, got "
            f"{len(table)} rows of the columns {list(table.columns)}"
        )
    return table


def _table(table: pd.DataFrame, label: str | None, groups: str | None) -> Given:
    label = _column(table, label, LABELS, "label")
    if groups is not None:
        _column(table, groups, (), "groups")
    left = [c for c in table.columns if c not in (label, groups) and str(c).lower() not in LOST]
    scores = table[[c for c in left if table[c].dtype.kind == "f" or _rounded(table[c])]]
    if scores.shape[1] == 0:
        raise ValueError(f"no column of scores among {list(map(str, table.columns))}")
    names = [_plain(column) for column in scores.columns] if scores.shape[1] > 1 else None
    kind = "logits" if _is_logits(scores.columns) else "auto"
    own = None if groups is None else table[groups]
    return Given(scores.to_numpy(dtype=np.float64), table[label], kind, own, names)


def _rounded(column: pd.Series) -> bool:
    """Whether it holds nothing but 0 and 1, as a column of sure probabilities does."""
    return column.dtype.kind in "iu" and bool(column.isin([0, 1]).all())


def _is_logits(columns) -> bool:
    return all(str(column).lower().startswith("logit") for column in columns)


def _plain(column) -> str:
    """The class of a column: p_cat, prob_cat and logit_cat are cat.

    >>> _plain("prob_cat"), _plain("3")
    ('cat', '3')
    """
    text = str(column)
    for start in ("logit_", "logits_", "prob_", "probs_", "p_", "score_", "class_"):
        if text.lower().startswith(start):
            return text[len(start) :]
    return text


def _column(table: pd.DataFrame, named: str | None, usual: tuple[str, ...], what: str) -> str:
    columns = {str(column).lower(): column for column in table.columns}
    if named is not None:
        if named not in table.columns:
            raise ValueError(f"no column {named!r} ({what}) among {list(map(str, table.columns))}")
        return named
    for name in usual:
        if name in columns:
            return columns[name]
    raise ValueError(
        f"no column of labels among {list(map(str, table.columns))[:12]}; call it 'label', or name "
        f"it with --label"
    )


def _npy(path: Path) -> np.ndarray:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path.name} is no file of one array of numbers: {error}") from None


def _npz(path: Path) -> dict:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, AttributeError) as error:
        raise ValueError(f"{path.name} is no archive of arrays of numbers: {error}") from None
    except Exception as error:  # zipfile and zlib have errors of their own
        raise ValueError(f"{path.name} is damaged: {error}") from None


def _pt(path: Path) -> dict:
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
    return held


def _arrays(arrays: dict, label: str | None, groups: str | None, file: str) -> Given:
    shapes = {name: tuple(getattr(array, "shape", ())) for name, array in arrays.items()}
    lower = {name.lower(): name for name in arrays}
    for wanted in filter(None, (label, groups)):
        if wanted not in arrays:
            raise ValueError(f"no array {wanted!r} in {file}, which holds {shapes}")
    usual = [lower[name] for name in (*LOGITS, *PROBS, *OTHERS) if name in lower]
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    scores = usual[0] if usual else matrices[0] if len(matrices) == 1 else None
    named = [lower[name] for name in LABELS if name in lower]
    lists = [n for n, s in shapes.items() if len(s) == 1 and n not in (groups, scores)]
    label = label or (named[0] if named else lists[0] if len(lists) == 1 else None)
    if scores is None or label is None:
        raise ValueError(
            f"{file} must hold scores (n, K) and labels (n,), for example as 'logits' and "
            f"'labels'; it holds {shapes}"
        )
    kind = "logits" if scores.lower() in LOGITS else "probs" if scores.lower() in PROBS else "auto"
    names = arrays.get("class_names", arrays.get("classes"))
    names = None if names is None or np.ndim(names) != 1 else [str(name) for name in names]
    return Given(arrays[scores], arrays[label], kind, arrays.get(groups), names)


def labels_of(value, n: int, classes: int, names: list[str] | None):
    """(n,) int64 labels; words are looked up among the names of the classes.

    Raises ValueError for labels that fit neither the rows nor the classes.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    array = np.array(value)
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
            f"labels are words, such as {words[0]!r}, but the classes have no names; pass "
            f"class_names in the order of the columns"
        )
    place = {name: k for k, name in enumerate(names)}
    unknown = sorted({str(word) for word in words} - set(place))
    if unknown:
        raise ValueError(f"labels name {unknown[:5]}, which are none of the classes {names[:8]}")
    return np.array([place[str(word)] for word in words])


MOST_GROUPS = 50


def groups_of(value, n: int) -> tuple[np.ndarray, list[str]]:
    """(n,) codes and the names of the groups, in sorted order; a missing one is a group too.

    >>> groups_of(["b", "a", "b"], 3)
    (array([1, 0, 1]), ['a', 'b'])
    """
    value = value.detach().cpu().numpy() if hasattr(value, "detach") else value
    column = pd.Series(np.asarray(value).ravel())
    validate.same_length("groups", len(column), n)
    words = column.map(str).where(column.notna(), "missing")
    codes, names = pd.factorize(words, sort=True)
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"groups must be at most {MOST_GROUPS}, got {len(names)} values; cut a number into "
            f"ranges first, for example with pandas.qcut"
        )
    return codes, list(map(str, names))
