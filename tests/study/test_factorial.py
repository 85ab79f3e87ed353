"""The factorial: seeds of its own, the choice by the state that is judged, rows that go on."""

import dataclasses
import functools

import pandas as pd
import pytest
import torch
from study import factorial, judged, page, register

from calibkit import metrics
from calibkit.lab import sweep

LISTED = register.read()
USED = {*range(10), 100, 101, 102, *range(300, 310), *range(5000, 5010), *range(7000, 7010)}


@pytest.fixture
def small(monkeypatch):
    """Few images, which nobody else gets from the cache."""
    monkeypatch.setattr(factorial, "IMAGES", 64)
    factorial.splits.cache_clear()
    yield
    factorial.splits.cache_clear()
    factorial.target.cache_clear()


@pytest.mark.parametrize("name", ["digits", "text", "parts"])
def test_no_seed_serves_twice(name):
    held = LISTED.data[name]
    seeds = factorial.seeds(held)
    own = [seed for one in seeds for seed in factorial.selection_seeds(held, one)]
    assert (len(seeds), len(own)) == (10, 20)
    assert len({*seeds, *own}) == 30
    assert not {*seeds, *own} & USED


@pytest.mark.usefixtures("small")
def test_every_way_of_the_register_trains():
    for name in ("digits", "text"):
        for way, strengths in LISTED.ways_of(name).items():
            one = factorial.trial(name, {}, 1, way, strengths[-1], 1e-2, 1000, judged=False)
            if way.startswith("focal"):
                assert one.recipe.loss.keywords == {"gamma": float(way[-1])}
            assert one.recipe.weight_decay == 1e-2
            assert list(one.score) == ["cal"]
            assert (one.recipe.mix is not None) == way.startswith("mixup")


@pytest.mark.usefixtures("small")
def test_parts_are_chosen_on_the_schedule_of_the_source():
    held = LISTED.data["parts"]
    make = functools.partial(factorial.trial, "parts", held)
    for way, strengths in LISTED.ways_of("parts").items():
        one = make(2, way, strengths[-1], 1e-2, 1000, False)
        assert (one.recipe.select is None) == (way == "all images")
        assert (one.recipe.mix is not None) == way.endswith("mixup")
        if way == "target's choice":
            assert one.recipe.select.target.shape == (2, 64, 10)
    long = make(200, "own choice", 0.0, 1e-2, 1000, True).recipe
    assert (long.epochs, long.select.share, long.select.warmup) == (200, 0.1, 10)


def test_a_state_is_tuned_by_its_own_criterion():
    rows = [("a", 1.0, 0.1, 0.5, 0.4), ("a", 2.0, 0.1, 0.6, 0.3), ("b", 0.0, 0.2, 0.55, 0.2)]
    table = pd.DataFrame(rows, columns=[*factorial.SETTING, "nll", "scaled_nll"])
    assert factorial.best(table, ["a"], "nll")["strength"] == 1.0
    assert factorial.best(table, ["a"], "scaled_nll")["strength"] == 2.0
    assert factorial.best(table, ["a", "b"], "scaled_nll")["way"] == "b"
    with pytest.raises(ValueError, match="got \\['c'\\]"):
        factorial.best(table, ["c"], "nll")


def test_the_excess_is_what_the_nll_has_above_the_posteriors():
    generator = torch.Generator().manual_seed(0)
    posterior = torch.rand(2000, 3, generator=generator, dtype=torch.float64).softmax(dim=1)
    logits = 2 * posterior.log()  # the posterior at T = 2
    labels = torch.multinomial(posterior, 1, generator=generator)[:, 0]
    above = metrics.nll(logits.softmax(dim=1), labels) - metrics.nll(posterior, labels)
    assert factorial.excess(logits, posterior, 1.0) == pytest.approx(above, abs=0.01)
    assert factorial.excess(logits, posterior, 2.0) == pytest.approx(0.0, abs=1e-12)
    assert factorial.least_excess(logits, posterior) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.usefixtures("small")
def test_it_goes_on_where_it_was_and_its_runs_are_judged_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(factorial, "path", lambda name, part: tmp_path / f"{name}-{part}.csv")
    few = {"cross-entropy": [0.0], "smoothing": [0.1, 0.2]}
    held = {**LISTED.data["digits"], "seeds": 2, "epochs": 1, "shown": [1], "decays": [1e-3, 1e-2]}
    listed = dataclasses.replace(LISTED, ways=few, data={**LISTED.data, "digits": held})
    run, calls = sweep.run, []

    def stopping(make, grid, **options):
        calls.append(len(grid))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run(make, grid, **options)

    monkeypatch.setattr(sweep, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        factorial.run("digits", listed)
    first = factorial.stored("digits", "selection")
    assert len(first) == 3  # three settings of the first decay, means over two seeds
    factorial.run("digits", listed)
    whole, kept = (factorial.stored("digits", part) for part in ("selection", "judged"))
    assert calls[:3] == [6, 6, 6]
    pd.testing.assert_frame_equal(whole[:3], first)
    assert len(whole) == 12
    assert not whole.duplicated([*factorial.SETTING, "seed"]).any()
    for seed in (1000, 1001):
        chosen = {
            tuple(factorial.best(whole[whole.seed == seed], [way], by).values())
            for way in few
            for by in ("nll", "scaled_nll")
        }
        own = kept[kept.seed == seed]
        assert set(own[factorial.SETTING].itertuples(index=False, name=None)) == chosen
        assert set(own.state) == {"as trained", "after T"}
    many = len(calls)
    factorial.run("digits", listed)
    assert len(calls) == many
    assert whole.revision.notna().all()
    judged._table.cache_clear()
    (claim,) = (one for one in listed.claims if one.id == "T2")
    told = judged.judged(next(one for one in claim.compare if one.data == "digits"), listed)
    assert (told["seeds"], told["low"] < told["estimate"] < told["high"]) == (2, True)
    assert f"digits: {told['word']}" in page.overview(pd.DataFrame([told]), [claim])
    judged._table.cache_clear()
