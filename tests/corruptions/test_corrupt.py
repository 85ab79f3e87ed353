import zlib

import imagecorruptions.corruptions as peer_corruptions
import pytest
import torch

from calibkit import corruptions
from calibkit.corruptions import EXTRA, NAMES, TABLES, corrupt, noise_images
from tests import refusals
from tests.corruptions.peer import peer

ALL = NAMES + EXTRA
DETERMINISTIC = {
    *("defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression"),
    *("gaussian_blur", "saturate"),
}
# The published constants of these do not take them away from the picture in one direction only.
UNORDERED = {"glass_blur", "elastic_transform", "saturate", "frost"}


def psnr(clean: torch.Tensor, damaged: torch.Tensor) -> float:
    return -10 * (clean - damaged).square().mean().log10().item()


def test_names_are_the_fifteen_of_cifar_10_c_and_three_more():
    assert len(NAMES) == 15
    assert len(set(ALL)) == 18
    for table in TABLES.values():
        assert set(table) == set(ALL)
        assert all(len(row) == 5 for row in table.values())
    # no package holds those of CIFAR-10-C to compare with: a digest tells of a change
    assert zlib.crc32(repr(TABLES).encode()) == 184135060


@pytest.mark.parametrize("name", [n for n in ALL if n not in ("zoom_blur", "elastic_transform")])
def test_large_images_get_the_peers_constants(name):
    row = TABLES["imagenet"][name]
    code = getattr(peer_corruptions, name).__code__
    assert row in code.co_consts


NEAR = {"gaussian_blur": 1e-5, "defocus_blur": 1e-5, "brightness": 1e-6}
NEAR |= {"contrast": 0.01 / 255, "saturate": 0.01 / 255, "pixelate": 2 / 255}


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", NEAR)
def test_what_draws_nothing_agrees_with_the_peer(photos, name, table, severity):
    ours = corrupt(photos, name, severity, table=table)
    assert torch.allclose(ours, peer(photos, name, severity, table), atol=NEAR[name])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("table", list(TABLES))
@pytest.mark.parametrize("shape", [(3, 1, 8, 8), (2, 3, 20, 27)])
def test_shape_type_and_range_are_kept(name, table, shape):
    x = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    x[0] = (x[0] > 0.5).float()  # black and white, where overflow shows
    for dtype in (torch.float32, torch.float64, torch.float16, torch.uint8):
        images = (x * 255).byte() if dtype == torch.uint8 else x.to(dtype)
        before = images.clone()
        out = corrupt(images, name, 5, generator=0, table=table)
        assert out.shape == images.shape
        assert out.dtype == dtype
        assert torch.equal(images, before)
        if dtype != torch.uint8:
            assert torch.isfinite(out).all()
            assert 0 <= out.min() <= out.max() <= 1


@pytest.mark.parametrize("name", ALL)
def test_bytes_and_floats_give_the_same_picture(photos, name):
    images = (photos * 255).round().byte()
    bytes_ = corrupt(images, name, 3, generator=5)
    floats = corrupt(images.float() / 255, name, 3, generator=5)
    assert torch.equal(bytes_, (floats * 255).round().byte())


@pytest.mark.parametrize("name", sorted(set(ALL) - UNORDERED))
@pytest.mark.parametrize("table", list(TABLES))
def test_damage_grows_with_severity(photos, name, table):
    clean = photos.repeat(4, 1, 1, 1)
    quality = [psnr(clean, corrupt(clean, name, s, generator=0, table=table)) for s in range(1, 6)]
    steps = torch.tensor(quality).diff()
    assert steps.sum() < -1.5
    # CIFAR's motion blurs 3 and 4 differ in their cut-off only, ImageNet's fogs 3 and 4 in grain
    assert steps.max() < (0.1 if name in ("motion_blur", "fog") else 0)


@pytest.mark.parametrize("name", ALL)
def test_seeds_and_generators(photos, name):
    fixed, state = name in DETERMINISTIC, torch.get_rng_state()
    generator = torch.Generator().manual_seed(3)
    first, second = (corrupt(photos, name, 4, generator=generator) for _ in range(2))
    assert torch.equal(first, second) == fixed  # it moves on
    assert torch.equal(corrupt(photos, name, 4, generator=3), first)
    assert torch.equal(torch.get_rng_state(), state)
    a, b = corrupt(photos[:1].expand(2, -1, -1, -1), name, 4, generator=0)
    assert torch.allclose(a, b, atol=1e-12) == fixed
    torch.manual_seed(0)  # without one, as torch's own functions do
    first, second = corrupt(photos, name, 2), corrupt(photos, name, 2)
    assert torch.equal(first, second) == fixed
    torch.manual_seed(0)
    assert torch.equal(corrupt(photos, name, 2), first)


@pytest.mark.parametrize("name", sorted(DETERMINISTIC))
def test_images_do_not_influence_each_other(photos, name, monkeypatch):
    together = corrupt(photos, name, 4)
    monkeypatch.setitem(corruptions.CHUNK_VALUES, "cpu", 1)  # one image at a time
    assert torch.allclose(corrupt(photos, name, 4), together, atol=1e-12)


@pytest.mark.parametrize(("shape", "scale"), [((84, 200), 0.15), ((85, 85), 0.05)])
def test_the_shorter_side_picks_the_table(shape, scale):
    half = torch.zeros(1, 1, *shape)
    half[..., : shape[0] // 2 * 2 : 2, :] = 1
    mean = half.mean()
    expected = mean + (half - mean) * scale
    assert torch.allclose(corrupt(half, "contrast", 5), expected, atol=1e-6)


@pytest.mark.parametrize("size", [8, (9, 12)])
@pytest.mark.parametrize("channels", [1, 3])
def test_noise_images_have_the_stated_law(size, channels):
    height, width = size if isinstance(size, tuple) else (size, size)
    gaussian = noise_images(2000, size=size, channels=channels, generator=0)
    assert gaussian.shape == (2000, channels, height, width)
    # N(0.5, 1) clipped: P(z < -0.5) = 0.3085 at each end
    assert (gaussian == 0).double().mean().item() == pytest.approx(0.3085, abs=0.01)
    assert (gaussian == 1).double().mean().item() == pytest.approx(0.3085, abs=0.01)
    assert abs(((gaussian == 0).double() - (gaussian == 1).double()).mean()) < 0.007
    uniform = noise_images(2000, size=size, channels=channels, kind="uniform", generator=0)
    assert 0 <= uniform.min() < uniform.max() <= 1
    assert uniform.var().item() == pytest.approx(1 / 12, rel=0.02)
    again = noise_images(2000, size=size, channels=channels, kind="uniform", generator=0)
    assert torch.equal(uniform, again)


GOOD = torch.full((2, 3, 8, 8), 0.5)


test_bad_arguments_are_named = refusals.table("""
    corrupt(GOOD * torch.nan, "contrast", 1) -> ValueError: images must be finite
    corrupt(GOOD * 3, "contrast", 1) -> ValueError: images
    corrupt(GOOD[:, :2], "contrast", 1) -> ValueError: images
    corrupt(GOOD.long(), "contrast", 1) -> TypeError: images
    corrupt(GOOD, "rain", 1) -> ValueError: name
    corrupt(GOOD, "contrast", 0) -> ValueError: severity
    corrupt(GOOD, "contrast", 1, table="cifar10") -> ValueError: table
    corrupt(GOOD, "contrast", 1, generator=-1) -> ValueError: ...seed
    corrupt(GOOD.to("meta"), "contrast", 1, generator=torch.Generator()) -> ValueError: generator
    noise_images(0, size=8) -> ValueError: n must
    noise_images(2, size=8.0) -> TypeError: size
    noise_images(2, size=8, kind="salt") -> ValueError: kind
""")
