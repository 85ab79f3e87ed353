"""Focal loss with each gamma: what is trained, the stored table, the model of two weights."""

import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import focal_gammas
from calibkit.course.scale import budget
from calibkit.lab import data


@pytest.mark.parametrize("gamma", [0.0, 3.0])
def test_a_trial_has_the_gamma_the_decay_and_the_epochs_that_it_names(gamma):
    size = budget("smoke")
    made = focal_gammas.trial(size, gamma, 3e-3, seed=1, longer=4)
    assert (made.recipe.weight_decay, made.recipe.epochs) == (3e-3, 4 * size.epochs)
    z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(20) % 10
    assert made.recipe.loss(z, labels) == losses.focal(z, labels, gamma=gamma)
    assert set(made.score) == {"train", "cal", "test"}


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_two_weights_end_where_the_focal_loss_of_the_package_is_flat(gamma):
    train = data.clusters(1_000, flip=0.1, seed=0, test=10).train
    w = focal_gammas.two_weights(train, gamma, steps=2_000).requires_grad_()
    second = train.inputs.double() @ w
    logits = torch.stack([torch.zeros_like(second), second], dim=1)
    (slope,) = torch.autograd.grad(losses.focal(logits, train.labels, gamma=gamma), w)
    assert slope.norm() < 1e-6
    assert w.norm() > 0.1
    assert focal_gammas.of_two_weights(train, w.detach()).allclose(logits.detach().softmax(dim=1))
