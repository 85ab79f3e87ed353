"""Verdicts: each word where it belongs, and their interval against scipy."""

import numpy as np
import pytest
from scipy import stats

from calibkit.course import verdicts
from tests import refusals


def word(differences, **options):
    return verdicts.judge("X", "s", differences, **options).word


UP, DOWN, BOTH = [1.0, 1.1, 0.9], [-1.0, -1.1, -0.9], [-1.0, 1.1, 0.2]
SHARE = [0.36, 0.37, 0.38]
ECE_RISES = verdicts.judge("O2", "ECE rises", [0.1, 0.11, 0.12])


@pytest.mark.parametrize(("values", "options", "expected"), [
    (UP, {}, "HOLDS"),
    (DOWN, {}, "REVERSED"),
    (BOTH, {}, "INCONCLUSIVE"),
    (DOWN, {"expect": "below"}, "HOLDS"),  # which mirrors above: see below
    # a stated size: reached, surely missed in the right direction, the other direction
    (UP, {"margin": 0.5}, "HOLDS"),
    (UP, {"margin": 2.0}, "NOT MET"),
    (UP, {"margin": 1.1}, "INCONCLUSIVE"),
    (BOTH, {"margin": 9.0}, "INCONCLUSIVE"),  # not even the direction is sure
    (DOWN, {"margin": 0.5}, "REVERSED"),
    ([-0.05, -0.06, -0.04], {"margin": 0.1}, "REVERSED"),  # the other direction is enough
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
    (SHARE, {"expect": "within", "than": 0.4, "margin": 0.1}, "HOLDS"),
    (SHARE, {"expect": "within", "than": 0.9, "margin": 0.1}, "NOT MET"),
    (SHARE, {"expect": "within", "than": 0.1, "margin": 0.1}, "NOT MET"),
    (SHARE, {"expect": "within", "than": 0.4, "margin": 0.03}, "INCONCLUSIVE"),
    (DOWN, {"than": -2.0}, "HOLDS"),
])  # fmt: skip
def test_the_word(values, options, expected):
    assert word(values, **options) == expected


@pytest.mark.parametrize(("ends", "line"), [
    ((0.0, 0.2), ("above", 0.0)),
    ((-0.2, 0.0), ("above", 0.0)),
    ((1.0, 1.2), ("above", 1.0)),
    ((0.2, 1.0), ("above", 1.0)),
    ((-1.2, -1.0), ("below", 1.0)),
    ((0.5, 0.6), ("above", 0.0, 0.5)),
    ((0.4, 0.5), ("above", 0.0, 0.5)),
    ((0.2, 1.4 - 1), ("within", 0.4)),  # which is .3999...
    ((0.9 - 1, 0.0), ("within", 0.1)),  # -.0999...
    ((0.1, 0.2), ("within", 0.1)),
    ((-0.2, -0.1), ("above", 0.1, 0.0, None, -0.1)),  # of the register: the other way begins
    ((-0.1, 0.05), ("above", 0.1, 0.0, None, -0.1)),
    ((0.0, 0.1), ("above", 0.1, 0.0, 0.3, -0.1)),
])  # fmt: skip
def test_on_the_line_itself_nothing_is_decided(ends, line):
    assert verdicts.Rule(*line).word(*ends) == "OPEN"


@pytest.mark.parametrize("options", [{}, {"than": 0.9}, {"expect": "within", "margin": 2}])
def test_an_interval_of_zero_width_decides_nothing(options):
    assert word([1.0, 1.0, 1.0], **options) == "INCONCLUSIVE"
    assert word([1.0, 1.0, 1.001], **options) == "HOLDS"


def test_values_of_a_grid_carry_half_a_step():
    near = {"expect": "within", "margin": 0.1}
    one = verdicts.judge("F7", "s", [0.0, 0.0, 0.0], step=0.1, **near)
    assert (one.word, one.low, one.high) == ("HOLDS", -0.05, 0.05)
    assert word([0.9 - 1] * 3, step=0.1, **near) == "INCONCLUSIVE"
    assert word([0.5 - 1] * 3, step=0.1, **near) == "REVERSED"


def test_what_holds_of_the_control_too_is_not_specific():
    near = {"expect": "within", "margin": 0.4, "step": 0.1}
    assert word([0.0, 0.1, 0.0], **near) == "HOLDS"
    assert word([0.0, 0.1, 0.0], control=[0.2, 0.2, 0.2], **near) == "NOT SPECIFIC"
    assert word([0.0, 0.1, 0.0], control=[0.4, 0.4, 0.4], **near) == "HOLDS"
    assert word([0.9, 0.9, 0.9], control=[0.2, 0.2, 0.2], **near) == "REVERSED"
    said = verdicts.judge("N2", "s", [0.0, 0.1, 0.0], control=[0.2, 0.2, 0.2], **near)
    assert verdicts.parse(str(said)).word == "NOT SPECIFIC"


def test_one_margin_for_each_kind_of_claim():
    assert word([0.05, 0.06, 0.04], expect="within", margin="temperature") == "HOLDS"


@pytest.mark.parametrize(("hits", "cases"), [(0, 5), (30, 30), (7, 20)])
def test_a_share_has_the_exact_binomial_interval(hits, cases):
    found = verdicts.judge_share("X", "s", hits, cases, than=0.5)
    low = stats.beta.ppf(0.025, hits, cases - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, cases - hits) if hits < cases else 1.0
    assert (found.low, found.high) == pytest.approx((low, high))
    assert (found.mean, found.seeds, found.unit) == (hits / cases, cases, "cases")
    again = verdicts.parse(str(found))
    assert (again.seeds, again.unit, again.word) == (cases, "cases", found.word)


def test_a_share_is_judged_by_its_level():
    for hits, expected in ((30, "HOLDS"), (3, "NOT MET"), (20, "INCONCLUSIVE")):
        assert verdicts.judge_share("X", "s", hits, 30, than=0.7).word == expected
    assert verdicts.judge_share("X", "s", 0, 50, than=0.6, expect="below").word == "HOLDS"


def test_below_mirrors_above():
    draws = np.random.default_rng(2).normal(0.1, 1, size=(400, 4))
    seen = set()
    for values in draws:
        for options in ({"margin": 0.0}, {"margin": 1.0}, {"than": 0.3}):
            than = {"than": -options["than"]} if "than" in options else options
            found = word(values, **options)
            assert found == word(-values, expect="below", **than)
            seen.add(found)
    assert seen == set(verdicts.WORDS) - {"NOT SPECIFIC"}  # that needs a control


@pytest.mark.parametrize("seeds", [2, 7])
def test_the_interval_is_students(seeds):
    values = np.random.default_rng(0).normal(size=seeds)
    test = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    mean, low, high = verdicts.interval(values, level=0.9)
    assert (mean, low, high) == pytest.approx((values.mean(), test.low, test.high))


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


@pytest.mark.parametrize("verdict", [
    verdicts.judge("D1", "a | b", [0.1, 0.2, 0.15]),
    verdicts.judge("10b", "a: b (post hoc): [c]", UP, expect="below"),
    verdicts.judge("X", "within 5 % over 3 seeds", BOTH, expect="within", margin=9.0),
    verdicts.judge("X", "s", SHARE, than=0.9, level=0.999),
    verdicts.judge("X", "s", UP, margin=2.0, post_hoc=True),
    verdicts.judge("X", "s", SHARE, than=-1e-6, post_hoc=True),
    verdicts.judge("O2", "ECE falls", DOWN, expect="below", as_trained=True),
    verdicts.judge("O2", "ECE falls", DOWN, as_trained=True, post_hoc=True),
])  # fmt: skip
def test_what_is_printed_can_be_read_again(verdict):
    found = verdicts.parse(str(verdict))
    assert str(found) == str(verdict)
    for name in ("claim", "statement", "word", "seeds", "than", "post_hoc", "as_trained"):
        assert getattr(found, name) == getattr(verdict, name)
    numbers = [(v.mean, v.low, v.high, v.level) for v in (found, verdict)]
    assert numbers[0] == pytest.approx(numbers[1], abs=5e-4)
    assert found.measured == verdict.measured


@pytest.mark.parametrize("line", [
    "",
    "D1 holds: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds",
    "D1 HOLDS: less is worse",
    "we see: D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds",
    "D1 HOLDS: less is worse | +0.150 [+0.026, +0.274] 95% over 3 seeds, as foreseen",
])  # fmt: skip
def test_other_lines_are_no_verdicts(line):
    assert verdicts.parse(line) is None


test_wrong_arguments_are_refused_by_name = refusals.table("""
    word([1.0]) -> ValueError: differences
    word([]) -> ValueError: differences
    word([[1.0, 2.0]]) -> ValueError: differences
    word([1.0, np.nan]) -> ValueError: differences
    word(UP, expect="up") -> ValueError: expect
    word(UP, expect="within") -> ValueError: margin
    word(UP, margin=-1) -> ValueError: margin
    word(UP, margin=np.inf) -> ValueError: margin
    word(UP, margin="T") -> ValueError: margin must be one of 'ECE', 'gap', 'accuracy', 'Brier',
    word(UP, margin=0.1, than=0.5) -> ValueError: margin must be 0 beside than for expect='above'
    word(UP, than=np.nan) -> ValueError: than
    word(UP, than=-np.inf) -> ValueError: than
    word(UP, than=np.inf) -> ValueError: than
    word(UP, level=95) -> ValueError: level
    word(UP, step=-0.1) -> ValueError: step must lie
    word(UP, step=np.inf) -> ValueError: step must lie
    verdicts.judge_share("X", "s", 31, 30, than=0.7) -> ValueError: hits must be in
    verdicts.conclude("O3", [ECE_RISES], "so") -> ValueError: ...verdicts on O3, got ['O2']
    verdicts.conclude("O2", [ECE_RISES], "a\\nb") -> ValueError: ...one line
    verdicts.conclude("O2", [ECE_RISES], "") -> ValueError: ...one line
""")


def test_a_conclusion_counts_every_verdict_and_is_read_again():
    given = [
        verdicts.judge("O2", f"ECE {way}", [0.1, 0.11, 0.12], expect=way)
        for way in ("above", "below")
    ]
    *lines, last = str(verdicts.conclude("O2", given, "both ways were asked")).splitlines()
    assert lines == list(map(str, given))
    assert last == "O2, 2 verdicts (1 HOLDS, 1 REVERSED): both ways were asked"
    assert verdicts.conclude("O2", given[:1], "so").line == "O2, 1 verdict (1 HOLDS): so"
    assert verdicts.conclusion(last) == ("O2", last)
    assert verdicts.conclusion(lines[0]) is None
    assert verdicts.parse(last) is None
