"""Four Gaussian clusters, their flipped labels and their exact posterior."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from calibkit.lab import data
from tests import refusals


def test_the_posterior_equals_bayes_rule_on_the_densities():
    world = data.Clusters(flip=0.1)
    drawn = world.draw(20, seed=0)
    pairs = zip(world.means.numpy(), world.covariances.numpy(), strict=True)
    density = np.stack(
        [multivariate_normal.pdf(drawn.inputs.double().numpy(), m, c) for m, c in pairs]
    )
    right = density[2:].sum(axis=0) / density.sum(axis=0)
    np.testing.assert_allclose(drawn.posterior[:, 1], 0.1 + 0.8 * right, atol=1e-9)
    np.testing.assert_allclose(drawn.posterior.sum(dim=1), 1, atol=1e-12)


def test_a_linear_score_of_the_draws_has_its_normal_law():
    world = data.Clusters(flip=0.1)
    drawn = world.draw(50_000, seed=3)
    weights = torch.tensor([1.0, -0.4], dtype=torch.float64)
    logit = drawn.inputs.double() @ weights
    mean = world.means @ weights
    std = torch.einsum("i,cij,j->c", weights, world.covariances, weights).sqrt()
    miss = torch.special.ndtr(-world.sides * mean / std)
    error = (miss + world.flip * (1 - 2 * miss)).mean().item()
    seen = ((logit > 0) != (drawn.labels == 1)).double().mean().item()
    assert seen == pytest.approx(error, abs=4 * math.sqrt(error / len(drawn)))
    norm = (mean.square() + std.square()).mean().sqrt().item()
    assert logit.square().mean().sqrt().item() == pytest.approx(norm, rel=0.02)


test_wrong_arguments_are_refused_by_name = refusals.table("""
    data.clusters(10, flip=1.1) -> ValueError: ...flip
    data.Clusters(side=0.0) -> ValueError: ...side
    data.Clusters(side=math.inf) -> ValueError: ...side
    data.Clusters(correlations=(0.1, 0.2, 0.3, -1.0)) -> ValueError: ...correlations
    data.Clusters(correlations=(0.1, 0.2, 0.3, 1.0)) -> ValueError: ...correlations
    data.Clusters().posterior(torch.zeros(1, 3)) -> ValueError: ...points
""")
