"""The same numbers on each device."""

import inspect

import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

pytestmark = pytest.mark.device
CASES = reference.cases()
SCORED = [
    getattr(metrics, name)
    for name in metrics.__all__
    if list(inspect.signature(getattr(metrics, name)).parameters)[:2] == ["probs", "labels"]
    and name not in ("corp", "reliability", "confident_share", "risk_coverage")
]


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_values_agree_with_the_cpu(function, device):
    for name, (probs, labels) in CASES.items():
        if function is metrics.top_k_accuracy and probs.shape[1] < 5:
            continue
        expected = function(probs, labels)
        found = function(probs.to(device), labels.to(device))
        if function is metrics.tally:
            found = [part.cpu() for part in found.sums()]
            expected = [*expected.sums()]
            torch.testing.assert_close(found, expected, atol=1e-9, rtol=0)
        else:
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_results_stay_on_the_device(device):
    probs, labels = (x.to(device) for x in CASES["random"])
    found = metrics.reliability(probs, labels, binning="mass")
    expected = metrics.reliability(probs.cpu(), labels.cpu(), binning="mass")
    assert found.counts.device.type == device.type
    assert torch.equal(found.counts.cpu(), expected.counts)
    assert found.interval()[0].device.type == device.type
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
        metrics.ece(probs.to(device), labels)
