"""What changes with the epoch: the learning rate by milestones, cosine, warm-up; the loss."""

import functools

import pytest
import torch
from torch.nn import functional

from calibkit import losses
from calibkit.lab.training import Recipe


def rates(**settings):
    recipe = Recipe(lr=1.0, **settings)
    return [recipe.rate(epoch) for epoch in range(recipe.epochs)]


def test_the_papers_350_epochs_step_at_150_and_250():
    stepped = rates(epochs=350, milestones=(150 / 350, 250 / 350))
    assert stepped[149] == 1.0
    assert stepped[150] == stepped[249] == pytest.approx(0.1)
    assert stepped[250] == stepped[349] == pytest.approx(0.01)


def test_every_whole_milestone_is_met_exactly():
    for epochs in range(2, 400):
        for step in (1, epochs // 2, epochs - 1):
            recipe = Recipe(lr=1.0, epochs=epochs, milestones=(step / epochs,))
            assert recipe.rate(step) == pytest.approx(0.1), (epochs, step)
            assert step == 0 or recipe.rate(step - 0.5) == 1.0


def test_cosine_starts_at_the_top_and_ends_at_nothing():
    recipe = Recipe(lr=1.0, epochs=10, schedule="cosine")
    assert recipe.rate(0) == 1.0
    assert recipe.rate(5) == pytest.approx(0.5)
    assert recipe.rate(10) == pytest.approx(0.0)


def test_after_a_warmup_the_cosine_falls_from_the_top_over_the_epochs_that_are_left():
    recipe = Recipe(lr=2.0, epochs=10, schedule="cosine", warmup=3)
    rates = [recipe.rate(done) for done in (0, 1.5, 3, 6.5, 10)]
    assert rates == pytest.approx([0, 1, 2, 1, 0])


def test_the_rate_moves_within_an_epoch_only_where_it_is_asked_to():
    cosine = Recipe(lr=1.0, epochs=10, schedule="cosine")
    assert cosine.rate_of_step(4, 1, 2) == pytest.approx(0.5)
    rising = Recipe(lr=1.0, epochs=11, schedule="constant", warmup=10)
    assert rising.rate_of_step(4, 1, 2) == pytest.approx(0.5)
    assert rising.rate_of_step(9, 1, 2) == 1.0
    stepped = Recipe(lr=1.0, epochs=10, milestones=(0.5,))
    assert stepped.rate_of_step(4, 1, 2) == 1.0  # the step comes with the next epoch
    assert stepped.rate_of_step(5, 0, 2) == pytest.approx(0.1)


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
