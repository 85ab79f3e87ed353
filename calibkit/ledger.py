"""All verdicts that the notebooks printed, in one table beside the papers' own figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

VERDICT = re.compile(
    r"^(?P<claim>\w+) (?P<word>HOLDS|REVERSED|INCONCLUSIVE): (?P<statement>.+) \| "
    r"(?P<measured>[-+.\d]+ \[[-+.\d]+, [-+.\d]+\]) (?P<level>\d+%) over (?P<seeds>\d+) seeds$"
)
NONE = "–"


@dataclass(frozen=True)
class Printed:
    """A verdict line as a notebook printed it."""

    notebook: str
    claim: str
    word: str
    statement: str
    measured: str
    level: str
    seeds: int


@dataclass(frozen=True)
class Claim:
    """A row of the list of claims: what a source found, and its own figure."""

    claim: str
    what: str
    source: str
    where: str
    figure: str


def verdicts(folder: Path) -> list[Printed]:
    """The verdict lines in the outputs of the executed notebooks of `folder`, in order.

    Raises FileNotFoundError when the folder holds no notebook.
    """
    import nbformat

    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise FileNotFoundError(
            f"no notebooks in {folder}; execute them first: python -m calibkit course"
        )
    return [
        Printed(path.stem, **{**found.groupdict(), "seeds": int(found["seeds"])})
        for path in paths
        for line in _lines(nbformat.read(path, as_version=4))
        if (found := VERDICT.match(line))
    ]


def _lines(notebook) -> Iterable[str]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stdout":
                yield from output.text.splitlines()


def claims(page: Path) -> list[Claim]:
    """The rows of the table in notebooks/claims.md.

    Raises ValueError for a row that does not have as many cells as the table's head.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "claims.md"
    >>> _ = page.write_text("| id | what | source | where | figure |\\n|-|-|-|-|-|\\n"
    ...                     "| X1 | mixup helps | paper | 12 | 4.1 to 2.1 |\\n")
    >>> claims(page)[0].figure
    '4.1 to 2.1'
    """
    rows = [_cells(line) for line in page.read_text().splitlines() if line.startswith("|")]
    uneven = [row for row in rows if len(row) != 5]
    if uneven:
        raise ValueError(f"{page}: a row must have 5 cells, got {len(uneven[0])}: {uneven[0]}")
    return [Claim(*row) for row in rows[2:]]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(printed: Iterable[Printed], listed: Iterable[Claim]) -> str:
    """Markdown: each verdict with what was measured and what the source itself reports.

    Claims of the list that no verdict speaks of follow by name: methods that are built and tested,
    not measured. Raises ValueError for a verdict whose id is not in the list.
    """
    printed, listed = list(printed), {row.claim: row for row in listed}
    unknown = sorted({p.claim for p in printed} - set(listed) - _own(printed))
    if unknown:
        raise ValueError(f"verdicts of claims that claims.md does not list: {', '.join(unknown)}")
    lines = [
        "| id | verdict | statement | measured | seeds | notebook | the source's own figure |",
        "|---|---|---|---|---|---|---|",
    ]
    for p in sorted(printed, key=lambda p: (p.notebook, p.claim)):
        figure = listed[p.claim].figure if p.claim in listed else ""
        cells = (p.claim, p.word, p.statement, p.measured, str(p.seeds), p.notebook[:2], figure)
        lines.append("| " + " | ".join(c.replace("|", "\\|") or NONE for c in cells) + " |")
    words = [p.word for p in printed]
    counts = ", ".join(
        f"{words.count(word)} {word}" for word in ("HOLDS", "REVERSED", "INCONCLUSIVE")
    )
    silent = [claim for claim in listed if claim not in {p.claim for p in printed}]
    lines += ["", f"{len(printed)} verdicts: {counts}."]
    if silent:
        lines.append(f"Built and tested, without a verdict: {', '.join(silent)}.")
    return "\n".join(lines)


def _own(printed: list[Printed]) -> set[str]:
    """Ids that begin with their notebook's number are that notebook's own."""
    return {p.claim for p in printed if p.claim.startswith(p.notebook[:2])}
