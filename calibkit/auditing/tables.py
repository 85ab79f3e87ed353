"""From a file to columns: texts, JSON, Arrow files and arrays as one `Table`."""

from __future__ import annotations

import ast
import contextlib
import csv
import difflib
import io
import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibkit import validate
from calibkit.auditing import names
from calibkit.auditing.names import CONFIDENCES, CORRECT, RECORD, SCORES, bare
from calibkit.auditing.questions import Unclear

PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
TEXTS = (".csv", ".tsv", ".txt", ".tab", ".out", ".dat")
JSON = (".json", ".jsonl", ".ndjson")
ARROW = (".parquet", ".pq", ".feather", ".arrow")
ARRAYS = (".npz", ".npy", ".pt", ".pth")
FORMS = ".csv, .tsv, .txt, .json, .jsonl, .parquet, .feather, .npz, .npy or .pt"
# "None" is no missing value here, for it may well be a class
MISSING = (
    *("", "nan", "NaN", "NAN", "NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "-nan"),
    *("missing", "?", r"\N"),
)
SPACES = r"\s+"
NUMBER = r"[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?\s*%?"
LAYOUT = ("columns", "encoding", "missing", "plain_quotes", "joined_lines")  # options
MOSTLY = 0.9  # of the cells are numbers: then the others are missing ones
MANY = 100_000  # numbers that tell whether all are whole
MOST = 1000  # entries of a list that become columns of their own
Keys = tuple[str, ...]  # of records within records, which a column is called after

# what to type in Python where a file has another form
CONVERTED = {
    (".pkl", ".pickle"): 'held = pandas.read_pickle("{0}")  # a table, or scores and labels\n'
    'table = held if hasattr(held, "columns") else pandas.DataFrame(\n'
    '    held[0].tolist()).add_prefix("p_").assign(label=held[1].tolist())',
    (".xlsx", ".xls"): 'table = pandas.read_excel("{0}")',
    (".dta",): 'table = pandas.read_stata("{0}")',
    (".h5", ".hdf5", ".hdf"): 'table = pandas.read_hdf("{0}")',
    (".rds", ".rdata"): 'import pyreadr\ntable = list(pyreadr.read_r("{0}").values())[0]',
    (".mat",): 'import scipy.io\nheld = scipy.io.loadmat("{0}")\n'
    'table = pandas.DataFrame({{"label": held["labels"].ravel(), "p": held["scores"].ravel()}})',
    (".db", ".sqlite", ".sqlite3"): "import sqlite3\n"
    'table = pandas.read_sql("select * from predictions", sqlite3.connect("{0}"))',
    (".safetensors",): 'import safetensors.numpy\nheld = safetensors.numpy.load_file("{0}")\n'
    'table = pandas.DataFrame(held["probs"]).add_prefix("p_").assign(label=held["labels"])',
}


@dataclass
class Table:
    """The columns of a file, in their order: lists, and blocks of scores that stay what they are.

    entries: (n,) series, or (n, K) arrays whose columns are called name_0 to name_K-1.
    told: what is said of the reading.
    class_names: those that an archive holds.
    """

    file: str
    entries: dict[str, Any]
    told: list[str] = field(default_factory=list)
    class_names: list[str] | None = None

    def __post_init__(self):
        self.blocks = {
            name: [f"{name}_{k}" for k in range(array.shape[1])]
            for name, array in self.entries.items()
            if np.ndim(array) == 2
        }
        self.columns = [c for name in self.entries for c in self.blocks.get(name, [name])]
        self._words: dict[str, pd.Series] = {}
        self._inside = {
            column: (name, place)
            for name, own in self.blocks.items()
            for place, column in enumerate(own)
        }

    def flat(self, columns: list[str]) -> list[str]:
        """Those of some columns that stand in no block."""
        return [column for column in columns if column not in self._inside]

    def arrays(self, columns: list[str]) -> list[list[str]]:
        """The blocks of floating numbers among some columns."""
        named = ((self.entries[name], own) for name, own in self.blocks.items())
        return [own for array, own in named if own[0] in columns and array.dtype.kind == "f"]

    def words(self, column: str) -> pd.Series:
        """(n,) the values as words, NaN where there is none."""
        if column not in self._words:
            values = self[column]
            self._words[column] = names.words(values).where(values.notna().to_numpy())
        return self._words[column]

    def demand(self, name: str, remedy: str = "") -> None:
        """Raise ValueError where there is no such column, with the nearest name."""
        if name not in self:
            near = difflib.get_close_matches(name, self.columns, 1)
            more = f"; did you mean {near[0]!r}?" if near else remedy
            kind = "array" if self.blocks else "column"
            raise ValueError(f"no {kind} {name!r} among {self.columns[:40]}{more}")

    def __len__(self) -> int:
        return len(next(iter(self.entries.values())))

    def __contains__(self, column: str) -> bool:
        return column in self.entries or column in self._inside

    def __getitem__(self, column: str) -> pd.Series:
        if column not in self._inside:
            return self.entries[column]
        block, place = self._inside[column]
        return pd.Series(np.asarray(self.entries[block][:, place]), name=column)

    def signed(self, columns: list[str]) -> bool:
        """Whether all cells of some columns bore a sign of per cent: they are fractions now."""
        return all("signed" in self[column].attrs for column in columns)

    def matrix(self, columns: list[str]) -> np.ndarray:
        """(n, K) the columns as numbers: a whole block as it is, perhaps a map on disk."""
        for name, own in self.blocks.items():
            if own == columns and self.entries[name].dtype.kind == "f":
                return self.entries[name]
        return np.column_stack([numbers(self[column]).astype(np.float64) for column in columns])


def load(path: Path, options: Any) -> Table:
    """The columns of a file; raises ValueError, and `Unclear` where an option decides."""
    if not path.exists():
        raise FileNotFoundError(f"no file {path}; pass a {FORMS} file")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in PACKED
    ending = "".join(suffixes[:-1][-1:] if packed else suffixes[-1:])
    if path.is_dir() or (ending in ARROW and not packed):
        return of_frame(_arrow(path), path.name, options)
    if path.stat().st_size < 4096 and not path.read_bytes().strip():
        raise ValueError(f"{path.name} is empty")
    if ending in ARRAYS and not packed:
        return of_arrays((_pt if ending in (".pt", ".pth") else _numpy)(path), path.name, options)
    if ending in TEXTS or ending in JSON:
        read = of_json if ending in JSON else of_text
        return read(_unpacked(path) if packed else path.read_bytes(), path.name, options)
    for endings, text in CONVERTED.items():
        if ending in endings:
            head = f"cannot read {path.name}; save it as a CSV file, in Python with these lines:"
            made = ["import pandas", *text.format(path).splitlines()]
            made += ['table.to_csv("predictions.csv", index=False)']
            raise ValueError("\n  ".join([head, *made]))
    raise ValueError(
        f"cannot read {path.name}; pass a {FORMS} file, packed or not, or a folder of parquet"
    )


def _unpacked(path: Path) -> bytes:
    if path.suffix.lower() == ".zst":
        validate.extra("zstandard", "files", path.name)
    try:
        with pd.io.common.get_handle(path, "rb", compression="infer", is_text=False) as handles:
            return handles.handle.read()
    except Exception as error:  # each packer has errors of its own
        raise ValueError(f"{path.name} cannot be unpacked: {error}") from None


# --- texts ---


def of_text(content: bytes, name: str, options: Any) -> Table:
    """A table of texts: its encoding, what parts its columns, its header, its quotation marks."""
    text, told = _decoded(content, name, options.encoding)
    lines, apart, comma, header = _layout(text, name, options)
    nameless = header is None
    _demand_different(header or [], name)
    header = header or [f"column_{k + 1}" for k in range(len(_cells(lines[0], apart)))]
    body = "\n".join(lines)
    how = {} if apart == SPACES else _quoting(body, apart, 0 if nameless else len(header), options)
    if how.get("quoting") == csv.QUOTE_NONE:
        told.append("quotation marks read as characters")
    lost = [w for w in MISSING if not any(re.split("[_ .]", n)[-1] == w for n in header if w)]
    broken = f"{name} is no table of {len(header)} columns"
    if apart == SPACES and any(len(ln.split()) != len(header) for ln in lines if ln.strip()):
        raise ValueError(f"{broken} that blanks part; commas part those with blanks in a value")
    try:
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            frame = pd.read_csv(
                io.StringIO(body), keep_default_na=False, na_values=lost, skipinitialspace=True,
                decimal=",." [not comma], sep=apart, header=None, names=header, index_col=False,
                dtype=str, **how,
            )  # fmt: skip
    except pd.errors.ParserWarning:  # pandas would leave the last values out
        width = len(_cells(lines[0], apart))
        raise ValueError(
            f"{broken}, its rows have {width} values: give each a name in the first line"
        ) from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, ValueError) as error:
        more = "a text that holds commas stands in quotation marks"
        raise ValueError(f"{broken}, {str(error).strip()}: {more}") from None
    if comma:
        frame = frame.map(lambda cell: re.sub(r"^(-?\d*),(\d+)", r"\1.\2", cell), "ignore")
    table = of_frame(frame, name, options)
    head = ["no header: the columns are called column_1, column_2, ..."] if nameless else []
    table.told = [*told, *head, *table.told]
    return table


def _decoded(content: bytes, name: str, encoding: str | None) -> tuple[str, list[str]]:
    """The text, in the encoding that its first bytes or the user say; else UTF-8, or cp1252."""
    if encoding is None and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif encoding is None and 0 in content[:64]:
        raise ValueError(f"{name} is no text in UTF-8: say its --encoding, such as utf-16-le")
    encoding = encoding or "utf-8-sig"
    try:
        return content.decode(encoding), []
    except LookupError:
        raise ValueError(f"encoding must be one that Python knows, got {encoding!r}") from None
    except UnicodeDecodeError as error:
        if encoding != "utf-8-sig":
            raise ValueError(f"{name} is no text in {encoding}: {error}") from None
    runs = re.findall(rb"[\x80-\xff]+", content[: 1 << 20])
    if max(map(len, runs)) <= 2:  # single letters of Western words
        return content.decode("cp1252", errors="replace"), ["read as cp1252"]
    ways = []
    for one in ("cp1252", "cp1251", "euc_kr", "shift_jis", "gb18030"):
        with contextlib.suppress(UnicodeDecodeError):
            line = content.decode(one).split("\n", 1)[0].strip()[:60]
            ways.append((f"its first line is {line}", {"encoding": one}))
    raise Unclear("its letters are no UTF-8: save it as UTF-8, or say their --encoding", *ways)


def _layout(text: str, name: str, options: Any) -> tuple[list[str], str, bool, list[str] | None]:
    """The lines below the header, what parts columns, a decimal comma, the names of the columns."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip().split("\n")
    stated = re.fullmatch("sep=(.)", lines[0].strip())  # as a spreadsheet may write it
    lines = lines[1:] if stated else lines
    noted = next((k for k, ln in enumerate(lines) if ln.strip() and not ln.startswith("#")), 0)
    if noted:  # lines of #, the last of which may be the header, as numpy.savetxt writes
        head, part = lines[noted - 1].lstrip("# "), _apart(lines[noted])
        below = _cells(lines[noted], part)
        own = len(_cells(head, part)) == len(below) and any(re.fullmatch(NUMBER, c) for c in below)
        lines = [head] * own + lines[noted:]
    apart = stated[1] if stated else _apart(lines[0])
    comma = apart != "," and any(re.search(r",\d", line) for line in lines[1:60])
    first = _cells(lines[0], apart)
    if options.columns is not None:
        if len(options.columns) != len(first):
            raise ValueError(
                f"columns must name the {len(first)} columns of {name}, got {len(options.columns)}"
            )
        return lines, apart, comma, list(options.columns)
    numbers = [cell for cell in first if re.fullmatch(NUMBER, cell)]
    classes = all(re.fullmatch(r"[+-]?\d+(\.0+)?", cell) for cell in numbers)
    if len(numbers) == len(first) or not classes:
        return lines, apart, comma, None
    second = _cells(lines[1], apart) if len(lines) > 1 else []
    starts = [line.split(apart if apart != SPACES else None, 1)[0] for line in lines[1:] if line]
    if len(second) == len(first) + 1 and (not second[-1] or len(set(starts)) == len(starts)):
        first = ["", *first] if second[-1] else [*first, ""]
    header = [cell.strip() or f"Unnamed: {place}" for place, cell in enumerate(first)]
    return lines[1:], apart, comma, header


def _apart(head: str) -> str:
    apart = max(",", ";", "\t", "|", key=head.count)
    return apart if apart in head else SPACES


def _cells(line: str, apart: str) -> list[str]:
    if apart == SPACES:
        return [cell.strip("\"'") for cell in line.split()]
    escape = "\\" if '\\"' in line else None
    cells = next(csv.reader([line], delimiter=apart, escapechar=escape), [])
    return [cell.strip().strip("'") for cell in cells]


def _quoting(body: str, apart: str, width: int, options: Any) -> dict[str, Any]:
    """How quotation marks are read: rows that they join must be meant so (a check).

    Where every line by itself has as many cells as the header, the marks are characters of words.
    """
    if options.plain_quotes or '"' not in body:
        return {"quoting": csv.QUOTE_NONE} if options.plain_quotes else {}
    escaped: dict[str, Any] = {"escapechar": "\\"} if '\\"' in body else {}
    lines = [line for line in body.split("\n") if line.strip()]
    try:
        rows = list(csv.reader(io.StringIO(body), delimiter=apart, strict=True, **escaped))
    except csv.Error:
        rows = []
    within = [ln for row in rows for c in row if "\n" in c for ln in c.split("\n")[1:-1]]
    alone = width > 1 and all(line.count(apart) == width - 1 for line in lines)
    odd = not rows or alone or any(line.count(apart) == width - 1 for line in within)
    if options.joined_lines or len(rows) == len(lines) or not odd:
        return escaped
    why = "quotation marks are not in pairs: they may be characters of a text, --plain-quotes"
    if rows:
        why = (
            f"quotation marks join {len(lines) - len(rows)} of its {len(lines)} lines to rows "
            f"above them: they may be characters of a text, --plain-quotes; where a cell does hold "
            f"line ends, --joined-lines"
        )
    raise Unclear(why, **({"plain_quotes": True} if alone else {}))


# --- JSON ---


def of_json(content: bytes, name: str, options: Any) -> Table:
    """Records, a line each or a list; columns; columns and data; a list of lists."""
    text = content.decode("utf-8-sig", errors="replace").strip()
    try:
        try:
            whole = json.loads(text)
        except ValueError:
            whole = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(f"{name} holds no JSON record a line: {error}") from None
    rows = _records(whole)
    if rows and all(isinstance(row, list) for row in rows):
        if all(isinstance(cell, dict) for row in rows for cell in row):
            rows = [{"": row} for row in rows]
        else:
            width = max(map(len, rows))
            names = options.columns or [f"column_{k + 1}" for k in range(width)]
            if len(names) != width:
                raise ValueError(f"columns must name the {width} columns of {name}")
            rows = [dict(zip(names, row, strict=False)) for row in rows]
    elif not all(isinstance(row, dict) for row in rows):
        raise ValueError(f'{name} must hold one JSON record a line, such as {{"label": 1}}')
    return _of_rows(rows, name, options)


def _records(whole: Any) -> list[Any]:
    """Rows of what a JSON file holds.

    >>> _records({"label": {"0": 1, "1": 0}}), _records({"columns": ["y"], "data": [[1]]})
    ([{'label': 1}, {'label': 0}], [{'y': 1}])
    """
    if isinstance(whole, list):
        return whole
    if not isinstance(whole, dict):
        return [whole]
    if isinstance(whole.get("columns"), list) and isinstance(whole.get("data"), list):
        names = [c.get("name") if isinstance(c, dict) else str(c) for c in whole["columns"]]
        return [dict(zip(names, row, strict=False)) for row in whole["data"]]
    nested, inner = _nested(whole), list(whole.values())
    if len(nested) > max(len(part) for part in (whole, *inner) if isinstance(part, list | dict)):
        return nested  # of an evaluation, beside its settings
    if inner and all(isinstance(value, dict) for value in inner) and len(inner) > len(inner[0]):
        return inner  # a record a row
    columns = {
        name: list(column.values()) if isinstance(column, dict) else column
        for name, column in whole.items()
        if isinstance(column, list | dict)
    }
    records = [c for c in columns.values() if c and all(isinstance(row, dict) for row in c)]
    if len(records) == 1 and len(records[0]) == max(map(len, columns.values())):
        return records[0]
    longest = max(map(len, columns.values()), default=0)
    columns = {name: column for name, column in columns.items() if len(column) == longest}
    if longest < 2 or not columns:
        return [whole]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _nested(whole: dict) -> list[dict]:
    """The longest list of records within the records of a record."""
    inner = [part for value in whole.values() if isinstance(value, dict) for part in value.values()]
    lists = [part for part in inner if isinstance(part, list)]
    lists += [_nested({"": part}) for part in inner if isinstance(part, dict)]
    rows = [part for part in lists if all(isinstance(row, dict) for row in part)]
    return max(rows, key=len, default=[])


def _of_rows(rows: list[dict], name: str, options: Any) -> Table:
    flat: list[dict[Keys, Any]] = [{} for _ in rows]
    usual: set[Keys] = set()
    for row, found in zip(rows, flat, strict=True):
        _flatten(row, (), found, usual)
    for keys in {keys: 0 for row in flat for keys, cell in row.items() if isinstance(cell, dict)}:
        cells = [row.get(keys) for row in flat]
        pairs: list[dict] = [cell if isinstance(cell, dict) else {} for cell in cells]
        if all(bare(key) in RECORD for own in pairs for key in own):
            usual.add(keys)
        flat = [
            _with_pairs(row, keys, own)
            for row, own in zip(flat, _by_place(pairs) or pairs, strict=True)
        ]
    columns = _called(list(dict.fromkeys(keys for row in flat for keys in row)), usual)
    _demand_different(list(columns.values()), name)
    cells_of = {
        called: pd.Series([row.get(keys) for row in flat], dtype=object)
        for keys, called in columns.items()
    }
    return of_frame(pd.DataFrame(cells_of), name, options, flat=True)


def _called(columns: list[Keys], usual: set[Keys]) -> dict[Keys, str]:
    """The names of columns: those of a record with a usual key go without its name.

    It stays where two would be called alike, or another says the same of something else.

    >>> list(_called([("id",), ("judge", "id"), ("judge", "acc")], {("judge",)}).values())
    ['id', 'judge_id', 'judge_acc']
    >>> list(_called([("judge_acc",), ("judge", "acc")], {("judge",)}).values())
    ['judge_acc', 'judge.acc']
    """
    within = {
        keys: next((keys[:k] for k in range(len(keys) - 1, 0, -1) if keys[:k] in usual), ())
        for keys in columns
    }
    short = {keys: "_".join(keys[len(record) :]) for keys, record in within.items()}
    whole = {keys: "_".join(keys) for keys in columns}
    count = Counter(short.values())
    met = {record for keys, record in within.items() if count[short[keys]] > 1}
    for said in (CORRECT, CONFIDENCES):
        ends = tuple(f"_{one}" for one in said)
        alike = [
            k for k, one in whole.items() if bare(one).endswith(ends) and bare(one) not in said
        ]
        beside = {within[keys] or keys for keys in alike}
        own = {record for keys, record in within.items() if bare(short[keys]) in said}
        met |= {record for record in own if beside - {record}}
    named = {keys: whole[keys] if within[keys] in met else short[keys] for keys in columns}
    count = Counter(named.values())
    return {k: ".".join(k) if count[one] > 1 else one for k, one in named.items()}


def _with_pairs(row: dict, keys: Keys, pairs: dict) -> dict[Keys, Any]:
    """A row with a cell of scores by their labels as cells of their own."""
    parted = {(*(keys if any(keys) else ()), str(key)): score for key, score in pairs.items()}
    found: dict[Keys, Any] = {}
    for own, cell in row.items():
        found |= parted if own == keys and isinstance(cell, dict) else {own: cell}
    return found


def _by_place(rows: list[dict]) -> list[dict] | None:
    """The k best of more classes, by their places; None where rows have all, or not one number.

    >>> _by_place([{"cat": 0.3, "dog": 0.6}, {"cat": 0.5, "eel": 0.2}])[0]
    {'1_label': 'dog', '1_score': 0.6, '2_label': 'cat', '2_score': 0.3}
    """
    counts, classes = {len(row) for row in rows if row}, {key for row in rows for key in row}
    if len(counts) != 1 or min(counts) in (1, len(classes)):
        return None
    ranked = [sorted(row.items(), key=lambda pair: -pair[1]) for row in rows]
    return [
        {f"{k}_{what}": one for k, pair in enumerate(row, 1)
         for what, one in zip(("label", "score"), pair, strict=True)}
        for row in ranked
    ]  # fmt: skip


def _flatten(value: Any, keys: Keys, found: dict[Keys, Any], usual: set[Keys]) -> None:
    """Records and lists as columns; lists of numbers, or of words, stay lists.

    usual: the records that hold a usual key, which is added to.
    """
    if isinstance(value, dict):
        keys = keys if any(keys) else ()
        if any(bare(key) in RECORD for key in value):
            usual.add(keys)
        for key, part in value.items():
            _flatten(part, (*keys, str(key)), found, usual)
    elif isinstance(value, list | tuple | np.ndarray):
        _flatten_list(list(value), keys, found, usual)
    else:
        found[keys] = value


def _flatten_list(cells: list, keys: Keys, found: dict[Keys, Any], usual: set[Keys]) -> None:
    if not cells:
        found[keys] = None
    elif len(cells) == 1:
        _flatten(cells[0], keys, found, usual)
    elif _of_one_kind(cells):
        found[keys] = cells
    elif all(isinstance(cell, dict) for cell in cells) and (pairs := _pairs(cells)):
        found[keys] = pairs
    elif len(cells) <= MOST:
        for place, cell in enumerate(cells):
            _flatten(cell, (*keys, str(place)), found, usual)


def _of_one_kind(cells: list) -> bool:
    """Whether all are numbers, or true and false, or words, or texts of numbers."""
    texts = {bool(re.fullmatch(NUMBER, cell)) for cell in cells if isinstance(cell, str)}
    kinds = {isinstance(cell, bool) for cell in cells if isinstance(cell, Number)}
    plain = all(isinstance(cell, str | Number) for cell in cells)
    return plain and len(texts) + len(kinds) == 1


def _pairs(cells: list[dict]) -> dict[str, float] | None:
    """Scores by their labels, from records such as {"label": "cat", "score": 0.9}."""
    pairs: dict[str, float] = {}
    for cell in cells:
        flat: dict[Keys, Any] = {}
        _flatten(cell, (), flat, set())
        words = [value for value in flat.values() if isinstance(value, str)]
        scores: dict[Keys, Any] = {k: v for k, v in flat.items() if isinstance(v, Number)}
        usual = [v for k, v in scores.items() if bare("_".join(k)) in (*SCORES, "mean")]
        value = list(scores.values()) if len(scores) == 1 else usual
        if not words or len(value) != 1 or words[0] in pairs:
            return None
        pairs[words[0]] = value[0]
    return pairs


# --- frames and arrays ---


def of_frame(frame: pd.DataFrame, name: str, options: Any, *, flat: bool = False) -> Table:
    """The columns of a frame: lists of numbers as blocks, texts of numbers as these."""
    frame = frame.set_axis(
        ["_".join(map(str, c)) if isinstance(c, tuple) else str(c).strip() for c in frame.columns],
        axis=1,
    )
    _demand_different(list(frame.columns), name)
    if frame.empty:
        raise ValueError(
            f"{name} must hold a header, a column of labels and one of scores a class, got "
            f"{len(frame)} rows of the columns {list(frame.columns)}"
        )
    nested = [] if flat else [column for column in frame if _nests(frame[column])]
    if nested:
        rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False)]
        for column in nested:
            for row, cell in zip(rows, map(_unwritten, frame[column]), strict=True):
                row[column] = cell
        return _of_rows(rows, name, options)
    entries: dict[str, Any] = {}
    for column in frame:
        entries |= _entries(column, frame[column].reset_index(drop=True), frame, options.missing)
    return Table(name, entries)


def _demand_different(columns: list[str], name: str) -> None:
    twice = pd.Index(columns)[pd.Index(columns).duplicated()]
    if len(twice):
        raise ValueError(f"{name} has several columns {twice[0]!r}: give each its own name")


def _nests(column: pd.Series) -> bool:
    filled = column.dropna()
    if filled.empty or column.dtype.kind in "iufb":
        return False
    first = filled.iloc[0]
    if isinstance(first, str):
        return first[:1] in "[{" and not isinstance(_unwritten(first), str)
    return isinstance(first, dict | list | tuple | np.ndarray)


def _entries(column: str, series: pd.Series, frame: pd.DataFrame, missing: str | None) -> dict:
    """A column, a block for lists of one length, or columns where labels stand beside."""
    filled = series.dropna()
    first = filled.iloc[0] if len(filled) else None
    if not isinstance(first, list):
        if series.dtype == object and filled.map(type).isin((list, dict)).any():
            series = series.map(str).where(series.notna())
        return {column: _masked(series, missing)}
    if isinstance(first[0], str):
        return {column: series.map(lambda cell: str(cell) if cell is not None else None)}
    lengths = {len(cell) for cell in series if isinstance(cell, list)}
    beside = _words_beside(column, frame)
    if beside is not None:
        rows = [
            dict(zip(words, cell, strict=False)) if isinstance(cell, list) else {}
            for words, cell in zip(frame[beside], series, strict=True)
        ]
        best = _by_place(rows)
        # choices of each row's own stay where they are: labels say their places
        if best is None or all(cell == sorted(cell, reverse=True) for cell in filled):
            wide = pd.DataFrame(best or rows)
            return {f"{column}_{word}": wide[word] for word in (wide if best else sorted(wide))}
    if len(lengths) > 1:
        return {column: series.map(str).where(series.notna())}
    empty = [np.nan] * lengths.pop()
    series = series.map(lambda cell: cell if isinstance(cell, list) else empty)
    block = np.array(series.tolist())
    return {column: block if block.dtype.kind in "iufb" else block.astype(np.float64)}


def _words_beside(column: str, frame: pd.DataFrame) -> str | None:
    """The column of lists of words that say of which class each number of a list is."""
    able = []
    for other in frame:
        pairs = [
            (a, b) for a, b in zip(frame[other], frame[column], strict=True)
            if isinstance(a, list) and isinstance(b, list)
        ]  # fmt: skip
        fits = pairs and all(len(a) == len(b) and len(set(map(str, a))) == len(a) for a, b in pairs)
        scores = pairs and not any(isinstance(score, bool) for score in pairs[0][1])
        if fits and scores and other != column and all(isinstance(w, str) for w in pairs[0][0]):
            able.append((pairs[0][0][0].isdigit(), other))
    return min(able)[1] if able else None


def _masked(series: pd.Series, missing: str | None) -> pd.Series:
    """A column without the mark for missing values, texts of numbers as numbers."""
    if missing is not None:
        series = series.mask(series.map(lambda cell: _same(cell, missing)))
    if series.dtype.kind in "iufb":
        return series
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(object)
    if isinstance(next(iter(series.dropna()), None), str):
        found = pd.to_numeric(series, errors="coerce")
        if found.notna().sum() == series.notna().sum():
            return found
    percent = series.dropna().map(lambda cell: str(cell).strip().endswith(("%", "cent")))
    if percent.any() and not percent.all():
        return series  # of two units
    found, filled = numbers(series), series.notna().sum()
    if percent.any():
        found.attrs["signed"] = True
    if found.notna().sum() >= MOSTLY * filled:
        return found
    # fractions and one or two marks, such as the points that SAS writes
    marks = series[found.isna()].dropna().map(str)
    fractions = found.notna().sum() >= filled / 2 and (found.dropna() % 1 != 0).any()
    return found if fractions and marks.nunique() <= 2 else series


def _same(cell: Any, word: str) -> bool:
    try:
        return float(cell) == float(word)
    except (TypeError, ValueError):
        return str(cell).strip() == word


def numbers(series: pd.Series) -> pd.Series:
    """Texts of numbers as numbers, per cent as fractions, all else as missing.

    >>> numbers(pd.Series(["93 %", "0,5 %"])).tolist()
    [0.93, 0.005]
    >>> numbers(pd.Series(["tensor(0.5)", "*0.25", "?"])).tolist()
    [0.5, 0.25, nan]
    """
    if pd.api.types.is_numeric_dtype(series.dtype):
        return series.astype(np.float64) if series.hasnans else series
    if pd.api.types.is_bool_dtype(series.dtype) or series.map(type).eq(bool).any():
        return pd.Series(np.nan, index=series.index)
    texts = series.dropna().map(str).str.strip().map(_bared)
    texts = texts.str.replace(r"\s*per ?cent$", "%", regex=True)
    if len(texts) and texts.str.endswith("%").all():
        texts = texts.str.rstrip("% \N{NO-BREAK SPACE}").str.replace(",", ".")
        return pd.to_numeric(texts, errors="coerce").reindex(series.index) / 100
    found = pd.to_numeric(texts, errors="coerce")
    if found.notna().mean() < MOSTLY:
        points = texts.str.replace(r"^(-?\d*),(\d+)$", r"\1.\2", regex=True)
        found = pd.to_numeric(points, errors="coerce")
    return found.reindex(series.index)


_PRINTED = re.compile(r"(?:np|numpy|torch)?\.?(?:float|int|uint|bfloat|tensor|array)\d*_?\(\s*")


def _bared(text: str) -> str:
    """A number without what numpy, torch or WEKA print around it."""
    return (_unprinted(text).rstrip(") ") if "(" in text else text).lstrip("*")


def _unprinted(text: str) -> str:
    return re.sub(r",\s*(dtype|device|grad_fn)=[^)]*", "", _PRINTED.sub("", text))


def _unwritten(cell: Any) -> Any:
    """A text of a list or record as that: [0.1, 0.9], [0.1 0.9]."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if "(" in text:
        text = _unprinted(text).replace(")", "")

    def parted(text: str) -> list[float]:
        return [float(part) for part in re.findall(r"[^\[\],\s]+", text)]

    found: Any = cell
    for reads in (json.loads, ast.literal_eval, parted):
        with contextlib.suppress(ValueError, SyntaxError, MemoryError, TypeError):
            found = reads(text)
            break
    return found if isinstance(found, list | dict) else cell


def _arrow(path: Path) -> pd.DataFrame:
    validate.extra("pyarrow", "files", path.name)
    feather = path.suffix.lower() in (".feather", ".arrow")
    try:
        found = pd.read_feather(path) if feather else pd.read_parquet(path)
    except Exception as error:  # pyarrow has errors of its own
        head = f"{path.name} is no table of this kind: {error}. A stream of Arrow becomes one by"
        line = f'pyarrow.ipc.open_stream("{path.name}").read_pandas()'
        more = f'import pyarrow.ipc\n  {line}.to_csv("table.csv", index=False)'
        raise ValueError(f"{head}\n  {more}") from None
    return found.reset_index() if any(name is not None for name in found.index.names) else found


def _numpy(path: Path) -> dict[str, Any]:
    """The arrays of an archive, or one array as a map on disk."""
    try:
        held = np.load(path, mmap_mode="r" if path.suffix == ".npy" else None, allow_pickle=False)
        return {"scores": held} if isinstance(held, np.ndarray) else dict(held)
    except ValueError as error:
        more = ""
        if "pickle" in str(error):
            more = (
                ". Save such arrays as texts, in Python with these lines:\n  import numpy\n"
                f'  held = numpy.load("{path.name}", allow_pickle=True)\n'
                "  held = {k: numpy.array(v.tolist()) for k, v in held.items() if v.ndim}\n"
                '  numpy.savez("predictions.npz", **held)'
            )
        raise ValueError(f"{path.name} is no file of arrays of numbers: {error}{more}") from None
    except Exception as error:  # zipfile and zlib have errors of their own
        raise ValueError(f"{path.name} is damaged, or no archive of arrays: {error}") from None


def _pt(path: Path) -> dict[str, Any]:
    """A dictionary of tensors, a tuple of them, or a list of batches."""
    import torch

    core: Any = np._core  # type: ignore[attr-defined]
    kinds = ("?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "U1")
    plain: list[Any] = [np.ndarray, np.dtype, *(type(np.dtype(kind)) for kind in kinds)]
    plain += [core.multiarray._reconstruct, core.multiarray.scalar]
    try:
        with torch.serialization.safe_globals(plain):
            held = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # whatever unpickling may raise, at length
        raise ValueError(
            f"{path.name} is no file of tensors alone; load it yourself and call "
            f"calibkit.audit(logits, labels)"
        ) from None
    if isinstance(held, torch.Tensor):
        held = {"scores": held}
    if isinstance(held, list | tuple) and held:
        by_name = isinstance(held, tuple) and all(isinstance(one, list) for one in held)
        if not by_name and all(isinstance(batch, list | tuple | dict) for batch in held):
            named = isinstance(held[0], dict)
            keys = held[0] if named else range(len(held[0]))
            parts = {k: [_plain(batch[k]) for batch in held] for k in keys}
            rows = any(part[0].ndim == 0 and part[0].dtype.kind in "iub" for part in parts.values())
            held = {
                k if named else f"arr_{k}": np.stack(part) if rows else np.concatenate(part)
                for k, part in parts.items()
                if rows or part[0].ndim  # a lone label is a row's; a lone loss a batch's
            }
        else:
            held = {f"arr_{k}": value for k, value in enumerate(held)}
    if not isinstance(held, dict):
        kind = type(held).__name__
        raise ValueError(f"{path.name} must hold a dictionary of tensors, got {kind}")
    batches = {name: _batches(value) for name, value in held.items()}
    several = sum(map(bool, batches.values())) > 1
    if several and any(batch.ndim == 2 for of in batches.values() for batch in of):
        held |= {name: np.concatenate(of) for name, of in batches.items() if of}
    return {str(name): _plain(value) for name, value in held.items()}


def _batches(value: Any) -> list[np.ndarray]:
    """The arrays of a list of batches; none of anything else."""
    try:
        found = list(map(_plain, value)) if isinstance(value, list | tuple) else []
    except ValueError:  # of rows of several lengths
        return []
    return found if all(batch.ndim for batch in found) else []


def _plain(value: Any) -> Any:
    """A tensor as an array; bfloat16, which numpy does not know, in the 32 bits that hold it."""
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    value = value.detach()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy(force=True)


def of_arrays(held: dict[str, Any], name: str, options: Any) -> Table:
    """Arrays of one row a sample as columns and blocks; those of another length are left out."""
    held = {key: np.asanyarray(value) for key, value in held.items()}
    held = {k: v[:, 0] if v.ndim == 2 and v.shape[1] == 1 else v for k, v in held.items()}
    rows = [len(array) for array in held.values() if array.ndim == 2]
    rows = rows or [len(array) for array in held.values() if array.ndim == 1]
    n, scores = max(rows, default=0), [k for k, v in held.items() if v.ndim and _fractional(v)]
    deep = [key for key in scores if held[key].ndim > 2]
    lost = deep and not any(held[key].ndim < 3 and len(held[key]) == n for key in scores)
    alike = all(array.dtype.kind in "iufbUSM" for array in held.values() if array.ndim)
    if lost or not rows or not alike:
        shapes = {name: array.shape for name, array in held.items()}
        more = ""
        if deep:
            more = ". Take the mean of probabilities over members, or make a row of each place"
        raise ValueError(
            f"{name} holds arrays of the shapes {shapes}: it must hold floating scores (n, K) and "
            f"labels (n,), for example as 'logits' and 'labels'{more}"
        )
    entries = {  # in the order of bytes of this machine, which pandas needs
        k: v if v.ndim == 2 else v.astype(v.dtype.newbyteorder("="))
        for k, v in held.items()
        if v.ndim in (1, 2) and len(v) == n
    }
    wide = [v.shape[1] for v in entries.values() if v.ndim == 2]
    names = [k for k, v in held.items() if v.ndim == 1 and v.dtype.kind in "US" and len(v) in wide]
    called = next((k for k in names if bare(k) in ("class_names", "classes", "names")), None)
    columns: dict[str, Any] = {
        key: array if array.ndim == 2 else _masked(pd.Series(array), options.missing)
        for key, array in entries.items()
        if key != called or len(held[key]) != wide[0]
    }
    named = None if called is None else list(map(str, held[called]))
    told = [f"{key!r} of the shape {held[key].shape} is left out" for key in deep]
    return Table(name, columns, told, named)


def _fractional(array: np.ndarray) -> bool:
    return array.dtype.kind == "f" and bool((array.flat[:MANY] % 1 != 0).any())
