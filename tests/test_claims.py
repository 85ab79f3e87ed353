"""Verdicts: each word where it belongs, and their interval against scipy."""

import numpy as np
import pytest
from scipy import stats

from calibkit import claims


def word(differences, **options):
    return claims.verdict("X", "s", differences, **options).word


@pytest.mark.parametrize(
    ("differences", "options", "expected"),
    [
        ([1.0, 1.1, 0.9], {}, "HOLDS"),
        ([-1.0, -1.1, -0.9], {}, "REVERSED"),
        ([-1.0, 1.1, 0.2], {}, "INCONCLUSIVE"),
        ([-1.0, -1.1, -0.9], {"expect": "below"}, "HOLDS"),
        ([1.0, 1.1, 0.9], {"expect": "below"}, "REVERSED"),
        ([1.0, 1.1, 0.9], {"margin": 2.0}, "INCONCLUSIVE"),  # right sign, too small
        ([-1.0, -1.1, -0.9], {"expect": "below", "margin": 2.0}, "INCONCLUSIVE"),
        ([-1.0, -1.1, -0.9], {"margin": 0.5}, "REVERSED"),
        ([0.01, -0.01, 0.0], {"expect": "within", "margin": 0.1}, "HOLDS"),
        ([1.0, 1.1, 0.9], {"expect": "within", "margin": 0.1}, "REVERSED"),
        ([-1.0, -1.1, -0.9], {"expect": "within", "margin": 0.1}, "REVERSED"),
        ([0.0, 0.2, 0.1], {"expect": "within", "margin": 0.1}, "INCONCLUSIVE"),
    ],
)
def test_the_word(differences, options, expected):
    assert word(differences, **options) == expected


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=7)
    test = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    mean, low, high = claims.interval(values, level=0.9)
    assert (mean, low, high) == pytest.approx((values.mean(), test.low, test.high))


def test_nine_in_ten_intervals_contain_the_truth():
    draws = np.random.default_rng(1).normal(3, 2, size=(2000, 5))
    inside = [low <= 3 <= high for _, low, high in (claims.interval(d, level=0.9) for d in draws)]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_the_line_is_stable():
    line = str(claims.verdict("D1", "less is worse", [0.1, 0.2, 0.15]))
    assert line == "D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds"


@pytest.mark.parametrize(
    ("differences", "options", "names"),
    [
        ([1.0], {}, "differences"),
        ([], {}, "differences"),
        ([[1.0, 2.0]], {}, "differences"),
        ([1.0, float("nan")], {}, "differences"),
        ([1.0, 2.0], {"expect": "up"}, "expect"),
        ([1.0, 2.0], {"expect": "within"}, "margin"),
        ([1.0, 2.0], {"margin": -1}, "margin"),
        ([1.0, 2.0], {"level": 95}, "level"),
    ],
)
def test_wrong_arguments_are_refused_by_name(differences, options, names):
    with pytest.raises(ValueError, match=names):
        word(differences, **options)
