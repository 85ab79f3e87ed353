"""What a class handed in: the notebooks of each student, beside the class's roster."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

LARGEST = 20 << 20  # bytes of a notebook
COLUMN = "student"
NAMES = ("first name", "last name")  # of Moodle's lists, whose folders begin with both
MOODLE = re.compile(r"_\d+_assignsubmission_\w+$")  # how its folders end, after the name
NOTHING, NOT_ON_IT = "nothing was handed in", "not on the roster"


@dataclass(frozen=True)
class Submission:
    """What one student handed in: the cells of code of each notebook by its file name."""

    student: str
    notebooks: dict[str, list[str]]
    troubles: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Eight signs that change with the code that was handed in; "" for none.

        >>> Submission("anna", {"06.ipynb": ["x = 1"]}).fingerprint
        '9e68-f383'
        """
        if not self.notebooks:
            return ""
        code = json.dumps([*self.notebooks.values()]).encode()
        signs = hashlib.sha256(code).hexdigest()
        return f"{signs[:4]}-{signs[4:8]}"  # a spreadsheet takes 12e3 for a number


def read(folder: Path) -> list[Submission]:
    """The students of a folder, by name; links are not followed.

    Raises ValueError where there is none.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name the one with the students' notebooks")
    notebooks: dict[str, list[Path]] = {}
    # by name without ending, so that "08 (1)", a second download, comes after "08"
    for path in sorted(folder.rglob("*.ipynb"), key=lambda path: path.with_suffix("")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        linked = any(
            place.is_symlink() for place in (path, *path.parents) if folder in place.parents
        )
        if not hidden and not linked and path.is_file():
            student = inside.parts[0] if len(inside.parts) > 1 else path.stem
            notebooks.setdefault(student, []).append(path)
    if not notebooks:
        raise ValueError(f"no notebook in {folder}; it holds NAME.ipynb or NAME/ for each student")
    return [Submission(student, *_codes(paths)) for student, paths in sorted(notebooks.items())]


def _codes(paths: Iterable[Path]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The code of each notebook by its name, and what is wrong with others."""
    notebooks, troubles = {}, []
    for path in paths:
        try:
            notebooks[path.name] = code(path)
        except ValueError as error:
            troubles.append(f"{path.name}: {error}")
    return notebooks, tuple(troubles)


def code(path: Path) -> list[str]:
    """The cells of code of a notebook; raises ValueError for a file that is none."""
    if path.stat().st_size > LARGEST:
        raise ValueError(f"larger than {LARGEST >> 20} MB; clear its outputs")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        made = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [source if isinstance(source, str) else "".join(source) for source in made]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise ValueError("this is no notebook that can be read") from None


def on_the_roster(
    handed_in: list[Submission], path: str | Path | None
) -> tuple[list[Submission], list[str]]:
    """A submission for each student of the roster, empty ones too, then those of nobody on it.

    Also the names of the latter. Without a roster all stay as they are.
    """
    if path is None:
        return handed_in, []
    students = roster(path)
    owner = assign(students, [one.student for one in handed_in])
    known = [_merged(s, [one for one in handed_in if owner[one.student] == s]) for s in students]
    others = [one for one in handed_in if owner[one.student] is None]
    noted = [replace(one, troubles=(NOT_ON_IT, *one.troubles)) for one in others]
    return known + noted, [one.student for one in others]


def _merged(student: str, parts: list[Submission]) -> Submission:
    """All that a student handed in as one submission."""
    if not parts:
        return Submission(student, {}, (NOTHING,))
    troubles = [trouble for part in parts for trouble in part.troubles]
    if len(parts) > 1:
        names = ", ".join(part.student for part in parts)
        troubles.insert(0, f"several submissions, taken together: {names}")
    notebooks = {
        (name if len(parts) == 1 else f"{part.student}/{name}"): cells
        for part in parts
        for name, cells in part.notebooks.items()
    }
    return Submission(student, notebooks, tuple(troubles))


def of(students: Iterable[str], handed_in: list[Submission]) -> list[Submission]:
    """The submissions of these students, all where none is named.

    Raises ValueError for a student of whom there is none.
    """
    students = list(students)
    if not students:
        return handed_in
    owner = assign(students, [one.student for one in handed_in])
    missing = [student for student in students if student not in owner.values()]
    if missing:
        raise ValueError(
            f"nothing is there of {', '.join(missing)}; there are {', '.join(owner)}, and lessons "
            "by the beginnings of their names"
        )
    return [one for one in handed_in if owner[one.student] is not None]


def roster(path: str | Path) -> list[str]:
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
    by_name, wanted = {_key(field): field for field in fields}, list(fields[:1])
    for names in ((COLUMN,), NAMES):
        if by_name.keys() >= {*names}:
            wanted = [by_name[name] for name in names]
            break
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


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _key(text: str) -> str:
    """What two spellings of a name have in common: systems differ in how they write an umlaut."""
    return unicodedata.normalize("NFC", _tidy(text)).casefold()
