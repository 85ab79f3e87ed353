"""Two independent sets of answers: nearly all wrong ones are caught, every right one passes."""

import contextlib
import io
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibkit.course import check
from calibkit.course.check import engine
from tests.course.check import adversary, adversary_second

pytestmark = pytest.mark.slow

SETS = {
    one.__name__.rpartition(".")[2]: [
        (name, answer) for name, answers in one.TABLE.items() for answer in answers
    ]
    for one in (adversary, adversary_second)
}
LEAST = {"adversary": (500, 200), "adversary_second": (280, 80)}  # wrong, right
OUTCOME = Path(__file__).with_name("adversary_second_outcome.csv")


@pytest.fixture(scope="module", params=SETS)
def passed(request):
    """A set by its name, and whether each of its answers passed; what a reply says takes the time,
    and is not asked.
    """
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        patch.setattr(engine, "hint", lambda attempt: None)
        return request.param, [
            bool(check.EXERCISES[name](answer.function)) for name, answer in SETS[request.param]
        ]


@pytest.mark.parametrize("name", SETS)
def test_the_set_is_large(name):
    kinds = Counter(answer.kind for _, answer in SETS[name])
    assert (kinds["wrong"], kinds["right"]) >= LEAST[name]
    assert kinds["right"] >= LEAST[name][1]


def test_nearly_all_wrong_answers_are_caught(passed):
    name, found = passed
    wrong = [
        (exercise, answer.name, one)
        for (exercise, answer), one in zip(SETS[name], found, strict=True)
        if answer.kind == "wrong"
    ]
    missed = [(exercise, what) for exercise, what, one in wrong if one]
    assert len(missed) <= 0.03 * len(wrong), missed


def test_all_right_answers_are_accepted(passed):
    name, found = passed
    refused = [
        (exercise, answer.name)
        for (exercise, answer), one in zip(SETS[name], found, strict=True)
        if answer.kind == "right" and not one
    ]
    assert refused == []


def test_the_table_of_the_outcome_has_each_wrong_answer():
    """What the replies were judged to be: `named`, `vague`, `misleading`, or `missed`."""
    outcome = pd.read_csv(OUTCOME)
    asked = [(e, a.name) for e, a in SETS["adversary_second"] if a.kind == "wrong"]
    assert [*zip(outcome.exercise, outcome.mistake, strict=True)] == asked
    for column, least in (("before", 0.7), ("after", 0.8)):
        share = outcome[column].value_counts(normalize=True)
        assert share["named"] >= least
        assert share.get("missed", 0) <= 0.03
    assert "misleading" not in set(outcome.after)
