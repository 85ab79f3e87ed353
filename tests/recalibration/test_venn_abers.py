"""Venn-Abers: against isotonic regressions made one by one."""

import numpy as np
import pytest
import torch
from sklearn.isotonic import IsotonicRegression

from calibkit.recalibration import VennAbersCalibrator
from tests.recalibration.samples import scored


def by_hand(scores, hits, score):
    """p1 / (1 - p0 + p1), by two isotonic regressions of one more label each."""
    both = [
        IsotonicRegression()
        .fit(np.append(scores, score), np.append(hits, label))
        .predict([score])[0]
        for label in (0, 1)
    ]
    return both[1] / (1 - both[0] + both[1])


@pytest.mark.parametrize("rounded", [False, True])
def test_two_classes_agree_with_two_regressions_for_each_score(rounded):
    logits, labels = scored(150, 2)
    fresh = torch.cat([scored(40, 2, seed=1)[0], 50 * scored(4, 2, seed=2)[0]])
    if rounded:  # scores that are tied with those of the fit
        logits, fresh = logits.round(), fresh.round()
    scores, at = (z.softmax(1)[:, 1].numpy() for z in (logits, fresh))
    ours = VennAbersCalibrator().fit(logits, labels).probs(fresh)[:, 1]
    expected = [by_hand(scores, labels.numpy(), score) for score in at]
    assert np.allclose(ours, expected, atol=1e-12)


def test_more_classes_are_asked_one_by_one():
    logits, labels = scored(200, 3)
    fresh = scored(20, 3, seed=1)[0]
    shares = np.array(
        [
            [
                by_hand(logits.softmax(1)[:, k].numpy(), (labels == k).numpy() * 1.0, score)
                for k, score in enumerate(row)
            ]
            for row in fresh.softmax(1).numpy()
        ]
    )
    ours = VennAbersCalibrator().fit(logits, labels).probs(fresh)
    assert np.allclose(ours, shares / shares.sum(1, keepdims=True), atol=1e-12)
