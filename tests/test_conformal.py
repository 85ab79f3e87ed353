"""Thresholds and exact coverage: values by hand, MAPIE, closed laws, and simulation to 3 errors."""

import math

import numpy as np
import pytest
import torch
from mapie.classification import SplitConformalClassifier
from scipy import stats
from sklearn.linear_model import LogisticRegression

from calibkit import conformal
from calibkit.lab import data
from tests import refusals

ALPHA = 0.1
GENERATOR = torch.Generator().manual_seed(0)


@pytest.fixture(scope="module")
def known():
    """Noisy digits with their posterior, and what a reader says who is too sure."""
    drawn = data.NoisyDigits(0.6).draw(4000, seed=1)
    return drawn, (drawn.posterior.clamp(min=1e-30).log() * 2).softmax(dim=1)


@pytest.mark.parametrize(
    ("n", "alpha"), [(9, 0.1), (9, 0.7), (99, 0.1), (100, 0.1), (20, 0.05), (500, 0.2), (37, 0.31)]
)
def test_the_quantile_is_the_place_that_a_loop_finds(n, alpha):
    scores = torch.rand(n, generator=GENERATOR, dtype=torch.float64)
    place = next(k for k in range(1, n + 2) if k / (n + 1) >= 1 - alpha - 1e-12)
    expected = sorted(scores.tolist())[place - 1] if place <= n else math.inf
    assert conformal.conformal_quantile(scores, alpha) == expected
    equal = conformal.weighted_quantiles(scores, torch.ones(n), [1.0], alpha)
    assert equal.item() == expected


@pytest.mark.parametrize("n", [50, 999, 1000, 1503])
def test_sets_of_the_simplest_score_are_those_of_mapie(known, n):
    drawn, probs = known
    stated = LogisticRegression()  # whose inputs are logarithms of its probabilities
    stated.classes_, stated.coef_, stated.intercept_ = np.arange(10), np.eye(10), np.zeros(10)
    given = SplitConformalClassifier(stated, confidence_level=0.9, conformity_score="lac")
    given.conformalize(probs[:n].log().numpy(), drawn.labels[:n].numpy())
    _, theirs = given.predict_set(probs[n:].log().numpy())
    threshold = conformal.conformal_quantile(1 - probs[range(n), drawn.labels[:n]], ALPHA)
    assert np.array_equal((1 - probs[n:] <= threshold).numpy(), theirs[:, :, 0])


def test_each_group_has_the_quantile_of_its_own_scores():
    scores = torch.rand(300, generator=GENERATOR)
    groups = torch.arange(300) % 3
    found = conformal.group_quantiles(scores, groups, ALPHA, count=4)
    expected = [conformal.conformal_quantile(scores[groups == g], ALPHA) for g in range(3)]
    assert found.tolist() == [*expected, math.inf]


def test_weighted_thresholds_are_those_of_a_loop():
    scores, weights, new = (torch.rand(n, generator=GENERATOR).double() for n in (60, 60, 7))
    found = conformal.weighted_quantiles(scores, weights, 20 * new, 0.3)
    for own, threshold in zip(20 * new, found, strict=True):
        reached = [t for t in scores if weights[scores <= t].sum() >= 0.7 * (weights.sum() + own)]
        assert threshold.item() == (min(reached) if reached else math.inf)


def test_coverage_at_many_thresholds_is_that_of_the_sets(known):
    drawn, probs = known
    levels = torch.tensor([-0.1, 0.0, 0.3, 0.7, 0.99, 1.0, 2.0], dtype=torch.float64)
    found = conformal.coverage_at(1 - probs, drawn.posterior, levels)
    for level, coverage in zip(levels, found, strict=True):
        sets = 1 - probs <= level
        exact = conformal.exact_coverage(sets, drawn.posterior).mean()
        assert coverage.item() == pytest.approx(exact.item(), abs=1e-12)


def test_the_coverage_over_calibration_sets_follows_its_beta_law(known):
    """Calibration sets are drawn with labels from the posterior; Kolmogorov and Smirnov's test."""
    (drawn, probs), n = known, 99
    limits = []
    for _ in range(300):
        chosen = torch.randint(len(probs), (n,), generator=GENERATOR)
        labels = torch.multinomial(drawn.posterior[chosen], 1, generator=GENERATOR)[:, 0]
        limits.append(conformal.conformal_quantile(1 - probs[chosen, labels], ALPHA))
    found = conformal.coverage_at(1 - probs, drawn.posterior, limits).numpy()
    law = conformal.coverage_law(n, ALPHA)
    assert abs(found.mean() - law.mean()) < 3 * law.std() / math.sqrt(len(found)) + 1e-3
    assert stats.kstest(found, law.cdf).pvalue > 1e-3


def test_the_smallest_sets_keep_the_promise_and_lose_it_without_their_last_class(known):
    exact = known[0].posterior[:300]
    sets = conformal.smallest_sets(exact, 0.9)
    assert conformal.exact_coverage(sets, exact).min() >= 0.9 - 1e-9
    for row, chosen in zip(exact, sets, strict=True):
        assert row.sort(descending=True).values[: chosen.sum() - 1].sum() < 0.9
    rounded = conformal.smallest_sets([[0.7, 0.2, 0.1]], 0.9)  # .7 + .2 is below .9 by a rounding
    assert rounded.tolist() == [[True, True, False]]
    ties = conformal.smallest_sets(torch.full((1, 50), 0.02, dtype=torch.float64), 0.3)
    assert ties[0].nonzero()[:, 0].tolist() == list(range(15))


test_bad_input_is_named = refusals.table("""
    conformal.conformal_quantile([], ALPHA) -> ValueError: ...scores is empty
    conformal.conformal_quantile([0.1, math.nan], ALPHA) -> ValueError: ...scores must be finite
    conformal.conformal_quantile([0.1], 0) -> ValueError: ...alpha must lie in
    conformal.conformal_quantile([0.1], 1) -> ValueError: ...alpha must lie in
    conformal.group_quantiles([0.1, 0.2], [0], ALPHA) -> ValueError: ...groups must have one entry
    conformal.group_quantiles([0.1], [-1], ALPHA, count=2) -> ValueError: ...groups must lie in
    conformal.weighted_quantiles([0.1], [1, 1], [1], ALPHA) -> ValueError: ...one entry per row
    conformal.weighted_quantiles([0.1], [0.0], [1], ALPHA) -> ValueError: ...must not all be zero
    conformal.weighted_quantiles([0.1], [1.0], [-1.0], ALPHA) -> ValueError: ...0 or more, got -1
    conformal.exact_coverage([[True]], [[0.5, 0.5]]) -> ValueError: ...must have shape
    conformal.coverage_at([[0.1, 0.2]], [[0.5, 0.6]], [1.0]) -> ValueError: ...posterior
    conformal.coverage_law(8, ALPHA) -> ValueError: ...n must be at least 9
    conformal.smallest_sets([[0.5, 0.5]], 1.0) -> ValueError: ...level must lie in
    conformal.exact_coverage([[1, 0]], [[0.5, 0.5]]) -> TypeError: sets must be bool
""")
