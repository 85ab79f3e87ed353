"""The learning rate of every step: warm-up, then a step, cosine or constant schedule."""

import math

from calibkit.lab.training.recipe import Recipe


def rate(recipe: Recipe, done: float) -> float:
    """Learning rate after `done` epochs, a fraction within an epoch.

    >>> [round(rate(Recipe(epochs=4, lr=1.0), done), 2) for done in range(4)]
    [1.0, 1.0, 0.1, 0.01]
    """
    if done < recipe.warmup:
        return recipe.lr * done / recipe.warmup
    if recipe.schedule == "cosine":
        part = (done - recipe.warmup) / (recipe.epochs - recipe.warmup)
        return recipe.lr * (1 + math.cos(math.pi * part)) / 2
    if recipe.schedule == "step":
        # 1e-9: 150 / 350 * 350 is meant to be 150, whatever rounding says
        steps = [max(1, int(share * recipe.epochs + 1e-9)) for share in recipe.milestones]
        return recipe.lr * 0.1 ** sum(done >= step for step in steps)
    return recipe.lr


def rate_of_step(recipe: Recipe, epoch: int, step: int, steps: int) -> float:
    """Learning rate of one of the `steps` of an epoch, both counted from 0.

    It changes within the epoch only where the schedule or the warm-up asks for it.
    """
    smooth = recipe.schedule == "cosine" or recipe.warmup > 0
    return rate(recipe, epoch + (step + 1) / steps if smooth else epoch)
