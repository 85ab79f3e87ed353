"""Losses of many runs at once: which can be, and that they are what each run has alone."""

import functools

import pytest
import torch
from torch.nn import functional

from calibkit import losses
from calibkit.training.criterion import Criterion, per_sample

LOGITS = torch.randn(3, 8, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(24).reshape(3, 8) % 10
LIKE = LOGITS[0, :1], LABELS[0, :1]
UNEVEN = torch.ones(10, dtype=torch.float64)
UNEVEN[7] = 5.0


def unregistered(logits, target, *, reduction="mean"):
    """As somebody writes a new loss: nothing but the function."""
    each = functional.cross_entropy(logits, target, reduction="none") ** 2
    return each.mean() if reduction == "mean" else each


PER_SAMPLE = {
    "torch's": functional.cross_entropy,
    "torch's smoothing": functools.partial(functional.cross_entropy, label_smoothing=0.1),
    "cross-entropy": losses.cross_entropy,
    "smoothing": functools.partial(losses.label_smoothing, alpha=0.1),
    "penalty": losses.confidence_penalty,
    "brier": losses.brier,
    "focal": functools.partial(losses.focal, gamma=2.0),
    "flsd": losses.flsd,
    "dual": functools.partial(losses.dual_focal, gamma=2.0),
    "scheduled": losses.ScheduledFocal(),
    "unregistered": unregistered,
}
OF_THE_BATCH = {
    "mmce": losses.mmce,
    "class weights": functools.partial(losses.focal, gamma=2.0, class_weights=UNEVEN),
    "torch's weights": functools.partial(functional.cross_entropy, weight=UNEVEN),
    "sum": functools.partial(losses.brier, reduction="sum"),
    "a gamma per sample": functools.partial(losses.focal, gamma=torch.ones(8)),
    "no reduction": lambda logits, target: losses.brier(logits, target),
    "a module": torch.nn.CrossEntropyLoss(),
}


@pytest.mark.parametrize("name", PER_SAMPLE)
def test_means_over_samples_are_known_without_being_registered(name):
    assert per_sample(PER_SAMPLE[name], *LIKE)


@pytest.mark.parametrize("name", OF_THE_BATCH)
def test_losses_of_a_whole_batch_are_not_taken_together(name):
    assert not per_sample(OF_THE_BATCH[name], *LIKE)


def test_soft_labels_are_tried_with_soft_labels():
    soft = LOGITS.softmax(2)
    assert per_sample(losses.brier, LOGITS[0, :1], soft[0, :1])
    dual = functools.partial(losses.dual_focal, gamma=1.0)
    assert not per_sample(dual, LOGITS[0, :1], soft[0, :1])  # it refuses them


@pytest.mark.parametrize("name", [*PER_SAMPLE, *OF_THE_BATCH])
def test_each_run_has_the_loss_that_it_has_alone(name):
    loss = (PER_SAMPLE | OF_THE_BATCH)[name]
    for chosen in ([loss] * 3, [loss, losses.brier, loss]):
        values = Criterion(chosen)(LOGITS, LABELS)
        alone = [one(*batch) for one, *batch in zip(chosen, LOGITS, LABELS, strict=True)]
        assert torch.allclose(values, torch.stack(alone), rtol=1e-12)


def test_a_loss_is_called_once_for_all_of_its_runs():
    sizes = []

    def counting(logits, target, *, reduction="mean"):
        sizes.append(len(logits))
        return unregistered(logits, target, reduction=reduction)

    criterion = Criterion([functools.partial(counting) for _ in range(3)])
    criterion(LOGITS, LABELS)
    sizes.clear()
    criterion(LOGITS, LABELS)
    assert sizes == [24]


def test_equal_settings_are_one_loss_and_others_are_not():
    by_gamma = [functools.partial(losses.focal, gamma=gamma) for gamma in (1.0, 2.0, 1.0)]
    assert [runs for _, runs in Criterion(by_gamma).groups] == [[0, 2], [1]]
    unhashable = [functools.partial(unregistered, extra=[1]) for _ in range(2)]
    assert [runs for _, runs in Criterion(unhashable).groups] == [[0], [1]]
