"""Readers of notes: what is trained, what is chosen, and what is judged."""

import pytest
import torch

from calibkit.course.experiments import notes
from calibkit.course.scale import budget

SIZE = budget("smoke")


def test_more_notes_get_equal_steps():
    one, three = (notes.trial(SIZE, "CNN", 0, times=times) for times in (1, 3))
    assert len(three.train) == 3 * len(one.train) == 3 * SIZE.train
    steps = [len(made.train) * made.recipe.epochs for made in (one, three)]
    assert steps[1] == pytest.approx(steps[0], rel=0.25)


def test_noise_shuffles_that_share_of_the_training_labels_alone():
    plain, noisy = (notes.trial(SIZE, "CNN", 0, noise=noise) for noise in (0, 0.4))
    changed = (plain.train.labels != noisy.train.labels).double().mean().item()
    assert changed == pytest.approx(0.4 * 3 / 4, abs=0.1)
    assert torch.equal(plain.score["test"].labels, noisy.score["test"].labels)
