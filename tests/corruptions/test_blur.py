import imagecorruptions.corruptions as reference
import numpy as np
import pytest
import torch

from calibkit.corruptions import TABLES, blur, corrupt


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("table", TABLES)
def test_zoom_blur_agrees_with_the_peers_zoom(photos, table, severity):
    factors = np.arange(1, *TABLES[table]["zoom_blur"][severity - 1])
    for image, ours in zip(photos, corrupt(photos, "zoom_blur", severity, table=table)):  # noqa: B905
        picture = image.permute(1, 2, 0).numpy()
        layers = [reference.clipped_zoom(picture, f)[:32, :32] for f in factors]
        expected = (picture + sum(layers)) / (len(factors) + 1)
        np.testing.assert_allclose(ours.permute(1, 2, 0), expected, atol=1e-5)


def test_both_ways_to_zoom_agree(photos, monkeypatch):
    dense = corrupt(photos, "zoom_blur", 5)
    monkeypatch.setattr(blur, "DENSE_PIXELS", 0)
    assert torch.allclose(corrupt(photos, "zoom_blur", 5), dense, atol=1e-6)


@pytest.mark.parametrize("degrees", [-135, -45, 0, 30])
@pytest.mark.parametrize(("radius", "sigma"), [(6, 1), (9, 2.5), (15, 8)])
def test_streak_agrees_with_the_peer(photos, degrees, radius, sigma):
    angles = torch.full((len(photos),), degrees, dtype=torch.float64).deg2rad()
    ours = blur.streak(photos, angles, radius, sigma).permute(0, 2, 3, 1).numpy()
    for image, out in zip(photos, ours, strict=True):
        picture = image.permute(1, 2, 0).numpy()
        expected = reference._motion_blur(picture, radius, sigma, degrees)
        np.testing.assert_allclose(out, expected, atol=1e-5)


def test_motion_is_within_45_degrees_of_the_horizontal(generator, monkeypatch):
    monkeypatch.setattr(blur, "streak", lambda x, angles, *_: angles)
    angles = blur.motion_blur(torch.empty(20_000, 1, 1, 1), (6, 1), generator)
    ends = torch.stack(torch.aminmax(angles))
    assert ends.abs().max() <= torch.pi / 4
    assert torch.allclose(ends, torch.tensor([-torch.pi / 4, torch.pi / 4]), atol=1e-3)


@pytest.mark.parametrize(("height", "width", "reach"), [(12, 12, 1), (11, 17, 2), (20, 14, 4)])
def test_waves_of_swaps_give_the_result_of_the_plain_loop(height, width, reach, generator):
    n = 5
    steps = torch.empty(2, height * width, n, dtype=torch.int64)
    steps.random_(-reach, reach, generator=generator)
    place = torch.arange(height * width)[:, None]
    source = place.repeat(1, n)
    blur.swap_neighbours(source, place + steps[0] * width + steps[1], width, reach)
    for image in range(n):
        plain = torch.arange(height * width).view(height, width)
        for h in range(height - reach, reach, -1):
            for w in range(width - reach, reach, -1):
                dy, dx = steps[:, h * width + w, image].tolist()
                kept = plain[h, w].item()
                plain[h, w] = plain[h + dy, w + dx]
                plain[h + dy, w + dx] = kept
        assert torch.equal(source[:, image], plain.flatten())
