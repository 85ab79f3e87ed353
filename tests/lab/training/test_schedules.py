"""What changes with the epoch: the learning rate by milestones, cosine, warm-up; the loss."""

import pytest
import torch

from calibkit import losses
from calibkit.lab.training import Recipe


@pytest.mark.parametrize(("settings", "done", "rates"), [
    ({"epochs": 350, "milestones": (150 / 350, 250 / 350)},  # of the papers
     [149, 150, 249, 250, 349], [1, 0.1, 0.1, 0.01, 0.01]),
    ({"epochs": 10, "schedule": "cosine"}, [0, 5, 10], [1, 0.5, 0]),
    ({"epochs": 10, "schedule": "cosine", "warmup": 3}, [0, 1.5, 3, 6.5, 10], [0, 0.5, 1, 0.5, 0]),
])  # fmt: skip
def test_the_rate_after_so_many_epochs(settings, done, rates):
    recipe = Recipe(lr=2.0, **settings)
    assert [recipe.rate(epochs) / 2 for epochs in done] == pytest.approx(rates)


def test_every_whole_milestone_is_met_exactly():
    for epochs in range(2, 400):
        for step in (1, epochs // 2, epochs - 1):
            recipe = Recipe(lr=1.0, epochs=epochs, milestones=(step / epochs,))
            assert recipe.rate(step) == pytest.approx(0.1), (epochs, step)
            assert step == 0 or recipe.rate(step - 0.5) == 1.0


@pytest.mark.parametrize(("settings", "step", "rate"), [
    ({"epochs": 10, "schedule": "cosine"}, (4, 1, 2), 0.5),
    ({"epochs": 11, "schedule": "constant", "warmup": 10}, (4, 1, 2), 0.5),
    ({"epochs": 11, "schedule": "constant", "warmup": 10}, (9, 1, 2), 1.0),
    ({"epochs": 10, "milestones": (0.5,)}, (4, 1, 2), 1.0),  # its step comes with the next epoch
    ({"epochs": 10, "milestones": (0.5,)}, (5, 0, 2), 0.1),
])  # fmt: skip
def test_the_rate_moves_within_an_epoch_only_where_it_is_asked_to(settings, step, rate):
    assert Recipe(lr=1.0, **settings).rate_of_step(*step) == pytest.approx(rate)


def test_a_loss_may_change_with_the_epoch():
    recipe = Recipe(loss=losses.ScheduledFocal("5-3-1"), epochs=7)
    logits, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    values = [recipe.loss_at(epoch)(logits, labels).item() for epoch in range(7)]
    expected = [losses.focal(logits, labels, gamma=g).item() for g in (5, 5, 3, 3, 3, 1, 1)]
    assert values == expected
