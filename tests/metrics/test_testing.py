import math

import numpy as np
import pytest
import torch
from scipy.stats import binom, kstest

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


def population(temperature, n=20_000, classes=5):
    """A posterior and the probabilities of a model that is wrong by a temperature."""
    torch.manual_seed(0)
    posterior = (2 * torch.randn(n, classes, dtype=torch.float64)).softmax(1)
    return posterior, (posterior.log() / temperature).softmax(1)


def outcomes(temperature, n, times, **options):
    posterior, probs = population(temperature)
    for seed in range(times):
        rows = torch.randint(len(probs), (n,))
        labels = posterior[rows].multinomial(1)[:, 0]
        yield metrics.calibration_test(probs[rows], labels, seed=seed, **options)


def test_p_values_of_calibrated_models_are_uniform():
    found = list(outcomes(1.0, 200, 200, resamples=99))
    for values in ([t.p_value for t in found], [t.p_value_z for t in found]):
        assert kstest(values, "uniform").pvalue > 1e-3
    rejected = np.mean([t.p_value <= 0.1 for t in found])
    assert rejected == pytest.approx(0.1, abs=0.09)
    z = [t.z for t in found]
    assert np.mean(z) == pytest.approx(0, abs=0.3)
    assert np.std(z) == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("metric", ["ece", "smooth_ece"])
def test_the_error_is_the_metric_and_the_expectation_that_of_a_calibrated_model(metric):
    probs, labels = CASES["random64"]
    found = metrics.calibration_test(probs, labels, metric=metric, resamples=100)
    score = getattr(metrics, metric)
    assert found.error == pytest.approx(score(probs, labels), abs=1e-12)
    torch.manual_seed(0)
    others = [score(probs, probs.multinomial(1)[:, 0]) for _ in range(100)]
    assert found.expected == pytest.approx(np.mean(others), rel=0.1)


def test_p_value_against_the_binomial():
    # one bin, ten samples of confidence .7: the error is |hits / 10 - .7|, but for its rounding
    probs = torch.tensor([[0.7, 0.3]], dtype=torch.float64).repeat(10, 1)
    labels, hits = [0] * 5 + [1] * 5, np.arange(11)
    as_large = abs(hits / 10 - 0.7) >= 0.2 - 1e-9
    exact = binom.pmf(hits, 10, 0.7)[as_large].sum()
    found = metrics.calibration_test(probs, labels, resamples=4000)
    assert found.p_value == pytest.approx(exact, abs=0.03)
    mean = (abs(hits / 10 - 0.7) * binom.pmf(hits, 10, 0.7)).sum()
    assert found.expected == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize("name", ["two", "random64", "many", "tiny", "half"])
def test_z_against_a_loop(name):
    probs, labels = CASES[name]
    excess, variance, weights = 0.0, 0.0, torch.linspace(0.1, 3, len(probs)).tolist()
    for row, label, weight in zip(probs.tolist(), labels.tolist(), weights, strict=True):
        brier = [sum((p - (k == y)) ** 2 for k, p in enumerate(row)) for y in range(len(row))]
        mean = sum(p * b for p, b in zip(row, brier, strict=True)) / sum(row)
        excess += weight * (brier[label] - mean)
        spread = sum(p * (b - mean) ** 2 for p, b in zip(row, brier, strict=True))
        variance += weight**2 * spread
    found = metrics.calibration_test(probs, labels, resamples=1, weights=weights)
    assert found.z == pytest.approx(excess / math.sqrt(variance), rel=2e-3, abs=1e-4)


def test_nothing_is_left_to_chance_where_rows_are_one_hot():
    right = metrics.calibration_test(torch.eye(3), [0, 1, 2])
    assert (right.error, right.expected, right.p_value) == (0, 0, 1)
    assert (right.z, right.p_value_z) == (0, 1)
    wrong = metrics.calibration_test(torch.eye(3), [0, 1, 1])
    assert wrong.p_value == 1 / 1001
    assert (wrong.z, wrong.p_value_z) == (math.inf, 0)


def test_another_seed_draws_others_and_other_bins_give_another_error():
    probs, labels = CASES["random"]
    named = metrics.calibration_test(probs, labels)
    other = metrics.calibration_test(probs, labels, seed=1)
    assert other.expected != named.expected
    assert other.z == named.z
    assert metrics.calibration_test(probs, labels, bins=5).error != named.error
