"""Mixup and its halves: what each blends, the stored table and what is chosen from it."""

import pandas as pd
import pytest
import torch

from calibkit import mixing
from calibkit.course.experiments import mixed, soft_targets
from calibkit.course.experiments.ways import changes
from calibkit.course.scale import budget

LABELS = torch.arange(200) % 10
INPUTS = torch.randn(200, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def blended(way, alpha=0.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    drawn = mixing.draw(len(INPUTS), alpha, generator=torch.Generator().manual_seed(seed))
    return *changes(way, alpha)["mix"](INPUTS, LABELS, classes=10, generator=generator), drawn


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_each_way_blends_what_it_names(seed):
    for way in mixed.WAYS:
        inputs, soft, drawn = blended(way, seed=seed)
        larger = max(float(drawn.lam), 1 - float(drawn.lam))
        assert torch.equal(inputs, INPUTS) == (way == "labels only")
        whole = soft.max(dim=1).values
        other = LABELS[drawn.partner] != LABELS
        if way == "images only":
            assert whole.eq(1).all()
        else:
            assert whole[other].allclose(torch.full_like(whole[other], larger), atol=1e-6)
        if way == "labels only":  # the image's own label keeps the larger share
            assert (soft.argmax(dim=1) == LABELS).all()


@pytest.mark.parametrize("way", [*mixed.WAYS, *mixed.RIVALS])
def test_a_trial_is_that_of_the_soft_targets_but_for_the_blends(way):
    made = mixed.trial(budget("smoke"), way, 0.2, 3e-3, seed=0)
    rival = way if way in mixed.RIVALS else "cross-entropy"
    plain = soft_targets.trial(budget("smoke"), rival, 0.2, 3e-3, seed=0)
    assert made.recipe.weight_decay == plain.recipe.weight_decay == 3e-3
    assert (made.recipe.mix is None) == (way in mixed.RIVALS)
    z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0))
    assert made.recipe.loss(z, LABELS[:20]) == plain.recipe.loss(z, LABELS[:20])


def test_the_stored_table_has_every_setting_and_the_rivals():
    table, wanted = mixed.stored(), pd.DataFrame(mixed.settings())
    columns = list(wanted)
    rows = set(map(tuple, table[columns].values))
    assert set(map(tuple, wanted[columns].values)) <= rows
    assert set(table.way) == {*mixed.WAYS, *mixed.RIVALS}
    means = table.groupby(["way", "strength", "decay"]).scaled_nll.mean()
    for way, best in mixed.chosen(table, "after T").items():
        assert means[way].idxmin() == (best["strength"], best["decay"])


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    one = {"way": "images only", "strength": 1.0, "decay": 3e-3, "seed": 100}
    (made,) = mixed.train(budget("laptop"), [one], device="cpu").to_dict("records")
    table = mixed.stored()
    kept = table[(table[list(one)] == pd.Series(one)).all(axis=1)].iloc[0]
    assert made["scaled_nll"] == pytest.approx(kept.scaled_nll, rel=0.02)
