"""Settings of a training: their checks, and losses that change with the epoch."""

import functools

import pytest
import torch
from torch.nn import functional

from calibkit import losses
from calibkit.lab.training import Recipe
from calibkit.prioritization import MaxEntropy


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


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epochs": 0}, ValueError),
        ({"epochs": True}, TypeError),
        ({"batch_size": -1}, ValueError),
        ({"lr": float("inf")}, ValueError),
        ({"schedule": "linear"}, ValueError),
        ({"optimizer": "adam"}, ValueError),
        ({"milestones": (0.5, 1.5)}, ValueError),
        ({"warmup": 61}, ValueError),
        ({"warmup": 60}, ValueError),  # of 60: nothing would be left
        ({"loss": None}, TypeError),
        ({"loss": "focal"}, TypeError),
        ({"augment": 3}, TypeError),
        ({"mix": 0.2}, TypeError),
        ({"select": 0.1}, TypeError),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, error):
    with pytest.raises(error, match=next(iter(settings))):
        Recipe(**settings)


def test_a_selection_is_a_setting():
    assert Recipe(select=MaxEntropy(0.5)).select.share == 0.5
