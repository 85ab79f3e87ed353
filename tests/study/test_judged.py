"""The table of words: from synthetic runs whose word is known, and as it is stored."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from study import factorial, judged, register

from calibkit.course import checkout

LISTED = register.read()
SEEDS = factorial.seeds(LISTED.data["digits"])
SPREAD = dict(zip(SEEDS, np.linspace(-0.003, 0.003, 10), strict=True))
# way, strength, NLL on `cal` as trained and after T, ECE as trained, NLL after T
RUNS = [
    ("cross-entropy", 0.0, 0.60, 0.55, 0.05, 0.60),
    ("smoothing", 0.1, 0.50, 0.60, 0.01, 0.90),  # the best as trained
    ("smoothing", 0.2, 0.70, 0.50, 0.30, 0.55),  # and after T
    ("penalty", 0.2, 0.40, 0.54, 0.05, 0.61),
]


def row(**how):
    how = {"claim": "T2", "data": "digits", "measure": "ECE", "margin": 0.01, **how}
    return register.Comparison(expect="below", **how)


@pytest.fixture
def synthetic(tmp_path, monkeypatch):
    """Runs of all judged seeds, with the numbers of `RUNS`; returns a way to drop some."""
    monkeypatch.setattr(factorial, "path", lambda name, part: tmp_path / f"{name}-{part}.csv")
    judged._table.cache_clear()
    for seed, spread in SPREAD.items():
        for way, strength, nll, scaled, ece, late in RUNS:
            key = {"epochs": 60, "way": way, "strength": strength, "decay": 0.01, "seed": seed}
            factorial.keep("digits", "selection", [{**key, "nll": nll, "scaled_nll": scaled}])
            off = spread if way == "smoothing" else 0.0
            trained = {"state": "as trained", "ECE": ece + off, "NLL": 9.0}
            cooled = {"state": "after T", "ECE": 9.0, "NLL": late + off}
            factorial.keep("digits", "judged", [{**key, **trained}, {**key, **cooled}])
    yield tmp_path
    judged._table.cache_clear()


@pytest.mark.parametrize(("how", "word", "mean"), [
    ({"way": ("smoothing",), "state": "as trained"}, "HOLDS", -0.04),
    ({"way": ("smoothing",), "state": "after T", "measure": "NLL"}, "HOLDS", -0.05),
    ({"way": ("penalty",), "state": "as trained"}, "OPEN", 0.0),
    ({"way": ("penalty",), "rival": ("smoothing",), "state": "as trained"}, "REVERSED", 0.04),
    # of two ways the better one by the criterion, not by the measure
    ({"way": ("smoothing", "penalty"), "state": "as trained"}, "OPEN", 0.0),
])  # fmt: skip
def test_a_word_that_is_known(synthetic, how, word, mean):
    found = judged.values(row(**how), LISTED)
    assert found.mean() == pytest.approx(mean, abs=1e-9)
    if mean:
        assert register.judge(found, 0.01, expect="below").word == word
    else:  # no spread, which decides nothing
        assert not found.any()
        assert word == "OPEN"


def test_nobody_looks_between(synthetic):
    comparison = row(way=("smoothing",), state="as trained")
    for part in ("selection", "judged"):
        judged._table.cache_clear()
        whole = factorial.stored("digits", part)
        whole[whole.seed < SEEDS[-1]].to_csv(factorial.path("digits", part), index=False)
        assert judged.values(comparison, LISTED) is None
        whole.to_csv(factorial.path("digits", part), index=False)
    told = judged.judged(dataclasses.replace(comparison, way=("mixup",)), LISTED)
    assert (told["word"], "estimate" in told) == (judged.WAITING, False)


def test_what_is_stored_is_what_the_register_and_the_runs_say():
    stored = pd.read_csv(checkout.results() / judged.NAME)
    now = judged.table(LISTED)
    pd.testing.assert_frame_equal(stored, now.replace("", np.nan), check_dtype=False)
    assert judged.counts(now).startswith(f"{len(LISTED.comparisons)} comparisons: ")
    assert (now.low <= now.estimate).sum() == (now.word != judged.WAITING).sum()
