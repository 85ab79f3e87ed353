"""Ways of training for strange images: what each trains, the exact readers, the stored table."""

import functools

import pandas as pd
import pytest
import torch
from study import strangers

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


def test_familiar_images_have_eight_classes():
    drawn = shifted.familiar(500, 0)
    assert drawn.num_classes == 8
    assert set(drawn.labels.tolist()) == set(range(8))


@pytest.mark.parametrize("way", strangers.WAYS)
def test_each_way_trains_what_it_names(way):
    strength = strangers.WAYS[way][-1]
    recipe = strangers.trial(SMOKE, way, strength, 3e-3, seed=0).recipe
    assert recipe.weight_decay == 3e-3
    assert (recipe.loss is losses.flsd) == (way == "FLSD-53")
    assert recipe.epochs == SMOKE.epochs * (5 if way == "5 x epochs" else 1)
    if way == "mixup":
        assert isinstance(recipe.mix, functools.partial)
        assert recipe.mix.keywords == {"alpha": strength}
    else:
        assert recipe.mix is None


def test_the_wide_network_has_about_five_times_the_weights():
    sizes = []
    for way in ("one", "5 x weights"):
        model = strangers.trial(SMOKE, way, 0.0, 1e-4, seed=0).model()
        sizes.append(sum(weights.numel() for weights in model.parameters()))
    assert sizes[1] / sizes[0] == pytest.approx(5, abs=0.2)


def test_the_stored_table_has_every_setting_and_its_best_is_chosen():
    table, wanted = strangers.stored(), pd.DataFrame(strangers.settings())
    columns = list(wanted)
    assert len(table) == len(wanted)
    assert set(map(tuple, table[columns].values)) == set(map(tuple, wanted[columns].values))
    means = table.groupby(["way", "strength", "decay"]).scaled_nll.mean()
    for way, best in strangers.chosen(table).items():
        assert means[way].idxmin() == (best["strength"], best["decay"])


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    one = {"way": "mixup", "strength": 0.4, "decay": 3e-3, "seed": 100}
    (made,) = strangers.train(budget("laptop"), [one], device="cpu").to_dict("records")
    table = strangers.stored()
    kept = table[(table[list(one)] == pd.Series(one)).all(axis=1)].iloc[0]
    assert made["scaled_nll"] == pytest.approx(kept.scaled_nll, rel=0.02)
