"""All verdicts that the notebooks printed, in one table beside the papers' own figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from calibkit.course import checkout
from calibkit.course.checkout import EVIDENCE
from calibkit.course.verdicts import WORDS, Verdict, conclusion, parse
from calibkit.course.verdicts import counted as in_words

NONE = "–"
CONCLUSIONS = "conclusions.json"
PAGE = "claims_printed.md"  # what `summary` says, and the numbers of all verdicts
DETAIL = "claims_in_detail.md"  # the list itself
CHANCE = "One interval of 95 % in 20 misses the true mean by chance."


@dataclass(frozen=True)
class Printed:
    """A verdict as a notebook printed it: 06_label_noise, or evidence/06_label_noise."""

    notebook: str
    verdict: Verdict

    @property
    def lesson(self) -> str:
        """The number of the lesson that the notebook is, or belongs to."""
        return Path(self.notebook).name[:2]


@dataclass(frozen=True)
class Claim:
    """A row of the list of claims: what a source found, and its own figure."""

    claim: str
    name: str  # in a few words
    tested: str  # as the source claims it, more narrowly, ...
    found: str  # what follows here, in short
    what: str
    source: str
    where: str
    figure: str


def printed(folder: Path) -> list[Printed]:
    """The verdict lines in the outputs of the executed notebooks of `folder`, in order.

    A verdict that stands in a lesson and in its evidence counts once, as the evidence's.

    Raises FileNotFoundError when the folder holds no notebook.
    """
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise FileNotFoundError(
            f"no notebooks in {folder}; execute them first: python -m calibkit course"
        )
    every = []
    for path in paths:
        full, beside = [], f"{EVIDENCE}/{path.stem}"
        if (folder / f"{beside}.ipynb").exists():
            full = [v for line in _lines(folder / f"{beside}.ipynb") if (v := parse(line))]
        known = {*full}
        own = [v for line in _lines(path) if (v := parse(line)) and v not in known]
        every += [Printed(path.stem, v) for v in own] + [Printed(beside, v) for v in full]
    return every


def _lines(path: Path) -> Sequence[str]:
    """What the cells of a notebook printed."""
    return _lines_at(path, path.stat().st_mtime_ns)


@cache
def _lines_at(path: Path, time: int) -> Sequence[str]:
    """The site asks for all notebooks several times; time: when this one was last written."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    texts = (output["text"] for output in outputs if output.get("name") == "stdout")
    return [line for text in texts for line in "".join(text).splitlines()]


def conclusions(folder: Path) -> list[tuple[str, str, str]]:
    """(lesson, claim, line) of every conclusion that the evidence of `folder` printed, in order."""
    lines = (
        (path, line)
        for path in sorted((folder / EVIDENCE).glob("*.ipynb"))
        for line in _lines(path)
    )
    return [(path.name[:2], *found) for path, line in lines if (found := conclusion(line))]


def keep_conclusions(folder: Path) -> None:
    """Write the conclusions as `concluded` reads them, and the table on the page of claims."""
    text = json.dumps(conclusions(folder), indent=1, ensure_ascii=False)
    (folder / "results" / CONCLUSIONS).write_text(f"{text}\n", encoding="utf-8")
    page = folder / PAGE
    intro = page.read_text(encoding="utf-8").partition("| id |")[0]
    told = summary(printed(folder), listed(folder / DETAIL))
    page.write_text(f"{intro}{told}\n", encoding="utf-8")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown: an empty cell has a dash."""
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(cell or NONE for cell in row)} |" for row in rows)])


def summary(printed: Iterable[Printed], listed: Iterable[Claim]) -> str:
    """Markdown: every claim of the list in a line, with all its verdicts counted.

    Those that compare calibration before each side has a temperature of its own are counted apart.
    Below it `counted` of all.
    """
    printed, rows = list(printed), []
    for row in listed:
        own = [p for p in printed if p.verdict.claim == row.claim]
        told = []
        for mark in (False, True):
            some = [p.verdict for p in own if p.verdict.as_trained is mark]
            late = sum(verdict.post_hoc for verdict in some)  # put down after a look
            told.append(in_words(some) + (f" ({late} post hoc)" if late else ""))
        lessons = ", ".join(dict.fromkeys(p.lesson for p in own))
        rows.append((row.claim, row.name, row.tested, row.found, *told, lessons))
    head = ("id", "claim", "tested", "what follows here", "verdicts", "as trained", "lessons")
    return f"{_table(head, rows)}\n\n{counted(p.verdict for p in printed)}"


def concluded(lesson: str, claim: str) -> str:
    """The one line that counts all verdicts on a claim, as the evidence of a lesson printed it.

    Raises ValueError for a claim without conclusion there.
    """
    rows = json.loads((checkout.results() / CONCLUSIONS).read_text(encoding="utf-8"))
    kept = {name: line for number, name, line in rows if number == lesson}
    if claim not in kept:
        raise ValueError(f"claim must be one of {', '.join(kept)} in {lesson}, got {claim!r}")
    return kept[claim]


def listed(page: Path) -> list[Claim]:
    """The rows of the table in notebooks/claims_in_detail.md.

    Raises ValueError for a row that does not have as many cells as the table's head.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "list.md"
    >>> head = "| id | claim | tested | here | what | source | where | own |\\n|-|-|-|-|-|-|-|-|\\n"
    >>> _ = page.write_text(f"{head}| X1 | mixup | narrower | yes | ... | paper | 12 | 4 to 2 |\\n")
    >>> listed(page)[0].figure
    '4 to 2'
    """
    text = page.read_text(encoding="utf-8")
    lines = (line.strip().strip("|") for line in text.splitlines() if line.startswith("|"))
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    if uneven := [row for row in rows if len(row) != 8]:
        raise ValueError(f"{page}: a row must have 8 cells, got {len(uneven[0])}: {uneven[0]}")
    return [Claim(*row) for row in rows[2:]]


def table(printed: Iterable[Printed], listed: Iterable[Claim]) -> str:
    """Markdown: each verdict with what was measured and what the source itself reports.

    Below it the verdicts are counted by word. Claims of the list that no verdict speaks of follow
    by name: methods that are built and tested, not measured. Raises ValueError for a verdict whose
    id is not in the list and does not begin with its lesson's number.
    """
    printed, figures = list(printed), {row.claim: row.figure for row in listed}
    printed.sort(key=lambda p: (p.lesson, p.verdict.claim))
    given, rows = [p.verdict for p in printed], []
    for p, v in zip(printed, given, strict=True):
        if v.claim not in figures and not v.claim.startswith(p.lesson):
            raise ValueError(f"verdicts of claims that {DETAIL} does not list: {v.claim}")
        word = v.word + " (as trained)" * v.as_trained + " (post hoc)" * v.post_hoc
        measured = v.measured if v.than is None else f"{v.measured} against {v.than:g}"
        figure = figures.get(v.claim, "")
        cells = (v.claim, word, v.statement, measured, str(v.seeds), p.lesson, figure)
        rows.append([cell.replace("|", "\\|") for cell in cells])
    head = ("id", "verdict", "statement", "measured", "seeds", "notebook")
    lines = [_table((*head, "the source's own figure"), rows), "", counted(given)]
    if silent := [claim for claim in figures if claim not in {v.claim for v in given}]:
        lines.append(f"Without a verdict: {', '.join(silent)}.")
    return "\n".join(lines)


def conclusions_table(
    found: Iterable[tuple[str, str, str]],
    printed: Iterable[Printed],
    listed: Iterable[Claim],
) -> str:
    """Markdown: what follows on each claim of the list, a line each, with its verdicts counted.

    found: as `conclusions` gives them; a lesson's own claims, which the list does not have, are
        left out. A claim on which no evidence concludes has its printed verdicts counted, and no
        words.
    """
    printed, rows = list(printed), []
    by_claim: dict[str, list[tuple[str, str]]] = {}
    for lesson, claim, line in found:
        by_claim.setdefault(claim, []).append((lesson, line))
    for row in listed:
        own = [p for p in printed if p.verdict.claim == row.claim]
        lessons = ", ".join(dict.fromkeys(p.lesson for p in own))
        alone = [(lessons, f"({in_words([p.verdict for p in own])}): ")]
        for lesson, line in by_claim.get(row.claim, alone):
            head, _, words = line.partition("): ")
            rows.append((row.claim, head.partition("(")[2], words.replace("|", "\\|"), lesson))
    return _table(("id", "verdicts", "what follows here", "lesson"), rows)


def counted(verdicts: Iterable[Verdict]) -> str:
    """How often each word was given, and how often an interval is wrong."""
    verdicts = list(verdicts)
    words = [v.word for v in verdicts]
    counts = ", ".join(f"{words.count(word)} {word}" for word in WORDS)
    late = sum(v.post_hoc for v in verdicts)
    return f"{len(words)} verdicts: {counts}; {late} post hoc. {CHANCE}"
