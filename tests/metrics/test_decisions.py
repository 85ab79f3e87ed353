"""Costs, regret and net benefit: by hand, against closed forms, and against drawn labels."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calibkit import metrics

RATIOS = [1, 2, 5, 20, 50]


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


def test_ties_go_to_the_first_action():
    probs = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    assert metrics.cheapest_action(probs, torch.ones(3, 2)).tolist() == [0, 0]
    assert metrics.cheapest_action(probs, metrics.alarm_costs(1)).tolist() == [0, 1]


def test_without_a_third_action_even_costs_ask_for_the_most_probable_class():
    probs, known = rows(300, 5)
    even = 1 - torch.eye(5)
    assert torch.equal(metrics.cheapest_action(probs, even), probs.argmax(dim=1))
    error = 1 - metrics.accuracy(probs, known.argmax(dim=1))
    assert metrics.decision_cost(probs, known.argmax(dim=1), even) == pytest.approx(error)


@pytest.mark.parametrize("classes", [2, 6])
def test_expected_costs_are_those_of_drawn_labels_to_three_standard_errors(classes):
    probs, known = rows(2000, classes)
    generator = torch.Generator().manual_seed(3)
    costs = 10 * torch.rand(4, classes, generator=generator).double()
    actions = metrics.cheapest_action(probs, costs)
    draws = 300
    labels = torch.multinomial(known, draws, replacement=True, generator=generator)
    paid = torch.tensor([metrics.action_cost(actions, labels[:, k], costs) for k in range(draws)])
    exact = metrics.decision_cost(probs, known, costs)
    assert exact == metrics.action_cost(actions, known, costs)
    assert abs(float(paid.mean()) - exact) < 3 * float(paid.std()) / draws**0.5
    best = metrics.cheapest_action(known, costs)
    gain = paid - torch.tensor(
        [metrics.action_cost(best, labels[:, k], costs) for k in range(draws)]
    )
    error = float(gain.std()) / draws**0.5
    assert abs(float(gain.mean()) - metrics.regret(probs, known, costs)) < 3 * error


@given(st.integers(0, 1000), st.sampled_from(RATIOS))
def test_regret_is_never_negative_and_zero_for_the_posterior(seed, ratio):
    probs, known = rows(20, 2, seed)
    assert metrics.regret(probs, known, metrics.alarm_costs(ratio)) >= 0
    assert metrics.regret(known, known, metrics.alarm_costs(ratio)) == 0


def test_a_constant_forecast_pays_for_one_action():
    _, known = rows()
    base = known.mean(dim=0).expand_as(known)
    costs = metrics.alarm_costs(50)
    assert metrics.decision_cost(base, known, costs) == pytest.approx(float(known[:, 0].mean()))
    assert metrics.decision_cost(base, known, metrics.alarm_costs(0.01)) == pytest.approx(
        0.01 * float(known[:, 1].mean())
    )


def test_brier_is_the_average_of_costs_over_all_thresholds():
    """With a false alarm at cost t and a miss at 1 - t: 2 * integral of regret = E (p - q)^2."""
    probs, known = rows(500)
    thresholds = (np.arange(4000) + 0.5) / 4000
    costs = [torch.tensor([[0, 1 - t], [t, 0]]).double() for t in thresholds]
    regrets = np.mean([metrics.regret(probs, known, table) for table in costs])
    squares = float((probs - known)[:, 1].square().mean())
    assert 2 * regrets == pytest.approx(squares, rel=1e-3)
    labels = known.argmax(dim=1)
    paid = np.mean([metrics.decision_cost(probs, labels, table) for table in costs])
    assert 4 * paid == pytest.approx(metrics.brier(probs, labels), rel=1e-3)


@pytest.mark.parametrize("ratio", RATIOS)
def test_net_benefit_is_the_base_rate_less_the_cost_of_an_event(ratio):
    probs, known = rows()
    for truth, happened in ((known, known[:, 1]), ((y := known.argmax(dim=1)), y), (y, y.bool())):
        cost = metrics.decision_cost(probs, truth, metrics.alarm_costs(ratio))
        rate = float(happened.double().mean())
        found = metrics.net_benefit(probs[:, 1], happened, threshold=1 / (1 + ratio))
        assert found == pytest.approx(rate - cost / ratio, abs=1e-12)


def test_the_formula_of_net_benefit_by_hand():
    score, event = np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 0, 1, 0])
    assert metrics.net_benefit(score, event, threshold=0.2) == pytest.approx(2 / 4 - 0.25 / 4)
    assert metrics.net_benefit(score, event, threshold=0.95) == 0


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


P, C = torch.tensor([[0.7, 0.3], [0.2, 0.8]]), metrics.alarm_costs(5)
NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: metrics.alarm_costs(0), ValueError, "ratio must lie in"),
        (lambda: metrics.alarm_costs(float("inf")), ValueError, "ratio must lie in"),
        (lambda: metrics.cheapest_action(2 * P, C), ValueError, "probs"),
        (lambda: metrics.cheapest_action(P, C[0]), ValueError, "costs must have 2 dimension"),
        (lambda: metrics.cheapest_action(P, C * NAN), ValueError, "costs must be finite"),
        (lambda: metrics.cheapest_action(P, C.long()), TypeError, "costs must be floating"),
        (lambda: metrics.cheapest_action(P, C.repeat(1, 2)), ValueError, "costs must have one col"),
        (lambda: metrics.action_cost([0, 2], [0, 1], C), ValueError, r"actions must lie in \[0, 2"),
        (lambda: metrics.action_cost([0], [0, 1], C), ValueError, "actions must have one entry"),
        (lambda: metrics.action_cost([0.0, 1.0], [0, 1], C), TypeError, "actions must be integers"),
        (lambda: metrics.action_cost([0, 1], [0, 2], C), ValueError, r"truth must lie in \[0, 2"),
        (lambda: metrics.action_cost([0, 1], 2 * P, C), ValueError, "truth"),
        (lambda: metrics.action_cost([0, 1], P[:1], C), ValueError, "actions must have one entry"),
        (lambda: metrics.decision_cost(P, [0, 1, 1], C), ValueError, "actions must have one entry"),
        (lambda: metrics.regret(P, [0, 1], C), ValueError, "posterior"),
        (lambda: metrics.net_benefit([0.5], [1], threshold=0), ValueError, "threshold must lie in"),
        (lambda: metrics.net_benefit([5.0], [1], threshold=0.5), ValueError, "write 0.9 for 90 %"),
        (lambda: metrics.net_benefit([0.5], [2], threshold=0.5), ValueError, "happened must lie"),
        (lambda: metrics.net_benefit([0.5], [1.5], threshold=0.5), ValueError, "happened must lie"),
        (lambda: metrics.net_benefit([0.5], [1, 0], threshold=0.5), ValueError, "happened must ha"),
        (lambda: metrics.regret(P, P, C, weights=[0, 0]), ValueError, "weights must not all be"),
    ],
)
def test_bad_input_is_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
