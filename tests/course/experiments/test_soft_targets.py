"""Losses that ask for less: each way's loss, how a setting is chosen, the stored table."""

import functools

import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import soft_targets
from calibkit.course.scale import budget

Z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(20) % 10
EXPECTED = {
    ("cross-entropy", 0.0): losses.cross_entropy,
    ("smoothing", 0.2): functools.partial(losses.label_smoothing, alpha=0.2),
    ("penalty", 0.4): functools.partial(losses.confidence_penalty, weight=0.4),
    ("Brier", 0.0): losses.brier,
    ("MMCE, plain", 2.0): functools.partial(losses.mmce, weight=2.0, variant="plain"),
    ("MMCE, weighted", 0.5): functools.partial(losses.mmce, weight=0.5, variant="weighted"),
    ("MMCE, squared", 8.0): functools.partial(losses.mmce, weight=8.0, variant="squared"),
}


@pytest.mark.parametrize(("way", "strength"), EXPECTED)
def test_each_way_is_its_loss(way, strength):
    made = soft_targets.trial(budget("smoke"), way, strength, 3e-3, seed=0)
    assert made.recipe.weight_decay == 3e-3
    assert made.recipe.loss(Z, LABELS) == EXPECTED[way, strength](Z, LABELS)
