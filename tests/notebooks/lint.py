"""The countable habits of lessons and evidence, as a list of complaints about one notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

HEAD = ("**Question.**", "**Time.**", "**Needs.**")
END = ("## Three things to take away", "## Recall", "## Go further", "## References")
PARAMETERS = {"SCALE", "SEED", "DEVICE"}
LONGEST_CELL, LONGEST_LINE = 25, 110
FORBIDDEN = {
    r"^\s*[!%]": "a shell or magic command",
    r"simplefilter|filterwarnings": "silences warnings",
    r"rcParams|set_theme|style\.use": "sets a global style",
    r"[\"'](/home|/Users|/root|/tmp|[A-Z]:\\)": "an absolute path",
    r"urlopen|urlretrieve|requests\.get|download=True": "a download",
}
# A year at the start of a line, which becomes a list, and HTML, which lasts to the next empty line.
NUMBERED = re.compile(r"^ *\d{2,4}[.)](?=\s|$)", re.MULTILINE)
HTML = re.compile(r"^ {0,3}</?(?:details|summary|div|p|table)\b.*(?:\n.+)*", re.MULTILINE)


def complaints(notebook) -> list[str]:
    """Every habit that a lesson breaks, in words."""
    return [*_head(notebook), *_end(notebook), *of_any(notebook)]


def of_any(notebook) -> list[str]:
    """Every habit that a notebook breaks, be it a lesson or evidence."""
    return [
        *_title(notebook),
        *_parameters(notebook),
        *_code(notebook),
        *of_text(prose(notebook)),
    ]


def of_text(text: str) -> list[str]:
    """What JupyterLab shows otherwise than it was meant, in Markdown."""
    blocks = [re.sub(r"<[^>]*>", "", block) for block in HTML.findall(text)]
    literal = [block.strip() for block in blocks if re.search(r"\*\w|`|\]\(", block)]
    return [
        *(f"a line begins a list with {number.strip()}" for number in NUMBERED.findall(text)),
        *(f"marks inside of HTML are shown as they are: {block[:60]!r}" for block in literal),
    ]


def code_cells(notebook) -> list:
    return [c for c in notebook.cells if c.cell_type == "code" and c.source.strip()]


def prose(notebook) -> str:
    return "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def compared(cell) -> bool:
    """Whether nbval compares the cell's output with the stored one."""
    tagged = "nbval-check-output" in cell.metadata.get("tags", ())
    return tagged or "NBVAL_CHECK_OUTPUT" in cell.source


def shows_a_slider(notebook) -> list[bool]:
    """For each code cell, whether it ends in an explorer: one made, stored, or named before."""
    made, shows = r"explorers\.(Explorer|stored|networks)\(", []
    named = {n for c in code_cells(notebook) for n in re.findall(rf"(?m)^(\w+) = {made}", c.source)}
    names = {name for name, _ in named}
    for cell in code_cells(notebook):
        last = ast.parse(cell.source).body[-1]
        ending = ast.unparse(last.value) if isinstance(last, ast.Expr) else ""
        shows.append(bool(re.match(made, ending)) or ending in names)
    return shows


def _head(notebook) -> Iterator[str]:
    head = prose(notebook).split("\n## ")[0]
    yield from (f"the head lacks {part}" for part in HEAD if part not in head)


def _title(notebook) -> Iterator[str]:
    first = notebook.cells[0]
    if first.cell_type != "markdown" or not first.source.startswith("# "):
        yield "does not begin with a title"
    titles = re.findall(r"^# ", prose(notebook), flags=re.MULTILINE)
    if len(titles) != 1:
        yield f"{len(titles)} first-level titles"


def _end(notebook) -> Iterator[str]:
    text = prose(notebook)
    places = [text.find(part) for part in END]
    yield from (f"lacks {part}" for part, at in zip(END, places, strict=True) if at < 0)
    if places != sorted(places):
        yield "the closing sections are out of order"
    if "Predict before you run" not in text:
        yield "never asks to predict before running"
    recall = text[places[1] : places[2]]
    asked, answered = recall.count("<summary>"), recall.count("</details>")
    if not 3 <= asked <= 8 or asked != answered:
        yield f"{asked} recall questions with {answered} folded answers; wants 3 to 8"
    if not re.search(r"arxiv\.org|doi\.org", text[places[3] :]):
        yield "no reference has a DOI or arXiv id"


def _parameters(notebook) -> Iterator[str]:
    code = code_cells(notebook)
    tagged = [i for i, c in enumerate(code) if "parameters" in c.metadata.get("tags", ())]
    if len(tagged) != 1:
        yield f"{len(tagged)} cells are tagged parameters"
        return
    opening = "\n".join(c.source for c in code[: tagged[0]])
    plain = ("import", "from", "explorers.stored(")
    if not all(line.startswith(plain) for line in opening.split("\n") if line):
        yield "a cell before the parameters does more than import, or show a stored slider"
    body = ast.parse(code[tagged[0]].source).body
    if not all(isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant) for n in body):
        yield "the parameters cell holds more than literals"
    elif {n.targets[0].id for n in body} != PARAMETERS:
        yield f"the parameters are not {', '.join(sorted(PARAMETERS))}"


def _code(notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        lines = cell.source.split("\n")
        where = f"in the cell that begins with {lines[0]!r}"
        folded = cell.metadata.get("jupyter", {}).get("source_hidden")
        if len(lines) > LONGEST_CELL:
            yield f"{len(lines)} lines {where}"
        # 119 characters fill the column of an exported page; one more is cut off
        if max(map(len, lines)) > LONGEST_LINE + (9 if folded else 0):
            yield f"a line of {max(map(len, lines))} characters {where}"
        for pattern, what in FORBIDDEN.items():
            if re.search(pattern, cell.source, flags=re.MULTILINE):
                yield f"{what} {where}"
        if compared(cell) and "sweep.run(" in cell.source:
            yield f"training, whose progress is shown, under a compared output {where}"
