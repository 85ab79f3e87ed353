import imagecorruptions.corruptions as reference
import numpy as np
import pytest
import torch

from calibkit.corruptions import TABLES, blur, corrupt, weather
from tests.corruptions.peer import pictures


@pytest.mark.parametrize("severity", [2, 3, 5])  # zoom factors whose crop fills 32 px exactly
def test_snow_agrees_with_the_peer_on_the_same_flakes(photos, severity, monkeypatch):
    constants = TABLES["imagenet"]["snow"][severity - 1]
    generator = torch.Generator().manual_seed(severity)
    flakes = torch.empty_like(photos[:, :1]).normal_(*constants[:2], generator=generator)
    degrees = blur.uniform_angles(photos, -135, -45, generator).rad2deg()
    ours = corrupt(photos, "snow", severity, generator=severity, table="imagenet")
    for i, picture in enumerate(pictures(photos)):
        monkeypatch.setattr(np.random, "normal", lambda i=i, **_: flakes[i, 0].numpy().copy())
        monkeypatch.setattr(np.random, "uniform", lambda *_, i=i: degrees[i].item())
        expected = reference.snow(picture, severity).transpose(2, 0, 1) / 255
        np.testing.assert_allclose(ours[i], expected, atol=1.01 / 255)  # it rounds the flakes


@pytest.mark.parametrize("decay", [3, 1.75])
@pytest.mark.parametrize("side", [8, 32])
def test_plasma_agrees_with_the_peer_on_the_same_noise(side, decay, monkeypatch):
    def pattern(*shape):
        return np.random.default_rng(shape[-1] + 7).random(shape[-2:])

    def ours(like, _generator, low, high):
        drawn = torch.from_numpy(pattern(*like.shape))
        return (low + (high - low) * drawn).expand_as(like).clone()

    monkeypatch.setattr(weather, "uniform_like", ours)
    clouds = weather.plasma(torch.zeros(3, 1, 1, 1, dtype=torch.float64), side, decay, None)
    monkeypatch.setattr(
        np.random, "uniform", lambda low, high, size: low + (high - low) * pattern(*size)
    )
    expected = reference.plasma_fractal(side, decay)
    np.testing.assert_allclose(clouds[0], expected, atol=1e-5)
    assert torch.equal(clouds[0], clouds[2])


def test_fog_by_hand(generator, monkeypatch):
    monkeypatch.setattr(weather, "plasma", lambda x, side, *_: x.new_full((1, side, side), 0.5))
    x = torch.stack([torch.full((1, 8, 8), value) for value in (0.4, 1.0)])
    # (0.4 + 1.5 · 0.5) · 0.4 / (0.4 + 1.5), whatever lies beside it
    assert torch.allclose(weather.fog(x, (1.5, 2), generator)[0], torch.tensor(1.15 * 0.4 / 1.9))
    x = torch.tensor([0.1, 0.2, 0.4]).reshape(1, 3, 1, 1).expand(1, 3, 8, 8)  # 0.4 of all channels
    hazy = (x + 0.75) * 0.4 / 1.9
    assert torch.allclose(weather.fog(x, (1.5, 2), generator), hazy)


def test_frost_pattern_is_fixed_and_grey_for_grey_images(generator):
    again = weather.frost_pattern.__wrapped__(64)
    assert torch.equal(weather.frost_pattern(64), again)
    assert again.shape == (3, 64, 64)
    assert 0 <= again.min() < again.max() <= 1
    out = weather.frost(torch.zeros(3, 1, 8, 8), (1, 1), generator)
    assert out.shape == (3, 1, 8, 8)
    assert 0.4 < out.mean() < 0.8
    wide = weather.frost(torch.zeros(1, 1, 8, 300), (1, 1), generator)
    assert not torch.equal(wide[..., 256:], wide[..., :44])  # nor does it repeat


def test_the_frost_is_the_same_picture_as_in_earlier_versions():
    """Scores on frosted images can be compared only if the ice stays; no other code tells it."""
    red = weather.frost_pattern(256)[0]
    then = [
        [0.6100, 0.4709, 0.8814, 0.7502],
        [0.5516, 0.4052, 0.5783, 0.3829],
        [0.4038, 0.3992, 0.5575, 0.6481],
        [0.5464, 0.5010, 0.5827, 0.3619],
    ]
    assert torch.allclose(red[5::80, 17::70], torch.tensor(then), atol=5e-4)
    colour = weather.frost_pattern(256).mean((1, 2))
    assert torch.allclose(colour, torch.tensor([0.5689, 0.6281, 0.6770]), atol=2e-4)
