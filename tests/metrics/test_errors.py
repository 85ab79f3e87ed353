import math

import numpy as np
import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


def test_overconfidence_error_and_signed_gap_against_a_loop():
    for probs, labels in CASES.values():
        confidence, hits = reference.top_loop(probs, labels)
        expected = np.mean(confidence) - np.mean(hits)
        assert metrics.signed_gap(probs, labels) == pytest.approx(expected, abs=1e-12)
        for bins in (3, 15):
            expected = 0.0
            for cs, hs in reference.bins_loop(confidence, hits, bins):
                if cs:
                    mean, gap = np.mean(cs), max(np.mean(cs) - np.mean(hs), 0)
                    expected += len(cs) / len(hits) * mean * gap
            found = metrics.overconfidence_error(probs, labels, bins=bins)
            assert found == pytest.approx(expected, abs=1e-12)


def test_debiased_error_by_hand_and_its_options():
    # .6 four times, half right: .01 - .25 / 3 < 0, so 0; .9 four times, one right: .4225 - .0625
    probs = torch.tensor([[0.6, 0.4]] * 4 + [[0.9, 0.1]] * 4, dtype=torch.float64)
    labels = [0, 0, 1, 1, 0, 1, 1, 1]
    by_hand = ((0.01 - 0.25 / 3) / 2 + (0.65**2 - 0.1875 / 3) / 2) ** 0.5
    for binning in ("width", "mass"):
        found = metrics.debiased_ece(
            probs, labels, bins=2 if binning == "mass" else 5, binning=binning
        )
        assert found == pytest.approx(by_hand)
    assert metrics.debiased_ece(probs[:4], labels[:4], bins=1) == 0
    assert metrics.debiased_ece(probs[3:5], [0, 1], bins=2) == 0  # bins of one sample say nothing
    assert metrics.debiased_ece(probs[:2], [1, 1], bins=1) == pytest.approx(0.6)  # two samples do


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
def test_true_error_against_a_loop(name, binning):
    probs, _ = CASES[name]
    torch.manual_seed(0)
    posterior = torch.randn(probs.shape, dtype=torch.float64).softmax(1)
    confidence, _ = reference.top_loop(probs, torch.zeros(len(probs)))
    best = [row.index(max(row)) for row in probs.tolist()]  # the first of equals
    truth = [row[k] for row, k in zip(posterior.tolist(), best, strict=True)]
    for bins, norm in ((3, "l1"), (10, "l2"), (15, "max")):
        options = {"bins": bins, "norm": norm, "binning": binning}
        expected = reference.ece_loop(confidence, truth, **options)
        found = metrics.true_calibration_error(probs, posterior, **options)
        assert found == pytest.approx(expected, abs=1e-12)


def test_groups_are_judged_one_by_one_and_make_up_the_whole():
    probs, labels = CASES["two"]
    errors = metrics.ece_by_group(probs, labels, labels, bins=10)
    assert errors == [metrics.ece(probs[labels == k], labels[labels == k], bins=10) for k in (0, 1)]
    *one, empty = metrics.ece_by_group(probs, labels, torch.zeros_like(labels), count=2)
    assert one == [metrics.ece(probs, labels)]
    assert math.isnan(empty)
