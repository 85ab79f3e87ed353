"""The table of words: from synthetic runs whose word is known, and as it is stored."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from study import factorial, judged, register

from calibkit.course import checkout, verdicts

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


def test_how_many_seeds_chose_an_end_of_strengths_and_decays(synthetic):
    ways = {**LISTED.ways, "smoothing": [0.05, 0.1, 0.2]}
    digits = {**LISTED.data["digits"], "decays": [0.001, 0.01]}
    listed = dataclasses.replace(LISTED, ways=ways, data={**LISTED.data, "digits": digits})
    told = [judged.ends(row(way=("smoothing",), state=state), listed)
            for state in ("as trained", "after T")]  # fmt: skip
    decay = "largest decay: 10 of 10"
    assert told == [decay, f"smoothing .2, the most tried: 10 of 10; {decay}"]
    assert judged.ends(row(way=("smoothing",), state="as trained"), LISTED) == ""


def test_a_word_that_hangs_on_the_rounding_of_a_printed_line():
    comparison = row(was="older", state="as trained")
    old = verdicts.parse(
        "T2 HOLDS (as trained): older | -0.020 [-0.030, -0.010] 98.75% over 5 seeds"
    )
    assert judged.hangs(comparison, old, expect="below")
    safe = dataclasses.replace(old, mean=-0.03, low=-0.04, high=-0.02)
    assert not judged.hangs(comparison, safe, expect="below")


def test_half_of_the_ece_of_photographs_is_computed():
    (told,) = [judged.judged(one, LISTED) for one in LISTED.comparisons if one.was in judged.RAW]
    old = verdicts.parse(
        "T1 HOLDS: photographs: one T lowers the ECE | -0.044 [-0.050, -0.037] 95% over 3 seeds"
    )
    assert told["estimate"] == pytest.approx(old.mean, abs=5e-4)  # the printed line, and the runs
    assert told["size"] == pytest.approx(0.0317, abs=5e-5)


def test_the_word_at_a_decay_is_of_settings_that_the_other_seeds_chose(synthetic):
    comparison = row(way=("smoothing",), state="after T", measure="NLL", margin=0.02)
    whole = factorial.stored("digits", "selection")
    lucky = (whole.seed == SEEDS[0]) & (whole.strength == 0.1) & (whole.way == "smoothing")
    whole.loc[lucky, "scaled_nll"] = 0.1  # of one seed alone: the others choose .2
    whole.to_csv(factorial.path("digits", "selection"), index=False)
    judged._table.cache_clear()
    told = judged.on_selection(comparison, ("smoothing",), LISTED, 0.01)
    assert told.tolist() == [0.5] * len(SEEDS)
    assert len(set(judged.on_selection(comparison, ("smoothing", "penalty"), LISTED, 0.01))) == 1


def test_what_stands_beside_a_row_is_its_comparison_with_one_part_changed():
    rows = {(one.claim, one.state, one.about or one.data): one for one in LISTED.comparisons}

    def told(*key):
        entries = (one.split(" | ") for one in judged.beside(rows[key], LISTED).split("; "))
        return {
            (name, decay): (word, float(rest.split()[0])) for name, decay, word, rest in entries
        }

    assert told("O2", "as trained", "photographs, depth") == {("signed gap", ""): ("HOLDS", 0.144)}
    noise = told("S2", "after T", "photographs")
    assert noise["pure noise", "0.0005"] == ("REVERSED", 0.246)
    assert noise["pure noise", "0.005"][0] == "OPEN"
    pooled = told("T1", "after T", "photographs")
    assert {word for (name, _), (word, _) in pooled.items() if name == "all losses"} == {"HOLDS"}
    assert pooled["cross-entropy", "0.005"] == ("WITHIN", -0.005)
    assert told("F7", "", "digits, cross-entropy") == {("chosen decay", ""): ("REVERSED", 0.946)}
    assert told("T1", "after T", "digits") == {("chosen decay", ""): ("WITHIN", -0.003)}
    assert told("X5", "as trained", "SST-2") == {("TREC", ""): ("OPEN", 0.013)}


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
