"""Costs, regret and net benefit: by hand, against closed forms, and against drawn labels."""

import numpy as np
import pytest
import torch

from calibkit import metrics

RATIOS = [1, 2.3, 5, 20, 50]


def rows(n=4000, classes=2, seed=0, steep=2.0):
    """Rows of a model, and the posterior from which they stray."""
    generator = torch.Generator().manual_seed(seed)
    known = 2 * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    said = steep * (known + 0.7 * torch.randn(n, classes, generator=generator).double())
    return said.softmax(dim=1), known.softmax(dim=1)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_alarm_is_given_above_the_textbook_threshold(ratio):
    score = torch.linspace(0, 1, 1001, dtype=torch.float64)
    away = (score - 1 / (1 + ratio)).abs() > 1e-9  # at the threshold both cost the same
    found = metrics.cheapest_action(torch.stack([1 - score, score], 1), metrics.alarm_costs(ratio))
    assert torch.equal(found[away], (score > 1 / (1 + ratio)).long()[away])


@pytest.mark.parametrize("ratio", RATIOS)
def test_regret_is_the_distance_to_the_threshold_where_it_lies_between(ratio):
    probs, known = rows()
    p, q, t = probs[:, 1], known[:, 1], 1 / (1 + ratio)
    expected = ((1 + ratio) * (q - t).abs() * ((p > t) != (q > t))).mean()
    found = metrics.regret(probs, known, metrics.alarm_costs(ratio))
    assert found == pytest.approx(float(expected), abs=1e-12)


def test_the_cheapest_action_is_that_of_the_loop():
    probs, _ = rows(50, 4)
    costs = torch.rand(6, 4, generator=torch.Generator().manual_seed(1)).double()
    loop = [int(np.argmin([float((row * cost).sum()) for cost in costs])) for row in probs]
    assert metrics.cheapest_action(probs, costs).tolist() == loop


@pytest.mark.parametrize("ratio", RATIOS)
def test_net_benefit_is_the_base_rate_less_the_cost_of_an_event(ratio):
    probs, known = rows()
    for truth, happened in ((known, known[:, 1]), ((y := known.argmax(dim=1)), y), (y, y.bool())):
        cost = metrics.decision_cost(probs, truth, metrics.alarm_costs(ratio))
        rate = float(happened.double().mean())
        found = metrics.net_benefit(probs[:, 1], happened, threshold=1 / (1 + ratio))
        assert found == pytest.approx(rate - cost / ratio, abs=1e-12)


def test_a_score_on_the_threshold_acts():
    assert metrics.net_benefit([0.5, 0.4], [1, 1], threshold=0.5) == 0.5


@pytest.mark.parametrize("truth", ["labels", "posterior"])
def test_a_row_of_weight_two_is_two_rows(truth):
    probs, known = rows(30, 3)
    given_ = known if truth == "posterior" else known.argmax(dim=1)
    costs = torch.rand(4, 3, generator=torch.Generator().manual_seed(5))
    weights = torch.arange(30) % 3
    kept = weights.bool().nonzero()[:, 0].repeat_interleave(weights[weights > 0])
    weighed = metrics.decision_cost(probs, given_, costs, weights=weights)
    assert weighed == pytest.approx(metrics.decision_cost(probs[kept], given_[kept], costs))
    if truth == "posterior":
        found = metrics.regret(probs, known, costs, weights=weights)
        assert found == pytest.approx(metrics.regret(probs[kept], known[kept], costs))
    happened = known[:, 1]
    found = metrics.net_benefit(probs[:, 1], happened, threshold=0.3, weights=weights)
    expected = metrics.net_benefit(probs[kept, 1], happened[kept], threshold=0.3)
    assert found == pytest.approx(expected)
