import inspect

import numpy as np
import pytest
import torch
from scipy.stats import bootstrap

from calibkit import metrics
from calibkit.metrics import paired as module

SCORES = ("ece", "nll", "brier", "accuracy")


def problem(n=400, seed=0):
    """A posterior, a model sharper than it, and labels."""
    torch.manual_seed(seed)
    posterior = (2 * torch.randn(n, 4, dtype=torch.float64)).softmax(1)
    labels = posterior.multinomial(1)[:, 0]
    return posterior, (2 * posterior.log()).softmax(1), labels


@pytest.mark.parametrize("metric", SCORES)
def test_draws_are_the_metric_of_resampled_rows(metric):
    a, b, labels = problem(60)
    generator = np.random.default_rng(5)
    order = generator.permutation(60).argsort()  # where the sample of each group is
    weights = generator.multinomial(60, np.full(60, 1 / 60), size=41)[1:]
    score, differences = getattr(metrics, metric), []
    for weight in weights:
        rows = torch.from_numpy(np.repeat(order, weight))
        differences.append(score(a[rows], labels[rows]) - score(b[rows], labels[rows]))
    options = {"metric": metric, "resamples": 40, "seed": 5, "level": 0.8}
    low, high = np.quantile(differences, [0.1, 0.9])
    found = metrics.paired_interval(a, b, labels, method="percentile", **options)
    assert found == pytest.approx((low, high), abs=1e-12)
    here = score(a, labels) - score(b, labels)
    found = metrics.paired_interval(a, b, labels, method="reflected", **options)
    assert found == pytest.approx((2 * here - high, 2 * here - low), abs=1e-12)


@pytest.mark.parametrize("metric", ["nll", "brier"])
def test_scipy_agrees_on_mean_scores(metric):
    a, b, labels = problem()
    each = getattr(module, f"_{metric}")
    difference = (each(a, labels) - each(b, labels)).numpy()
    theirs = bootstrap(
        (difference,),
        np.mean,
        confidence_level=0.9,
        n_resamples=4000,
        method="basic",
        rng=np.random.default_rng(0),
    ).confidence_interval
    ours = metrics.paired_interval(a, b, labels, metric=metric, resamples=4000)
    width = theirs.high - theirs.low
    assert ours == pytest.approx(tuple(theirs), abs=0.06 * width)


@pytest.mark.parametrize("metric", SCORES)
def test_large_samples_are_drawn_in_groups(metric, monkeypatch):
    a, b, labels = problem(1001)
    options = {"metric": metric, "resamples": 2000}
    exact = metrics.paired_interval(a, b, labels, **options)
    monkeypatch.setattr("calibkit.metrics.resampling.GROUPS", 400)
    coarse = metrics.paired_interval(a, b, labels, **options)
    width = exact[1] - exact[0]
    assert coarse == pytest.approx(exact, abs=0.2 * width)


def test_swapping_the_models_turns_the_interval_around():
    a, b, labels = problem()
    for metric in SCORES:
        low, high = metrics.paired_interval(a, b, labels, metric=metric)
        assert metrics.paired_interval(b, a, labels, metric=metric) == pytest.approx((-high, -low))
        assert metrics.paired_interval(a, a, labels, metric=metric) == (0, 0)


def test_pairing_is_narrower_than_two_intervals():
    a, _, labels = problem(2000)
    b = (1.1 * a.log()).softmax(1)
    low, high = metrics.paired_interval(a, b, labels, metric="brier")
    one = (a.gather(1, labels[:, None])[:, 0]).std().item() * 2 * 1.645 / 2000**0.5
    assert high - low < one


def test_coverage_of_a_known_difference():
    """Brier scores have no bias: 90 % intervals cover in 90 % of draws."""
    torch.manual_seed(0)
    posterior = (2 * torch.randn(20_000, 4, dtype=torch.float64)).softmax(1)
    sharp = (2 * posterior.log()).softmax(1)
    expected = [(p.square().sum(1) - 2 * (p * posterior).sum(1)).mean() for p in (posterior, sharp)]
    truth = (expected[0] - expected[1]).item()
    covered = 0
    for seed in range(300):
        rows = torch.randint(20_000, (300,))
        labels = posterior[rows].multinomial(1)[:, 0]
        low, high = metrics.paired_interval(
            posterior[rows], sharp[rows], labels, metric="brier", resamples=300, seed=seed
        )
        covered += low <= truth <= high
    assert covered / 300 == pytest.approx(0.9, abs=0.05)


def test_defaults():
    a, b, labels = problem()
    named = metrics.paired_interval(
        a, b, labels, metric="ece", bins=15, level=0.9, resamples=1000, seed=0, method="reflected"
    )
    assert metrics.paired_interval(a, b, labels) == named
    assert metrics.paired_interval(a.numpy(), b.tolist(), labels.tolist()) == pytest.approx(named)
    assert all(type(end) is float for end in named)
    assert named != metrics.paired_interval(a, b, labels, bins=5)
    assert named != metrics.paired_interval(a, b, labels, seed=1)


@pytest.mark.parametrize(
    ("options", "kind", "name"),
    [
        ({"metric": "mce"}, ValueError, "metric"),
        ({"method": "basic"}, ValueError, "method"),
        ({"bins": 0}, ValueError, "bins"),
        ({"level": 95}, ValueError, "level"),
        ({"resamples": 0}, ValueError, "resamples"),
        ({"seed": -1}, ValueError, "seed"),
    ],
)
def test_options_are_checked(options, kind, name):
    with pytest.raises(kind, match=f"^{name} must"):
        metrics.paired_interval(*problem(5), **options)


def test_inputs_are_checked():
    a, b, labels = problem(5)
    with pytest.raises(ValueError, match=r"^probs_a must have rows that sum to 1"):
        metrics.paired_interval(a / 2, b, labels)
    with pytest.raises(ValueError, match=r"^probs_b must lie in \[0, 1\]"):
        metrics.paired_interval(a, 2 * b, labels)
    with pytest.raises(ValueError, match=r"^probs_b must have the shape of probs_a, \(5, 4\)"):
        metrics.paired_interval(a, b[:4], labels)
    with pytest.raises(ValueError, match=r"^probs_b is on meta but probs_a are on cpu"):
        metrics.paired_interval(a, b.to("meta"), labels)
    with pytest.raises(ValueError, match=r"^labels must lie in \[0, 4\)"):
        metrics.paired_interval(a, b, labels + 4)
    with pytest.raises(ValueError, match=r"^metric 'nll' is infinite.* in row 0; compare 'brier'"):
        metrics.paired_interval(torch.eye(2), torch.eye(2), [1, 1], metric="nll")


def test_gradients_do_not_matter():
    a, b, labels = problem(50)
    found = metrics.paired_interval(a.clone().requires_grad_(), b, labels, metric="nll")
    assert found == metrics.paired_interval(a, b, labels, metric="nll")


def test_the_two_bootstraps_take_the_same_options():
    names = [
        set(inspect.signature(f).parameters)
        for f in (metrics.paired_interval, metrics.bootstrap_interval)
    ]
    assert names[0] - {"probs_a", "probs_b"} == names[1] - {"probs"}


@pytest.mark.parametrize("metric", ["ece", "accuracy"])
def test_confidences_and_hits_give_what_whole_rows_give(metric):
    a, b, labels = problem()
    whole = metrics.paired_interval(a, b, labels, metric=metric, resamples=50)
    tops = [x for probs in (a, b) for x in (probs.amax(1), probs.argmax(1) == labels)]
    assert metrics.paired_interval_of(*tops, metric=metric, resamples=50) == whole


@pytest.mark.parametrize("metric", ["nll", "brier"])
def test_binary_scores_are_rows_of_two_classes(metric):
    random = np.random.default_rng(1)
    one, came = random.random(300), random.random(300) < 0.5
    other = np.clip(one + 0.1, 0.01, 0.99)
    rows = [np.stack([1 - score, score], axis=1) for score in (one, other)]
    whole = metrics.paired_interval(*rows, came.astype(int), metric=metric, resamples=50)
    alone = metrics.paired_interval_of(one, came, other, came, metric=metric, resamples=50)
    assert alone == pytest.approx(whole, abs=1e-12)


def test_a_binary_score_below_a_half_stays_in_its_bin():
    low, high = metrics.paired_interval_of([0.1] * 8, [0] * 8, [0.3] * 8, [0] * 8)
    assert (low, high) == pytest.approx((-0.2, -0.2))  # ECE .1 and .3, not of 1 - score


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [1], [0.5, 0.6], [1, 0]), "confidence_b must have one entry per row, 1, got 2"),
        (([50.0], [1], [0.5], [1]), "write 0.9 for 90 %"),
        (([0.5], [1, 0], [0.5], [1]), "correct must have one entry per row"),
        (([0.5], [2], [0.5], [1]), "correct must lie in"),
    ],
)
def test_bad_confidences_and_hits(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.paired_interval_of(*arguments)
    with pytest.raises(ValueError, match="metric must be one of"):
        metrics.paired_interval_of([0.5], [1], [0.5], [1], metric="mce")
