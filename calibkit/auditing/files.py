"""Predictions from a file: which of it is taken for what, or what must be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calibkit.auditing import arrays, tables
from calibkit.auditing.given import Given, like, paired
from calibkit.auditing.question import OPTIONS as READING
from calibkit.auditing.question import question
from calibkit.auditing.reading import of_arrays, of_table, told

__all__ = ["READING", "Given", "like", "paired", "read"]

FORMS = ".csv, .tsv, .txt, .parquet, .feather, .jsonl, .npz, .npy or .pt"


def read(path: str | Path, *, labels: str | Path | None = None, **said: Any) -> Given:
    """The predictions of a file. What is not clear is asked, by an error that names the option.

    .csv, .tsv, .txt (also .gz), .parquet, .feather, .jsonl: one row a sample; a column of labels,
        and one of scores for every class, for one of two, or for what the row predicts.
    .npz, .pt: arrays, found by their names and shapes.
    .npy: the scores alone, memory-mapped; `labels` names a second .npy file.
    said: what decides where a file is not clear, such as label="outcome"; see `Question`.

    Raises FileNotFoundError, and ValueError that says what was found and which option decides.
    """
    path, asked = Path(path), question(**said)
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}; pass a {FORMS} file")
    ending = "".join(path.suffixes[-2:]).lower()
    if ending.removesuffix(".gz").endswith(tables.ENDINGS):
        table, text = tables.table(path, asked.columns, asked.missing)
        return told(of_table(table, asked), text)
    if ending.endswith(".npy") and labels is None:
        raise ValueError(f"{path.name} holds scores alone: name the labels, --labels FILE.npy")
    if ending.endswith(".npy"):
        held = {"scores": arrays.npy(path), "labels": arrays.npy(Path(labels or ""))}
        return of_arrays(held, asked, path)
    if ending.endswith(".npz"):
        return of_arrays(arrays.npz(path), asked, path)
    if ending.endswith((".pt", ".pth")):
        return of_arrays(arrays.pt(path), asked, path)
    raise ValueError(
        f"cannot read {path.name}; pass a {FORMS} file (a spreadsheet can be saved as CSV)"
    )
