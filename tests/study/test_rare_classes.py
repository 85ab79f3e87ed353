"""Ways of training on rare classes: what each is, how a setting is chosen, the stored table."""

import functools

import numpy as np
import pytest
import torch
from study import rare_classes
from torch.nn.functional import cross_entropy

from calibkit.course.scale import budget

SIZE = budget("smoke")
trial = functools.partial(rare_classes.trial, SIZE, decay=0.0, form="exponential", seed=0)


def parts(split="train", form="exponential"):
    images, order = rare_classes.thinned(SIZE, split, form, 100, 0)
    return images.labels.bincount(minlength=10)[order].double(), order


@pytest.mark.parametrize("form", rare_classes.RATES)
def test_training_and_held_out_images_are_as_unequal(form):
    learned, order = parts("train", form)
    held, same = parts("calibration", form)
    assert torch.equal(order, same)
    assert learned.sum() == held.sum() == SIZE.train
    assert (learned - held).abs().max() < 0.05 * SIZE.train
    assert learned[0] > 15 * learned[-1]


def test_sampling_shows_all_classes_equally_often_at_full_strength():
    shown = trial("sampling", 1.0).train.labels.bincount(minlength=10)
    assert shown.max() - shown.min() <= 1
    some, order = trial("sampling", 0.5).train.labels.bincount(minlength=10).double(), parts()[1]
    before = parts()[0]
    ratio = some[order][0] / some[order][-1]
    assert ratio == pytest.approx((before[0] / before[-1]).sqrt().item(), rel=0.05)


def test_weights_make_up_for_the_class_sizes_at_full_strength():
    sizes, order = parts()
    loss = trial("weighted", 1.0).recipe.loss
    z = torch.zeros(10, 10)
    each = loss(z, order, reduction="none") * sizes
    assert each == pytest.approx(each.mean().item() * np.ones(10), rel=1e-5)


def test_the_prior_in_the_loss_is_that_of_the_training_set():
    labels = trial("none", 0.0).train.labels
    shares = labels.bincount(minlength=10).double() / len(labels)
    z, target = torch.randn(5, 10, generator=torch.Generator().manual_seed(0)), torch.arange(5)
    expected = cross_entropy(z + shares.log().float(), target)
    assert trial("in the loss", 1.0).recipe.loss(z, target).item() == pytest.approx(
        expected.item(), rel=1e-6
    )
