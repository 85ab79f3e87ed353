"""Crops and flips against torchvision's, applied to one image at a time."""

import pytest
import torch
from torchvision.transforms.v2 import functional as v2

from calibkit.augmentation import crop_flip
from tests import refusals

IMAGES = torch.rand(200, 3, 6, 5, generator=torch.Generator().manual_seed(0)) + 1  # never zero


def candidates(image, padding):
    """Every crop of the padded image, plain and mirrored."""
    padded = v2.pad(image, [padding] * 4)
    shifts = range(2 * padding + 1)
    crops = [v2.crop(padded, y, x, *image.shape[1:]) for y in shifts for x in shifts]
    return crops, [v2.horizontal_flip(crop) for crop in crops]


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_every_result_is_a_crop_and_all_crops_are_about_equally_frequent(padding):
    out = crop_flip(IMAGES[:1].expand(4000, -1, -1, -1), padding=padding, generator=0)
    plain, mirrored = candidates(IMAGES[0], padding)
    counts = torch.stack([(out == c).flatten(1).all(1).sum() for c in plain + mirrored])
    expected = 4000 / len(counts)
    assert counts.sum() == 4000
    assert ((counts - expected).abs() < 5 * expected**0.5).all()


def test_without_flip_nothing_is_mirrored():
    out = crop_flip(IMAGES, padding=0, flip=False, generator=0)
    assert torch.equal(out, IMAGES)
    assert not torch.equal(crop_flip(IMAGES, padding=0, generator=0), IMAGES)


def test_equal_seeds_give_equal_crops_and_the_input_stays():
    before = IMAGES.clone()
    assert torch.equal(crop_flip(IMAGES, generator=3), crop_flip(IMAGES, generator=3))
    assert not torch.equal(crop_flip(IMAGES, generator=3), crop_flip(IMAGES, generator=4))
    assert torch.equal(IMAGES, before)


test_wrong_arguments_are_refused_by_name = refusals.table("""
    crop_flip(torch.zeros(3, 4, 4)) -> ValueError: images
    crop_flip("cat") -> TypeError: images
    crop_flip(IMAGES, padding=-1) -> ValueError: padding
    crop_flip(IMAGES, padding=1.5) -> TypeError: padding
""")
