"""Ways to ask how sure a model of the world of facts is, and how they are judged."""

import functools
import math

import pytest
import torch
from study import asking
from study.asking import Answered

from calibkit.course.experiments import answers, facts


@functools.cache
def known():
    return answers.learned(seed=1, sentences=600, steps=40)


def test_the_questions_that_teach_are_not_those_that_judge():
    world = facts.world()
    learn, judge = (answers.asked(world, 500, 3, learn=learn) for learn in (True, False))
    assert not set(learn.tolist()) & set(judge.tolist())


def test_the_exact_law_of_wordings_sums_to_the_law_of_places():
    world = facts.world()
    exact = facts.posterior(world, facts.text(world, 400))[:50]
    torch.testing.assert_close(answers.by_meaning(exact @ facts.SAYING), exact)
    best = asking.most_probable_meaning(exact @ facts.SAYING)
    assert asking.judged(best, exact)["error"] == pytest.approx(0, abs=1e-12)
    alone = asking.most_probable_wording(exact @ facts.SAYING)
    assert (alone.confidence <= best.confidence + 1e-12).all()


def test_asking_again_is_right_on_average_and_counts_what_is_no_answer():
    law = torch.zeros(4_000, len(facts.ANSWERS), dtype=torch.float64)
    law[:, 0], law[:, 1] = 0.45, 0.35  # istanbul, by two names; the rest is no place
    found = asking.asked_again(law, times=10, seed=1)
    error = math.sqrt(0.8 * 0.2 / 10 / 4_000)
    assert set(found.place.tolist()) == {0}
    assert found.confidence.mean().item() == pytest.approx(0.8, abs=3 * error)


def test_judging_by_hand():
    posterior = torch.tensor([[0.9, 0.1], [0.5, 0.5]], dtype=torch.float64)
    said = Answered(torch.tensor([0, 1]), torch.tensor([0.7, 0.7], dtype=torch.float64))
    found = asking.judged(said, posterior)
    assert found["accuracy"] == pytest.approx(0.7)
    assert found["ece"] == pytest.approx(0.0, abs=1e-12)  # one bin, in which they cancel
    assert found["error"] == pytest.approx(0.2)
    # both are looked up, in vain with probabilities .9 and .5; acting on the first costs 4 x .1
    assert found["regret"] == pytest.approx((0.9 - 0.4) / 2)


def test_all_ways_give_answers_with_probabilities():
    question = answers.asked(known().world, 60)
    about = asking.taught(known())
    found = asking.all_ways(known(), about, facts.prompts(question))
    assert tuple(found) == answers.WAYS
    for said in found.values():
        assert said.place.shape == said.confidence.shape == (60,)
        assert 0 <= said.confidence.min() <= said.confidence.max() <= 1


def test_the_stored_table_says_what_the_lesson_says():
    table = answers.stored()
    assert sorted(table.seed.unique()) == list(range(5))
    assert set(table.way) == {"exact posterior", *answers.WAYS}
    every = table[table.told == "all"].set_index(["way", "seed"])
    gap = every.confidence - every.accuracy
    assert abs(gap["by meaning"].mean()) < 0.05 < every.error["by meaning"].min()
    assert (every.error["by wording"] > every.error["by meaning"]).all()
