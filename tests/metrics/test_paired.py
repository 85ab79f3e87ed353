import numpy as np
import pytest
import torch

from calibkit import metrics

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
def test_binary_scores_are_rows_of_two_classes(metric):
    random = np.random.default_rng(1)
    one, came = random.random(300), random.random(300) < 0.5
    other = np.clip(one + 0.1, 0.01, 0.99)
    rows = [np.stack([1 - score, score], axis=1) for score in (one, other)]
    whole = metrics.paired_interval(*rows, came.astype(int), metric=metric, resamples=50)
    alone = metrics.paired_interval_of(one, came, other, came, metric=metric, resamples=50)
    assert alone == pytest.approx(whole, abs=1e-12)
