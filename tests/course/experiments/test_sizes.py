"""Parts of a pool, labels spent on training or on a temperature, and images changed at random."""

import itertools

import pytest
import torch

from calibkit.course.experiments import sizes, soft_targets
from calibkit.course.scale import budget

SIZE = budget("smoke")
POOL = soft_targets.digits(SIZE, 0).train


def rows(dataset):
    return {tuple(image.flatten().tolist()) for image in dataset.inputs}


def test_a_smaller_part_lies_within_a_larger_one():
    parts = [rows(sizes.part(SIZE, fraction, 0)) for fraction in sizes.FRACTIONS]
    assert [len(part) for part in parts] == [round(f * len(POOL)) for f in sizes.FRACTIONS]
    assert all(less < more for less, more in itertools.pairwise(parts))


def test_equal_steps_are_those_of_the_whole_pool():
    laptop = budget("laptop")  # 12 steps an epoch, 60 epochs
    assert sizes.equal_steps(laptop, 1500) == 60
    assert sizes.equal_steps(laptop, 150) == 360
    assert sizes.equal_steps(laptop, 129) == 360
    assert sizes.equal_steps(laptop, 128) == 720


def test_a_trial_is_scored_on_its_own_part():
    made = sizes.trial(SIZE, 0.5, 1, epochs=3, batch_size=40)
    assert (made.recipe.epochs, made.recipe.batch_size) == (3, 40)
    assert rows(made.score["train"]) == rows(made.train) == rows(sizes.part(SIZE, 0.5, 1))


def test_labels_kept_for_a_temperature_are_not_trained_on():
    whole = sizes.spent(SIZE, 100, 0, 2)
    made = sizes.spent(SIZE, 100, 30, 2)
    learnt, kept = rows(made.train), rows(made.score["kept"])
    assert (len(learnt), len(kept)) == (70, 30)
    assert not learnt & kept
    assert learnt | kept == rows(whole.train)
    assert "kept" not in whole.score


@pytest.mark.parametrize(("labels", "kept"), [(100, 100), (10_000, 10), (100, -1)])
def test_more_labels_than_there_are_cannot_be_spent(labels, kept):
    with pytest.raises(ValueError, match=rf"got {kept} and {labels}$"):
        sizes.spent(SIZE, labels, kept, 0)


@pytest.mark.parametrize("way", sizes.CHANGES)
def test_a_change_keeps_the_shape_and_is_drawn_anew(way):
    generator = torch.Generator().manual_seed(0)
    once, twice = (sizes.CHANGES[way](POOL.inputs[:20], generator) for _ in range(2))
    assert once.shape == POOL.inputs[:20].shape
    assert not torch.equal(once, twice)


@pytest.mark.parametrize("way", sizes.CHANGES)
def test_fresh_noise_begins_with_the_clean_originals(way):
    made = sizes.augmented(SIZE, way, 0)
    expected = sizes.clean(SIZE, 0) if way in sizes.FRESH else POOL
    assert torch.equal(made.train.inputs, expected.inputs)
    assert torch.equal(made.train.labels, POOL.labels)
    assert made.recipe.augment is sizes.CHANGES[way]
