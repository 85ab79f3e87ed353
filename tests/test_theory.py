import math

import numpy as np
import pytest
import torch
from scipy import optimize

from calibkit import losses, theory
from tests import refusals

GAMMAS = [0.0, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 12.0]


def g(p, gamma):
    return (1 - p) ** gamma - gamma * p * (1 - p) ** (gamma - 1) * math.log(p)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_gradient_ratio_is_the_formula(gamma):
    for p in (0.001, 0.2, 0.5, 0.9, 0.999):
        assert theory.gradient_ratio(p, gamma) == pytest.approx(g(p, gamma), rel=1e-12)


@pytest.mark.parametrize("gamma", [1e-9, 1e-3, 0.5, 1.0, 3.0, 5.0, 25.0, 50.0, 1e4, 1e8])
def test_threshold_and_gamma_star_are_inverse(gamma):
    p = theory.gradient_threshold(gamma)
    assert 0 < p < 0.5
    assert theory.gamma_star(p) == pytest.approx(gamma, rel=1e-7, abs=1e-14)
    if 1e-3 <= gamma <= 50:
        assert theory.gradient_ratio(p, gamma) == pytest.approx(1, abs=1e-13)
        assert theory.gradient_ratio(0.9 * p, gamma) > 1 > theory.gradient_ratio(1.1 * p, gamma)


def test_gamma_star_values():
    assert theory.gamma_star(math.exp(-1)) == pytest.approx(1, abs=1e-12)
    for gap in (1e-5, 1e-7, 1e-9):
        p = 0.5 - gap
        assert theory.gradient_threshold(theory.gamma_star(p)) == pytest.approx(p, abs=1e-15)


def risk(p, q, gamma):
    return losses.focal(p.log(), q, gamma=gamma, reduction="none")


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("q", [0.02, 0.3, 0.5, 0.77, 0.999])
def test_focal_minimiser_minimises(q, gamma):
    best = theory.focal_minimiser(q, gamma)

    def slope(p):  # central difference of the exact derivative's terms, far from the ends
        return q * g(p, gamma) / p - (1 - q) * g(1 - p, gamma) / (1 - p)

    exact = optimize.brentq(slope, 1e-9, 1 - 1e-9, xtol=1e-15, rtol=1e-14)
    assert best == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("gamma", [0.4, 3.0])
def test_multiclass_minimiser(gamma):
    generator = torch.Generator().manual_seed(0)
    q = (2 * torch.randn(5, 4, generator=generator, dtype=torch.float64)).softmax(1)
    p = theory.focal_minimiser_multiclass(q, gamma)
    torch.testing.assert_close(p.sum(1), torch.ones(5, dtype=torch.float64))
    best = risk(p, q, gamma)
    for _ in range(50):
        step = torch.randn(5, 4, generator=generator, dtype=torch.float64) * 0.1
        other = (p.log() + step).softmax(1)
        assert (risk(other, q, gamma) >= best - 1e-14).all()
    torch.testing.assert_close(theory.focal_posterior(p, gamma), q, rtol=1e-10, atol=1e-12)
    two = torch.stack([q[:, 0], 1 - q[:, 0]], 1)
    torch.testing.assert_close(
        theory.focal_minimiser_multiclass(two, gamma)[:, 0],
        theory.focal_minimiser(q[:, 0], gamma),
        rtol=0,
        atol=1e-10,
    )


def test_the_smoothed_loss_is_least_at_the_minimiser():
    for classes, smoothing in ((2, 0.5), (10, 0.05), (100, 0.1), (10, 1.0)):
        logits = torch.zeros(3, classes, dtype=torch.float64)
        logits[:, 1] = theory.smoothing_minimiser(classes, smoothing) + torch.tensor([-0.1, 0, 0.1])
        target = torch.ones(3, dtype=torch.long)
        around = losses.label_smoothing(logits, target, alpha=smoothing, reduction="none")
        assert around[1] < around[::2].min()


def rows_of(n, classes, scale=2.0):
    generator = torch.Generator().manual_seed(n)
    logits = scale * torch.randn(n, classes, generator=generator, dtype=torch.float64)
    return logits.softmax(1)


@pytest.mark.parametrize("weight", [0.05, 0.5, 1.0, 4.0])
def test_penalty_minimiser_has_no_slope_left(weight):
    q = rows_of(6, 5)
    logits = theory.penalty_minimiser(q, weight).log().requires_grad_()
    loss = losses.confidence_penalty(logits, q, weight=weight, reduction="sum")
    (slope,) = torch.autograd.grad(loss, logits)
    assert slope.abs().max() < 1e-12


@pytest.mark.parametrize("weight", [0.0, 0.1, 1.0, 5.0])
def test_penalty_posterior_undoes_the_minimiser(weight):
    q = torch.cat([rows_of(5, 4), torch.eye(4, dtype=torch.float64)])
    p = theory.penalty_minimiser(q, weight)
    torch.testing.assert_close(theory.penalty_posterior(p, weight), q, rtol=1e-9, atol=1e-11)


def test_values_at_the_ends():
    assert theory.gradient_ratio(0.0, 2.0) == 1
    assert [theory.gradient_ratio(1.0, gamma) for gamma in (0.0, 2.0)] == [1, 0]
    assert theory.gradient_ratio(1 - 1e-13, 0.5) == pytest.approx(1.5 * 1e-13**0.5, rel=1e-2)
    ends = theory.focal_minimiser(torch.tensor([0.0, 0.5, 1.0]), torch.tensor([[0.0], [3.0]]))
    torch.testing.assert_close(ends, ends.new_tensor([[0.0, 0.5, 1.0]] * 2), rtol=0, atol=1e-20)
    assert theory.smoothing_minimiser(10, 0.05) == pytest.approx(math.log(191))
    assert theory.smoothing_minimiser(3, 1.0) == pytest.approx(0)
    assert theory.penalty_minimiser([0.5, 0.5], torch.tensor([0.0, 1.0])).shape == (2, 2)


def test_numbers_give_floats_and_tensors_tensors():
    p = torch.tensor([0.1, 0.4])
    for function, arguments in (
        (theory.gradient_ratio, (0.3, 2.0)),
        (theory.gradient_threshold, (2.0,)),
        (theory.gamma_star, (0.3,)),
        (theory.focal_minimiser, (0.3, 2.0)),
        (lambda s: theory.smoothing_minimiser(4, s), (0.3,)),
    ):
        single = function(*arguments)
        assert type(single) is float
        several = function(torch.tensor([arguments[0]] * 3), *arguments[1:])
        assert several.dtype == torch.float64
        assert several.tolist() == pytest.approx([single] * 3, rel=1e-5)
        array = function(np.array([[arguments[0]]]), *arguments[1:])
        assert array.shape == (1, 1)
        assert array.item() == pytest.approx(single)
    table = theory.gradient_ratio(p[:, None], torch.tensor([0, 1, 2]))
    assert table.shape == (2, 3)
    assert table[1, 2].item() == pytest.approx(g(0.4, 2), rel=1e-6)


HALF = torch.full((2,), 0.5)


test_bad_input = refusals.table("""
    theory.gradient_ratio(-1, 1.0) -> ValueError: p must lie in [0, 1]
    theory.gradient_ratio(0.5, -1.0) -> ValueError: gamma must lie in [0, inf)
    theory.gradient_ratio(HALF, torch.ones(3)) -> ValueError: shapes must agree or broadcast, got p
    theory.gradient_threshold(0.0) -> ValueError: gamma must lie in (0, inf)
    theory.gamma_star(0) -> ValueError: p0 must lie in (0, 0.5)
    theory.focal_minimiser(1.5, 1.0) -> ValueError: q must lie in [0, 1]
    theory.smoothing_minimiser(3, 0.0) -> ValueError: smoothing must lie in (0, 1]
    theory.focal_posterior([0.5, 0.6], 1.0) -> ValueError: p must have rows that sum to 1
    theory.focal_minimiser_multiclass(0.5, 1.0) -> ValueError: q must be a row of class prob
    theory.penalty_posterior([0.5, 0.6], 1.0) -> ValueError: p must have rows that sum to 1
    theory.penalty_minimiser([0.5, 0.6], 1.0) -> ValueError: q must have rows that sum to 1
""")
