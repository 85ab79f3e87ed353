"""Predictions from a file: csv, npz, npy or pt."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

LABELS = (
    *("label", "labels", "target", "targets", "ground_truth", "y_true", "true", "truth", "y"),
    *("true_label", "actual", "class", "category"),
)
LOGITS = ("logits", "logit")
PROBS = ("probs", "probabilities", "prob", "probability", "softmax", "y_prob", "p")
OTHERS = ("predictions", "scores", "y_pred", "outputs", "preds")
LOST = ("index", "id", "unnamed: 0", "predicted", "prediction", "split", "fold")
# what tables hold beside the scores of the classes
BESIDE = ("confidence", "conf", "max_prob", "entropy", "margin", "loss", "nll", "correct", "weight")
STARTS = ("logit_", "logits_", "prob_", "probs_", "p_", "score_", "class_")


@dataclass(frozen=True)
class Given:
    """What a file holds: scores and labels, perhaps groups and the names of the classes."""

    scores: Any
    labels: Any
    kind: str = "auto"
    groups: Any = None
    names: list[str] | None = None
    told: str = ""  # which columns were taken for what


def read(path, *, label: str | None = None, groups: str | None = None, labels=None) -> Given:
    """The predictions of a file.

    .csv (also .csv.gz): one row a sample; a column of labels, and one column of scores a class,
        apart by commas, semicolons or tabs, as fractions or with per-cent signs.
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
    raise ValueError(
        f"cannot read {path.name}; pass a .csv, .npz, .npy or .pt file (a spreadsheet can be saved "
        f"as CSV)"
    )


def _csv(path: Path) -> pd.DataFrame:
    try:
        layout = _layout(path)
        table = pd.read_csv(path, skipinitialspace=True, **layout)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError, OSError) as error:
        raise ValueError(
            f"{path.name} is no table of values apart by commas, semicolons or tabs, in UTF-8: "
            f"{str(error).strip()}"
        ) from None
    table = table.rename(columns=lambda name: str(name).strip())
    for name in table.select_dtypes(exclude="number"):
        table[name] = _fractions(table[name])
    if len(table.columns) < 2 or table.empty:
        raise ValueError(
            f"{path.name} must hold a header, a column of labels and one of scores a class, got "
            f"{len(table)} rows of the columns {list(table.columns)}"
        )
    return table


def _layout(path: Path) -> dict[str, Any]:
    """What the first lines say of a table: what parts its columns, and its decimal sign.

    Raises ValueError where they hold no header.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        lines = [file.readline().strip() for _ in range(3)]
    stated = re.fullmatch("sep=(.)", lines[0])  # as a spreadsheet may write it
    head, first = lines[1:] if stated else lines[:2]
    apart = stated[1] if stated else max(",", ";", "\t", key=head.count)
    _demand_names(path.name, [cell.strip().strip("\"'") for cell in head.split(apart)])
    comma = apart != "," and re.search(r"\d,\d", first)
    return {"sep": apart, "decimal": "," if comma else ".", "skiprows": 1 if stated else 0}


def _demand_names(file: str, cells: list[str]) -> None:
    """Refuse a first line of values; whole numbers beside words may be names of classes."""
    numbers = [cell for cell in cells if re.fullmatch(NUMBER, cell)]
    if len(numbers) == len(cells) or any(not number.isdigit() for number in numbers):
        raise ValueError(
            f"{file} has no header: its first line starts with the values {cells[:4]}. Write the "
            f"names of the {len(cells)} columns above it, such as  label,cat,dog"
        )


NUMBER = r"[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?\s*%?"


def _fractions(column: pd.Series) -> pd.Series:
    """Texts such as 93 % as the numbers .93; other columns as they are."""
    texts = column.dropna().map(str).str.strip()
    if texts.empty or not texts.str.endswith("%").all():
        return column
    bare = texts.str.rstrip("% \N{NO-BREAK SPACE}").str.replace(",", ".")
    return pd.to_numeric(bare, errors="coerce").reindex(column.index) / 100


def _table(table: pd.DataFrame, label: str | None, groups: str | None) -> Given:
    label = _column(table, label, LABELS, "label")
    if groups is not None:
        _column(table, groups, (), "groups")
    empty = np.flatnonzero(table[label].isna())
    if len(empty):
        raise ValueError(
            f"labels are missing in {len(empty)} rows, the first of them {empty[0]}; leave such "
            f"rows out"
        )
    columns = _score_columns(table, {label, groups})
    labels, names = _named(table[label], [_plain(column) for column in columns])
    group = None if groups is None else table[groups]
    unused = [c for c in table.columns if c not in (*columns, label, groups)]
    told = f"labels from {label!r}, scores from {_short(columns)}"
    told += f"; not used: {_short(unused)}" if unused else ""
    logits = all(str(column).lower().startswith("logit") for column in columns)
    kind = "logits" if logits else "auto"
    return Given(table[columns].to_numpy(dtype=np.float64), labels, kind, group, names, told)


def _score_columns(table: pd.DataFrame, taken: set) -> list[str]:
    """The columns of scores: floats, those of one start (p_cat, p_dog), or whole per cent."""
    left = [c for c in table.columns if c not in taken and str(c).lower() not in LOST]
    chosen = [c for c in left if table[c].dtype.kind == "f" or _rounded(table[c])]
    whole = [c for c in left if table[c].dtype.kind in "iu"]
    if not chosen and whole and table[whole].sum(axis=1).between(97, 103).all():
        chosen = whole
    started = [c for c in chosen if _plain(c) != c]
    chosen = started if len(started) > 1 else chosen
    of_classes = [c for c in chosen if c.lower() not in BESIDE]
    lost = {c.lower() for c in table.columns} & {"predicted", "prediction"}
    if not chosen or (lost and not of_classes):
        raise ValueError(
            f"no column of scores among {list(table.columns)[:12]}: there must be one column of "
            f"probabilities or logits a class. From the confidence of the predicted class alone, "
            f"calibkit.metrics.ece_of(confidence, correct) gives the ECE in Python"
        )
    return of_classes or chosen


def _named(labels: pd.Series, names: list[str]) -> tuple[pd.Series, list[str] | None]:
    """Labels and names of the classes that belong together.

    Whole numbers that name columns in another order, or from 1 on, are names and no places. Of a
    single column, p_yes, the other class is the other label.
    """
    words = labels.map(str).str.strip() if labels.dtype.kind == "O" else labels
    if len(names) == 1:
        others = sorted(set(words) - set(names)) if labels.dtype.kind == "O" else []
        return words, [others[0], names[0]] if len(others) == 1 else None
    places = [str(place) for place in range(len(names))]
    if labels.dtype.kind in "iu" and names != places and set(labels.map(str)) <= set(names):
        words = labels.map(str)
    return words, names


def _short(names: list) -> str:
    """The first names and how many there are.

    >>> _short(["a", "b"]), _short(list("abcdefghijkl"))
    ('a, b', 'a, b, c, d, e, f … (12 columns)')
    """
    if len(names) <= 10:
        return ", ".join(map(str, names))
    return f"{', '.join(map(str, names[:6]))} … ({len(names)} columns)"


def _rounded(column: pd.Series) -> bool:
    """Whether it holds nothing but 0 and 1, as a column of sure probabilities does."""
    return column.dtype.kind in "iu" and bool(column.isin([0, 1]).all())


def _plain(column) -> str:
    """The class of a column: p_cat, prob_cat and logit_cat are cat.

    >>> _plain("prob_cat"), _plain("3")
    ('cat', '3')
    """
    text = str(column)
    for start in STARTS:
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
