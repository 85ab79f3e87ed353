"""Settings of a training: their checks, and losses that change with the epoch."""

import functools

import torch
from torch.nn import functional

from calibkit import losses
from calibkit.lab.training import Recipe


def test_a_loss_may_change_with_the_epoch():
    recipe = Recipe(loss=losses.ScheduledFocal("5-3-1"), epochs=7)
    logits, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    values = [recipe.loss_at(epoch)(logits, labels).item() for epoch in range(7)]
    expected = [losses.focal(logits, labels, gamma=g).item() for g in (5, 5, 3, 3, 3, 1, 1)]
    assert values == expected


def test_a_plain_loss_stays():
    loss = functools.partial(losses.focal, gamma=2.0)
    assert Recipe(loss=loss).loss_at(3) is loss
    assert Recipe().loss_at(0) is functional.cross_entropy
