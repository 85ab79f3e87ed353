"""Right answers pass in any style, wrong ones are refused, most with the name of the mistake."""

import re
import warnings
from itertools import groupby

import numpy as np
import pytest
import torch

from calibkit.course import check
from calibkit.course.check import running
from tests.course.check import known_mistakes, right_answers, wrong_answers

EXERCISES = sorted(check.EXERCISES)
RIGHT = {name: [known_mistakes.RIGHT[name], *right_answers.RIGHT[name]] for name in EXERCISES}
WRONG = wrong_answers.WRONG


@pytest.fixture(scope="module")
def replies():
    """(name of the exercise, expected word or None, reply) for each wrong answer of both tables."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(running, "SECONDS", 1.0)
        warnings.simplefilter("ignore")
        return [
            (name, word, check.EXERCISES[name](answer))
            for name in EXERCISES
            for answer, word in WRONG[name] + known_mistakes.WRONG[name]
        ]


def test_the_tables_are_large():
    assert sum(map(len, RIGHT.values())) >= 120
    assert sum(map(len, WRONG.values())) >= 300
    assert min(map(len, WRONG.values())) >= 20


@pytest.mark.parametrize("name", EXERCISES)
def test_no_right_answer_is_refused(name):
    for answer in RIGHT[name]:
        reply = check.EXERCISES[name](answer)
        assert reply, reply
        assert repr(reply).startswith("Correct")


def test_no_wrong_answer_passes(replies):
    passed = [(name, word) for name, word, reply in replies if reply]
    assert passed == []


def test_a_mistake_with_a_name_is_named(replies):
    silent = [
        (word, reply)
        for _, word, reply in replies
        if word and word not in reply.text and not re.search(word, reply.text)
    ]
    assert silent == []


def test_most_mistakes_are_named(replies):
    named = sum(word is not None for _, word, _ in replies)
    assert named >= 0.6 * len(replies)


@pytest.mark.parametrize("name", EXERCISES)
def test_a_stub_is_told_not_yet(name):
    def raises(*_):
        raise NotImplementedError

    for stub in (lambda *_: None, lambda *_: ..., raises):
        reply = check.EXERCISES[name](stub)
        assert not reply
        assert repr(reply).startswith("Not yet")


@pytest.mark.parametrize("name", EXERCISES)
def test_every_mistake_has_a_hint_of_its_own(name):
    """Several ways of making one mistake share its hint, and stand together."""
    hints = [hint for hint, _ in groupby(one.hint for one in check.EXERCISES[name].mistakes)]
    assert len(set(hints)) == len(hints) >= 3


@pytest.mark.parametrize("name", EXERCISES)
def test_every_known_mistake_is_told_by_its_own_hint(name):
    exercise = check.EXERCISES[name]
    for mistake in exercise.mistakes:
        reply = exercise(mistake.function)
        assert not reply, mistake.hint
        assert mistake.hint in reply.text or "raised" in reply.text, (mistake.hint, reply)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_unknown_mistake_is_shown_a_case(name):
    assert "yours is 42" in check.EXERCISES[name](lambda *_: 42.0).text


@pytest.mark.parametrize("name", EXERCISES)
def test_what_a_student_sees_with_a_question_mark(name):
    exercise = check.EXERCISES[name]
    assert exercise.__doc__.startswith(exercise.reference.__doc__)
    assert f"check.{name}(your_function)" in repr(exercise)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_cases_have_different_names_and_start_with_an_ordinary_one(name):
    assert len(check.EXERCISES[name].cases) >= 5


def test_rows_that_are_nearly_certain_sum_to_1():
    """A right answer may use the sum: log K minus a divergence is the entropy where it is 1."""
    probs = check.top_entropy.inputs["rows that are nearly certain"]["probs"]
    assert probs.dtype == torch.float64
    assert (probs >= 0).all()
    assert (probs.sum(dim=1) - 1).abs().max() < 1e-15
