"""The same numbers on each device."""

import inspect

import pytest
import torch

from calibkit import devices, metrics
from tests.metrics import reference

pytestmark = pytest.mark.device
CASES = {k: v for k, v in reference.cases().items() if k in ("random", "edges64", "half", "many")}
SCORED = [
    getattr(metrics, name)
    for name in metrics.__all__
    if list(inspect.signature(getattr(metrics, name)).parameters)[:2] == ["probs", "labels"]
    and name not in ("corp", "reliability", "confident_share", "risk_coverage")
]


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_values_agree_with_the_cpu(function, device):
    for name, rows in CASES.items():
        there = devices.moved([*rows], device)
        probs, labels = devices.moved(there, "cpu")
        if function is metrics.top_k_accuracy and probs.shape[1] < 5:
            continue
        expected = function(probs, labels)
        found = function(*there)
        if function is metrics.tally:
            found = [part.cpu() for part in found.sums()]
            expected = [*expected.sums()]
            torch.testing.assert_close(found, expected, atol=1e-9, rtol=0)
        else:
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_results_stay_on_the_device(device):
    probs, labels = devices.moved([*CASES["random"]], device)
    found = metrics.reliability(probs, labels, binning="mass")
    expected = metrics.reliability(probs.cpu(), labels.cpu(), binning="mass")
    assert torch.equal(found.counts.cpu(), expected.counts)
    if devices.sums_float64(device):
        assert found.counts.device.type == found.interval()[0].device.type == device.type
    assert metrics.entropy(probs).device.type == device.type
    assert metrics.risk_coverage(probs, labels)[1].device.type == device.type
    assert metrics.true_calibration_error(probs, probs) == 0
    scores = probs.amax(1)
    assert metrics.auroc(scores, scores / 2) == metrics.auroc(scores.cpu(), scores.cpu() / 2)


def test_labels_on_another_device_are_refused(device):
    if device.type == "cpu":
        return
    probs, labels = CASES["random"]
    with pytest.raises(ValueError, match=r"^labels is on cpu"):
        metrics.ece(devices.moved(probs, device), labels)


WEIGHED = [f for f in SCORED if "weights" in inspect.signature(f).parameters]


@pytest.mark.parametrize("function", WEIGHED, ids=lambda f: f.__name__)
def test_weighted_values_agree_with_the_cpu(function, device):
    on_device = devices.moved([*CASES["random"]], device)
    probs, labels = devices.moved(on_device, "cpu")
    weights = torch.linspace(0.5, 2, len(labels))
    there = function(*on_device, weights=weights.to(device))
    if function is not metrics.tally:
        expected = function(probs, labels, weights=weights)
        assert there == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if device.type != "cpu":
        with pytest.raises(ValueError, match=r"^weights is on cpu"):
            function(*on_device, weights=weights)


def test_pairs_groups_and_single_scores_agree_with_the_cpu(device):
    def found(probs, labels):
        hits, sure = probs.argmax(1) == labels, probs.amax(1)
        other = (probs + 0.1) / (1 + 0.1 * probs.shape[1])
        return [
            *metrics.paired_interval(probs, other, labels),
            *metrics.ece_by_group(probs, labels, groups=labels % 3),
            metrics.ece(metrics.TopLabel(sure, hits)),
            metrics.ece_of(sure, hits),
            metrics.calibration_test_of(sure, hits).p_value,
            *metrics.bootstrap_interval_of(sure, hits),
            metrics.reliability_of(sure, hits).accuracy.nansum().item(),
            metrics.risk_coverage_of(sure, hits)[1].sum().item(),
        ]

    rows = devices.moved([*CASES["random"]], device)
    expected = found(*devices.moved(rows, "cpu"))
    rounded = 0 if device.type not in devices.NO_FLOAT64 else 1e-6
    assert found(*rows) == pytest.approx(expected, abs=1e-9, rel=rounded, nan_ok=True)
