"""The plane: coordinates by hand, Fieller's interval against its definition and its coverage."""

import numpy as np
import pytest
from scipy import stats

from calibkit.metrics import plane


def test_a_nearest_neighbour_claims_all_that_it_loses():
    """It is right on its own data and always sure."""
    places = [plane.place(1.0, accuracy, 1.0) for accuracy in (0.7, 0.75, 0.8)]
    found = plane.kappa(places)
    assert found.value == pytest.approx(1)
    assert found.low == pytest.approx(1)
    assert found.high == pytest.approx(1)


def test_the_ends_are_slopes_whose_t_statistic_is_the_quantile():
    pairs = np.random.default_rng(1).normal([0.3, 0.2], [0.02, 0.01], (5, 2))
    found = plane.kappa(pairs, level=0.9)
    for slope in (found.low, found.high):
        rest = pairs[:, 1] - slope * pairs[:, 0]
        assert abs(stats.ttest_1samp(rest, 0).statistic) == pytest.approx(stats.t.ppf(0.95, 4))
    assert found.low < found.value < found.high


def test_there_is_no_slope_where_little_is_lost_or_all_is_open():
    assert plane.kappa([(0.04, 0.01), (0.05, 0.01)]) is None
    assert plane.kappa([(0.054, 0.027), (0.056, 0.028)]).value == pytest.approx(0.5)
    assert plane.kappa([(0.0, 0.1), (0.3, 0.0)]) is None  # the interval has no end


def test_the_numbers_of_single_trainings_have_kappa_as_mean_and_its_spread():
    rng = np.random.default_rng(3)
    lost = rng.normal(0.3, 0.01, 40)
    places = list(zip(lost, 0.6 * lost + rng.normal(0, 0.01, 40), strict=True))
    values, whole = plane.kappa_values(places), plane.kappa(places)
    assert values.mean() == pytest.approx(whole.value)
    half = 2.0227 * values.std(ddof=1) / np.sqrt(40)  # Student's t with 39 degrees of freedom
    assert half == pytest.approx((whole.high - whole.low) / 2, rel=0.02)
