"""Every public function refuses every bad input with an error that names the argument."""

import inspect

import numpy as np
import pytest
import torch

from calibkit import metrics

PROBS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
LABELS = torch.tensor([0, 2, 1])
NAN, INF = float("nan"), float("inf")


def changed(value, row=1, column=2):
    out = PROBS.clone()
    out[row, column] = value
    return out


BAD_PROBS = {
    "nan": (changed(NAN), ValueError, "finite"),
    "inf": (changed(INF), ValueError, "finite"),
    "minus inf": (changed(-INF), ValueError, "finite"),
    "negative": (changed(-0.1), ValueError, r"lie in \[0, 1\]"),
    "above one": (changed(1.5), ValueError, r"lie in \[0, 1\]"),
    "logits": (torch.tensor([[2.0, -1.0, 0.5]] * 3), ValueError, "softmax"),
    "sum": (PROBS * 0.9, ValueError, "sum to 1"),
    "one dimension": (PROBS[0], ValueError, "2 dimension"),
    "three dimensions": (PROBS[None], ValueError, "2 dimension"),
    "one class": (torch.ones(3, 1), ValueError, "one column per class"),
    "empty": (torch.empty(0, 3), ValueError, "empty"),
    "integers": (torch.eye(3).long(), TypeError, "floating point"),
    "strings": ([["a", "b"]], TypeError, "tensor or array"),
    "none": (None, TypeError, "tensor or array"),
}
BAD_LABELS = {
    "floats": (LABELS.float(), TypeError, "integers"),
    "bools": (LABELS > 0, TypeError, "integers"),
    "nan": (torch.tensor([0.0, NAN, 1.0]), ValueError, "1 of 3 are missing"),
    "two dimensions": (LABELS[None], ValueError, "1 dimension"),
    "one hot": (torch.eye(3).long(), ValueError, "1 dimension"),
    "short": (LABELS[:2], ValueError, "one entry per row"),
    "long": (LABELS.repeat(2), ValueError, "one entry per row"),
    "too large": (torch.tensor([0, 3, 1]), ValueError, r"lie in \[0, 3\)"),
    "negative": (torch.tensor([0, -1, 1]), ValueError, r"lie in \[0, 3\)"),
    "empty": (torch.empty(0, dtype=torch.long), ValueError, "empty"),
    "strings": (["a", "b", "c"], TypeError, "tensor or array"),
    "none": (None, TypeError, "tensor or array"),
}
SCORED = [
    getattr(metrics, name)
    for name in metrics.__all__
    if list(inspect.signature(getattr(metrics, name)).parameters)[:2] == ["probs", "labels"]
]


def classwise_bootstrap(probs, labels):
    return metrics.bootstrap_interval(probs, labels, metric="classwise_ece", resamples=2)


SCORED.append(classwise_bootstrap)
OF_HITS = [getattr(metrics, name) for name in metrics.__all__ if name.endswith("_of")]
OF_HITS.remove(metrics.paired_interval_of)  # two models: see tests/metrics/test_paired.py


@pytest.mark.parametrize("function", OF_HITS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("confidence", "correct", "kind", "message"),
    [
        ([0.5, NAN], [True, False], ValueError, "confidence must be finite"),
        ([50.0, 90.0], [True, False], ValueError, "confidence must lie in .* write 0.9 for 90 %"),
        ([1, 0], [True, False], TypeError, "confidence must be floating point"),
        ([0.5], [True, False], ValueError, "correct must have one entry per row"),
        ([0.5, 0.6], [0, 2], ValueError, "correct must lie in"),
        ([0.5, 0.6], [0.0, 1.0], TypeError, "correct must be integers"),
        (PROBS, LABELS, ValueError, "confidence must have 1 dimension"),
    ],
)
def test_confidences_and_hits(function, confidence, correct, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        function(confidence, correct)


def test_all_functions_are_in_the_tables():
    others = {"auroc", "entropy", "reliability_of", "true_calibration_error", "wilson_interval"}
    others |= {"paired_interval", "paired_interval_of", "fpr_at_tpr", "pixels"} | {
        f.__name__ for f in OF_HITS
    }
    # see tests/metrics/test_decisions.py
    others |= {"action_cost", "alarm_costs", "cheapest_action", "decision_cost"}
    others |= {"net_benefit", "regret"}
    classes = {"BrierParts", "CalibrationTest", "Corp", "Reliability", "Tally", "TopLabel"}
    assert {f.__name__ for f in SCORED} | others | classes == {
        *metrics.__all__,
        "classwise_bootstrap",
    }


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BAD_PROBS)
def test_probs(function, case):
    value, kind, message = BAD_PROBS[case]
    with pytest.raises(kind, match=f"^probs .*{message}"):
        function(value, LABELS)


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BAD_LABELS)
def test_labels(function, case):
    value, kind, message = BAD_LABELS[case]
    with pytest.raises(kind, match=f"^labels .*{message}"):
        function(PROBS, value)


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_wrong_device(function):
    with pytest.raises(ValueError, match=r"^labels is on .* but the predictions are on meta"):
        function(PROBS.to("meta"), LABELS)


@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_good_input_passes(function):
    probs = torch.cat([PROBS / 2, PROBS / 2], dim=1)  # six classes, for the top 5 are asked for
    function(probs, LABELS)
    function(probs.double().numpy(), LABELS.numpy().astype(np.uint8))


@pytest.mark.parametrize(
    "function",
    [
        metrics.ece,
        metrics.mce,
        metrics.ada_ece,
        metrics.classwise_ece,
        metrics.overconfidence_error,
        metrics.debiased_ece,
        metrics.reliability,
        metrics.brier_decomposition,
        metrics.bootstrap_interval,
        metrics.calibration_test,
        classwise_bootstrap,
    ],
)
@pytest.mark.parametrize(
    ("bins", "kind"), [(0, ValueError), (-3, ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_bins(function, bins, kind):
    if function is classwise_bootstrap:
        pytest.skip("takes no bins")
    with pytest.raises(kind, match=r"^bins must"):
        function(PROBS, LABELS, bins=bins)


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (metrics.ece, "norm"),
        (metrics.ece, "binning"),
        (metrics.ece, "closed"),
        (metrics.mce, "closed"),
        (metrics.debiased_ece, "binning"),
        (metrics.reliability, "binning"),
        (metrics.reliability, "closed"),
        (metrics.bootstrap_interval, "metric"),
    ],
)
def test_unknown_choices(function, option):
    with pytest.raises(ValueError, match=f"^{option} must be one of .*got 'L1'"):
        function(PROBS, LABELS, **{option: "L1"})


@pytest.mark.parametrize(
    ("threshold", "kind"), [(99, ValueError), (-0.1, ValueError), ("0.99", TypeError)]
)
def test_threshold(threshold, kind):
    with pytest.raises(kind, match=r"^threshold must"):
        metrics.confident_share(PROBS, LABELS, threshold=threshold)


@pytest.mark.parametrize("case", BAD_PROBS)
def test_entropy(case):
    value, kind, message = BAD_PROBS[case]
    with pytest.raises(kind, match=f"^probs .*{message}"):
        metrics.entropy(value)


@pytest.mark.parametrize("case", BAD_PROBS)
def test_true_calibration_error(case):
    value, kind, message = BAD_PROBS[case]
    with pytest.raises(kind, match=f"^probs .*{message}"):
        metrics.true_calibration_error(value, PROBS)
    with pytest.raises(kind, match=f"^posterior .*{message}"):
        metrics.true_calibration_error(PROBS, value)


def test_posterior_must_match():
    for other in (PROBS[:2], torch.full((3, 2), 0.5)):
        with pytest.raises(ValueError, match=r"^posterior must have the shape of probs"):
            metrics.true_calibration_error(PROBS, other)
    with pytest.raises(ValueError, match=r"^posterior is on meta"):
        metrics.true_calibration_error(PROBS, PROBS.to("meta"))
    for option, value in (("bins", 0), ("binning", "equal")):
        with pytest.raises(ValueError, match=f"^{option} must"):
            metrics.true_calibration_error(PROBS, PROBS, **{option: value})


CONFIDENCE, CORRECT = torch.tensor([0.9, 0.6, 1.0]), torch.tensor([True, False, True])
BAD_CONFIDENCE = [
    (torch.tensor([0.9, NAN, 1.0]), ValueError, "finite"),
    (torch.tensor([0.9, INF, 1.0]), ValueError, "finite"),
    (torch.tensor([0.9, 1.5, 1.0]), ValueError, r"lie in \[0, 1\]"),
    (torch.tensor([0.9, -0.5, 1.0]), ValueError, r"lie in \[0, 1\]"),
    (PROBS, ValueError, "1 dimension"),
    (torch.empty(0), ValueError, "empty"),
    (torch.tensor([1, 0, 1]), TypeError, "floating"),
    ("high", TypeError, "tensor or array"),
]
BAD_CORRECT = [
    (torch.tensor([0.0, 1.0, 1.0]), TypeError, "integers"),
    (torch.tensor([0, 2, 1]), ValueError, r"lie in \[0, 2\)"),
    (torch.tensor([0, -1, 1]), ValueError, r"lie in \[0, 2\)"),
    (CORRECT[:2], ValueError, "one entry per row"),
    (CORRECT[None], ValueError, "1 dimension"),
    (CORRECT[:0], ValueError, "empty"),
    (CORRECT.to("meta"), ValueError, "is on meta"),
    (None, TypeError, "tensor or array"),
]


@pytest.mark.parametrize(("value", "kind", "message"), BAD_CONFIDENCE)
def test_confidence(value, kind, message):
    with pytest.raises(kind, match=f"^confidence .*{message}"):
        metrics.reliability_of(value, CORRECT)


@pytest.mark.parametrize(("value", "kind", "message"), BAD_CORRECT)
def test_correct(value, kind, message):
    with pytest.raises(kind, match=f"^correct .*{message}"):
        metrics.reliability_of(CONFIDENCE, value)


@pytest.mark.parametrize(("option", "value"), [("bins", 0), ("binning", "m"), ("closed", "l")])
def test_options_of_reliability_of(option, value):
    with pytest.raises(ValueError, match=f"^{option} must"):
        metrics.reliability_of(CONFIDENCE, CORRECT, **{option: value})


@pytest.mark.parametrize(
    ("hits", "counts", "name", "message"),
    [
        ([1.0, NAN], [2, 2], "hits", "finite"),
        ([1, 1], [2.0, INF], "counts", "finite"),
        ([1, 3], [2, 2], "hits", "3 hits of 2"),
        ([-1], [2], "hits", "-1 hits of 2"),
        ([1], [2, 2], "counts", "shape of hits"),
        ([], [], "hits", "empty"),
        ([1], [], "counts", "empty"),
        (torch.tensor([1]), torch.tensor([2], device="meta"), "counts", "is on meta"),
    ],
)
def test_wilson(hits, counts, name, message):
    with pytest.raises(ValueError, match=f"^{name} .*({message})"):
        metrics.wilson_interval(hits, counts)


@pytest.mark.parametrize(
    ("level", "kind"), [(0, ValueError), (1, ValueError), (95, ValueError), ("high", TypeError)]
)
def test_level(level, kind):
    with pytest.raises(kind, match=r"^level must"):
        metrics.wilson_interval([1], [2], level=level)
    with pytest.raises(kind, match=r"^level must"):
        metrics.reliability(PROBS, LABELS).interval(level)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (torch.tensor([0.1, NAN]), ValueError, "finite"),
        (torch.tensor([0.1, INF]), ValueError, "finite"),
        (PROBS, ValueError, "1 dimension"),
        (torch.empty(0), ValueError, "empty"),
        (torch.tensor([1, 2]), TypeError, "floating"),
        (None, TypeError, "tensor or array"),
    ],
)
def test_auroc(value, kind, message):
    good = torch.tensor([0.5, 0.6])
    with pytest.raises(kind, match=f"^in_scores .*{message}"):
        metrics.auroc(value, good)
    with pytest.raises(kind, match=f"^out_scores .*{message}"):
        metrics.auroc(good, value)


def test_auroc_on_two_devices():
    good = torch.tensor([0.5, 0.6])
    with pytest.raises(ValueError, match=r"^out_scores is on meta"):
        metrics.auroc(good, good.to("meta"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", SCORED, ids=lambda f: f.__name__)
def test_gradients_do_not_matter(function):
    probs = torch.cat([PROBS / 2, PROBS / 2], dim=1)
    found = function(probs.clone().requires_grad_(), LABELS)
    assert str(found) == str(function(probs, LABELS))


def test_gradients_do_not_pass_through():
    probs = PROBS.clone().requires_grad_()
    assert not metrics.entropy(probs).requires_grad
    assert metrics.true_calibration_error(probs, probs) == 0
    found = metrics.reliability_of(probs.amax(1), CORRECT, binning="mass")
    assert not found.confidence.requires_grad
    assert metrics.auroc(probs.amax(1), probs.amin(1)) == 1
