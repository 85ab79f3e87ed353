"""Each way is its loss or its blend, and every experiment trains as it says."""

import functools

import pytest
import torch

from calibkit import losses
from calibkit.course.experiments import (
    choices,
    focal_gammas,
    notes,
    scanners,
    soft_targets,
    tables,
    translated,
)
from calibkit.course.experiments.ways import changes
from calibkit.course.scale import budget
from calibkit.lab import data

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


def test_a_choice_trains_as_it_says():
    made = choices.trial(SIZE, "entropy", 0.3, 1)
    assert (made.recipe.select.share, made.recipe.epochs) == (0.3, 2 * SIZE.epochs // 3)
    assert (len(made.train), len(made.score["test"])) == (SIZE.train, SIZE.test)
    assert made.recipe.select.warmup == choices.warmup(SIZE)
    assert choices.trial(SIZE, "all", 1.0, 1).recipe.select is None
    assert choices.trial(SIZE, "random", 0.1, 1, epochs=3).recipe.epochs == 3


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


def test_a_focal_trial_has_the_gamma_and_the_epochs_that_it_names():
    made = focal_gammas.trial(SIZE, 3.0, 3e-3, seed=1, longer=4)
    assert (made.recipe.weight_decay, made.recipe.epochs) == (3e-3, 4 * SIZE.epochs)
    assert made.recipe.loss(Z, LABELS) == losses.focal(Z, LABELS, gamma=3.0)
    assert set(made.score) == {"train", "cal", "test"}


@pytest.mark.parametrize("gamma", [0.0, 1.0, 3.0])
def test_two_weights_end_where_the_focal_loss_of_the_package_is_flat(gamma):
    train = data.clusters(1_000, flip=0.1, seed=0, test=10).train
    w = focal_gammas.two_weights(train, gamma, steps=2_000).requires_grad_()
    second = train.inputs.double() @ w
    logits = torch.stack([torch.zeros_like(second), second], dim=1)
    (slope,) = torch.autograd.grad(losses.focal(logits, train.labels, gamma=gamma), w)
    assert slope.norm() < 1e-6
    assert w.norm() > 0.1
    assert focal_gammas.of_two_weights(train, w.detach()).allclose(logits.detach().softmax(dim=1))


@pytest.mark.parametrize(
    ("dataset", "command"),
    [(None, "reproduce text --scale gpu$"), ("sst2", "reproduce text --scale gpu --dataset sst2$")],
)
def test_the_command_that_makes_a_table_is_complete(dataset, command, tmp_path):
    with pytest.raises(FileNotFoundError, match=command):
        tables.stored("text", "gpu", tmp_path, dataset=dataset)
