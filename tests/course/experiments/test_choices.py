"""A small network on a part of the training images that a rule chooses."""

from calibkit.course.experiments import choices
from calibkit.course.scale import budget

SIZE = budget("smoke")


def test_a_trial_trains_as_it_says():
    made = choices.trial(SIZE, "entropy", 0.3, 1)
    assert made.recipe.select.share == 0.3
    assert made.recipe.select.warmup == choices.warmup(SIZE)
    assert choices.trial(SIZE, "all", 1.0, 1).recipe.select is None
    assert choices.trial(SIZE, "random", 0.1, 1, epochs=3).recipe.epochs == 3
