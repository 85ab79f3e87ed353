"""Ways of training for strange images: what each trains, the exact readers, the stored table."""

import functools

import pytest
import torch
from study import strange_images

from calibkit import losses
from calibkit.course.experiments import shifted
from calibkit.course.scale import budget
from calibkit.lab import data

SMOKE = budget("smoke")


def test_images_are_clean_digits_plus_one_pattern_of_noise():
    digits, labels = shifted.clean()
    assert len(digits) == len(labels) == 1797
    (weak, answers), (strong, same) = (shifted.draw(50, 7, noise) for noise in (0.4, 0.8))
    assert torch.equal(answers, same)
    pattern = (strong - weak) / 0.4
    drawn = weak - 0.4 * pattern
    nearest = torch.cdist(drawn.flatten(1), digits.flatten(1)).min(dim=1)
    assert nearest.values.max() < 1e-4
    assert torch.equal(labels[nearest.indices], answers)
    assert pattern.std() == pytest.approx(1, abs=0.05)


def test_the_exact_posterior_is_that_of_the_data():
    images, _ = shifted.draw(100, 0)
    expected = data.NoisyDigits(shifted.NOISE).posterior(images)
    torch.testing.assert_close(shifted.exact(images, shifted.NOISE), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("way", strange_images.WAYS)
def test_each_way_trains_what_it_names(way):
    strength = strange_images.WAYS[way][-1]
    recipe = strange_images.trial(SMOKE, way, strength, 3e-3, seed=0).recipe
    assert recipe.weight_decay == 3e-3
    assert (recipe.loss is losses.flsd) == (way == "FLSD-53")
    if way == "mixup":
        assert isinstance(recipe.mix, functools.partial)
        assert recipe.mix.keywords == {"alpha": strength}
    else:
        assert recipe.mix is None
