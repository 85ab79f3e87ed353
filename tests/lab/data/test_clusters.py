"""Four Gaussian clusters, their flipped labels and their exact posterior."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from calibkit import metrics, theory
from calibkit.lab import data


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


def test_without_correlations_the_posterior_is_a_logistic_curve():
    world = data.Clusters(flip=0.0, correlations=(0, 0, 0, 0))
    points = torch.tensor([[0.0, 5.0], [0.5, -1.0], [-0.25, 0.0]])
    by_hand = torch.sigmoid(4 * points[:, 0].double())  # log-odds 2 * side / 2 * x
    assert torch.allclose(world.posterior(points)[:, 1], by_hand, atol=1e-9)


def test_the_posterior_is_calibrated():
    drawn = data.Clusters(flip=0.2).draw(40_000, seed=1)
    column = drawn.posterior[:, 1]
    for part in (column < 0.5, column > 0.5):
        said, seen = column[part], drawn.labels[part].double()
        error = math.sqrt(float((said * (1 - said)).mean()) / len(said))
        assert abs(float(said.mean() - seen.mean())) < 4 * error
    assert metrics.true_calibration_error(drawn.posterior, drawn.posterior) == 0


def test_clusters_have_the_stated_means_spread_and_flips():
    world = data.Clusters(flip=0.1)
    drawn = world.draw(50_000, seed=2)
    points = drawn.inputs.double()
    assert torch.allclose(points.mean(dim=0), torch.zeros(2).double(), atol=0.05)
    assert torch.allclose(points.var(dim=0), torch.full((2,), 5.0).double(), atol=0.1)  # 2^2 + 1
    far = points[:, 0].abs() > 2.5  # there the side is practically certain
    wrong = (points[far, 0] > 0) != (drawn.labels[far] == 1)
    assert float(wrong.double().mean()) == pytest.approx(0.1, abs=0.01)


def test_linear_theory_describes_the_draws():
    world = data.Clusters(flip=0.1)
    drawn = world.draw(50_000, seed=3)
    weights = torch.tensor([1.0, -0.4], dtype=torch.float64)
    logit = drawn.inputs.double() @ weights
    mean, std = theory.linear_logits(weights, 0.0, world.means, world.covariances)
    error = theory.linear_error(mean, std, world.sides, flip=world.flip)
    seen = ((logit > 0) != (drawn.labels == 1)).double().mean().item()
    assert seen == pytest.approx(error, abs=4 * math.sqrt(error / len(drawn)))
    norm = theory.linear_logit_norm(mean, std)
    assert logit.square().mean().sqrt().item() == pytest.approx(norm, rel=0.02)


def test_splits_are_seeded_and_differ_from_one_another():
    one, again, next_ = (data.clusters(50, seed=s, test=50, calibration=50) for s in (0, 0, 1))
    assert torch.equal(one.test.inputs, again.test.inputs)
    different = [one.train, one.calibration, one.test, next_.train, next_.test]
    assert len({d.inputs.numpy().tobytes() for d in different}) == len(different)


def test_certain_flips_turn_every_label_round():
    same, turned = (data.Clusters(flip).draw(100, seed=4) for flip in (0.0, 1.0))
    assert torch.equal(same.labels, 1 - turned.labels)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: data.clusters(0), "n must"),
        (lambda: data.clusters(1.5), "n must"),
        (lambda: data.clusters(10, flip=1.1), "flip"),
        (lambda: data.clusters(10, flip=float("nan")), "flip"),
        (lambda: data.clusters(10, flip="often"), "flip"),
        (lambda: data.clusters(10, seed=-1), "seed"),
        (lambda: data.clusters(10, test=0), "test"),
        (lambda: data.clusters(10, calibration=-5), "calibration"),
        (lambda: data.Clusters(side=0.0), "side"),
        (lambda: data.Clusters(side=float("inf")), "side"),
        (lambda: data.Clusters(correlations=(0.1, 0.2)), "correlations"),
        (lambda: data.Clusters(correlations=(0.1, 0.2, 0.3, 1.0)), "correlations"),
        (lambda: data.Clusters().draw(0, seed=0), "n must"),
        (lambda: data.Clusters().posterior(torch.zeros(1, 3)), "points"),
        (lambda: data.Clusters().posterior(torch.zeros(2)), "points"),
        (lambda: data.Clusters().posterior(torch.full((1, 2), torch.nan)), "points"),
        (lambda: data.Clusters().posterior(torch.zeros(1, 2).long()), "points"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, names):
    with pytest.raises((ValueError, TypeError), match=names):
        call()


@pytest.mark.device
def test_the_posterior_lies_where_the_points_lie(device):
    world = data.Clusters()
    points = world.draw(10, seed=0).inputs
    there = world.posterior(points.to(device))
    assert there.device.type == device.type
    assert torch.allclose(there.cpu(), world.posterior(points), atol=1e-9)
