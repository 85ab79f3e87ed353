"""Which mistake is named: one that fits where the answer fails first, and most of the cases."""

from dataclasses import FrozenInstanceError

import pytest
import torch

from calibkit.course import check
from calibkit.course.check.attempt import Mistake
from calibkit.course.check.engine import exercise


def told(answer, mistakes, cases=range(1, 9)):
    """The reply to an answer where the number itself is asked, for each of the cases."""

    @exercise(cases={f"case {x}": (float(x),) for x in cases}, mistakes=mistakes)
    def same(x):
        """The number itself."""
        return x

    return same(answer).text


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({6: 12.0, 7: 14.0, 8: 16.0}, True),
        ({6: 12.0, 7: 14.0, 8: 2.5}, True),
        ({6: 12.0, 7: 1.5, 8: 2.5}, False),  # fits one wrong case of three
        ({6: 1.5, 7: 14.0, 8: 16.0}, False),  # fits, but not where it fails first
        ({1: 5.5, 6: 12.0, 7: 14.0, 8: 16.0}, False),
    ],
)
def test_a_mistake_fits_the_first_wrong_case_and_half_of_them(given, named):
    late = {"you doubled late.": lambda x: x if x < 6 else 2 * x}
    assert ("doubled late" in told(lambda x: given.get(int(x), x), late)) is named


def test_a_mistake_that_fits_a_third_of_the_cases_is_not_blamed():
    mistakes = {"you doubled from 3 on.": lambda x: x if x < 3 else 2 * x}
    assert "doubled from 3" in told(lambda x: x if x < 3 else 2 * x, mistakes)
    assert "doubled from 3" not in told(lambda x: x if x < 8 else 2 * x, mistakes)


def test_a_mistake_is_named_where_there_is_one_case():
    assert "no seven." in told(lambda x: 7 * x, {"no seven.": lambda x: 7 * x}, [2])


def test_a_mistake_that_fits_all_cases_and_no_probe_is_said_with_perhaps():
    cases, mistakes = (1, 3, 10, 30), {"you doubled.": lambda x: 2 * x}
    assert "Not quite: you doubled." in told(lambda x: 2 * x, mistakes, cases)
    reply = told(lambda x: 2 * x if x in cases else 5 * x, mistakes, cases)
    assert "Perhaps: you doubled." in reply


def test_what_does_not_fit_everywhere_is_said_with_perhaps():
    mistakes = {"you raised it late.": lambda x: x if x < 6 else 2.3 * x}
    reply = told(lambda x: x if x < 6 or x == 8 else 2.3 * x, mistakes)
    assert "Perhaps: you raised it late." in reply


def test_an_argument_that_matters_to_nobody_is_not_called_ignored():
    @exercise(cases={"a": (1.0, 2.0), "b": (5.0, 2.0)}, mistakes={})
    def first(x, other):
        """The first of two."""
        return x

    reply = first(lambda x, other: x + x**3 / 7).text
    assert reply.startswith("Not quite")
    assert "ignored" not in reply


def test_a_mistake_stays_as_it_is():
    with pytest.raises(FrozenInstanceError):
        Mistake(abs, "the sign").hint = "other"


def test_the_misleading_replies_of_the_first_readers_are_gone():
    def larger(familiar, strange):
        won = check.strange_auroc.reference(familiar, strange)
        return max(won, 1 - won)

    assert "direction is reversed" not in check.strange_auroc(larger).text
    means = check.strange_auroc(lambda a, b: float(a.mean() > b.mean())).text
    assert "rounded up" not in means
    assert "whole" in means


def test_the_commonest_wrong_noise_matrix_is_named():
    def even(p):
        beside = p[:, None] * (1 - torch.eye(len(p))) / (len(p) - 1)
        return beside + torch.diag(1 - p)

    assert "p_i / (K - 1)" in check.noise_matrix(even).text
