"""What the register reads from stored runs is what the evidence printed; words by weight decay."""

import pandas as pd
import pytest
from study import judged, page, register, stored_runs

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


@pytest.fixture
def three_decays(monkeypatch):
    """Runs whose difference b - a is 0.1 x the place of the decay, a number a seed."""
    rows = [
        {"value": value, "decay": decay, "seed": seed, "x": seed + 0.1 * place * (value == "b"),
         "calibration_scaled_nll": abs(decay - (1e-3 if value == "a" else 1e-2))}
        for place, decay in enumerate((0.0, 1e-3, 1e-2)) for value in "ab" for seed in (1, 0)
        if (value, decay) != ("a", 0.0)
    ]  # fmt: skip
    monkeypatch.setattr(stored_runs, "table", lambda name, dataset: pd.DataFrame(rows))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"decay": 1e-3}, [0.1, 0.1]),
        ({"decay": [1e-3, 1e-2]}, [0.2, 0.2]),  # of a, and of b
        ({"decay": "best"}, [0.2, 0.2]),
    ],
)
def test_sides_at_their_decays(three_decays, how, told):
    stored = {"table": "t", "column": "x", "of": ["b", "a"], **how}
    if isinstance(how["decay"], list):
        stored["decay"] = how["decay"][::-1]
    assert stored_runs.numbers(stored) == pytest.approx(told)
    assert stored_runs.decays(stored) == [1e-3, 1e-2]  # where both sides have runs
    assert stored_runs.numbers(stored, 0.0) is None


def test_the_page_has_the_word_of_each_decay():
    stored = page.stored()
    o1 = stored[(stored.claim == "O1") & (stored.about == "photographs")].iloc[0]
    assert page.at_decays(o1) == {"0": "OPEN", "5e-4": "REVERSED", "5e-3": "OPEN"}
    tuned = stored[stored.rule == judged.SEEN]
    assert (tuned.decays.str.count(":") == 3).all()  # of each of the three decays, every comparison


@pytest.mark.parametrize(("low", "high", "how", "told"), [
    (-0.03, 0.005, {}, True),  # nothing as large as .01 is left
    (-0.03, 0.015, {}, False),
    (-0.005, 0.03, {"expect": "below"}, True),
    (0.005, 0.03, {"size": 0.05}, True),
    (-0.005, 0.03, {"expect": "within"}, False),
    (-0.005, 0.005, {}, False),  # WITHIN
])  # fmt: skip
def test_open_and_yet_not_as_claimed(low, high, how, told):
    found = register.judge_again((low + high) / 2, low, high, 5, 0.9875, 0.01, **how)
    assert found.excluded is told
