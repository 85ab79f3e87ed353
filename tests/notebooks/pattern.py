"""The pattern of a lesson, as far as it can be counted: complaints about one executed notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from calibkit.course import verdicts
from tests.notebooks.lint import END, code_cells, prose

SECTIONS, MINUTES, NEW_TERMS, VERDICTS, EXERCISES = 8, 60, 3, 5, range(2, 5)
# lessons that are still written in the earlier way
EARLIER: tuple[str, ...] = ()
LAST = "17"  # the final project, which is read after all others
OPENING = 8  # cells within which the main slider stands, before anything is trained
TRAINS = re.compile(r"\b(sweep\.run|training\.fit)\(")
IMAGE = re.compile(r"<img\b[^>]*>")
ALT = re.compile(r'\b(?:alt|aria-label)="([^"]+)"')
# expressions on which readers stumbled whose second language is English
RIDDLES = (
    "claims more than it keeps",
    "witness of itself",
    "pay less and less",
    "keeps the weights short",
    "shouts",
    "shy",
    "smallest rise",
    "aloud",
    "still twin",
    "hangs on",
)


def complaints(notebook, glossary: Mapping[str, str], lesson: str) -> list[str]:
    """Every part of the pattern that the notebook of `lesson` ("06") breaks, in words.

    glossary: each term with the lesson that defines it.
    """
    return [
        *_predictions(notebook),
        *_marks(notebook),
        *_size(notebook),
        *_opening(notebook),
        *_exercises(notebook),
        *_verdicts(notebook, lesson),
        *_images(notebook),
        *_terms(notebook, glossary, lesson),
        *_language(notebook),
        *_plain_code(notebook),
    ]


def read_glossary(path: Path) -> dict[str, str]:
    """Each term of the glossary's tables with its lesson, in small letters, no symbols."""
    rows = re.findall(r"^\| (.+?) \| .+ \| \[?(\d\d)\b.*\|$", path.read_text("utf-8"), re.MULTILINE)
    return {_plain(term): lesson for term, lesson in rows if "$" not in term}


def further(notebook) -> str:
    """The code of the folded answers under "Go further", as one cell."""
    after = prose(notebook).split("## Go further")[-1].split("## References")[0]
    return "\n".join(re.findall(r"```python\n(.*?)```", after, re.DOTALL))


def alt_texts(notebook) -> list[str]:
    """The texts of the images and sliders in the outputs; an empty one where there is none."""
    outputs = [output.get("data", {}) for cell in code_cells(notebook) for output in cell.outputs]
    bare = ["" for data in outputs if "image/png" in data or "image/svg+xml" in data]
    pages = [data.get("text/html", "") for data in outputs]
    tags = [tag for page in pages for tag in _pictures(page)]
    found = [ALT.search(tag) for tag in tags]
    return bare + [match[1] if match else "" for match in found]


def _pictures(page: str) -> list[str]:
    """The tags that hold a picture's text; an explorer's panels are one picture."""
    if "calibkit-explorer" in page:
        return re.findall(r'<div class="picture"[^>]*>', page)
    return IMAGE.findall(page)


def hidden(cell, part: str = "outputs_hidden") -> bool:
    return bool(cell.metadata.get("jupyter", {}).get(part))


def printed(cell) -> str:
    return "".join(o.get("text", "") for o in cell.get("outputs", ()) if o.get("name") == "stdout")


def _predictions(notebook) -> Iterator[str]:
    cells = notebook.cells
    for place, cell in enumerate(cells):
        if cell.cell_type != "markdown" or "Predict before" not in cell.source:
            continue
        answer = next((c for c in cells[place + 1 :] if c.cell_type == "code"), None)
        asked = f"the prediction {_excerpt(cell.source, 'Predict before')}"
        if answer is None or not hidden(answer):
            yield f"{asked} is not followed by a cell tagged answer"
        elif not re.search(r"\d", printed(answer)):
            yield f"{asked} has an answer that prints no number"


def _marks(notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        if "NBVAL" in cell.source:
            yield f"a test's mark stands in the cell {cell.source[:40]!r}; use a tag"


def _size(notebook) -> Iterator[str]:
    body = unfolded(notebook).split(END[0])[0]
    sections = re.findall(r"^## ", body, re.MULTILINE)
    if len(sections) > SECTIONS:
        yield f"{len(sections)} sections; wants {SECTIONS} at most"
    time = re.search(r"\*\*Time\.\*\* \d+ minutes[^*]*", notebook.cells[0].source)
    sittings = re.findall(r"(\d+) (?:minutes|more)\b", time[0]) if time else []
    if not sittings or max(map(int, sittings)) > MINUTES:
        yield f"states no sittings of {MINUTES} minutes at most: **Time.** 45 minutes; 30 more for ..."


def _opening(notebook) -> Iterator[str]:
    first = notebook.cells[:OPENING]
    trained = [TRAINS.search(c.source) for c in first if c.cell_type == "code"]
    shown = any("calibkit-explorer" in str(c.get("outputs")) for c in first)
    if not shown or any(trained):
        yield f"no slider from stored results within the first {OPENING} cells"


def _exercises(notebook) -> Iterator[str]:
    cells, asked, reasoned = notebook.cells, 0, 0
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            parts = re.split(r"^### Exercise", cell.source, flags=re.MULTILINE)[1:]
            asked += len(parts)
            reasoned += sum("<summary>Answer</summary>" in part for part in parts)
            following = cells[place + 1 : place + 2]
            if parts and following and following[0].cell_type == "code":
                continue
    if asked not in EXERCISES:
        yield f"{asked} exercises; wants {EXERCISES.start} to {EXERCISES.stop - 1}"
    if not reasoned:
        yield "no exercise asks for reasoning, with a folded <summary>Answer</summary>"
    if "<summary>Answer</summary>" not in prose(notebook).split("## Go further")[-1]:
        yield "Go further has no folded <summary>Answer</summary>"


def _verdicts(notebook, lesson: str) -> Iterator[str]:
    cells = code_cells(notebook)
    lines = {id(c): [x for x in printed(c).splitlines() if verdicts.parse(x)] for c in cells}
    shown = sum(len(lines[id(c)]) for c in cells if not hidden(c))
    if shown > VERDICTS:
        yield f"{shown} verdicts in the reader's way; wants {VERDICTS} at most, others in an aside"
    said = [verdicts.parse(line).claim for found in lines.values() for line in found]
    own = sorted({claim[2:] for claim in said if re.fullmatch(lesson + "[a-z]", claim)})
    if own != [chr(ord("a") + k) for k in range(len(own))]:
        yield f"its own claims are numbered with gaps: {', '.join(own)}"
    unchecked = [
        c for c in cells if lines[id(c)] and "nbval-check-output" not in c.metadata.get("tags", ())
    ]
    yield from (f"no nbval-check-output on the verdicts of {c.source[:40]!r}" for c in unchecked)


def _images(notebook) -> Iterator[str]:
    texts = alt_texts(notebook)
    if "" in texts:
        yield f"{texts.count('')} images have no text of their own; start the lesson with begin(SCALE, SEED, DEVICE)"
    twice = {text for text in texts if text and texts.count(text) > 1}
    yield from (f"two images have the text {text[:60]!r}" for text in sorted(twice))


def _terms(notebook, glossary: Mapping[str, str], lesson: str) -> Iterator[str]:
    """Terms of the glossary: bold where this lesson defines them, absent before that."""
    text = _plain(_without_code(prose(notebook)))
    bold = {_plain(term) for term in re.findall(r"\*\*(.+?)\*\*", prose(notebook), re.DOTALL)}
    for term, home in glossary.items():
        used = re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", text)
        if used and _place(home) > _place(lesson):
            yield f"uses {term!r}, which lesson {home} defines"
        if home == lesson and term not in bold:
            yield f"does not set {term!r} in bold, though the glossary says that it is defined here"
    for section in re.split(r"^## ", unfolded(notebook), flags=re.MULTILINE)[1:]:
        named = {_plain(term) for term in re.findall(r"\*\*(.+?)\*\*", section, re.DOTALL)}
        new = [term for term in named if glossary.get(term) == lesson]
        if len(new) > NEW_TERMS:
            head = section.splitlines()[0]
            yield f"{len(new)} new terms in {head!r}: {', '.join(sorted(new))}"


def _place(lesson: str) -> str:
    """What the lessons are read in the order of.

    >>> sorted(["17", "18", "02"], key=_place)
    ['02', '18', '17']
    """
    return "99" if lesson == LAST else lesson


def _language(notebook) -> Iterator[str]:
    text = _plain(prose(notebook))
    yield from (f"says {words!r}" for words in RIDDLES if re.search(rf"\b{words}\b", text))


def _plain_code(notebook) -> Iterator[str]:
    """What a student would have to unpick: nested comprehensions, slices with a step."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for cell in code_cells(notebook):
        if hidden(cell, "source_hidden"):
            continue
        tree = ast.parse(cell.source)
        outer = [node for node in ast.walk(tree) if isinstance(node, kinds)]
        nested = [n for o in outer for n in ast.walk(o) if n is not o and isinstance(n, kinds)]
        if nested:
            yield f"a nested comprehension in the cell {cell.source[:40]!r}"
        if any(isinstance(n, ast.Slice) and n.step is not None for n in ast.walk(tree)):
            yield f"a slice with a step in the cell {cell.source[:40]!r}"


def unfolded(notebook) -> str:
    """The prose that a reader sees who opens nothing."""
    return re.sub(r"<details>.*?</details>", "", prose(notebook), flags=re.DOTALL)


def _without_code(text: str) -> str:
    """The words of a text: no code, no formula, no link to a lesson, no text of a picture."""
    code = r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$"
    links = r"!?\[[^\]]*\]\((?:\d\d_\w+\.ipynb|images/[^)]*)\)|\]\([^)]*\)"
    return re.sub(rf"{code}|{links}", " ", text, flags=re.DOTALL)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[*_]", "", text)).strip(" .,:").lower()


def _excerpt(text: str, start: str) -> str:
    return repr(text[text.index(start) :][:60])
