"""What a kit's source leaves open, filled from the lessons as they were run.

    {{ 00 | the network: +right on ([\\d.]+%) }}   what the group of the pattern found in a print
    {{ figure 00 | reliability diagram }}          a figure, by words of its text
    {{ slider temperature | 2.8 }}                 a stored slider at this position, with its words
    {{ readout temperature | 2.8 | ECE ([\\d.]+ %) }}  a number of those words
    {{ quiz 00 | 2 3 4 }}                          recall questions; answers 00 | 2 3 4 with answers
    {{ rubric 00 | a rule for the clinic }}        the table of an exercise in words
    {{ exercise 00 | signed_gap }}                 task, solution and known mistakes of a checker

A place that nothing fills, or that two things fill, is a KitError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

from calibkit.course import explorers
from calibkit.course.classroom import contents, editions, handouts, rubrics

PLACE = re.compile(r"\{\{ (?P<kind>(?:[a-z]+ )?\w+) \| (?P<what>.+?) \}\}")
PER_CENT = re.compile(r"(?<=\d)%")


class KitError(ValueError):
    """A kit's source that cannot become a kit, with the place and what is wrong with it."""


def fill(text: str) -> str:
    """The text with every place filled."""

    def filled(place: re.Match) -> str:
        kind, _, name = place["kind"].rpartition(" ")
        if kind not in FILLINGS:
            raise KitError(f"{place[0]}: there is no {kind}; there are {', '.join(FILLINGS)}")
        try:
            return FILLINGS[kind](name, place["what"])
        except (ValueError, FileNotFoundError, re.error) as error:
            raise KitError(f"{place[0]}: {error}") from None

    made = PLACE.sub(filled, text)
    left = re.search(r"\{\{.*", made)
    if left:
        raise KitError(f"this place cannot be read: {left[0]}")
    return made


def printed(notebook) -> str:
    """All that the cells of a notebook printed, tables too, one output a paragraph."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "\n\n".join(texts)


def found(text: str, pattern: str) -> str:
    r"""The one thing that the group of the pattern finds in a text.

    Raises ValueError for none, and for several that differ.

    >>> found("ECE 14.4% before", r"ECE ([\d.]+%)")
    '14.4 %'
    """
    form = re.compile(pattern, re.MULTILINE)
    if form.groups != 1:
        raise ValueError("the pattern must have one group")
    hits = {*form.findall(text)}
    if len(hits) != 1:
        raise ValueError(f"{len(hits)} different things fit, not one" if hits else "nothing fits")
    (hit,) = hits
    return PER_CENT.sub(" %", hit)


@cache
def _notebook(number: str) -> tuple:
    """A lesson's name and its notebook."""
    (lesson,) = contents.chosen([number])
    return lesson.name, contents.committed(lesson)


def _figure(number: str, words: str) -> str:
    notebook = _notebook(number)[1]
    images = [one for cell in notebook.cells for one in handouts.images(cell) if words in one[1]]
    if len(images) != 1:
        raise ValueError(f"{len(images)} figures have these words in their text, not one")
    return f"<figure>{handouts.image(*images[0])}</figure>"


def _at(name: str, value: str) -> explorers.Frame:
    try:
        return handouts.frames(name, [tuple(value.split(", "))])[0]
    except KeyError:
        raise ValueError(f"the slider {name} has no position {value}") from None


def _questions(number: str, which: str) -> list[contents.Question]:
    asked = {one.number: one for one in contents.questions(*_notebook(number))}
    wanted = [int(word) for word in which.split()]
    if not {*wanted} <= {*asked}:
        raise ValueError(f"lesson {number} has the questions {', '.join(map(str, asked))}")
    return [asked[one] for one in wanted]


def _rubric(number: str, title: str) -> str:
    for one in rubrics.every([number]):
        if one.title == title:
            return rubrics.markdown(one, level=3)
    raise ValueError("no rubric has this title")


def _exercise(number: str, checker: str) -> str:
    tasks = [task for task in contents.exercises(*_notebook(number)) if task.checker == checker]
    if not tasks:
        raise ValueError("the lesson has no such exercise")
    (task,) = tasks
    mistakes = editions.misconceptions(checker)
    return (
        f"### Exercise: {task.title} ({number}, `{checker}`)\n\n{task.text}\n\n**Expected:**\n\n"
        f"```python\n{task.solution}\n```\n\n{mistakes}"
    )


def _readout(name: str, what: str) -> str:
    value, _, pattern = what.partition(" | ")
    return found(_at(name, value).readout, pattern)


def _recall(number: str, which: str, *, answers: bool) -> str:
    asked = _questions(number, which)
    room = "&nbsp;\n\n&nbsp;"
    return "\n\n".join(f"**{one.text}**\n\n{one.answer if answers else room}" for one in asked)


FILLINGS: dict[str, Callable[[str, str], str]] = {
    "": lambda number, pattern: found(printed(_notebook(number)[1]), pattern),
    "figure": _figure,
    "slider": lambda name, value: handouts.row(_at(name, value), tag="figure"),
    "readout": _readout,
    "quiz": partial(_recall, answers=False),
    "answers": partial(_recall, answers=True),
    "rubric": _rubric,
    "exercise": _exercise,
}
