"""Each way is its loss or its blend, and every experiment trains as it says."""

import functools

import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import choices, notes, scanners, soft_targets, translated
from calibkit.course.experiments.ways import changes
from calibkit.course.scale import budget

SIZE = budget("smoke")
Z = torch.randn(20, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = torch.arange(20) % 10
EXPECTED = {
    ("cross-entropy", 0.0): losses.cross_entropy,
    ("smoothing", 0.2): functools.partial(losses.label_smoothing, alpha=0.2),
    ("penalty", 0.4): functools.partial(losses.confidence_penalty, weight=0.4),
    ("focal", 2.0): functools.partial(losses.focal, gamma=2.0),
    ("Brier", 0.0): losses.brier,
    ("MMCE, plain", 2.0): functools.partial(losses.mmce, weight=2.0, variant="plain"),
    ("MMCE, weighted", 0.5): functools.partial(losses.mmce, weight=0.5, variant="weighted"),
    ("MMCE, squared", 8.0): functools.partial(losses.mmce, weight=8.0, variant="squared"),
}
TRIALS = {  # with this way and strength, at a weight decay of .3
    "choices": lambda *way: choices.trial(
        SIZE, "entropy", 0.3, 1, way=way[0], strength=way[1], decay=0.3
    ),
    "notes": lambda *way: notes.trial(SIZE, "CNN", 1, *way, decay=0.3),
    "scanners": lambda *way: scanners.trial(SIZE, *way, 0.3, seed=0),
    "soft targets": lambda *way: soft_targets.trial(SIZE, *way, 0.3, seed=0),
}


@pytest.mark.parametrize(("way", "strength"), EXPECTED)
def test_each_way_is_its_loss(way, strength):
    assert changes(way, strength)["loss"](Z, LABELS) == EXPECTED[way, strength](Z, LABELS)


@pytest.mark.parametrize("name", TRIALS)
def test_a_trial_has_the_loss_the_blend_and_the_decay_that_it_names(name):
    focal, mixup = (TRIALS[name](*way).recipe for way in (("focal", 2.0), ("mixup", 0.4)))
    assert focal.weight_decay == mixup.weight_decay == 0.3
    assert (focal.loss.keywords, focal.mix) == ({"gamma": 2.0}, None)
    assert mixup.mix.keywords == {"alpha": 0.4}
    assert mixup.loss(Z, LABELS) == pytest.approx(losses.cross_entropy(Z, LABELS))


def test_a_plan_of_translations_has_its_loss_decay_and_sentences():
    plan = translated.plan(translated.SMOKE, "smoothing", 30, 1, strength=0.2, decay=0.3)
    assert plan.loss.keywords == {"alpha": 0.2}
    assert (plan.weight_decay, len(plan.train), plan.seed, plan.padded) == (0.3, 30, 1, False)
    half = translated.plan(translated.SMOKE, "focal", 30, 1, padded=True)
    assert half.steps == translated.SMOKE.steps // 2
