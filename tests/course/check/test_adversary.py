"""An independent set of answers: nearly all wrong ones are caught, every right one passes."""

import contextlib
import io
import warnings

import numpy as np
import pytest

from calibkit.course import check
from calibkit.course.check import engine
from tests.course.check import adversary

pytestmark = pytest.mark.slow

ANSWERS = [(name, answer) for name, answers in adversary.TABLE.items() for answer in answers]


@pytest.fixture(scope="module")
def passed():
    """Whether each answer passed; what a reply says is not asked, which takes the time."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        patch.setattr(engine, "hint", lambda attempt: None)
        return [bool(check.EXERCISES[name](answer.function)) for name, answer in ANSWERS]


def test_the_set_is_large():
    kinds = [answer.kind for _, answer in ANSWERS]
    assert kinds.count("wrong") >= 500
    assert kinds.count("right") >= 200


def test_nearly_all_wrong_answers_are_caught(passed):
    wrong = [
        (name, answer.name, one)
        for (name, answer), one in zip(ANSWERS, passed, strict=True)
        if answer.kind == "wrong"
    ]
    missed = [(name, what) for name, what, one in wrong if one]
    assert len(missed) <= 0.03 * len(wrong), missed


def test_all_right_answers_are_accepted(passed):
    refused = [
        (name, answer.name)
        for (name, answer), one in zip(ANSWERS, passed, strict=True)
        if answer.kind == "right" and not one
    ]
    assert refused == []
