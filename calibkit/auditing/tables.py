"""Tables of any origin as one of numbers and words: texts, JSON lines, parquet, feather."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing.names import CORRECT, EITHER, SCORES, bare, said, sure

TEXTS = (".csv", ".tsv", ".txt")
# "None" is no missing value here, for it may well be a class
MISSING = ("", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "-nan")
NUMBER = r"[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?\s*%?"
MOSTLY = 0.9  # of the cells are numbers: then the others are missing ones
LOOKED_AT = 50  # lines that tell how a text is laid out
MOST_LISTED = 100_000  # scores of one cell


def table(
    path: Path, columns: list[str] | None = None, missing: str | None = None
) -> tuple[pd.DataFrame, str]:
    """The table of a file, and what is to be told of how it was read.

    columns: the names of the columns, where a text has no header. missing: what stands where a
        value is missing.

    Raises ValueError that says why it is no table.
    """
    ending = path.with_suffix("").suffix if path.suffix.lower() == ".gz" else path.suffix
    if path.stat().st_size < 4096 and not path.read_bytes().strip():
        raise ValueError(f"{path.name} is empty")
    if ending.lower() in TEXTS:
        read, told = _text(path, columns)
    else:
        read, told = _BY_ENDING[ending.lower()](path), ""
    read = read.set_axis(list(map(_flat, read.columns)), axis=1)
    twice = sorted(set(read.columns[read.columns.duplicated()]))
    if twice:
        raise ValueError(f"{path.name} has several columns {twice[0]!r}: give each its own name")
    read = _spread(read)
    for name in read.select_dtypes(exclude="number"):
        read[name] = _numbers(read[name])
    if missing is not None:
        read = read.mask(read.map(lambda cell: _same(cell, missing)))
    if len(read.columns) < 2 or read.empty:
        raise ValueError(
            f"{path.name} must hold a header, a column of labels and one of scores a class, got "
            f"{len(read)} rows of the columns {list(read.columns)}"
        )
    return read, told


def _flat(name: Any) -> str:
    return "_".join(map(str, name)) if isinstance(name, tuple) else str(name).strip()


def _text(path: Path, columns: list[str] | None) -> tuple[pd.DataFrame, str]:
    for encoding in (_wide(path) or "utf-8-sig", "cp1252"):
        try:
            layout = _layout(path, encoding, columns)
            read = pd.read_csv(path, encoding=encoding, skipinitialspace=True, **layout)
        except UnicodeError as error:
            why = str(error)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, OSError, EOFError) as error:
            why = str(error)
            break
        else:
            return read, "read as cp1252" if encoding == "cp1252" else ""
    raise ValueError(
        f"{path.name} is no table of values apart by commas, semicolons, tabs or spaces, in UTF-8, "
        f"UTF-16 or cp1252: {why.strip()}"
    )


def _opened(path: Path) -> Callable:
    return gzip.open if path.suffix.lower() == ".gz" else open


def _wide(path: Path) -> str | None:
    """The encoding of a text of 16 bits a letter."""
    with _opened(path)(path, "rb") as file:
        head = file.read(64)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    zeros = [head[start::2].count(0) for start in (0, 1)]
    if max(zeros) > len(head) // 4:
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return None


def _layout(path: Path, encoding: str, columns: list[str] | None) -> dict[str, Any]:
    """What the first lines say of a table: what parts its columns, its decimal sign, its header.

    Raises ValueError where they hold no header and `columns` gives none.
    """
    with _opened(path)(path, "rt", encoding=encoding) as file:
        lines = [file.readline().strip("\r\n") for _ in range(LOOKED_AT)]
    stated = re.fullmatch("sep=(.)", lines[0].strip())  # as a spreadsheet may write it
    start, head, first = _header(lines, 1 if stated else 0)
    apart = stated[1] if stated else _apart(head)
    names = _cells(head, apart)
    if columns is None:
        _demand_names(path.name, names)
        names = _as_many(path.name, names, _cells(first, apart))
    elif len(columns) != len(names):
        raise ValueError(
            f"columns must name the {len(names)} columns of {path.name}, got {len(columns)}"
        )
    named = columns or names
    comma = apart != "," and any(re.search(r"\d,\d", line) for line in lines[start + 1 :])
    lost = [word for word in MISSING if not any(_ends(name, word) for name in named)]
    layout = {"sep": apart, "decimal": "," if comma else ".", "skiprows": start + (not columns)}
    own = {"header": None, "names": named, "index_col": False}
    return layout | own | {"na_values": lost, "keep_default_na": False}


def _header(lines: list[str], start: int) -> tuple[int, str, str]:
    """The place of the header, its text and the line below; it may be the last comment."""
    last = len(lines) - 2
    while start < last and (not lines[start].strip() or lines[start + 1].startswith("#")):
        start += 1
    head, first = lines[start], lines[start + 1]
    if head.startswith("#"):
        head = head.lstrip("# ")
        cells = _cells(first, _apart(first))
        if not any(re.fullmatch(NUMBER, cell) for cell in cells):  # a name, and no value, each
            return start + 1, first, lines[min(start + 2, last + 1)]
    return start, head, first


def _as_many(file: str, names: list[str], cells: list[str]) -> list[str]:
    """A name for every column, where rows are numbered or end in what parts the columns."""
    if len(cells) == len(names) + 1:
        names = ["", *names] if cells[-1] else [*names, ""]
    if len(cells) > len(names):
        raise ValueError(
            f"{file} has {len(names)} names above rows of {len(cells)} values; give each column a "
            f"name"
        )
    return [name.strip() or f"Unnamed: {place}" for place, name in enumerate(names)]


def _ends(name: str, word: str) -> bool:
    """Whether a column stands for a class that is called like a missing value, p_NA say."""
    return bool(word) and re.split(r"[_ .]", name.strip())[-1] == word


def _apart(head: str) -> str:
    """What parts the columns of a header."""
    apart = max(",", ";", "\t", "|", key=head.count)
    return apart if apart in head else r"\s+"


def _cells(line: str, apart: str) -> list[str]:
    if apart == r"\s+":
        return [cell.strip("\"'") for cell in line.split()]
    return [cell.strip().strip("'") for cell in next(csv.reader([line], delimiter=apart), [])]


def _demand_names(file: str, cells: list[str]) -> None:
    """Refuse a first line of values; whole numbers beside words may be names of classes."""
    numbers = [cell for cell in cells if re.fullmatch(NUMBER, cell)]
    if cells and (len(numbers) == len(cells) or any(not n.isdigit() for n in numbers)):
        raise ValueError(
            f"{file} has no header: its first line starts with the values {cells[:4]}. Name its "
            f"{len(cells)} columns with --columns, such as --columns label,cat,dog"
        )
    twice = {name for name in cells if name and cells.count(name) > 1}
    if twice:
        raise ValueError(f"{file} has several columns {min(twice)!r}: give each its own name")


def _json(path: Path) -> pd.DataFrame:
    """Records as JSON lines, or as one JSON list of them."""
    try:
        with _opened(path)(path, "rt", encoding="utf-8-sig") as file:
            text = file.read().strip()
        rows = _records(text)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path.name} holds no JSON record a line: {error}") from None
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f'{path.name} must hold one JSON record a line, such as {{"label": 1}}')
    return pd.DataFrame(rows)


def _records(text: str) -> list[Any]:
    """Rows from a list of them, from columns, or from a row in each line.

    >>> _records('{"label": {"0": 1, "1": 0}}')
    [{'label': 1}, {'label': 0}]
    """
    try:
        whole = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(whole, list):
        return whole
    columns = {
        name: list(column.values()) if isinstance(column, dict) else column
        for name, column in whole.items()
        if isinstance(column, list | dict)
    }
    alike = len(columns) == len(whole) and len(set(map(len, columns.values()))) == 1
    if not alike:
        return [whole]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _arrow(path: Path) -> pd.DataFrame:
    validate.extra("pyarrow", "files", path.name)
    read = pd.read_feather if path.suffix.lower() in (".feather", ".arrow") else pd.read_parquet
    try:
        found = read(path)
    except Exception as error:  # pyarrow has errors of its own
        raise ValueError(f"{path.name} is no table of this kind: {error}") from None
    return found.reset_index() if any(name is not None for name in found.index.names) else found


_BY_ENDING: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
    ".parquet": _arrow,
    ".pq": _arrow,
    ".feather": _arrow,
    ".arrow": _arrow,
}
ENDINGS = (*TEXTS, *_BY_ENDING)


def _spread(table: pd.DataFrame) -> pd.DataFrame:
    """A column for each number where cells hold lists, or records, of numbers; others as texts."""
    parts: list[pd.DataFrame | pd.Series] = []
    for name in table:
        column = table[name]
        if not pd.api.types.is_numeric_dtype(column):
            column = _unwritten(column)
        filled = column.dropna()
        first = filled.iloc[0] if column.dtype == object and len(filled) else None
        if isinstance(first, list | tuple | np.ndarray | dict) and _numeric(first):
            cells = [_record(cell) for cell in column]
            wide = pd.DataFrame(cells, index=table.index)
            if not _stands_alone(name, wide, [*table.columns, *(c for p in parts for c in p)]):
                wide = wide.rename(columns=lambda key, name=name: f"{name}_{key}")
            parts.append(wide)
        elif isinstance(first, list | tuple | np.ndarray | dict):
            parts.append(column.map(str).where(column.notna()))
        else:
            parts.append(column)
    return pd.concat(parts, axis=1) if parts else table


def _stands_alone(name: str, wide: pd.DataFrame, taken: list[str]) -> bool:
    """Whether a record keeps its own names: it says of an answer if it is right, or how sure.

    >>> stats = pd.DataFrame({"exact_match": [1.0], "max_prob": [0.8]})
    >>> _stands_alone("stats", stats, ["id"]), _stands_alone("probs", stats, ["id"])
    (True, False)
    """
    told = any(bare(key) in CORRECT or sure(key) for key in wide)
    scores = bare(name) in (*SCORES, *EITHER) or said([name]) is not None
    return told and not scores and not {*map(str, wide)} & {*taken}


def _unwritten(column: pd.Series) -> pd.Series:
    """Texts of lists, such as [0.1, 0.9] or [0.1 0.9], as these lists."""
    texts = column.dropna()
    if texts.empty or not isinstance(texts.iloc[0], str) or not texts.iloc[0].startswith("["):
        return column
    try:
        cells = [[float(part) for part in re.findall(r"[^\[\],\s]+", text)] for text in texts]
    except (TypeError, ValueError):
        return column
    if len(set(map(len, cells))) > 1:
        return column
    return pd.Series(cells, index=texts.index, dtype=object).reindex(column.index)


def _numeric(cell: Any) -> bool:
    values = list(cell.values()) if isinstance(cell, dict) else list(cell)
    return 0 < len(values) < MOST_LISTED and all(isinstance(v, Real) for v in values)


def _record(cell: Any) -> dict:
    if isinstance(cell, dict):
        return cell
    return dict(enumerate(cell)) if isinstance(cell, list | tuple | np.ndarray) else {}


def _same(cell: Any, word: str) -> bool:
    try:
        return float(cell) == float(word)
    except (TypeError, ValueError):
        return str(cell).strip() == word


def _numbers(column: pd.Series) -> pd.Series:
    """Texts such as 93 % as the numbers .93, other texts of numbers as these, the rest as it is."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.dtype.kind == "b" or pd.api.types.is_bool_dtype(column):
        return column
    filled = column.dropna()
    if filled.empty or filled.map(lambda cell: isinstance(cell, bool)).any():
        return column
    texts = filled.map(str).str.strip()
    if texts.str.endswith("%").all():
        bare = texts.str.rstrip("% \N{NO-BREAK SPACE}").str.replace(",", ".")
        return pd.to_numeric(bare, errors="coerce").reindex(column.index) / 100
    numbers = pd.to_numeric(texts, errors="coerce")
    if numbers.notna().mean() < MOSTLY:
        points = texts.str.replace(r"^(-?\d+),(\d+)$", r"\1.\2", regex=True)
        numbers = pd.to_numeric(points, errors="coerce")
    return column if numbers.notna().mean() < MOSTLY else numbers.reindex(column.index)
