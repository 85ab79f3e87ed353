"""Hidden cases pass right answers and none learned by heart; the library's own are withheld."""

import functools
import importlib
import inspect

import pytest
import torch

from calibkit.course import check
from calibkit.course.classroom import editions, unseen, worker
from tests.course.check import right_answers
from tests.course.classroom.course import CHECKED

each = pytest.mark.parametrize("name", sorted(check.EXERCISES))
SEEDS = range(2)


def only_hidden(name, seed):
    exercise = check.EXERCISES[name]
    hidden = unseen.cases(exercise, seed)
    assert len(hidden) == unseen.CASES
    return unseen.replace(exercise, cases=hidden)


@each
def test_every_right_answer_passes_on_hidden_cases(name):
    answers = [editions.solved(CHECKED[name]), right_answers.RIGHT[name]]
    for seed in SEEDS:
        hidden = only_hidden(name, seed)
        for answer in answers:
            reply = hidden(answer)
            assert reply, (seed, reply)


@each
def test_who_learned_the_shown_cases_by_heart_fails(name):
    exercise = check.EXERCISES[name]
    shown = [(list(a.values()), exercise.reference(**a)) for a in exercise.inputs.values()]

    def same(one, other):
        if isinstance(other, torch.Tensor):
            return one.shape == other.shape and torch.equal(one, other)
        return one == other

    @functools.wraps(exercise.reference)
    def by_heart(*arguments):
        for known, result in shown:
            if all(map(same, arguments, known)):
                return result
        return 0.0

    assert exercise(by_heart)
    assert not unseen.extended(exercise, 1)(by_heart)


def withheld_now(name, patch):
    """The functions of an exercise, made to raise until `patch` is undone."""
    for held in unseen.withheld(check.EXERCISES[name], CHECKED[name].solution):
        module, _, attribute = held.partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if isinstance(found, type):
            patch.setattr(found, "__init__", found.__init__)
        else:
            found = inspect.unwrap(found)
            for part in ("__code__", "__defaults__", "__kwdefaults__"):
                patch.setattr(found, part, getattr(found, part))
        worker.withhold(held)


@each
def test_what_is_withheld_is_not_needed_for_a_right_answer(name, monkeypatch):
    exercise = unseen.extended(check.EXERCISES[name], 2)
    assert exercise(editions.solved(CHECKED[name]))  # the right results are known from now on
    withheld_now(name, monkeypatch)
    assert exercise(editions.solved(CHECKED[name]))
    if unseen.withheld(exercise, CHECKED[name].solution) and name != "strange_auroc":
        assert "own code" in " ".join(repr(exercise(exercise.reference)).split())


def test_equal_seeds_give_equal_cases_and_others_other_ones():
    one, again, other = (unseen.cases(check.ece, seed) for seed in (1, 1, 2))
    tables = [next(iter(found.values()))[0] for found in (one, again, other)]
    assert torch.equal(tables[0], tables[1])
    assert not torch.equal(tables[0], tables[2])
    assert torch.allclose(tables[0].sum(dim=1), torch.ones(len(tables[0])))


def test_the_librarys_own_answer_is_withheld_and_what_the_solution_uses_is_not():
    held = {
        name: unseen.withheld(check.EXERCISES[name], task.solution)
        for name, task in CHECKED.items()
    }
    assert held["ece"] == ["calibkit.metrics:ece", "calibkit.metrics:ece_of"]
    assert held["noise_matrix"] == ["calibkit.curation:transition_matrix"]
    assert held["mixed_labels"] == ["calibkit.mixing:Mix"]
    assert held["class_errors"] == ["calibkit.metrics:ece_by_group"]  # metrics.ece is given there
    assert held["strange_auroc"] == ["calibkit.metrics:auroc"]
    assert held["honest_choice"] == []
