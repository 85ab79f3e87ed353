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


def test_a_smaller_part_lies_within_a_larger_one_and_gets_as_many_steps():
    parts = [rows(sizes.part(SIZE, fraction, 0)) for fraction in sizes.FRACTIONS]
    assert [len(part) for part in parts] == [round(f * len(POOL)) for f in sizes.FRACTIONS]
    assert all(less < more for less, more in itertools.pairwise(parts))
    # 20 batches in all: 10 epochs of two batches of 128
    assert [sizes.equal_steps(SIZE, n) for n in (256, 100, 300, 10**6)] == [10, 20, 7, 1]


def test_labels_kept_for_a_temperature_are_not_trained_on():
    whole = sizes.spent(SIZE, 100, 0, 2)
    made = sizes.spent(SIZE, 100, 30, 2)
    learnt, kept = rows(made.train), rows(made.score["kept"])
    assert (len(learnt), len(kept)) == (70, 30)
    assert not learnt & kept
    assert learnt | kept == rows(whole.train)
    assert "kept" not in whole.score
    assert whole.seed == made.seed == 2


@pytest.mark.parametrize("way", sizes.CHANGES)
def test_each_change_is_what_its_name_says(way):
    made, clean = sizes.augmented(SIZE, way, 0), sizes.clean(SIZE, 0).inputs
    assert torch.equal(made.train.inputs, clean if "fresh" in way else POOL.inputs)
    assert (POOL.inputs - clean).std().item() == pytest.approx(0.4, rel=0.02)
    images = made.train.inputs
    once, again = (made.recipe.augment(images, torch.Generator().manual_seed(0)) for _ in "12")
    assert torch.equal(once, again)
    left, turned = ((once == one).flatten(1).all(dim=1).any() for one in (images, images.flip(3)))
    assert (left, turned) == ("noise" not in way, way == "flip")
    pixels = (once - images).square().mean().item() ** 0.5
    assert (pixels == pytest.approx(0.4, rel=0.02)) == (way in ("added noise", "fresh noise"))
