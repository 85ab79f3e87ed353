"""Risk and coverage against the loops, and what a threshold at 95 % lets through."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_curve

from calibkit import metrics
from tests.metrics import reference


def test_equally_sure_ones_count_as_the_mean_of_all_their_orders():
    probs = torch.tensor([[0.9, 0.1]] + [[0.8, 0.2]] * 3)
    labels = torch.tensor([0, 0, 1, 0])  # one wrong of the three: on average 0, 1/3, 2/3, 1 of it
    coverage, risk = metrics.risk_coverage(probs, labels)
    assert coverage.tolist() == [0.25, 0.5, 0.75, 1]
    assert risk.tolist() == pytest.approx([0, 1 / 3 / 2, 2 / 3 / 3, 1 / 4])
    assert metrics.aurc(probs, labels) == pytest.approx((1 / 6 + 2 / 9 + 1 / 4) / 4)


@pytest.mark.parametrize("name", ["random", "tied", "edges", "half", "tiny"])
def test_augrc_is_the_closed_form_of_accuracy_and_auroc(name):
    """Traub et al. (2024): (1 - AUROC) A (1 - A) + (1 - A)^2 / 2, ties counted half."""
    probs, labels = reference.cases()[name]
    confidence, correct = probs.double().amax(1), probs.argmax(1) == labels
    a = metrics.accuracy(probs, labels)
    told_apart = 0.5 if a in (0, 1) else metrics.auroc(confidence[correct], confidence[~correct])
    expected = (1 - told_apart) * a * (1 - a) + (1 - a) ** 2 / 2
    assert metrics.augrc(probs, labels) == pytest.approx(expected, abs=1e-12)
    assert metrics.augrc(metrics.TopLabel(confidence, correct)) == metrics.augrc(probs, labels)


@pytest.mark.parametrize("tpr", [0.5, 0.95, 1.0])
@pytest.mark.parametrize("ties", [False, True])
def test_fpr_is_the_roc_curves(tpr, ties):
    random = np.random.default_rng(0)
    inside, outside = random.normal(1, 1, 400), random.normal(0, 1, 300)
    if ties:
        inside, outside = inside.round(1), outside.round(1)
    truth = np.r_[np.ones(400), np.zeros(300)]
    fpr, reached, _ = roc_curve(truth, np.r_[inside, outside], drop_intermediate=False)
    expected = fpr[np.argmax(reached >= tpr - 1e-12)]
    assert metrics.fpr_at_tpr(inside, outside, tpr=tpr) == pytest.approx(expected, abs=1e-15)


def test_the_test_of_a_binary_score_has_spiegelhalters_z():
    random = np.random.default_rng(0)
    score = random.random(500)
    came = random.random(500) < score**2
    above = np.sum((came - score) * (1 - 2 * score))
    z = above / np.sqrt(np.sum((1 - 2 * score) ** 2 * score * (1 - score)))
    found = metrics.calibration_test_of(score, came)
    assert found.z == pytest.approx(z)
    assert found.p_value < 0.01  # scores of .5 come true a quarter of the time
    assert metrics.calibration_test_of(score, random.random(500) < score).p_value > 0.01
