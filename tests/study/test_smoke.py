"""From trainings to a word and a page, each part of the study once, at its smallest."""

import dataclasses

import pandas as pd
import pytest
from study import arbiter, arbiter_findings, factorial, judged, page

from calibkit.course import register

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
    assert "2 epochs" in page.over_time(shown)
    for one in (factorial.splits, judged._table):
        one.cache_clear()


def test_the_arbiter_fits_and_tells(tmp_path, monkeypatch):
    tiny = arbiter.Size((50, 60), (400, 401), 60, 80, 1, 5)
    monkeypatch.setitem(arbiter.SIZES, "smoke", tiny)
    few = {name: arbiter.MAPS[name] for name in ("nothing", "temperature", "SVS")}
    monkeypatch.setattr(arbiter, "taking_part", lambda classes: few)
    path = arbiter.run("smoke", tmp_path, cache=False, progress=False)
    assert "## What follows" in arbiter_findings.write(path).read_text("utf-8")
