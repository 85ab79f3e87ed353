"""What a lesson folds, and the words that stand in its place.

JupyterLab shows the first line of a folded output, which would tell the answer to a prediction. So
the folded outputs of the committed notebooks begin with words. Whoever runs a cell unfolds it.
"""

from __future__ import annotations

from typing import Any

WORDS = {
    "answer": "Folded: write down your guess first, then run this cell.",
    "aside": "Folded: run this cell, or click here.",
}
# JupyterLab shows one line of a cell whose code and output are both folded: the first of its code.
GUESS = "# your guess first, then run this cell"
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

    words = next((WORDS[tag] for tag in cell.metadata.get("tags", ()) if tag in WORDS), None)
    if words and cell.get("outputs"):
        cell.outputs.insert(0, new_output("display_data", {"text/plain": words}))


def uncovered(cell) -> None:
    """Take the words away, for pages that fold in their own way."""
    if "outputs" in cell:
        cell.outputs = [output for output in cell.outputs if not is_cover(output)]
