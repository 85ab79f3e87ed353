"""From trainings to a word and a page, each part of the study once, at its smallest."""

import dataclasses

import pandas as pd
import pytest
from study import factorial, judged, page, register

pytestmark = pytest.mark.slow


def test_a_comparison_is_trained_judged_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(factorial, "path", lambda name, part: tmp_path / f"{name}-{part}.csv")
    monkeypatch.setattr(factorial, "IMAGES", 64)
    monkeypatch.setattr(factorial, "TEST", 200)
    for one in (factorial.splits, judged._table):
        one.cache_clear()
    listed = register.read()
    (claim,) = (one for one in listed.claims if one.id == "T2")
    row = next(one for one in claim.compare if one.data == "digits")
    held = {**listed.data["digits"], "seeds": 3, "epochs": 2, "shown": [2], "decays": [1e-3, 1e-2]}
    small = dataclasses.replace(
        listed,
        data={**listed.data, "digits": held},
        ways={"cross-entropy": [0.0], "smoothing": [0.1, 0.2]},
    )
    factorial.run("digits", small)
    told = judged.judged(row, small)
    assert told["seeds"] == 3
    assert told["low"] < told["estimate"] < told["high"]
    table = pd.DataFrame([told])
    assert f"digits: {told['word']}" in page.overview(table, [claim])
    shown = judged.over_epochs("digits", small)
    assert "after T, 2 |" in page.over_time(shown)
    for one in (factorial.splits, judged._table):
        one.cache_clear()
