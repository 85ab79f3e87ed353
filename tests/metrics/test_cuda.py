"""The same numbers on a GPU."""

import inspect

import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
CASES = reference.cases()
SCORED = [
    getattr(metrics, name)
    for name in metrics.__all__
    if list(inspect.signature(getattr(metrics, name)).parameters)[:2] == ["probs", "labels"]
    and name not in ("corp", "reliability", "confident_share", "risk_coverage")
]


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_values_agree_with_the_cpu(function):
    for name, (probs, labels) in CASES.items():
        if function is metrics.top_k_accuracy and probs.shape[1] < 5:
            continue
        expected = function(probs, labels)
        assert function(probs.cuda(), labels.cuda()) == pytest.approx(expected, abs=1e-9), name


def test_results_stay_on_the_device():
    probs, labels = (x.cuda() for x in CASES["random"])
    found = metrics.reliability(probs, labels, binning="mass")
    expected = metrics.reliability(probs.cpu(), labels.cpu(), binning="mass")
    assert found.counts.is_cuda
    assert torch.equal(found.counts.cpu(), expected.counts)
    assert found.interval()[0].is_cuda
    assert metrics.entropy(probs).is_cuda
    assert metrics.risk_coverage(probs, labels)[1].is_cuda
    assert metrics.true_calibration_error(probs, probs) == 0
    scores = probs.amax(1)
    assert metrics.auroc(scores, scores / 2) == metrics.auroc(scores.cpu(), scores.cpu() / 2)


def test_labels_on_another_device_are_refused():
    probs, labels = CASES["random"]
    with pytest.raises(ValueError, match=r"^labels is on cpu"):
        metrics.ece(probs.cuda(), labels)
