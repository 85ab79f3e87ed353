"""The page of a binary model, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

import calibkit
from calibkit import metrics
from calibkit.auditing.binary import area, net_benefit
from calibkit.auditing.labels_and_groups import units_of


def credit(n=3000, seed=0, shift=1.2):
    """Log odds that are too steep and too high, and whether the event came."""
    random = np.random.default_rng(seed)
    x = random.normal(size=n) * 1.2 - 1.5
    event = random.random(n) < 1 / (1 + np.exp(-x))
    return torch.from_numpy(1.7 * x + shift), event.astype(int)


SCORE, EVENT = credit()
CAL_SCORE, CAL_EVENT = credit(seed=1)
PROB = SCORE.sigmoid().numpy()
FOUND = calibkit.audit(
    SCORE, EVENT, class_names=["repaid", "default"], calibration=(CAL_SCORE, CAL_EVENT)
)
BINARY = FOUND.binary


def test_the_event_has_scikit_learns_numbers():
    assert (BINARY.event, BINARY.usual) == ("default", "repaid")
    assert BINARY.usual_accuracy == pytest.approx((EVENT == 0).mean())
    assert BINARY.ece.value == pytest.approx(metrics.ece_of(PROB, EVENT))
    assert BINARY.auc.value == pytest.approx(roc_auc_score(EVENT, PROB), abs=1e-12)
    above = PROB[EVENT == 1][:, None] > PROB[EVENT == 0]
    error = sum(above.mean(side).var() / above.shape[1 - side] for side in (0, 1)) ** 0.5
    assert BINARY.auc.high - BINARY.auc.low == pytest.approx(2 * 1.96 * error, rel=0.01)  # DeLong
    assert BINARY.rate == pytest.approx(EVENT.mean())
    assert BINARY.predicted == pytest.approx(PROB.mean())
    assert BINARY.gap.value == pytest.approx(PROB.mean() - EVENT.mean())
    brier = brier_score_loss(EVENT, PROB)
    assert BINARY.maps["as it is"]["brier"].value == pytest.approx(brier)
    assert BINARY.maps["as it is"]["nll"].value == pytest.approx(log_loss(EVENT, PROB))


def test_platt_scaling_is_logistic_regression_on_the_log_odds():
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(CAL_SCORE[:, None].numpy(), CAL_EVENT)
    ((slope, shift),) = BINARY.platt
    assert (slope, shift) == pytest.approx((model.coef_[0, 0], model.intercept_[0]), abs=1e-4)
    mapped = model.predict_proba(SCORE[:, None].numpy())[:, 1]
    maps = BINARY.maps["Platt"]
    assert maps["nll"].value == pytest.approx(log_loss(EVENT, mapped), abs=1e-6)
    assert maps["brier"].value == pytest.approx(brier_score_loss(EVENT, mapped), abs=1e-6)
    assert maps["ece"].value == pytest.approx(metrics.ece_of(mapped, EVENT), abs=2e-3)
    # a shift of the log odds is nothing that one temperature can take off
    assert maps["nll"].value < BINARY.maps["temperature"]["nll"].value
    assert BINARY.gain["Platt"]["nll"].high < 0
    beyond = BINARY.gain["Platt less temperature"]["nll"]
    assert beyond.value == pytest.approx(
        maps["nll"].value - BINARY.maps["temperature"]["nll"].value
    )
    assert "Platt scaling is clearly better" in FOUND.html()
    assert "Platt scaling is clearly better still" in str(FOUND)
    unmoved = calibkit.audit(SCORE - 1.2, EVENT, resamples=20)  # a shift would be of no use
    assert "temperature 1." in str(unmoved)
    assert "Platt scaling is clearly" not in str(unmoved)
    assert "neither is clearly better" in unmoved.html()


def test_platt_scaling_is_cross_fitted_without_calibration_data():
    found = calibkit.audit(SCORE, EVENT).binary
    assert len(found.platt) == 2
    order = np.random.default_rng(0).permutation(len(EVENT))
    second = np.sort(order[1::2])
    odds = SCORE.numpy()[second, None]
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(odds, EVENT[second])
    assert found.platt[0][0] == pytest.approx(model.coef_[0, 0], abs=1e-4)


def test_the_net_benefit_is_that_of_the_confusion_matrix():
    for row in BINARY.net_benefit.itertuples():
        acted = row.threshold <= PROB  # as scikit-learn decides
        (_, alarms), (_, found) = confusion_matrix(EVENT, acted) / len(EVENT)
        odds = row.threshold / (1 - row.threshold)
        assert row.found == pytest.approx(found)
        assert row.alarms == pytest.approx(alarms)
        assert row.benefit == pytest.approx(found - alarms * odds)
        assert row.all == pytest.approx(EVENT.mean() - (1 - EVENT.mean()) * odds)


def test_a_score_at_the_threshold_is_acted_on():
    table = net_benefit(torch.tensor([0.5, 0.4]), torch.tensor([1, 0]), units_of(2))
    assert table.set_index("threshold").loc[0.5, "benefit"] == 0.5


def test_the_auc_counts_ties_half():
    score = torch.tensor([0.1, 0.5, 0.5, 0.9, 0.5, 0.2])
    event = torch.tensor([0, 0, 1, 1, 1, 0])
    assert area(score, event, units_of(6))[0] == pytest.approx(roc_auc_score(event, score))


def test_a_weight_counts_like_a_copy():
    weights = np.random.default_rng(2).integers(0, 4, len(EVENT))
    copies = np.repeat(np.arange(len(EVENT)), weights)
    apart = CAL_SCORE, CAL_EVENT, weights
    weighted = calibkit.audit(
        SCORE, EVENT, calibration=apart, weights=weights, costs=(1, 20)
    ).binary
    assert weighted.auc.value == pytest.approx(roc_auc_score(EVENT[copies], PROB[copies]))
    assert weighted.ece.value == pytest.approx(metrics.ece_of(PROB[copies], EVENT[copies]))
    assert weighted.rate == pytest.approx(EVENT[copies].mean())
    cost = paid(PROB[copies], EVENT[copies], 1, 20).mean()
    assert weighted.costs.models["as it is"].cost.value == pytest.approx(cost)
    same = net_benefit(
        SCORE.sigmoid()[copies], torch.from_numpy(EVENT[copies]), units_of(len(copies))
    )
    pd.testing.assert_frame_equal(weighted.net_benefit, same)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(CAL_SCORE[copies, None], CAL_EVENT[copies])
    assert weighted.platt[0] == pytest.approx((model.coef_[0, 0], model.intercept_[0]), abs=1e-4)


def test_one_class_alone_has_no_auc_and_no_platt():
    found = calibkit.audit(SCORE[:200], np.zeros(200, dtype=int))
    assert np.isnan(found.binary.auc.value)
    assert found.binary.platt == ()
    assert "nan" not in found.html()


def test_scores_that_part_the_classes_have_no_platt():
    score = torch.from_numpy(logit(np.linspace(0.01, 0.99, 200)))
    assert calibkit.audit(score, (score > 0).long()).binary.platt == ()


def paid(rows, event, alarm, miss):
    """What every row costs where it is acted on from the cheapest threshold on."""
    acted = rows >= alarm / (alarm + miss)
    return alarm * (acted & (event == 0)) + miss * (~acted & (event == 1))


@pytest.mark.parametrize(("alarm", "miss"), [(1, 20), (2.5, 1)])
def test_the_costs_of_decisions_are_those_of_the_rows(alarm, miss):
    found = calibkit.audit(
        SCORE, EVENT, calibration=(CAL_SCORE, CAL_EVENT), costs=(alarm, miss), resamples=20
    )
    costs = found.binary.costs
    cooled = (SCORE / found.cooling.value).sigmoid().numpy()
    before, after = paid(PROB, EVENT, alarm, miss), paid(cooled, EVENT, alarm, miss)
    as_it_is, temperature = costs.models["as it is"], costs.models["temperature"]
    assert list(costs.models) == ["as it is", "temperature", "Platt"]
    assert as_it_is.cost.value == pytest.approx(before.mean())
    assert temperature.cost.value == pytest.approx(after.mean())
    assert temperature.difference.value == pytest.approx((after - before).mean())
    assert as_it_is.difference is None
    acted, shares = (
        alarm / (alarm + miss) <= PROB,
        (as_it_is.acted, as_it_is.missed, as_it_is.alarms),
    )
    own = acted.mean(), (EVENT * ~acted).mean(), (acted * (1 - EVENT)).mean()
    assert shares == pytest.approx(own)
    assert costs.none == pytest.approx(miss * EVENT.mean())
    assert costs.all == pytest.approx(alarm * (EVENT == 0).mean())
    half = 1.96 * (after - before).std() / len(EVENT) ** 0.5
    assert temperature.difference.high - temperature.difference.low == pytest.approx(
        2 * half, rel=0.02
    )
    page, words = found.html(), str(found)
    assert "What miscalibration costs" in page
    assert f"{100 * before.mean():.1f}" in page
    assert f"100 rows cost {100 * before.mean():.1f}, after the temperature" in words


def test_few_misses_have_no_interval():
    """In a simulation intervals of fewer than five misses cover too rarely."""
    score = torch.full((400,), -6.0, dtype=torch.float64)
    score[:200] = 3.0
    event = torch.zeros(400, dtype=torch.long)
    event[:150] = 1
    for misses, known in ((4, False), (5, True)):
        came = event.clone()
        came[200 : 200 + misses] = 1
        found = calibkit.audit(score, came, costs=(1, 20), resamples=20).binary.costs
        assert found.models["as it is"].cost.known == known
        assert found.models["as it is"].missed == pytest.approx(misses / 400)


@pytest.mark.parametrize(("costs", "words"), [
    ((1,), "costs must be two numbers"),
    (20, "costs must be two numbers"),
    ((1, 0), "costs, of a miss, must lie in"),
    ((float("inf"), 1), "costs, of a false alarm, must lie in"),
])  # fmt: skip
def test_bad_costs_are_named(costs, words):
    with pytest.raises(ValueError, match=words):
        calibkit.audit(SCORE, EVENT, costs=costs)


def test_costs_of_many_classes_are_refused():
    probs = torch.eye(3)[torch.arange(60) % 3]
    with pytest.raises(ValueError, match="costs are of a binary model"):
        calibkit.audit(probs=0.9 * probs + 0.1 / 3, labels=torch.arange(60) % 3, costs=(1, 20))
