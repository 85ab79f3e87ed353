"""Rewards: the closed form against what it maximises, and policy gradient on the way there."""

import functools
import math

import pytest
import torch

from calibkit.course.experiments import answers, facts, rewards
from calibkit.course.experiments.rewards import STATED


@functools.cache
def known():
    return answers.learned(seed=2, sentences=600, steps=120)


def rows(n=6, k=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, k, generator=generator, dtype=torch.float64).softmax(dim=1)


@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
def test_no_law_does_better_than_the_closed_form(beta):
    law, reward = rows(), rows(seed=1)
    best = rewards.optimum(law, reward, beta)
    most = rewards.objective(best, law, reward, beta)
    # log of the normaliser, which is what the maximum must be
    expected = beta * (law * (reward / beta).exp()).sum(dim=1).log().mean().item()
    assert most == pytest.approx(expected)
    for seed in range(50):
        other = (best.log() + 0.1 * rows(seed=seed + 2).log()).softmax(dim=1)
        assert rewards.objective(other, law, reward, beta) < most


def test_the_expected_gradient_of_the_draws_is_nothing_at_the_closed_form():
    """REINFORCE with baseline, as in `policy_gradient`, on logits of one question."""
    law, chance, beta, n = rows(1), rows(1, seed=3), 0.4, 200_000
    best = rewards.optimum(law, chance, beta)[0]
    drawn = torch.multinomial(best, n, True, generator=torch.Generator().manual_seed(0))
    gain = chance[0, drawn] - beta * (best / law[0]).log()[drawn]
    score = torch.nn.functional.one_hot(drawn, 5).double() - best
    each = (gain - gain.mean())[:, None] * score
    assert (each.mean(dim=0).abs() <= 3 * each.std(dim=0) / math.sqrt(n) + 1e-12).all()
    away = law[0]
    drawn = torch.multinomial(away, n, True, generator=torch.Generator().manual_seed(0))
    each = (chance[0, drawn] - chance[0, drawn].mean())[:, None]
    each = each * (torch.nn.functional.one_hot(drawn, 5).double() - away)
    assert (each.mean(dim=0).abs() > 3 * each.std(dim=0) / math.sqrt(n)).any()


def test_a_reward_makes_the_posterior_sure_and_leaves_the_answer():
    law = rows(200)
    means = [rewards.optimum(law, law, beta).amax(dim=1).mean() for beta in (10.0, 1.0, 0.1)]
    assert law.amax(dim=1).mean() < means[0] < means[1] < means[2]
    assert torch.equal(rewards.optimum(law, law, 0.1).argmax(dim=1), law.argmax(dim=1))


def test_the_brier_reward_is_largest_where_the_chance_is_stated():
    for chance in STATED.tolist():
        mean = chance * rewards.brier_reward(torch.ones(()), STATED)
        mean = mean + (1 - chance) * rewards.brier_reward(torch.zeros(()), STATED)
        assert STATED[mean.argmax()].item() == pytest.approx(chance)
        assert mean.max().item() == pytest.approx(chance**2)


def test_under_the_brier_reward_what_is_stated_is_the_posterior():
    law, posterior = rows(300), rows(300, seed=7)
    best = rewards.stated_optimum(law, posterior, 0.01)
    torch.testing.assert_close(best.sum(dim=(1, 2)), torch.ones(300, dtype=torch.float64))
    pair = best.flatten(1).argmax(dim=1)
    chance = posterior.gather(1, (pair // 11)[:, None])[:, 0]
    assert (STATED[pair % 11] - chance).abs().max() <= 0.05 + 1e-9


def test_policy_gradient_goes_towards_the_closed_form():
    question = answers.asked(known().world, 300)
    prompts, exact = facts.prompts(question), known().posterior[question]
    law = rewards.normed(answers.by_wording(known().model, prompts))
    found = []

    def watch(step, policy):
        if step in (0, 25):
            now = rewards.normed(answers.by_wording(policy, prompts))
            found.append(rewards.objective(now, law, exact, 0.3))

    rewards.policy_gradient(known(), 0.3, steps=25, lr=1e-3, seed=1, watch=watch)
    best = rewards.objective(rewards.optimum(law, exact, 0.3), law, exact, 0.3)
    assert found[0] < found[1] < best


@pytest.mark.parametrize(
    "call",
    [
        lambda: rewards.optimum(rows(), rows(), 0.0),
        lambda: rewards.policy_gradient(known(), -1.0),
    ],
)
def test_a_beta_of_nothing_is_refused(call):
    with pytest.raises(ValueError, match="beta"):
        call()


def test_the_stored_table_approaches_the_closed_form():
    table = rewards.stored()
    assert sorted(table.seed.unique()) == list(range(5))
    for _, own in table.groupby("seed"):
        steps = own[own.law == "policy"].set_index("step").objective
        best = own[own.law == "best"].objective.item()
        assert steps[0] < steps[steps.index.max()] < best
