"""A policy that states a confidence and is rewarded by a proper score."""

import functools
import math

import pytest
import torch
from study import stated

from calibkit.course.experiments import answers, facts, rewards
from calibkit.course.experiments.facts import PLACE_OF
from calibkit.course.experiments.rewards import STATED


@functools.cache
def known():
    return answers.learned(seed=2, sentences=600, steps=60)


def asked(n=30):
    question = answers.asked(known().world, n)
    return facts.prompts(question), known().posterior[question]


def test_the_law_of_pairs_sums_to_one_and_is_that_of_the_words():
    prompts, _ = asked(5)
    law = stated.pairs(known().model, prompts)
    torch.testing.assert_close(law.joint.sum(dim=1), torch.ones(5, dtype=torch.float64))
    said = torch.tensor([3, 0, 9, 20, 1])
    with torch.no_grad():
        alone = rewards.says(known().model, prompts, said).exp().double()
    torch.testing.assert_close(law.says[torch.arange(5), said], alone, atol=1e-5, rtol=1e-4)
    places = stated.by_place(law.joint)
    meanings = rewards.normed(law.wordings)
    torch.testing.assert_close(places.sum(dim=2), meanings)


def test_what_is_stated_by_hand():
    law = torch.zeros(1, len(facts.PLACES), 11, dtype=torch.float64)
    law[0, 4, 6], law[0, 4, 9], law[0, 2, 1] = 0.4, 0.2, 0.4
    mean, most = stated.mean_stated(law), stated.most_stated(law)
    assert mean.place.item() == most.place.item() == 4
    assert mean.confidence.item() == pytest.approx(0.7)
    assert most.confidence.item() == pytest.approx(0.6)


def test_the_mean_reward_is_that_of_rights_that_are_drawn():
    chance, n = torch.tensor(0.3, dtype=torch.float64), 40_000
    right = (torch.rand(n, generator=torch.Generator().manual_seed(0)) < chance).double()
    for said in STATED:
        drawn = rewards.brier_reward(right, said)
        error = drawn.std() / math.sqrt(n)
        assert abs(drawn.mean() - rewards.mean_brier_reward(chance, said)) <= 3.5 * error + 1e-9


def test_no_law_of_pairs_does_better_than_the_closed_form():
    prompts, exact = asked(8)
    law = stated.pairs(known().model, prompts)
    chance = exact[:, PLACE_OF]
    reward = rewards.mean_brier_reward(chance[..., None], STATED).flatten(1)
    best = rewards.stated_optimum(law.wordings, chance, 0.2, law.says).flatten(1)
    most = rewards.objective(best, law.joint, reward, 0.2)
    expected = 0.2 * (law.joint * (reward / 0.2).exp()).sum(dim=1).log().mean().item()
    assert most == pytest.approx(expected)
    for seed in range(10):
        noise = torch.randn(best.shape, generator=torch.Generator().manual_seed(seed))
        other = (best.log() + 0.1 * noise.double()).softmax(dim=1)
        assert rewards.objective(other, law.joint, reward, 0.2) < most


def test_policy_gradient_with_the_brier_reward_goes_towards_the_closed_form():
    prompts, exact = asked()
    before = stated.pairs(known().model, prompts)
    chance = exact[:, PLACE_OF]
    reward = rewards.mean_brier_reward(chance[..., None], STATED).flatten(1)
    best = rewards.stated_optimum(before.wordings, chance, 0.1, before.says).flatten(1)
    policy = rewards.policy_gradient(known(), 0.1, stated=True, steps=25, lr=2e-3, seed=1)
    now = stated.pairs(policy, prompts).joint
    values = [rewards.objective(law, before.joint, reward, 0.1) for law in (before.joint, now)]
    assert values[0] < values[1] < rewards.objective(best, before.joint, reward, 0.1)
    assert rewards.distance(now, best) < rewards.distance(before.joint, best)


def test_scoring_the_own_probability_would_not_be_proper():
    """Why a confidence is stated: E[2 c q - q^2] over draws from q is not largest at q = c."""
    chance = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)

    def score(law):
        return (law * rewards.mean_brier_reward(chance, law)).sum().item()

    sharper = torch.tensor([0.85, 0.1, 0.05], dtype=torch.float64)
    assert score(sharper) > score(chance)


def test_in_the_stored_table_no_law_has_more_reward_than_the_closed_form():
    table = stated.stored()
    assert sorted(table.seed.unique()) == [0, 1, 2, 3, 4]
    whole = table[(table.told == "all") & (table.way == "stated, most")]
    assert [*whole.step.unique()] == [-1, 0, 100, 200]
    by_law = whole.pivot_table(index="seed", columns="step", values="objective")
    assert (by_law[-1] > by_law[[0, 100, 200]].max(axis=1)).all()
    assert (whole[whole.law == "best"].distance == 0).all()
