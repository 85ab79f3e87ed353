"""Right answers pass, and each mistake of a table is named.

Once 1,213 answers, written from the texts of the exercises alone, were asked: all right ones
passed, all wrong ones were refused. What general mistakes are called is tested in `test_engine.py`,
that small changes of a solution are refused in `test_mutants.py`.
"""

from itertools import groupby

import pytest
import torch

from calibkit.course import check
from tests.course.check.right_answers import RIGHT

EXERCISES = sorted(check.EXERCISES)
each = pytest.mark.parametrize("name", EXERCISES)


def test_every_exercise_has_a_right_answer():
    assert set(RIGHT) == set(EXERCISES)


@each
def test_no_right_answer_is_refused(name):
    reply = check.EXERCISES[name](RIGHT[name])
    assert reply, reply
    assert repr(reply).startswith("Correct")


@each
def test_every_mistake_has_a_hint_of_its_own(name):
    """Several ways of making one mistake share its hint, and stand together."""
    hints = [hint for hint, _ in groupby(one.hint for one in check.EXERCISES[name].mistakes)]
    assert len(set(hints)) == len(hints) >= 3


@each
def test_every_known_mistake_is_told_by_its_own_hint(name):
    exercise = check.EXERCISES[name]
    for mistake in exercise.mistakes:
        reply = exercise(mistake.function)
        assert not reply, mistake.hint
        assert mistake.hint in reply.text or "raised" in reply.text, (mistake.hint, reply)


@each
def test_what_a_student_sees_with_a_question_mark(name):
    exercise = check.EXERCISES[name]
    assert len(exercise.cases) >= 5
    assert exercise.__doc__.startswith(exercise.reference.__doc__)
    assert f"check.{name}(your_function)" in repr(exercise)


@pytest.mark.parametrize("case", list(check.signed_gap.inputs)[:3])
def test_the_last_class_is_no_label_of_the_ordinary_cases(case):
    """So that a number of classes that was taken from the labels shows."""
    probs, labels = check.signed_gap.inputs[case].values()
    assert labels.max() < probs.shape[1] - 1


def test_rows_that_are_nearly_certain_sum_to_1():
    """A right answer may use the sum: log K minus a divergence is the entropy where it is 1."""
    probs = check.top_entropy.inputs["rows that are nearly certain"]["probs"]
    assert probs.dtype == torch.float64
    assert (probs >= 0).all()
    assert (probs.sum(dim=1) - 1).abs().max() < 1e-15
