"""What the register reads from stored runs is what the evidence printed; words by weight decay."""

import pytest
from study import judged, register, stored_runs

LISTED = register.read()
STORED = [row for row in LISTED.comparisons if row.stored]


@pytest.mark.parametrize("row", STORED, ids=lambda row: f"{row.claim} {row.was}")
def test_stored_numbers_are_those_of_the_printed_line(row):
    found, old = stored_runs.numbers(row.stored), judged.printed()[row.lesson, row.claim, row.was]
    assert len(found) == old.seeds
    assert found.mean() == pytest.approx(old.mean, abs=5.1e-4)
    half = (old.high - old.low) / 2
    told = register.judge(found, row.margin, level=old.level)
    assert (told.high - told.low) / 2 == pytest.approx(half, abs=1.1e-3)
