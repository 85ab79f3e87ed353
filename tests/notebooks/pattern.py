"""What protects a reader of a lesson, and its countable habits, as lists of complaints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from calibkit.course import folded_outputs, verdicts
from calibkit.course.execution import PNG

HEAD = ("**Question.**", "**Time.**", "**Needs.**")
END = ("## Three things to take away", "## Recall", "## Go further", "## References")
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
VERDICTS = 2  # in the reader's way
COMMENT = "What came out"  # the title of the fold under a prediction and its figure
IMAGE = re.compile(r"<img\b[^>]*>")
ALT = re.compile(r'\baria-label="([^"]+)"')


def complaints(notebook, glossary: Mapping[str, str], lesson: str) -> list[str]:
    """Every rule that the notebook of `lesson` ("06") breaks, in words.

    glossary: each term with the lesson that defines it.
    """
    return [
        *_head(notebook),
        *_end(notebook),
        *_of_any(notebook),
        *_predictions(notebook),
        *_verdicts(notebook),
        *_answer(notebook),
        *_terms(notebook, glossary, lesson),
    ]


def of_evidence(notebook) -> list[str]:
    """Every rule that evidence breaks, in words."""
    return [*_of_any(notebook), *_compared(notebook)]


def _of_any(notebook) -> list[str]:
    return [
        *_title(notebook),
        *_parameters(notebook),
        *_code(notebook),
        *_images(notebook),
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


def read_glossary(path: Path) -> dict[str, str]:
    """Each term of the glossary's tables with its lesson, in small letters, no symbols."""
    rows = re.findall(r"^\| (.+?) \| .+ \| \[?(\d\d)\b.*\|$", path.read_text("utf-8"), re.MULTILINE)
    return {_plain(term): lesson for term, lesson in rows if "$" not in term}


def further(notebook) -> str:
    """The code of the folded answers under "Go further", as one cell."""
    _, _, after = prose(notebook).partition("## Go further")
    after = after.split("## References")[0]
    return "\n".join(re.findall(r"```python\n(.*?)```", after, re.DOTALL))


def alt_texts(notebook) -> list[str]:
    """The texts of the images and sliders in the outputs; an empty one where there is none."""
    return [text for cell in code_cells(notebook) for o in cell.outputs for text in _texts(o)]


def _texts(output) -> Iterator[str]:
    """One for a PNG; an explorer's panels are one picture; pictures of another form have none."""
    data = output.get("data", {})
    if PNG in data:
        yield output.metadata.get(PNG, {}).get("alt", "")
    page = data.get("text/html", "")
    if "calibkit-explorer" in page:
        for tag in re.findall(r'<div class="picture"[^>]*>', page):
            yield ALT.search(tag)[1] if ALT.search(tag) else ""
    else:
        yield from ("" for _ in IMAGE.findall(page))


def hidden(cell, part: str = "outputs_hidden") -> bool:
    return bool(cell.metadata.get("jupyter", {}).get(part))


def printed(cell) -> str:
    return "".join(o.get("text", "") for o in cell.get("outputs", ()) if o.get("name") == "stdout")


def lines(notebook) -> list[str]:
    return [line for c in code_cells(notebook) for line in printed(c).splitlines()]


def _shown(cell) -> str:
    """What the output of a cell says in words, such as the readout of a slider."""
    return "".join(o.get("data", {}).get("text/plain", "") for o in cell.get("outputs", ()))


def _predictions(notebook) -> Iterator[str]:
    cells = notebook.cells
    for place, cell in enumerate(cells):
        if cell.cell_type != "markdown" or "Predict before" not in cell.source:
            continue
        answer = next((c for c in cells[place + 1 :] if c.cell_type == "code"), None)
        asked = f"the prediction {_excerpt(cell.source, 'Predict before')}"
        if answer is None or not hidden(answer):
            yield f"{asked} is not followed by a cell tagged answer"
        elif not re.search(r"\d", printed(answer) + _shown(answer)):
            yield f"{asked} has an answer that prints no number"
    for cell in code_cells(notebook):
        if {"answer", "drawing"} <= {*cell.metadata.get("tags", ())} and not cell.source.startswith(
            folded_outputs.GUESS
        ):
            yield f"folded cell {cell.source[:40]!r} does not begin with {folded_outputs.GUESS!r}"


def _answer(notebook) -> Iterator[str]:
    """A bold answer at the end, and no answer to a prediction in the open."""
    text = prose(notebook)
    found = re.search(r"^## The answer\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    if not (found and re.search(r"\*\*.{40,}?\*\*", found[1], re.DOTALL)):
        yield "does not end in a bold answer to its question, under '## The answer'"
    for place, cell in enumerate(notebook.cells[:-1]):
        after = notebook.cells[place + 1]
        answers = "answer" in cell.metadata.get("tags", ()) and after.cell_type == "markdown"
        if answers and not after.source.startswith(f"<details><summary>{COMMENT}"):
            yield f"what follows the answer {cell.source[:40]!r} is not folded as {COMMENT!r}"


def told(cell) -> list[verdicts.Verdict]:
    """The verdicts that a cell printed."""
    return [verdict for line in printed(cell).splitlines() if (verdict := verdicts.parse(line))]


def _verdicts(notebook) -> Iterator[str]:
    cells = code_cells(notebook)
    shown = sum(len(told(c)) for c in cells if not hidden(c))
    if shown > VERDICTS:
        yield f"{shown} verdicts in the reader's way; wants {VERDICTS} at most"
    codes = sorted(
        set(re.findall(r"\b[A-Z]\d{1,2}[a-z]?\b", _without_code(prose(notebook).split(END[3])[0])))
    )
    if codes:
        yield f"claims are named in the prose: {', '.join(codes)}"
    yield from _compared(notebook)


def _compared(notebook) -> Iterator[str]:
    cells = [c for c in code_cells(notebook) if told(c)]
    unchecked = [c for c in cells if "nbval-check-output" not in c.metadata.get("tags", ())]
    yield from (f"no nbval-check-output on the verdicts of {c.source[:40]!r}" for c in unchecked)


def _images(notebook) -> Iterator[str]:
    texts = alt_texts(notebook)
    if "" in texts:
        yield f"{texts.count('')} images have no text; start with begin(SCALE, SEED, DEVICE)"
    twice = {text for text in texts if text and texts.count(text) > 1}
    yield from (f"two images have the text {text[:60]!r}" for text in sorted(twice))


def _terms(notebook, glossary: Mapping[str, str], lesson: str) -> Iterator[str]:
    """Terms of the glossary: bold where this lesson defines them, absent before that."""
    words = _without_code(prose(notebook))
    text = _plain(words)
    bold = {_plain(term) for term in re.findall(r"\*\*(.+?)\*\*", words, re.DOTALL)}
    for term, home in glossary.items():
        used = re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", text)
        if used and home > lesson and term not in bold:
            yield f"uses {term!r}, which lesson {home} defines"
        if home == lesson and term not in bold:
            yield f"does not set {term!r} in bold, though the glossary says that it is defined here"


def _without_code(text: str) -> str:
    """The words of a text: no code, no formula, no link to a lesson, no text of a picture."""
    code = r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$"
    links = r"!?\[[^\]]*\]\((?:\d\d_\w+\.ipynb|images/[^)]*)\)|\]\([^)]*\)"
    return re.sub(rf"{code}|{links}", " ", text, flags=re.DOTALL)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[*_]", "", text)).strip(" .,:").lower()


def _excerpt(text: str, start: str) -> str:
    return repr(text[text.index(start) :][:60])


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
    tagged = next(i for i, c in enumerate(code) if "parameters" in c.metadata.get("tags", ()))
    opening = "\n".join(c.source for c in code[:tagged])
    plain = ("import", "from", "explorers.stored(")
    if not all(line.startswith(plain) for line in opening.split("\n") if line):
        yield "a cell before the parameters does more than import, or show a stored slider"


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
