"""The recall questions as a quiz: Markdown for paper, GIFT for Moodle.

A question of this course is answered in a sentence or two, so in Moodle it is an essay that the
teacher reads; the answer is its general feedback, which students see after they have handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from calibkit.course.classroom import contents
from calibkit.course.classroom.contents import Question

SPECIAL = re.compile(r"([~=#{}:\\])")  # what GIFT reads as its own signs
HEAD = "Name: ______________________________ Date: ______________"
ROOM = "\n\n".join(["&nbsp;", "___"] * 2)  # two lines to write on
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)


def bank(only: Iterable[str] = ()) -> list[Question]:
    """All recall questions, lesson by lesson."""
    return [
        question
        for lesson in contents.chosen(only)
        for question in contents.questions(lesson.name, contents.committed(lesson))
    ]


def write(folder: str | Path, only: Iterable[str] = ()) -> list[Path]:
    """Write quiz.md (questions), quiz_answers.md and quiz.gift into a folder."""
    questions = bank(only)
    texts = {
        "quiz.md": markdown(questions, answers=False),
        "quiz_answers.md": markdown(questions, answers=True),
        "quiz.gift": gift(questions),
    }
    return contents.write_texts(folder, texts)


def markdown(questions: Sequence[Question], *, answers: bool) -> str:
    """The questions by lesson, with their answers, or with room for name, date and answers.

    >>> print(markdown([Question("00_start_here", 1, "Why?", "So.")], answers=True))
    # Recall questions, with answers
    <BLANKLINE>
    ## 00_start_here
    <BLANKLINE>
    **1. Why?**
    <BLANKLINE>
    So.
    <BLANKLINE>
    """
    parts = ["# Recall questions, with answers"] if answers else ["# Recall questions", HEAD]
    for lesson, asked in groupby(questions, key=lambda question: question.lesson):
        parts.append(f"## {lesson}")
        for one in asked:
            parts += [f"**{one.number}. {one.text}**", one.answer if answers else ROOM]
    return "\n\n".join(parts) + "\n"


def gift(questions: Sequence[Question]) -> str:
    r"""The questions in Moodle's GIFT format, a category for each lesson.

    >>> print(gift([Question("00_start_here", 1, "Is $p = 1$?", "No: ~0.")]).strip())
    $CATEGORY: $course$/calibkit/00_start_here
    <BLANKLINE>
    ::00_start_here 1::[html]<p>Is \\( p \= 1 \\)?</p>{####<p>No\: \~0.</p>}
    """
    parts = []
    for lesson, asked in groupby(questions, key=lambda question: question.lesson):
        parts.append(f"$CATEGORY: $course$/calibkit/{lesson}")
        for one in asked:
            text, answer = (escaped(html(part)) for part in (one.text, one.answer))
            parts.append(f"::{lesson} {one.number}::[html]{text}{{####{answer}}}")
    return "\n\n".join(parts) + "\n"


def html(text: str) -> str:
    r"""Markdown as HTML, with formulas as Moodle's MathJax reads them.

    >>> html("*One* of $K$.")
    '<p><em>One</em> of \\( K \\).</p>'
    """
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    def formula(match: re.Match) -> str:
        return f"$${match[1]}$$" if match[1] else rf"\( {match[2]} \)"  # apart, or in a line

    return FORMULA.sub(formula, markdown2html_mistune(text).strip())


def escaped(text: str) -> str:
    r"""Text in which GIFT finds no sign of its own; an empty line would end the question.

    >>> escaped("a = {b}")
    'a \\= \\{b\\}'
    """
    return SPECIAL.sub(r"\\\1", text).replace("\n", r"\n")
