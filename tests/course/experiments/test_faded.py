"""Focal loss with each gamma: what is trained, the stored table, the model of two weights."""

import pandas as pd
import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import faded
from calibkit.course.scale import budget
from calibkit.lab import data


@pytest.mark.parametrize("gamma", [0.0, 3.0])
def test_a_trial_has_the_gamma_the_decay_and_the_epochs_that_it_names(gamma):
    size = budget("smoke")
    made = faded.trial(size, gamma, 3e-3, seed=1, longer=4)
    assert (made.recipe.weight_decay, made.recipe.epochs) == (3e-3, 4 * size.epochs)
    z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 10
    assert made.recipe.loss(z, labels) == losses.focal(z, labels, gamma=gamma)
    assert set(made.score) == {"train", "cal", "test"}


def test_the_stored_table_has_every_setting_and_the_least_is_chosen():
    table, wanted = faded.stored(), pd.DataFrame(faded.settings())
    columns = list(wanted)
    assert set(map(tuple, wanted[columns].values)) == set(map(tuple, table[columns].values))
    means = table.groupby(["strength", "decay"]).scaled_nll.mean()
    best = faded.chosen(table)
    assert set(best) == set(faded.GAMMAS)
    for gamma, decay in best.items():
        assert means[gamma].idxmin() == decay


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    one = {"way": "gamma 3", "strength": 3.0, "decay": 3e-3, "seed": 101}
    (made,) = faded.train(budget("laptop"), [one], device="cpu").to_dict("records")
    table = faded.stored()
    kept = table[(table[list(one)] == pd.Series(one)).all(axis=1)].iloc[0]
    assert made["scaled_nll"] == pytest.approx(kept.scaled_nll, rel=0.02)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_two_weights_end_where_the_focal_loss_of_the_package_is_flat(gamma):
    train = data.clusters(1_000, flip=0.1, seed=0, test=10).train
    w = faded.two_weights(train, gamma, steps=2_000).requires_grad_()
    second = train.inputs.double() @ w
    logits = torch.stack([torch.zeros_like(second), second], dim=1)
    (slope,) = torch.autograd.grad(losses.focal(logits, train.labels, gamma=gamma), w)
    assert slope.norm() < 1e-6
    assert w.norm() > 0.1
    assert faded.of_two_weights(train, w.detach()).allclose(logits.detach().softmax(dim=1))
