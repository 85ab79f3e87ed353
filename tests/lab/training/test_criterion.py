"""Losses of many runs at once are what each run has alone."""

import functools

import pytest
import torch
from torch.nn import functional

from calibkit import losses
from calibkit.lab.training.stacking import criterion
from tests import test_losses

LOGITS = torch.randn(4, 8, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(32).reshape(4, 8) % 10
UNEVEN = torch.ones(10, dtype=torch.float64)
UNEVEN[7] = 5.0


def unregistered(logits, target, *, reduction="mean"):
    """As somebody writes a new loss: nothing but the function."""
    each = functional.cross_entropy(logits, target, reduction="none") ** 2
    return each.mean() if reduction == "mean" else each


def looking(logits, target):
    """Looks at values, so that it cannot be mapped over runs."""
    wrong = logits.argmax(1) != target
    return losses.brier(logits, target) * (2 if wrong.any() else 1)


LOSSES = test_losses.LOSSES | {
    "torch's": functional.cross_entropy,
    "torch's smoothing": functools.partial(functional.cross_entropy, label_smoothing=0.1),
    "torch's weights": functools.partial(functional.cross_entropy, weight=UNEVEN),
    "a module": torch.nn.CrossEntropyLoss(),
    "sum": functools.partial(losses.brier, reduction="sum"),
    "class weights": functools.partial(losses.focal, gamma=2.0, class_weights=UNEVEN),
    "a gamma per sample": functools.partial(losses.focal, gamma=torch.arange(8.0)),
    "scheduled": losses.ScheduledFocal(),
    "unregistered": unregistered,
    "looking": looking,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("others", [[], [losses.brier, losses.flsd]], ids=["alike", "mixed"])
def test_each_run_has_the_loss_and_gradient_that_it_has_alone(name, others):
    chosen = [LOSSES[name], *others, LOSSES[name]] if others else [LOSSES[name]] * 4
    ours, theirs = (LOGITS.clone().requires_grad_() for _ in range(2))
    values = criterion(chosen)(ours, LABELS)
    alone = [one(*batch) for one, *batch in zip(chosen, theirs, LABELS, strict=True)]
    assert torch.allclose(values, torch.stack(alone), rtol=1e-12)
    values.sum().backward()
    torch.stack(alone).sum().backward()
    assert torch.allclose(ours.grad, theirs.grad, rtol=1e-10)


def test_a_single_run_has_its_own_loss_and_nothing_around_it():
    assert criterion([losses.brier]) is losses.brier


def counting(made):
    calls = []

    def counted(logits, target, *, extra=None):
        calls.append(logits.shape)
        return unregistered(logits, target)

    criterion([made(counted) for _ in range(4)])(LOGITS, LABELS)
    return len(calls)


def test_a_loss_is_called_once_for_all_of_its_runs():
    assert counting(lambda loss: loss) == 1
    assert counting(functools.partial) == 1  # equal settings are one loss
    assert counting(lambda loss: functools.partial(loss, extra=[1])) == 4  # cannot be compared
