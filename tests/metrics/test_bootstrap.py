from typing import get_args

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from calibkit import metrics
from calibkit.metrics import bootstrap, resampling
from tests.metrics import reference

METRICS = get_args(bootstrap.Metric)
BINNED = ("ece", "mce", "overconfidence_error", "signed_gap", "accuracy")


def problem(n, classes=4, seed=0):
    torch.manual_seed(seed)
    probs = (2 * torch.randn(n, classes, dtype=torch.float64)).softmax(1)
    return probs, reference.noisy_labels(probs)


def resample_loop(probs, labels, metric, resamples, seed):
    """Resample the samples, compute the metric again, as often as asked."""
    generator = torch.Generator().manual_seed(seed)
    function, values = getattr(metrics, metric), []
    for _ in range(resamples):
        rows = torch.randint(len(labels), (len(labels),), generator=generator)
        values.append(function(probs[rows], labels[rows]))
    return np.array(values)


def drawn(probs, labels, metric, resamples, seed=1, bins=15):
    generator = np.random.default_rng(seed)
    return bootstrap.resampled(probs, labels, metric, bins, resamples, generator)[0].numpy()


@pytest.mark.parametrize("metric", [*BINNED, "classwise_ece"])
@pytest.mark.parametrize("n", [30, 400])
def test_distribution_is_that_of_the_plain_loop(metric, n):
    probs, labels = problem(n)
    exact = resample_loop(probs, labels, metric, 1500, seed=n)
    fast = drawn(probs, labels, metric, 1500)
    found = ks_2samp(exact.round(12), fast.round(12))
    assert found.statistic < 0.06, found  # 5 % of equal distributions reach .05, 1 in 1000 .071
    assert fast.std() == pytest.approx(exact.std(), rel=0.12)


@pytest.mark.parametrize("metric", ["ece", "signed_gap", "overconfidence_error"])
def test_distribution_where_all_cells_are_drawn_by_moments(metric, monkeypatch):
    monkeypatch.setattr(resampling, "SMALL", 0)
    probs, labels = problem(500)
    exact = resample_loop(probs, labels, metric, 1500, seed=3)
    found = ks_2samp(exact, drawn(probs, labels, metric, 1500))
    assert found.statistic < 0.06, found


@pytest.mark.parametrize("metric", ["ece", "mce", "signed_gap"])
def test_distribution_where_all_cells_are_drawn_exactly(metric, monkeypatch):
    monkeypatch.setattr(resampling, "SMALL", 10**6)
    probs, labels = problem(200)
    exact = resample_loop(probs, labels, metric, 1500, seed=4)
    found = ks_2samp(exact, drawn(probs, labels, metric, 1500))
    assert found.statistic < 0.06, found


def test_adaptive_bins_are_those_of_the_full_sample():
    probs, labels = problem(400)
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


@pytest.mark.parametrize("n", [700, 1001])
def test_classwise_groups_keep_the_spread(n, monkeypatch):
    probs, labels = problem(n)
    exact = drawn(probs, labels, "classwise_ece", 1500, seed=6)
    monkeypatch.setattr(resampling, "GROUPS", 400)
    grouped = drawn(probs, labels, "classwise_ece", 1500, seed=7)
    assert grouped.mean() == pytest.approx(exact.mean(), rel=0.03)
    assert grouped.std() == pytest.approx(exact.std(), rel=0.15)


def test_classwise_draws_are_exact_resamples():
    probs, labels = problem(60)
    values = drawn(probs, labels, "classwise_ece", 5, seed=8)
    generator = np.random.default_rng(8)
    order = generator.permutation(60).argsort()  # where the sample of each group is
    weights = generator.multinomial(60, np.full(60, 1 / 60), size=5)
    for value, weight in zip(values, weights, strict=True):
        rows = torch.from_numpy(np.repeat(order, weight))
        expected = metrics.classwise_ece(probs[rows], labels[rows])
        assert value == pytest.approx(expected, abs=1e-14)


def test_one_resample_is_enough():
    low, high = metrics.bootstrap_interval(*problem(50), resamples=1)
    assert low == high


def test_groups_have_equal_sizes():
    for n in (1, 5, 4096, 4097, 5000, 8193, 100_001):
        drawn_groups = resampling.Groups(n, 1, np.random.default_rng(0))
        sizes = torch.bincount(drawn_groups.of)
        assert len(sizes) == drawn_groups.groups <= 4096
        assert sizes.sum() == n
        assert sizes.max() - sizes.min() <= 1
        assert drawn_groups.weights.sum() == drawn_groups.groups
    assert resampling.Groups(4096, 1, np.random.default_rng(0)).groups == 4096
    assert resampling.Groups(4097, 1, np.random.default_rng(0)).groups == 2048


@pytest.mark.parametrize("metric", METRICS)
def test_interval_is_the_percentiles_or_their_reflection(metric):
    probs, labels = problem(300)
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
        wide = metrics.bootstrap_interval(probs, labels, level=0.99, **options)
        assert wide[0] < found[0] < found[1] < wide[1]
        assert found == metrics.bootstrap_interval(probs, labels, level=0.8, **options)
        other = metrics.bootstrap_interval(probs, labels, level=0.8, **options | {"seed": 4})
        assert found != other


def test_reflection_covers_where_percentiles_cannot():
    """A cooled posterior, T = 1.1: 80 against 6 per cent of 400 draws; see notes_on_measures.md."""
    torch.manual_seed(0)
    posterior = (2 * torch.randn(20_000, 10, dtype=torch.float64)).softmax(1)
    probs = (posterior.log() / 1.1).softmax(1)
    truth = metrics.true_calibration_error(probs, posterior)
    covered = {"reflected": 0, "percentile": 0}
    for seed in range(100):
        rows = torch.randint(20_000, (1000,))
        labels = posterior[rows].multinomial(1)[:, 0]
        for method in covered:
            low, high = metrics.bootstrap_interval(
                probs[rows], labels, resamples=200, seed=seed, method=method
            )
            covered[method] += low <= truth <= high
    assert covered["reflected"] == pytest.approx(80, abs=15)
    assert covered["percentile"] <= 20


def test_defaults():
    probs, labels = problem(300)
    named = metrics.bootstrap_interval(
        probs, labels, metric="ece", bins=15, level=0.9, resamples=1000, seed=0, method="reflected"
    )
    assert metrics.bootstrap_interval(probs, labels) == named


@pytest.mark.parametrize("metric", ["signed_gap", "accuracy"])
def test_interval_agrees_with_the_normal_one(metric):
    probs, labels = problem(5000)
    confidence, correct = probs.amax(1), (probs.argmax(1) == labels).double()
    sample = correct if metric == "accuracy" else confidence - correct
    low, high = metrics.bootstrap_interval(probs, labels, metric=metric, resamples=4000)
    half = 1.645 * sample.std().item() / 5000**0.5
    assert (low + high) / 2 == pytest.approx(getattr(metrics, metric)(probs, labels), abs=half / 10)
    assert (high - low) / 2 == pytest.approx(half, rel=0.06)


def test_a_cell_of_one_sample_is_drawn_exactly():
    # confidences .9 (right) and .6 (wrong), each alone in its cell: four outcomes for two draws
    probs = torch.tensor([[0.9, 0.1], [0.6, 0.4]], dtype=torch.float64)
    values = drawn(probs, torch.tensor([0, 1]), "ece", 500)
    assert set(values.round(9)) == {0.1, 0.35, 0.6}
    assert np.mean(values.round(9) == 0.35) == pytest.approx(0.5, abs=0.08)


def test_equal_confidences_add_no_spread():
    probs = torch.tensor([[0.75, 0.25]]).repeat(100, 1)
    values = drawn(probs, torch.tensor([0, 1] * 50), "ece", 300)
    counts = (0.75 - values) * 100
    signs = np.minimum(abs(counts - counts.round()), 1)
    assert signs.max() < 1e-9


def test_one_sample_gives_a_point():
    for metric in METRICS:
        low, high = metrics.bootstrap_interval([[0.75, 0.25]], [1], metric=metric)
        assert low == high
        assert low == pytest.approx(getattr(metrics, metric)([[0.75, 0.25]], [1]))


@pytest.mark.parametrize(
    ("options", "kind", "name"),
    [
        ({"metric": "nll"}, ValueError, "metric"),
        ({"bins": 0}, ValueError, "bins"),
        ({"level": 1.0}, ValueError, "level"),
        ({"level": 0.0}, ValueError, "level"),
        ({"level": 95}, ValueError, "level"),
        ({"resamples": 0}, ValueError, "resamples"),
        ({"resamples": 1e3}, TypeError, "resamples"),
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": None}, TypeError, "seed"),
        ({"method": "basic"}, ValueError, "method"),
    ],
)
def test_options_are_checked(options, kind, name):
    with pytest.raises(kind, match=f"^{name} must"):
        metrics.bootstrap_interval(*problem(5), **options)
