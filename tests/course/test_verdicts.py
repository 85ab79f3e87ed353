"""Verdicts: each word where it belongs, and their interval against scipy."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from calibkit.course import verdicts


def word(differences, **options):
    return verdicts.judge("X", "s", differences, **options).word


UP, DOWN, BOTH = [1.0, 1.1, 0.9], [-1.0, -1.1, -0.9], [-1.0, 1.1, 0.2]
SHARE = [0.36, 0.37, 0.38]


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        (UP, {}, "HOLDS"),
        (DOWN, {}, "REVERSED"),
        (BOTH, {}, "INCONCLUSIVE"),
        (DOWN, {"expect": "below"}, "HOLDS"),
        (UP, {"expect": "below"}, "REVERSED"),
        (BOTH, {"expect": "below"}, "INCONCLUSIVE"),
        # a stated size: reached, surely missed in the right direction, the other direction
        (UP, {"margin": 0.5}, "HOLDS"),
        (UP, {"margin": 2.0}, "NOT MET"),
        (UP, {"margin": 1.1}, "INCONCLUSIVE"),
        (BOTH, {"margin": 9.0}, "INCONCLUSIVE"),  # not even the direction is sure
        (DOWN, {"margin": 0.5}, "REVERSED"),
        (DOWN, {"expect": "below", "margin": 0.5}, "HOLDS"),
        (DOWN, {"expect": "below", "margin": 2.0}, "NOT MET"),
        (DOWN, {"expect": "below", "margin": 1.1}, "INCONCLUSIVE"),
        (UP, {"expect": "below", "margin": 0.5}, "REVERSED"),
        # as close as stated
        ([0.01, -0.01, 0.0], {"expect": "within", "margin": 0.1}, "HOLDS"),
        (UP, {"expect": "within", "margin": 0.1}, "REVERSED"),
        (DOWN, {"expect": "within", "margin": 0.1}, "REVERSED"),
        ([0.0, 0.2, 0.1], {"expect": "within", "margin": 0.1}, "INCONCLUSIVE"),
        ([0.0, -0.2, -0.1], {"expect": "within", "margin": 0.1}, "INCONCLUSIVE"),
        ([0.01, 0.02, 0.03], {"expect": "within", "margin": 0.04}, "INCONCLUSIVE"),
        # a level: a share of .37
        (SHARE, {"than": 0.3}, "HOLDS"),
        (SHARE, {"than": 0.9}, "NOT MET"),
        (SHARE, {"than": 0.38}, "INCONCLUSIVE"),
        (SHARE, {"than": 0.0}, "HOLDS"),
        (SHARE, {"expect": "below", "than": 0.9}, "HOLDS"),
        (SHARE, {"expect": "below", "than": 0.3}, "NOT MET"),
        (SHARE, {"expect": "below", "than": 0.36}, "INCONCLUSIVE"),
        (SHARE, {"expect": "below", "than": 0.0}, "NOT MET"),
        (SHARE, {"expect": "within", "than": 0.4, "margin": 0.1}, "HOLDS"),
        (SHARE, {"expect": "within", "than": 0.9, "margin": 0.1}, "NOT MET"),
        (SHARE, {"expect": "within", "than": 0.1, "margin": 0.1}, "NOT MET"),
        (SHARE, {"expect": "within", "than": 0.4, "margin": 0.03}, "INCONCLUSIVE"),
        (DOWN, {"than": -2.0}, "HOLDS"),
    ],
)
def test_the_word(values, options, expected):
    assert word(values, **options) == expected


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([0.0, 0.0], {}),
        ([0.0, 0.0], {"margin": 1.0}),
        ([1.0, 1.0], {"margin": 1.0}),
        ([-1.0, -1.0], {"expect": "below", "margin": 1.0}),
        ([0.5, 0.5], {"than": 0.5}),
        ([1.0, 1.0], {"expect": "within", "margin": 1.0}),
        ([-1.0, -1.0], {"expect": "within", "margin": 1.0}),
    ],
)
def test_on_the_line_itself_nothing_is_decided(values, options):
    assert word(values, **options) == "INCONCLUSIVE"


def test_below_mirrors_above():
    draws = np.random.default_rng(2).normal(0.1, 1, size=(400, 4))
    seen = set()
    for values in draws:
        for options in ({"margin": 0.0}, {"margin": 1.0}, {"than": 0.3}):
            than = {"than": -options["than"]} if "than" in options else options
            found = word(values, **options)
            assert found == word(-values, expect="below", **than)
            seen.add(found)
    assert seen == set(verdicts.WORDS)


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=7)
    test = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    mean, low, high = verdicts.interval(values, level=0.9)
    assert (mean, low, high) == pytest.approx((values.mean(), test.low, test.high))


def test_nine_in_ten_intervals_contain_the_truth():
    draws = np.random.default_rng(1).normal(3, 2, size=(2000, 5))
    inside = [low <= 3 <= high for _, low, high in (verdicts.interval(d, level=0.9) for d in draws)]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_the_line_is_stable():
    line = str(verdicts.judge("D1", "less is worse", [0.1, 0.2, 0.15]))
    assert line == "D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds"
    late = verdicts.judge("D1", "less is worse", [0.1, 0.2, 0.15], level=0.9, post_hoc=True)
    assert str(late) == (
        "D1 HOLDS (post hoc): less is worse | +0.150 [+0.066, +0.234] 90% over 3 seeds"
    )
    level = verdicts.judge("F4", "nine in ten", SHARE, than=0.9, level=0.999)
    assert str(level) == (
        "F4 NOT MET: nine in ten | +0.370 [+0.188, +0.552] against 0.9, 99.9% over 3 seeds"
    )


@pytest.mark.parametrize(
    "verdict",
    [
        verdicts.judge("D1", "a | b", [0.1, 0.2, 0.15]),
        verdicts.judge("10b", "a: b (post hoc): [c]", UP, expect="below"),
        verdicts.judge("X", "within 5 % over 3 seeds", BOTH, expect="within", margin=9.0),
        verdicts.judge("X", "s", SHARE, than=0.9, level=0.999),
        verdicts.judge("X", "s", UP, margin=2.0, post_hoc=True),
        verdicts.judge("X", "s", SHARE, than=-1e-6, post_hoc=True),
    ],
)
def test_what_is_printed_can_be_read_again(verdict):
    found = verdicts.parse(str(verdict))
    assert str(found) == str(verdict)
    for name in ("claim", "statement", "word", "seeds", "than", "post_hoc"):
        assert getattr(found, name) == getattr(verdict, name)
    numbers = [(v.mean, v.low, v.high, v.level) for v in (found, verdict)]
    assert numbers[0] == pytest.approx(numbers[1], abs=5e-4)
    assert found.measured == verdict.measured


@pytest.mark.parametrize(
    "line",
    [
        "",
        "D1 holds: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds",
        "D1 HOLDS: less is worse",
        "we see: D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds",
        "D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds, as foreseen",
    ],
)
def test_other_lines_are_no_verdicts(line):
    assert verdicts.parse(line) is None


def test_a_verdict_is_made_of_what_was_passed():
    found = verdicts.judge("X", "s", SHARE, than=0.9, level=0.9, post_hoc=True)
    assert (found.claim, found.statement, found.word) == ("X", "s", "NOT MET")
    assert (found.mean, found.low, found.high) == verdicts.interval(SHARE, level=0.9)
    assert (found.seeds, found.level, found.than, found.post_hoc) == (3, 0.9, 0.9, True)
    plain = verdicts.judge("X", "s", SHARE)
    assert (plain.level, plain.than, plain.post_hoc) == (0.95, None, False)
    assert (
        (plain.low, plain.high)
        == verdicts.interval(SHARE)[1:]
        == verdicts.interval(SHARE, level=0.95)[1:]
    )


def test_a_verdict_is_fixed_and_not_post_hoc_unless_it_says_so():
    found = verdicts.Verdict("X", "s", "HOLDS", 1.0, 0.5, 1.5, 3, 0.95)
    assert (found.than, found.post_hoc) == (None, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.word = "REVERSED"


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
        ([1.0, 2.0], {"margin": float("inf")}, "margin"),
        ([1.0, 2.0], {"margin": 0.1, "than": 0.5}, "margin must be 0 beside than .* got 0.1"),
        ([1.0, 2.0], {"margin": 0.1, "than": 0.5, "expect": "below"}, "margin"),
        ([1.0, 2.0], {"than": float("nan")}, "than"),
        ([1.0, 2.0], {"than": float("-inf")}, "than"),
        ([1.0, 2.0], {"than": float("inf")}, "than"),
        ([1.0, 2.0], {"level": 95}, "level"),
    ],
)
def test_wrong_arguments_are_refused_by_name(differences, options, names):
    with pytest.raises(ValueError, match=f"^{names}"):
        word(differences, **options)
