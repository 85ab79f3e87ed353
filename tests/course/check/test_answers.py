"""Right answers pass, and each mistake of a table is named.

Once 1,213 answers, written from the texts of the exercises alone, were asked: all right ones
passed, all wrong ones were refused. What general mistakes are called is tested in `test_engine.py`,
that small changes of a solution are refused in `test_mutants.py`.
"""

from itertools import groupby, zip_longest
from pathlib import Path

import numpy as np
import pytest
import torch

from calibkit.course import check
from calibkit.course.check import running
from tests.course.check.right_answers import RIGHT

EXERCISES = sorted(check.EXERCISES)
each = pytest.mark.parametrize("name", EXERCISES)
# by exercise the powers of ten of its tolerances, then a number for what each mistake makes
MADE = Path(__file__).with_name("mistakes.txt").read_text("utf-8").splitlines()


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


def made(exercise, mistake):
    """One number for all results of a mistake on the cases, for their order and signs as well."""
    total = 0.0
    for case, arguments in enumerate(exercise.inputs.values()):
        try:
            values = running.numbers(mistake.function(*arguments.values()))
        except Exception:
            values = np.array([np.e] * case)
        flat = np.nan_to_num(values, nan=7.0, posinf=1e9, neginf=-1e9).ravel()
        weights = (2 + np.cos(np.arange(flat.size) + case)) * np.sign(flat)
        total += float(weights @ np.log1p(np.abs(flat))) + values.ndim / 8
    return total


@each
def test_every_known_mistake_makes_what_it_made(name):
    """Its own hint fits whatever it makes: only numbers put down tell that it is another now."""
    exercise = check.EXERCISES[name]
    parts = ["tolerance", "absolute", *(mistake.hint for mistake in exercise.mistakes)]
    now = [*np.log10([exercise.tolerance, exercise.absolute]).tolist()]
    now += [made(exercise, mistake) for mistake in exercise.mistakes]
    then = next((map(float, row.split()[1:]) for row in MADE if row.split()[0] == name), [])
    pairs = zip_longest(parts, now, then, fillvalue=np.nan)
    other = [part for part, new, old in pairs if new != pytest.approx(old, rel=1e-4, abs=1e-4)]
    line = " ".join([name, *(f"{x:.6g}" for x in now)])
    assert not other, f"where that was meant, write into mistakes.txt: {line}"


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
