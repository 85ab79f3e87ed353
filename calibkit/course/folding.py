"""What a lesson folds, and the words that stand in its place.

JupyterLab shows the first line of a folded output, which would tell the answer to a prediction. So
a folded output begins with words: in the committed notebooks (`covered`), and in JupyterLab
whenever such a cell is run (`watch`).
"""

from __future__ import annotations

from typing import Any

WORDS = {
    "answer": "Folded: write down your guess first, then click here.",
    "aside": "Folded: click here to see it.",
}
# What JupyterLab folds of a cell with this tag: the answer to a prediction, the code that only
# draws, and what few readers need.
FOLDED = {
    "answer": {"outputs_hidden": True},
    "drawing": {"source_hidden": True},
    "aside": {"source_hidden": True, "outputs_hidden": True},
}


def metadata(tags: list[str]) -> dict[str, Any]:
    """The metadata of a cell with these tags, as JupyterLab writes them, too."""
    folded = {part: True for tag in tags for part in FOLDED.get(tag, ())}
    found: dict[str, Any] = {"tags": tags} if tags else {}
    if folded:
        found["jupyter"] = folded
    if "outputs_hidden" in folded:
        found["collapsed"] = True
    return found


def is_cover(output) -> bool:
    """Whether an output is only the words that stand in the place of folded ones."""
    return output.get("data", {}).get("text/plain") in WORDS.values()


def covered(cell) -> None:
    """Let the folded outputs of a cell begin with the words."""
    from nbformat.v4 import new_output

    words = _words(cell.metadata.get("tags", []))
    if words and cell.get("outputs"):
        cell.outputs.insert(0, new_output("display_data", {"text/plain": words}))


def uncovered(cell) -> None:
    """Take the words away, for pages that fold in their own way."""
    if "outputs" in cell:
        cell.outputs = [output for output in cell.outputs if not is_cover(output)]


def watch() -> None:
    """In JupyterLab, let whatever a folded cell shows begin with the words, from now on."""
    from IPython import get_ipython

    shell = get_ipython()
    if hasattr(shell, "get_parent") and _cover not in shell.events.callbacks["pre_run_cell"]:
        shell.events.register("pre_run_cell", _cover)


def _cover(_info) -> None:
    """JupyterLab sends a cell's metadata along; nbconvert and papermill do not."""
    from IPython import display, get_ipython

    sent = get_ipython().get_parent().get("metadata", {})
    words = _words(sent.get("tags", []))
    if words and sent.get("jupyter", {}).get("outputs_hidden"):
        display.display({"text/plain": words}, raw=True)


def _words(tags: list[str]) -> str | None:
    return next((WORDS[tag] for tag in tags if tag in WORDS), None)
