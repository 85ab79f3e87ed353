"""The numbers of an answer are those that its lesson prints."""

import re
from itertools import chain

import nbformat
import pytest

from calibkit.course import checkout
from calibkit.course.execution import PNG
from tests.notebooks.pattern import prose

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<![\w\d])\.\d+")
LESSONS = sorted((checkout.root() / "notebooks").glob("[0-9]*.ipynb"))


def printed(notebook):
    """The numbers that cells print, or that the text of a picture tells."""
    outputs = chain.from_iterable(cell.get("outputs", ()) for cell in notebook.cells)
    for output in outputs:
        told = output.get("text") or output.get("data", {}).get("text/plain", "")
        picture = output.get("metadata", {}).get(PNG, {}).get("alt", "")
        yield from (float(n.replace(",", "")) for n in NUMBER.findall(f"{told} {picture}"))


def missing(notebook):
    """Numbers in bold under "The answer" that no cell prints, as they are or as a share of 1."""
    there = [each for number in printed(notebook) for each in (number, 100 * number)]
    sections = re.split(r"(?m)^## ", prose(notebook))
    answers = "\n".join(one for one in sections if re.match(r".*[Aa]nswer\n", one))
    return [
        number
        for bold in re.findall(r"\*\*(.+?)\*\*", answers, re.DOTALL)
        for number in NUMBER.findall(bold)
        if not any(_alike(number.replace(",", ""), one) for one in there)
    ]


def _alike(number, one):
    decimals = len(number.partition(".")[2])
    return f"{one:.{decimals}f}" == f"{float(number):.{decimals}f}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_the_numbers_of_an_answer_are_printed(lesson):
    notebook = nbformat.read(lesson, 4)
    assert missing(notebook) == []
