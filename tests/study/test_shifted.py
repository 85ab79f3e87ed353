"""Ways of training for strange images: what each trains."""

import functools

import pytest
from study import strange_images

from calibkit import losses
from calibkit.course.scale import budget

SMOKE = budget("smoke")


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
