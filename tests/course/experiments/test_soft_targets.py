"""Losses that ask for less: each way's loss, how a setting is chosen, the stored table."""

import functools

import pandas as pd
import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import soft_targets, strengths
from calibkit.course.scale import budget

Z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(20) % 10
EXPECTED = {
    ("cross-entropy", 0.0): losses.cross_entropy,
    ("smoothing", 0.2): functools.partial(losses.label_smoothing, alpha=0.2),
    ("penalty", 0.4): functools.partial(losses.confidence_penalty, weight=0.4),
    ("Brier", 0.0): losses.brier,
    ("MMCE, plain", 2.0): functools.partial(losses.mmce, weight=2.0, variant="plain"),
    ("MMCE, weighted", 0.5): functools.partial(losses.mmce, weight=0.5, variant="weighted"),
    ("MMCE, squared", 8.0): functools.partial(losses.mmce, weight=8.0, variant="squared"),
}


@pytest.mark.parametrize(("way", "strength"), EXPECTED)
def test_each_way_is_its_loss(way, strength):
    made = soft_targets.trial(budget("smoke"), way, strength, 3e-3, seed=0)
    assert made.recipe.weight_decay == 3e-3
    assert made.recipe.loss(Z, LABELS) == EXPECTED[way, strength](Z, LABELS)


def test_every_way_has_as_many_strengths_and_decays():
    table = pd.DataFrame(soft_targets.settings())
    assert set(table.way) == {way for way, _ in EXPECTED}
    many = table.groupby("way").strength.nunique()
    assert set(many.drop(["cross-entropy", "Brier"])) == {5}
    assert table.groupby("way").decay.nunique().eq(len(soft_targets.DECAYS)).all()


def test_the_least_mean_is_chosen_and_an_end_of_the_grid_is_named():
    rows = [
        {"way": way, "strength": s, "decay": d, "seed": seed, "nll": 1.0 + seed}
        for way in ("a", "b")
        for s in (0.1, 0.2, 0.3)
        for d in (1, 2, 3)
        for seed in (0, 1)
    ]
    table = pd.DataFrame(rows)
    best = (table.way == "a") & (table.strength == 0.2) & (table.decay == 2)
    table.loc[best, "nll"] = [1.3, 1.3]  # not the least of seed 0, but of the mean
    end = (table.way == "b") & (table.strength == 0.2) & (table.decay == 3)
    table.loc[end, "nll"] = 0.5
    found = strengths.chosen(table, "nll").set_index("way")
    assert tuple(found.loc["a", ["strength", "decay", "nll", "edge"]]) == (0.2, 2, 1.3, False)
    assert tuple(found.loc["b", ["strength", "decay", "nll", "edge"]]) == (0.2, 3, 0.5, True)


def test_the_stored_table_has_every_setting():
    table, wanted = soft_targets.stored(), pd.DataFrame(soft_targets.settings())
    columns = list(wanted)
    assert len(table) == len(wanted)
    assert set(map(tuple, table[columns].values)) == set(map(tuple, wanted[columns].values))
    assert table[["nll", "scaled_nll"]].gt(0).all(axis=None)


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    one = {"way": "smoothing", "strength": 0.05, "decay": 1e-2, "seed": 100}
    (made,) = soft_targets.train(budget("laptop"), [one], device="cpu").to_dict("records")
    table = soft_targets.stored()
    kept = table[(table[list(one)] == pd.Series(one)).all(axis=1)].iloc[0]
    assert made["nll"] == pytest.approx(kept.nll, rel=0.02)
    assert made["scaled_nll"] == pytest.approx(kept.scaled_nll, rel=0.02)
