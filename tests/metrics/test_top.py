import importlib

import pytest
import torch

from calibkit import metrics
from tests.metrics import reference

module = importlib.import_module("calibkit.metrics.top")
CASES = reference.cases()


OF_THE_TOP = (
    *("accuracy", "ada_ece", "aurc", "bootstrap_interval", "calibration_test", "confident_share"),
    *("debiased_ece", "ece", "mce", "overconfidence_error", "signed_gap", "smooth_ece"),
)
OF_ALL_CLASSES = ("brier", "brier_decomposition", "classwise_ece", "ece_by_group", "nll")


@pytest.mark.parametrize("name", OF_THE_TOP)
def test_a_top_label_stands_for_rows_and_labels(name):
    probs, labels = CASES["random64"]
    metric, options = getattr(metrics, name), {}
    if name in ("bootstrap_interval", "calibration_test"):
        options = {"resamples": 20}
    pair, alone = (
        metric(probs, labels, **options),
        metric(metrics.TopLabel.of(probs, labels), **options),
    )
    if name == "calibration_test":  # its z looks at all classes of a row
        pair, alone = pair[:3], alone[:3]
    assert alone == pair
    with pytest.raises(TypeError, match=r"^labels must be left out: the TopLabel given"):
        metric(metrics.TopLabel.of(probs, labels), labels)


@pytest.mark.parametrize("name", OF_ALL_CLASSES)
def test_what_needs_all_classes_refuses_a_top_label(name):
    top = metrics.TopLabel([0.9, 0.8], [True, False])
    with pytest.raises(TypeError, match=r"^probs must be a tensor or array of numbers, got TopLa"):
        getattr(metrics, name)(top, [0, 1])
    with pytest.raises(ValueError, match=r"^metric must be one of .*, got 'classwise_ece'"):
        metrics.bootstrap_interval(top, metric="classwise_ece")


def test_a_top_label_cannot_be_changed_and_needs_labels_beside_rows():
    top = metrics.TopLabel([0.9, 0.8], [1, 0])
    assert top.correct.dtype == torch.bool
    with pytest.raises(AttributeError, match="cannot assign"):
        top.confidence = torch.zeros(2)
    with pytest.raises(TypeError, match=r"^labels must be a tensor or array of numbers, got None"):
        metrics.ece([[0.9, 0.1]])
