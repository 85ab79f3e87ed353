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


def test_labels_kept_for_a_temperature_are_not_trained_on():
    whole = sizes.spent(SIZE, 100, 0, 2)
    made = sizes.spent(SIZE, 100, 30, 2)
    learnt, kept = rows(made.train), rows(made.score["kept"])
    assert (len(learnt), len(kept)) == (70, 30)
    assert not learnt & kept
    assert learnt | kept == rows(whole.train)
    assert "kept" not in whole.score


@pytest.mark.parametrize("way", sizes.CHANGES)
def test_a_change_keeps_the_shape_and_is_drawn_anew(way):
    generator = torch.Generator().manual_seed(0)
    once, twice = (sizes.CHANGES[way](POOL.inputs[:20], generator) for _ in range(2))
    assert once.shape == POOL.inputs[:20].shape
    assert not torch.equal(once, twice)
