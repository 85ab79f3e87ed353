"""What a probability is worth to somebody who acts on it: costs, regret, net benefit.

Costs stand in a table: a row an action, a column a class, in any unit ("minutes"). An action has
the expected cost sum_k costs[a, k] p_k; whoever trusts the probabilities takes the cheapest.
"""

from __future__ import annotations

import torch
from torch import Tensor

from calibkit import validate
from calibkit.metrics.top import Weights, kept, mean
from calibkit.validate import Array


def alarm_costs(ratio: float) -> Tensor:
    """(2, 2) costs of letting pass and of an alarm, by whether the event does not, or does, happen.

    A false alarm costs 1 and a miss `ratio`; what is right costs nothing. The cheapest action is
    the alarm where the event's probability is above 1 / (1 + ratio).

    ratio: above 0, finite. Source: Elkan (2001), "The Foundations of Cost-Sensitive Learning".

    >>> alarm_costs(20).tolist()
    [[0.0, 20.0], [1.0, 0.0]]
    """
    ratio = validate.number("ratio", ratio, 0, float("inf"), open_low=True, open_high=True)
    return torch.tensor([[0.0, ratio], [1.0, 0.0]], dtype=torch.float64)


def cheapest_action(probs: Array, costs: Array) -> Tensor:
    """(n,) the row of `costs` with the least expected cost under each row of `probs`.

    Ties go to the first action.

    probs: (n, K) probabilities; costs: (A, K) finite, what action a costs where class k is true.

    Raises ValueError or TypeError naming the argument. Source: Elkan (2001), section 1.

    >>> cheapest_action([[0.5, 0.5], [0.9, 0.1], [0.99, 0.01]], alarm_costs(20)).tolist()
    [1, 1, 0]
    """
    rows = validate.probs(probs).detach().double()
    return (rows @ _table(costs, rows).T).argmin(dim=1)


def action_cost(actions: Array, truth: Array, costs: Array, *, weights: Weights = None) -> float:
    """Mean cost of the actions taken, in the unit of `costs`.

    actions: (n,) integers in [0, A).
    truth: (n,) labels, which give the cost that was paid; or the (n, K) exact posterior, which
        gives the expected cost without the chance of labels.
    costs: (A, K) finite.
    weights: (n,) of the rows, as in `ece`.

    Raises ValueError or TypeError naming the argument.

    >>> action_cost([0, 1], [1, 0], alarm_costs(20))  # a miss and a false alarm
    10.5
    >>> action_cost([0, 0], [[0.75, 0.25], [0.5, 0.5]], alarm_costs(20))  # 20 (.25 + .5) / 2
    7.5
    """
    given = validate.as_tensor("truth", truth)
    if given.is_floating_point():
        rows = validate.probs(given, "truth").detach().double()
        table = _table(costs, rows)
        taken = _actions(actions, rows, table)
        each = (table[taken] * rows).sum(dim=1)
    else:
        given = validate.as_tensor("truth", truth, ndim=1)
        table = _table(costs, given)
        labels = validate.labels(given, n=len(given), classes=table.shape[1], name="truth")
        each = table[_actions(actions, labels, table), labels]
    return mean(*kept(weights, each))


def decision_cost(probs: Array, truth: Array, costs: Array, *, weights: Weights = None) -> float:
    """Mean cost of taking the cheapest action under `probs`: `action_cost(cheapest_action(...))`.

    Arguments and errors as there.

    >>> decision_cost([[0.9, 0.1], [0.99, 0.01]], [0, 1], alarm_costs(20))  # false alarm, miss
    10.5
    """
    return action_cost(cheapest_action(probs, costs), truth, costs, weights=weights)


def regret(probs: Array, posterior: Array, costs: Array, *, weights: Weights = None) -> float:
    """Exact regret: what decisions by `probs` cost more than those by the posterior, in the mean.

    Never negative. Of an event with `alarm_costs(c)`, probability p, posterior q and the threshold
    t = 1 / (1 + c), a row costs (1 + c) |q - t| more where t lies between p and q, else nothing.

    probs, posterior: (n, K) probabilities of the same rows; costs: (A, K) finite.
    weights: (n,) of the rows, as in `ece`.

    >>> round(regret([[0.99, 0.01]], [[0.9, 0.1]], alarm_costs(20)), 4)  # 21 (.1 - 1/21)
    1.1
    """
    known = validate.probs(posterior, "posterior")
    lost = decision_cost(probs, known, costs, weights=weights)
    return lost - decision_cost(known, known, costs, weights=weights)


def net_benefit(
    scores: Array, happened: Array, *, threshold: float, weights: Weights = None
) -> float:
    """Net benefit of an alarm where the score is `threshold` or more, in true alarms per row.

        NB(t) = TP / n - FP / n * t / (1 - t)

    It is the base rate less `decision_cost` over c where t = 1 / (1 + c), so that both order models
    alike (a score of exactly t has an alarm here, as in scikit-learn, and none there). 0 is the
    benefit of no alarm at all.

    scores: (n,) in [0, 1].
    happened: (n,) bool, integers 0 and 1, or its exact probability.
    threshold: t, in (0, 1).
    weights: (n,) of the rows, as in `ece`.

    Source: Vickers & Elkin (2006), Medical Decision Making 26.

    >>> round(net_benefit([0.9, 0.6, 0.2], [1, 0, 1], threshold=0.5), 4)  # 1/3 - 1/3
    0.0
    """
    score = validate.floating("scores", scores, ndim=1).detach().double()
    score = validate.unit_interval("scores", score, "it is a fraction: write 0.9 for 90 %")
    outcome = validate.as_tensor("happened", happened, ndim=1)
    validate.same_length("happened", len(outcome), len(score))
    validate.same_device("happened", outcome, score.device, "the scores")
    if outcome.is_floating_point():
        outcome = validate.unit_interval("happened", outcome, "it is a probability, a fraction")
    elif outcome.dtype != torch.bool:
        outcome = validate.labels(outcome, n=len(outcome), classes=2, name="happened")
    t = validate.number("threshold", threshold, 0, 1, open_low=True, open_high=True)
    outcome = outcome.double()
    each = torch.where(score >= t, outcome - (1 - outcome) * t / (1 - t), 0.0)
    return mean(*kept(weights, each))


def _table(costs: Array, rows: Tensor) -> Tensor:
    """(A, K) finite float64 costs on the device of the rows, a column a class where these have."""
    table = validate.floating("costs", costs, ndim=2).detach().double()
    table = validate.finite("costs", table).to(rows.device)
    if rows.ndim == 2 and table.shape[1] != rows.shape[1]:
        raise ValueError(
            f"costs must have one column per class, {rows.shape[1]}, got {table.shape[1]}"
        )
    return table


def _actions(actions: Array, rows: Tensor, table: Tensor) -> Tensor:
    """(n,) integers, one for each of the rows, each of which is a row of the table."""
    taken = validate.as_tensor("actions", actions, ndim=1)
    validate.same_device("actions", taken, rows.device, "the truth")
    return validate.labels(taken, n=len(rows), classes=len(table), name="actions")
