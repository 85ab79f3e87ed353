"""Weights of rows: the estimates of repeated rows, and no certainty from repetition."""

import inspect

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.metrics import intervals
from tests import refusals
from tests.metrics import reference


def problem(n=300, classes=4, seed=0, most=4):
    """Probabilities, labels, weights 0 to `most`, and the rows that they repeat."""
    probs, labels = reference.problem(n, classes, seed=seed)
    weights = torch.randint(0, most + 1, (n,))
    return probs, labels, weights, torch.arange(n).repeat_interleave(weights)


def estimate(name, **options):
    """A number or numbers of a metric of (probs, labels)."""

    def call(probs, labels, weights=None):
        given = {} if weights is None else {"weights": weights}
        return getattr(metrics, name)(probs, labels, **options, **given)

    return call


def parts_of_diagram(probs, labels, weights=None, **options):
    r = metrics.reliability(probs, labels, weights=weights, **options)
    return torch.cat([r.edges, r.counts, r.hits, r.confidence.nan_to_num(), r.share]).tolist()


def mass_diagram(probs, labels, weights=None):
    return parts_of_diagram(probs, labels, weights, binning="mass", bins=7)


def of_top_label(probs, labels, weights=None):
    return metrics.ece(metrics.TopLabel.of(probs, labels, weights))


def of_posterior(probs, labels, weights=None):
    return metrics.true_calibration_error(probs, probs.roll(1, 1), weights=weights)


def group_errors(probs, labels, weights=None):
    return metrics.ece_by_group(probs, labels, probs.argmax(1), weights=weights)


def error_of_the_test(probs, labels, weights=None, metric="ece"):
    options = {"metric": metric, "resamples": 1}
    return metrics.calibration_test(probs, labels, weights=weights, **options).error


def smooth_error_of_the_test(probs, labels, weights=None):
    return error_of_the_test(probs, labels, weights, "smooth_ece")


ESTIMATES = {
    **{
        name: estimate(name)
        for name in (
            *("ece", "mce", "ada_ece", "overconfidence_error", "signed_gap", "smooth_ece"),
            *("accuracy", "classwise_ece", "nll", "brier", "brier_decomposition"),
        )
    },
    "ece_l2": estimate("ece", norm="l2", bins=10, closed="left"),
    "ece_mass": estimate("ece", binning="mass", bins=10),
    "ada_ece_of_many_bins": estimate("ada_ece", bins=500),
    "top_k_accuracy": estimate("top_k_accuracy", k=2),
    "confident_share": estimate("confident_share", threshold=0.7),
    "ece_by_group": group_errors,
    "reliability": parts_of_diagram,
    "reliability_mass": mass_diagram,
    "true_calibration_error": of_posterior,
    "TopLabel": of_top_label,
    "calibration_test": error_of_the_test,
    "calibration_test_smooth": smooth_error_of_the_test,
}

# what has weights beside these is asked in a file of its own
ELSEWHERE = {"action_cost", "bootstrap_interval", "decision_cost", "net_benefit", "paired_interval"}
ELSEWHERE |= {"regret", "tally"}


def test_every_measure_that_takes_weights_is_asked():
    takes = {
        name for name in metrics.__all__
        if inspect.isfunction(getattr(metrics, name)) or name == "TopLabel"
        if "weights" in inspect.signature(getattr(metrics, name)).parameters
    }  # fmt: skip
    assert takes <= {*ESTIMATES, *ELSEWHERE}


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize(("n", "classes"), [(300, 4), (5, 3)])
def test_whole_weights_repeat_rows(name, n, classes):
    probs, labels, weights, rows = problem(n, classes, seed=n)
    weighted = np.array(ESTIMATES[name](probs, labels, weights))
    repeated = np.array(ESTIMATES[name](probs[rows], labels[rows]))
    once = np.array(ESTIMATES[name](probs, labels))
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-12)
    assert n < 300 or not np.array_equal(weighted, once)


INTERVALS = {
    name: lambda p, y, name=name, **w: metrics.bootstrap_interval(p, y, metric=name, **w)
    for name in intervals.get_args(intervals.Metric)
} | {
    f"paired {name}": lambda p, y, name=name, **w: metrics.paired_interval(
        p, 0.7 * p + 0.3 * p.roll(1, 1), y, metric=name, **w
    )
    for name in ("ece", "nll")
}


@pytest.mark.parametrize("name", INTERVALS)
def test_repetition_makes_no_interval_narrower(name):
    probs, labels, _, _ = problem(400)
    low, high = INTERVALS[name](probs, labels, resamples=1000)
    found = INTERVALS[name](probs, labels, resamples=1000, weights=torch.full((400,), 5))
    assert found == pytest.approx((low, high), abs=0.16 * (high - low))
    copies = torch.arange(400).repeat(5)
    narrow = INTERVALS[name](probs[copies], labels[copies], resamples=300)
    assert narrow[1] - narrow[0] < 0.6 * (high - low)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_repetition_leaves_the_intervals_of_a_diagram_at_every_level(level):
    probs, labels, _, _ = problem(400)
    once = metrics.reliability(probs, labels)
    fives = metrics.reliability(probs, labels, weights=torch.full((400,), 5))
    for end, expected in zip(fives.interval(level), once.interval(level), strict=True):
        torch.testing.assert_close(end, expected, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("metric", ["ece", "smooth_ece"])
def test_repetition_makes_no_test_surer(metric):
    probs, labels, _, _ = problem(60)
    options = {"metric": metric, "resamples": 50}
    once = metrics.calibration_test(probs, labels, **options)
    fives = metrics.calibration_test(probs, labels, weights=torch.full((60,), 5), **options)
    assert fives == pytest.approx(once, abs=1e-9)
    copies = torch.arange(60).repeat(5)
    assert metrics.calibration_test(probs[copies], labels[copies], **options).z == pytest.approx(
        5**0.5 * once.z
    )


PROBS, LABELS = torch.tensor([[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]), torch.tensor([0, 1, 1])


@refusals.each("""
    f(PROBS, LABELS, weights=[1.0, 2.0]) -> ValueError: weights must have one entry per row, 3,
    f(PROBS, LABELS, weights=[1.0, -2.0, 1.0]) -> ValueError: weights must be 0 or more, got -2 in
    f(PROBS, LABELS, weights=[1.0, float("inf"), 1.0]) -> ValueError: weights must be finite
    f(PROBS, LABELS, weights=[0, 0, 0]) -> ValueError: weights must not all be zero
    f(PROBS, LABELS, weights=[1e-200, 1e-200, 0]) -> ValueError: ...divide by their mean
    f(PROBS, LABELS, weights=[1e200, 1e200, 0]) -> ValueError: ...divide by their mean
    f(PROBS, LABELS, weights=[[1.0, 1.0]] * 3) -> ValueError: weights must have 1 dimension
    f(PROBS, LABELS, weights=[True, False, True]) -> TypeError: weights must be real numbers
    f(PROBS, LABELS, weights=torch.ones(3, device="meta")) -> ValueError: weights is on meta but
""")
def test_bad_weights(call, refused):
    for function in (*ESTIMATES.values(), *INTERVALS.values()):
        refusals.check(call, refused, {**globals(), "f": function})


@pytest.mark.parametrize(
    "function",
    [metrics.debiased_ece, metrics.risk_coverage, metrics.aurc, metrics.augrc, metrics.corp],
)
def test_measures_that_count_rows_take_no_weights(function):
    top = metrics.TopLabel.of(PROBS, LABELS, [1, 2, 3])
    with pytest.raises(TypeError, match=r"^weights have no meaning here"):
        function(top)
    with pytest.raises(TypeError, match="unexpected keyword"):
        function(PROBS, LABELS, weights=[1, 2, 3])


def test_weights_are_given_once():
    top = metrics.TopLabel.of(PROBS, LABELS, [1, 2, 3])
    with pytest.raises(TypeError, match=r"^weights must be left out"):
        metrics.ece(top, weights=[1, 2, 3])
    with pytest.raises(TypeError, match=r"^weights must be left out"):
        metrics.paired_interval(top, top, weights=[1, 2, 3])
    other = metrics.TopLabel.of(PROBS, LABELS, [3, 2, 1])
    with pytest.raises(ValueError, match=r"^weights must be the same"):
        metrics.paired_interval(top, other)
    plain, flat = metrics.TopLabel.of(PROBS, LABELS), metrics.TopLabel([0.9] * 3, top.correct)
    found = metrics.paired_interval(top, flat)
    assert found == metrics.paired_interval(plain, flat, weights=[1, 2, 3])
    assert found != metrics.paired_interval(plain, flat)
