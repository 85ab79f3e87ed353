from typing import get_args

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from calibkit import metrics
from calibkit.metrics import intervals
from tests.metrics import reference

METRICS = get_args(intervals.Metric)
BINNED = ("ece", "mce", "overconfidence_error", "signed_gap", "accuracy")


def drawn(probs, labels, metric, resamples, seed=1, bins=15):
    generator = np.random.default_rng(seed)
    return intervals.resampled(probs, labels, metric, bins, resamples, generator)[0].numpy()


@pytest.mark.parametrize(("metric", "weighted"), [
    *((metric, False) for metric in (*BINNED, "classwise_ece")),
    *(("ece", True), ("classwise_ece", True)),
])  # fmt: skip
def test_distribution_is_that_of_the_plain_loop(metric, weighted):
    n, function = 150 if weighted else 30, getattr(metrics, metric)
    probs, labels = reference.problem(n)
    weights = torch.rand(n, dtype=torch.float64) if weighted else torch.ones(n)
    generator, exact = torch.Generator().manual_seed(30), []
    for _ in range(800):
        rows = torch.randint(n, (n,), generator=generator)
        exact.append(function(probs[rows], labels[rows], weights=weights[rows]))
    options = (metric, 15, 1500, np.random.default_rng(1), *([weights] if weighted else []))
    fast, here = intervals.resampled(probs, labels, *options)
    assert here == pytest.approx(function(probs, labels, weights=weights), abs=1e-14)
    found = ks_2samp(np.round(exact, 12), fast.numpy().round(12))
    assert found.statistic < 0.08, found
    assert fast.numpy().std() == pytest.approx(np.std(exact), rel=0.12)


def test_adaptive_bins_are_those_of_the_full_sample():
    probs, labels = reference.problem(400)
    confidence, correct = probs.amax(1), (probs.argmax(1) == labels).double()
    edges = torch.tensor(reference.edges_loop(confidence.numpy(), 15, "mass"))
    index = torch.bucketize(confidence, edges[1:-1].contiguous())
    generator, exact = torch.Generator().manual_seed(5), []
    for _ in range(1500):
        rows = torch.randint(400, (400,), generator=generator)
        residual = (confidence - correct)[rows]
        sums = torch.bincount(index[rows], weights=residual, minlength=15)
        exact.append(sums.abs().sum().item() / 400)
    found = ks_2samp(exact, drawn(probs, labels, "ada_ece", 1500))
    assert found.statistic < 0.06, found


def test_groups_have_equal_sizes():
    for n in (1, 4096, 4097, 100_001):
        drawn_groups = intervals.Groups(n, 1, np.random.default_rng(0))
        sizes = torch.bincount(drawn_groups.of)
        assert len(sizes) == drawn_groups.groups <= 4096
        assert sizes.sum() == n
        assert sizes.max() - sizes.min() <= 1
        assert drawn_groups.weights.sum() == drawn_groups.groups
    assert intervals.Groups(4096, 1, np.random.default_rng(0)).groups == 4096
    assert intervals.Groups(4097, 1, np.random.default_rng(0)).groups == 2048


@pytest.mark.parametrize("metric", METRICS)
def test_interval_is_the_percentiles_or_their_reflection(metric):
    probs, labels = reference.problem(300)
    options = {"metric": metric, "resamples": 200, "seed": 3}
    values = drawn(probs, labels, metric, 200, seed=3, bins=10)
    low, high = np.quantile(values, [0.1, 0.9])
    binned = {} if metric in ("signed_gap", "accuracy") else {"bins": 10}
    here = getattr(metrics, metric)(probs, labels, **binned)
    for method, ends in (
        ("percentile", (low, high)),
        ("reflected", (2 * here - high, 2 * here - low)),
    ):
        options |= {"method": method, "bins": 10}
        found = metrics.bootstrap_interval(probs, labels, level=0.8, **options)
        assert found == pytest.approx(ends, abs=1e-15)
        assert all(type(end) is float for end in found)
