"""The page of claims says what the table of words has."""

import re

import pandas as pd
import pytest
from study import page, register
from study.judged import chosen, over_epochs

from calibkit.course import checkout

LISTED = register.read().claims


def test_the_pages_are_those_of_the_stored_words():
    home = checkout.root() / "notebooks"
    written = page.pages(page.stored(), LISTED, (home / page.PAGE).read_text("utf-8"))
    for name, text in written.items():
        assert (home / name).read_text("utf-8") == text
    words = re.findall(r"\w[\w'.-]*", written[page.PAGE])
    assert len(words) <= 2_300  # read in ten minutes
    assert written[page.COMPARED].count("\n| ") == len(page.stored()) + 1


def test_the_brief_names_the_gamma_that_every_choice_took():
    after = [row for row in register.read().comparisons if row.state == "after T"]
    rows = [row for row in after if (row.claim, row.measure) == ("F5", "NLL")]
    taken = {way for row in rows for way, *_ in chosen(row, row.way, register.read())}
    assert len(rows) == 2
    assert {f"focal loss, {way.removeprefix('focal, ')}" for way in taken} == {page.BESIDE["F5"]}


@pytest.mark.parametrize(
    ("expect", "than", "told"),
    [("above", 0.0, (2, 1, 3)), ("below", 0.0, (-2, -3, -1)), ("within", 0.02, (0, -1, 1))],
)
def test_marks_lie_to_the_right_as_claimed(expect, than, told):
    row = {"estimate": 0.02, "low": 0.01, "high": 0.03, "margin": 0.01}
    found = page.in_margins(pd.Series({**row, "expect": expect, "than": than}))
    assert found == pytest.approx(told)


def test_the_figure_has_a_line_a_claim_and_a_mark_a_comparison():
    rows = page.stored()
    says = {claim.id: claim.says for claim in LISTED}
    made = page.forest(rows, "after T", says)
    (ax,) = made.axes
    own = rows[rows.state == "after T"]
    assert len(ax.get_yticklabels()) == own.claim.nunique()
    marks = [line for line in ax.lines if line.get_marker() != "None" and len(line.get_xdata())]
    waiting = [text for text in ax.texts if text.get_text().endswith(page.WAITING)]
    left = own[own.word == page.WAITING]
    assert len(waiting) == left.claim.nunique()  # one label a claim, which names each comparison
    assert sum(
        text.get_text().count(about) for about in set(left.about) for text in waiting
    ) >= len(left)
    assert len(marks) + len(left) == len(own)


def test_no_two_ways_of_the_epochs_look_alike_beside_each_other():
    ways = {way for family in page.FAMILIES for way in family}
    assert ways == set(register.read().ways) - {"cross-entropy"}
    shown = over_epochs("digits", register.read())
    for ax in page.against_epochs(shown).axes:
        colours = [bars.lines[0].get_color() for bars in ax.containers]
        assert len(colours) >= 3
        assert len(set(colours)) == len(colours)
