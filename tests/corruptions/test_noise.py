import math

import pytest
import torch
from scipy import stats

from calibkit.corruptions import TABLES, corrupt, noise

MANY = 400_000


def flat(value: float, n: int = 60) -> torch.Tensor:
    return torch.full((n, 3, 32, 32), value)


@pytest.mark.parametrize("severity", range(1, 6))
def test_gaussian_noise_has_the_published_spread(severity):
    sigma = TABLES["cifar"]["gaussian_noise"][severity - 1]
    out = corrupt(flat(0.5), "gaussian_noise", severity, generator=0)  # 5 sigmas from any clipping
    assert out.mean().item() == pytest.approx(0.5, abs=5 * sigma / math.sqrt(out.numel()))
    assert out.std().item() == pytest.approx(sigma, rel=0.01)
    assert stats.kstest(out.flatten()[:20_000].numpy(), "norm", (0.5, sigma)).pvalue > 1e-3


@pytest.mark.parametrize("severity", range(1, 6))
def test_speckle_noise_grows_with_the_signal(severity):
    sigma = TABLES["cifar"]["speckle_noise"][severity - 1]
    for value in (0.1, 0.4):
        out = corrupt(flat(value), "speckle_noise", severity, generator=0)
        assert out.std().item() == pytest.approx(sigma * value, rel=0.01)
        assert out.mean().item() == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("table", TABLES)
def test_shot_noise_has_poisson_mean_and_variance(table, severity):
    photons = TABLES[table]["shot_noise"][severity - 1]
    for value in (0.02, 0.3):
        out = noise.shot_noise(flat(value), photons, torch.Generator().manual_seed(0))
        error = math.sqrt(value / photons / out.numel())
        assert out.mean().item() == pytest.approx(value, abs=5 * error)
        assert out.var().item() == pytest.approx(value / photons, rel=0.06)
        counts = out * photons
        assert torch.allclose(counts, counts.round(), atol=1e-3)


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("table", TABLES)
def test_impulse_noise_hits_the_published_fraction(table, severity):
    amount = TABLES[table]["impulse_noise"][severity - 1]
    out = corrupt(flat(0.5), "impulse_noise", severity, generator=0, table=table)
    error = 5 * math.sqrt(amount / 2 / out.numel())
    assert (out == 0).double().mean().item() == pytest.approx(amount / 2, abs=error)
    assert (out == 1).double().mean().item() == pytest.approx(amount / 2, abs=error)
    assert ((out == 0) | (out == 1) | (out == 0.5)).all()
    raw = noise.impulse_noise(flat(0.5), amount, torch.Generator().manual_seed(0))
    assert torch.equal(raw, out)


@pytest.mark.parametrize("rate", [0.0, 0.3, 5, 8.0, 8.01, 100])
@pytest.mark.parametrize("largest", [math.inf, "rate"])
def test_poisson_draws_follow_the_law(rate, largest, generator):
    bound = rate if largest == "rate" else largest
    counts = noise.poisson(torch.full((MANY,), float(rate)), generator, bound).long()
    top = int(rate + 10 * math.sqrt(rate) + 10)
    seen = counts.bincount(minlength=top).double().numpy() / MANY
    law = stats.poisson.pmf(range(len(seen)), rate)
    # the distance expected of a perfect sampler, and as much again
    noise_level = 0.5 * sum(math.sqrt(2 * p * (1 - p) / math.pi / MANY) for p in law)
    assert 0.5 * abs(seen - law).sum() < 2 * noise_level + 8e-4


@pytest.mark.parametrize("rate", [0.01, 1, 3, 7.9])
def test_poisson_inverse_is_the_quantile(rate):
    u = torch.linspace(0.0005, 0.9995, 1000, dtype=torch.float64)
    counts = noise.poisson_inverse(torch.full_like(u, rate), u, noise.SMALL_RATE)
    assert counts.tolist() == stats.poisson.ppf(u.numpy(), rate).tolist()
