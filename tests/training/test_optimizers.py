"""Stacked optimisers against torch's own, each run with its own settings, in float64."""

import pytest
import torch
from torch import nn

from calibkit.training import Recipe
from calibkit.training.optimizers import optimizer

RECIPES = {
    "sgd": [
        Recipe(lr=0.1, momentum=0.9, weight_decay=1e-2),
        Recipe(lr=0.3, momentum=0.0, weight_decay=0.0),
    ],
    "adamw": [
        Recipe(optimizer="adamw", lr=0.01, weight_decay=0.1),
        Recipe(optimizer="adamw", lr=0.2, weight_decay=0.0),
    ],
}
TORCH = {
    "sgd": lambda p, r: torch.optim.SGD(
        p, lr=r.lr, momentum=r.momentum, weight_decay=r.weight_decay
    ),
    "adamw": lambda p, r: torch.optim.AdamW(p, lr=r.lr, weight_decay=r.weight_decay),
}


def gradients():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(12, 2, 3, 4, generator=generator, dtype=torch.float64)


def stepped(recipes, runs):
    """Parameters (R, 3, 4) after twelve steps, the rate falling by a tenth at each."""
    weights = nn.Parameter(torch.ones(len(runs), 3, 4, dtype=torch.float64))
    frozen = nn.Parameter(torch.ones(len(runs), 2), requires_grad=False)
    ours = optimizer([weights, frozen], [recipes[run] for run in runs])
    for step, gradient in enumerate(gradients()):
        ours.zero_grad()
        assert weights.grad is None
        weights.grad = gradient[runs].clone()
        ours.step([recipes[run].lr * 0.9**step for run in runs])
    assert torch.equal(frozen, torch.ones_like(frozen))
    return weights.detach()


def expected(name, run):
    weights = nn.Parameter(torch.ones(3, 4, dtype=torch.float64))
    theirs = TORCH[name]([weights], RECIPES[name][run])
    for step, gradient in enumerate(gradients()):
        weights.grad = gradient[run].clone()
        theirs.param_groups[0]["lr"] = RECIPES[name][run].lr * 0.9**step
        theirs.step()
    return weights.detach()


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("runs", [[0], [1], [0, 1], [0, 0]], ids=str)
def test_every_run_is_what_torch_makes_of_it(name, runs):
    ours = stepped(RECIPES[name], runs)
    if runs == [0, 0]:  # equal settings take the path of one number for all
        runs = [0]
    for i, run in enumerate(runs):
        assert torch.allclose(ours[i], expected(name, run), rtol=0, atol=1e-12)
