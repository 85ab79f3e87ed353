"""The quiz bank: all recall questions, and GIFT that reads back as it was meant."""

import re

import pytest

from calibkit.course.classroom import contents, quiz
from calibkit.course.classroom.contents import Question
from tests.course.classroom.course import PROSE

BANK = quiz.bank()


def parsed(text):
    """A small reader of GIFT: (category, name, format, question, feedback) of each essay.

    Written from Moodle's description: questions are apart by an empty line, a backslash before one
    of ~ = # { } : takes away its meaning, and #### opens the general feedback of an essay.
    """
    category, found = None, []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("$CATEGORY:"):
            category = block.removeprefix("$CATEGORY:").strip()
            continue
        match = re.fullmatch(
            r"::((?:\\.|[^:\\])*)::\[(\w+)\]((?:\\.|[^{}\\])*)\{####((?:\\.|[^{}\\=~#])*)\}", block
        )
        assert match, block
        name, form, asked, told = match.groups()
        found.append((category, name, form, plain(asked), plain(told)))
    return found


def plain(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def test_the_bank_has_every_recall_question():
    count = sum(contents.section(text, "Recall").count("<summary>") for text in PROSE.values())
    assert len(BANK) == count >= 3 * len(PROSE)


def test_every_question_reads_back_from_gift():
    again = parsed(quiz.gift(BANK))
    assert len(again) == len(BANK)
    assert len({(category, name) for category, name, *_ in again}) == len(BANK)
    for one, (category, name, form, asked, told) in zip(BANK, again, strict=True):
        assert category == f"$course$/calibkit/{one.lesson}"
        assert name == f"{one.lesson} {one.number}"
        assert form == "html"
        assert (asked, told) == (quiz.html(one.text), quiz.html(one.answer))


@pytest.mark.parametrize("nasty", ["{a} = ~b # c: d \\ e", "a\n\nb", "``x = {1: 2}``", "::x::"])
def test_signs_of_gift_come_through(nasty):
    ((_, _, _, asked, told),) = parsed(quiz.gift([Question("00", 1, nasty, nasty)]))
    assert asked == told == quiz.html(nasty)


def test_formulas_are_moodles():
    assert r"\( \tilde q_i \)" in quiz.html(r"What is $\tilde q_i$?")
    assert "$$x$$" in quiz.html("$$x$$")


def test_markdown_with_and_without_answers(tmp_path):
    paths = {path.name: path.read_text(encoding="utf-8") for path in quiz.write(tmp_path, ["06"])}
    assert "18 %" in paths["quiz_answers.md"]
    assert "18 %" not in paths["quiz.md"]
    assert paths["quiz.md"].count("**1. ") == 1
    assert "Name: ___" in paths["quiz.md"].splitlines()[2]
    page = quiz.html(paths["quiz.md"])
    questions = len(quiz.bank(["06"]))
    assert page.count("<hr") == 2 * questions  # lines to write on
    assert "___" not in paths["quiz_answers.md"]
