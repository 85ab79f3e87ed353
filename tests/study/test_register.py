"""The register: its list, its rules, and words for numbers whose word is known."""

import numpy as np
import pytest
from study import judged, register

from calibkit.course import checkout, claims
from tests import refusals

LISTED = register.read()
JITTER = np.array([-0.002, -0.001, 0.0, 0.001, 0.002])  # half of the 98.75 % interval is .0030


@pytest.mark.parametrize(("mean", "how", "word"), [
    (0.02, {}, "HOLDS"),
    (-0.02, {}, "REVERSED"),
    (0.006, {}, "WITHIN"),
    (0.009, {}, "OPEN"),
    (-0.012, {}, "OPEN"),
    (-0.02, {"expect": "below"}, "HOLDS"),
    (0.02, {"expect": "below"}, "REVERSED"),
    (0.006, {"expect": "within"}, "HOLDS"),
    (0.009, {"expect": "within"}, "OPEN"),
    (0.02, {"expect": "within"}, "REVERSED"),
    (-0.02, {"expect": "within"}, "REVERSED"),
    (0.02, {"size": 0.03}, "OPEN"),  # more than the margin, less than the source says
    (0.04, {"size": 0.03}, "HOLDS"),
    (0.0, {"size": 0.03}, "WITHIN"),
    (0.004, {"size": 0.0}, "HOLDS"),
    (2.02, {"than": 2.0}, "HOLDS"),
    (1.98, {"than": 2.0}, "REVERSED"),
    (2.006, {"than": 2.0, "expect": "within"}, "HOLDS"),
])  # fmt: skip
def test_a_word_that_is_known(mean, how, word):
    one = register.judge(mean + JITTER, 0.01, **how)
    assert (one.word, one.seeds) == (word, 5)
    assert one.estimate == pytest.approx(mean)
    assert one.low == pytest.approx(mean - 0.0030, abs=1e-4)  # t(.99375, 4) = 4.315
    half = 2.776 * 0.0007071  # as at 95 %
    told = register.judge_again(mean, mean - half, mean + half, 5, 0.95, 0.01, **how)
    assert told.word == word
    assert told.high == pytest.approx(one.high, abs=1e-5)


@pytest.mark.parametrize(("half", "word"), [(0.05, "HOLDS"), (0.08, "OPEN")])
def test_half_a_step_of_the_grid_is_added_once(half, word):
    """Half an interval is t * error + step / 2: another level changes the first part alone."""
    told = register.judge_again(
        1.0, 1.0 - half, 1.0 + half, 3, 0.95, 0.1, expect="within", than=1.0, step=0.1
    )
    wide = 8.860 / 4.303  # t(.99375, 2), t(.975, 2)
    assert told.word == word
    assert told.high == pytest.approx(1.05 + (half - 0.05) * wide, abs=1e-4)
    if word == "OPEN":
        assert told.more == 4  # t(.99375, 3) = 4.856 * .0121 ...: the same spread over four seeds


def test_a_printed_temperature_names_the_grid_on_which_it_was_found():
    """A T of a printed line is one of the grid .1, .2 ...; stored ones are by the NLL, on none."""
    of_T = [row for row in LISTED.comparisons if row.measure == "T"]
    assert {bool(row.step) for row in of_T} == {False, True}
    assert all(bool(row.step) == (not row.stored) for row in of_T)
    assert not any(row.step for row in LISTED.comparisons if row.measure != "T")


def test_what_open_needs_is_what_then_decides():
    found = register.judge([0.0, 0.01, 0.02, 0.03, 0.04], 0.01)
    assert found.word == "OPEN"
    scaled = np.linspace(-1, 1, found.more)
    spread = (found.high - found.low) / 2 / 4.315 * np.sqrt(5)
    values = found.estimate + scaled / scaled.std(ddof=1) * spread
    assert 15 < found.more < 25
    assert register.judge(values, 0.01).word != "OPEN"
    assert register.judge(values[:3] * 0 + found.estimate, 0.01).word == "OPEN"  # no width
    assert register.judge([0.02, 0.02001, 0.01999], 0.01, size=0.05).more is None


test_bad_numbers_are_named = refusals.table("""
    register.judge([0.1], 0.01) -> ValueError: ...at least 2
    register.judge([0.1, 0.2], 0.0) -> ValueError: ...margin
    register.judge([0.1, 0.2], 0.01, expect="more") -> ValueError: ...expect
    register.judge([0.1, 0.2], 0.01, level=1.0) -> ValueError: ...level
    register.judge([0.1, np.nan], 0.01) -> ValueError: ...finite
""")


def test_the_register_keeps_its_rules():
    assert len(LISTED.comparisons) <= 400
    assert max(len(claim.compare) for claim in LISTED.claims) <= 4
    assert all(len(claim.left.split()) <= 10 for claim in LISTED.claims)
    assert {c.id for c in LISTED.claims if not c.compare} == {
        c.id for c in LISTED.claims if c.tested in ("checked", "built", "prepared", "advice")
    } - {"M4", "M6"}
    assert all(claim.left for claim in LISTED.claims if claim.tested == "narrower")
    assert LISTED.level == 1 - 0.05 / 4
    assert LISTED.margins["slope"] * 0.5 == LISTED.margins["ECE"]  # over D4's rates of 0 to .5


def test_every_claim_of_the_page_is_registered_with_its_source():
    page = claims.listed(checkout.root() / "notebooks" / claims.DETAIL)
    held = {claim.id: (claim.source, claim.figure) for claim in LISTED.claims}
    assert {row.claim: (row.source, row.figure) for row in page}.items() <= held.items()
    tested = {claim.id: claim.tested for claim in LISTED.claims}
    assert all(tested[row.claim] in row.tested for row in page)


def test_every_older_statement_was_printed_by_its_lesson():
    wanted = {(row.lesson, row.claim, row.was) for row in LISTED.comparisons if row.was}
    assert wanted <= judged.printed().keys()


HEAD = """
[rules]
level = 0.9875
most = 2
criterion = {"as trained" = "nll"}
[margins]
ECE = 0.01
[data.digits]
[ways]
cross-entropy = [0.0]
smoothing = [0.1]
[photographs]
"""
CLAIM = '[[claim]]\nid = "T2"\nsays = "x"\ntested = "as claimed"\nsource = "s"\ncompare = [{}]\n'
ROW = '{data = "digits", measure = "ECE", way = ["smoothing"]}'


@pytest.mark.parametrize(("text", "why"), [
    (CLAIM.format(ROW.replace("ECE", "MCE")), "measure of T2"),
    (CLAIM.format(f"{ROW}, {ROW}"), "two comparisons of T2 are alike"),
    (CLAIM.format(", ".join([ROW] * 3)), "T2 has 3 comparisons; leave at most 2"),
    (CLAIM.format(ROW.replace('"smoothing"', '"mixing"')), "way of T2"),
    (CLAIM.format(ROW.replace("digits", "faces")), "data of T2"),
    (CLAIM.format(ROW.replace('way = ["smoothing"]', "than = 1.0")), "either way or was"),
    (CLAIM.format(ROW.replace("}", ', state = "late"}')), "state"),
    (CLAIM.format(ROW) * 2, "claims that stand twice: T2"),
])  # fmt: skip
def test_a_row_that_breaks_a_rule_is_named(tmp_path, text, why):
    path = tmp_path / "register.toml"
    path.write_text(HEAD + CLAIM.format(ROW), encoding="utf-8")
    assert str(register.read(path).comparisons[0]) == "digits, smoothing against cross-entropy, ECE"
    path.write_text(HEAD + text, encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        register.read(path)
