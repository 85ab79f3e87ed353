"""The list of a class beside what was handed in: a student for each row, a submission for some."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

COLUMN = "student"
NAMES = ("first name", "last name")  # of Moodle's lists, whose folders begin with both
MOODLE = re.compile(r"_\d+_assignsubmission_\w+$")  # how its folders end, after the name


def read(path: str | Path) -> list[str]:
    """The students of a CSV file: its column `student`, or first and last name, or the first.

    Raises ValueError for a file that cannot be read or has no students, and for one named twice.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the roster {path} cannot be read: {error}; save it as UTF-8") from None
    head = text.partition("\n")[0]
    rows = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=head.count))
    fields = list(rows.fieldnames or ())
    wanted = _columns(fields)
    students = [" ".join(_tidy(row[name] or "") for name in wanted).strip() for row in rows]
    students = [student for student in students if student]
    if not students:
        raise ValueError(f"the roster {path} names nobody; it needs a column `{COLUMN}`")
    keys = [_key(student) for student in students]
    twice = sorted({s for s, key in zip(students, keys, strict=True) if keys.count(key) > 1})
    if twice:
        raise ValueError(f"the roster names {', '.join(twice)} twice; tell them apart")
    return students


def assign(students: Iterable[str], submissions: Iterable[str]) -> Mapping[str, str | None]:
    """For each submission the student of the roster that it belongs to, None where there is none.

    A submission has the student's name, in any case, or the name with what Moodle adds.

    >>> assign(["Anna", "Ben"], ["anna", "Ben_123_assignsubmission_file_", "carl"])
    {'anna': 'Anna', 'Ben_123_assignsubmission_file_': 'Ben', 'carl': None}
    """
    known = {_key(student): student for student in students}
    return {
        name: known.get(_key(name)) or known.get(_key(MOODLE.sub("", name))) for name in submissions
    }


def _columns(fields: Sequence[str]) -> list[str]:
    by_name = {_key(field): field for field in fields}
    if COLUMN in by_name:
        return [by_name[COLUMN]]
    return [by_name[name] for name in NAMES] if by_name.keys() >= {*NAMES} else list(fields[:1])


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    """What two spellings of a name have in common: systems differ in how they write an umlaut."""
    return unicodedata.normalize("NFC", _tidy(text)).casefold()
