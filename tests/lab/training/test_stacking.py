"""Many models as one: the same numbers as one by one, and each run alone with its own settings."""

import functools

import pytest
import torch
from torch import nn

from calibkit import augmentation, losses, mixing, prioritization
from calibkit.lab import data, models
from calibkit.lab.training import train_trials, trial
from calibkit.lab.training.stacking import form_of

SPLITS = data.noisy_digits(96, noise=0.3, seed=0, test=100, calibration=50)


def double(dataset):
    return data.Dataset(dataset.inputs.double(), dataset.labels, dataset.classes)


TRAIN, TEST = double(SPLITS.train), double(SPLITS.test)
NETWORKS = {
    "mlp": lambda: models.mlp(64, 10, width=16),
    "mlp with batch norm": lambda: models.mlp(64, 10, width=16, norm="batch"),
    "another batch norm": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 10), nn.BatchNorm1d(10, eps=0.5, momentum=0.3)
    ),
    "linear": lambda: models.mlp(64, 10, depth=0),
    "cnn": lambda: models.cnn(1, 10, width=4),
    "cnn with batch norm": lambda: models.cnn(1, 10, width=4, norm="batch"),
    "resnet": lambda: models.resnet(8, 1, 10, width=4),
    "sequential": lambda: nn.Sequential(
        nn.Flatten(), nn.Linear(64, 8), nn.Tanh(), nn.Linear(8, 10)
    ),
}


def made(network, **settings):
    options = {"epochs": 4, "batch_size": 32, "lr": 0.05} | settings
    return trial(lambda: network().double(), TRAIN, {}, **options)


def alone(one):
    return train_trials([one], device="cpu", progress=False)[0]


def furthest(ours, theirs):
    pairs = zip(ours.model.state_dict().values(), theirs.model.state_dict().values(), strict=True)
    return max((a.double() - b.double()).abs().max().item() for a, b in pairs)


def check(trials, tolerance=1e-12):
    stacked = train_trials(trials, device="cpu", progress=False)
    for one, run in zip(trials, stacked, strict=True):
        single = alone(one)
        assert furthest(run, single) < tolerance
        assert list(run.history.columns) == list(single.history.columns)
        numbers = torch.from_numpy(run.history.to_numpy(dtype="float64"))
        expected = torch.from_numpy(single.history.to_numpy(dtype="float64"))
        assert torch.allclose(numbers, expected, rtol=1e-6, atol=1e-6, equal_nan=True)
    return stacked


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in ("mlp", "linear")])
def test_seeds_are_stacked_with_equal_results(name):
    check([made(NETWORKS[name], seed=seed) for seed in range(3)])


NOTES = data.notes(96, seed=0, language=data.Notes(2, 7), test=60, calibration=50)
OF_TEXT = {
    "bag of words": lambda: models.text_bag(30, 4, embedding=4, width=8),
    "mean of words": lambda: models.text_bag(30, 4, embedding=4, width=8, pool="mean"),
    "convolutions": lambda: models.text_cnn(30, 4, embedding=4, width=6, depth=2, kernel=3),
    "attention": lambda: models.text_transformer(30, 4, length=7, width=8, heads=2),
}


@pytest.mark.parametrize("name", OF_TEXT)
def test_networks_for_text_stack_with_and_without_mixup(name):
    settings = {"optimizer": "adamw", "lr": 0.01, "epochs": 2, "batch_size": 32}
    watch = {"test": NOTES.test}
    for mix in (None, functools.partial(mixing.word_mixup, alpha=0.4)):
        options = {**settings, "mix": mix, "watch": watch}
        network = lambda: OF_TEXT[name]().double()  # noqa: E731
        check([trial(network, NOTES.train, {}, seed=seed, **options) for seed in range(2)], 1e-9)


SETTINGS = {
    "plain": {"lr": 0.1, "momentum": 0.5, "weight_decay": 1e-2},
    "cosine": {"schedule": "cosine", "warmup": 2},
    "adamw": {"optimizer": "adamw", "lr": 3e-3, "weight_decay": 0.05, "warmup": 1},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_optimisers_stack(name):
    trials = [made(NETWORKS["mlp"], seed=seed, **SETTINGS[name]) for seed in range(2)]
    check(trials, tolerance=1e-11)


def test_mixing_and_augmentation_draw_as_they_would_alone():
    mixup = [functools.partial(mixing.mixup, alpha=alpha) for alpha in (0.1, 1.0)]
    crop = functools.partial(augmentation.crop_flip, padding=1, flip=False)
    # float32 labels and weights of mixup meet float64 inputs
    check(
        [
            made(NETWORKS["mlp"], mix=mixup[0]),
            made(NETWORKS["mlp"], mix=mixup[1], loss=losses.brier, seed=2),
            made(NETWORKS["mlp"], mix=mixup[1], augment=crop),
        ],
        tolerance=1e-9,
    )
    check([made(NETWORKS["mlp"]), made(NETWORKS["mlp"], augment=crop)], tolerance=1e-9)


def test_watching_keeping_and_gradients_are_recorded_per_run():
    watch = {"train": TRAIN, "test": TEST}
    trials = [
        made(NETWORKS["mlp"], seed=seed, watch=watch, keep=("test",), gradients=True)
        for seed in range(2)
    ]
    for run, one in zip(check(trials), trials, strict=True):
        single = alone(one)
        assert torch.allclose(run.logits["test"], single.logits["test"], atol=1e-9)
        assert torch.allclose(run.gradients, single.gradients, atol=1e-9)
        for ours, theirs in zip(run.diagrams["test"], single.diagrams["test"], strict=True):
            assert torch.equal(ours.counts, theirs.counts)


@pytest.mark.parametrize("network", [
    lambda: nn.Sequential(nn.Flatten(), nn.Dropout(), nn.Linear(64, 10)),
    lambda: models.vit(1, 10, size=8, patch=4, width=16, depth=1, heads=2),
    lambda: nn.Sequential(nn.Conv2d(1, 2, 3, padding_mode="reflect"), nn.Flatten()),
    lambda: models.text_lstm(30, 4),
], ids=["dropout", "attention", "reflected padding", "recurrence"])  # fmt: skip
def test_what_cannot_be_stacked_is_known(network):
    assert form_of(network()) is None


def test_trials_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="share one shape"):
        train_trials([made(NETWORKS["mlp"]), made(NETWORKS["linear"])], device="cpu")
    with pytest.raises(ValueError, match="share one shape"):
        train_trials([made(NETWORKS["mlp"]), made(NETWORKS["mlp"], lr=0.1)], device="cpu")
    dropping = lambda: nn.Sequential(nn.Dropout(), nn.Flatten(), nn.Linear(64, 10))  # noqa: E731
    with pytest.raises(ValueError, match="cannot be stacked"):
        train_trials([made(dropping), made(dropping, seed=1)])


def test_seeds_and_losses_do_not_change_the_shape_and_settings_do():
    network = lambda: models.mlp(64, 10, width=16)  # noqa: E731
    mixup = functools.partial(mixing.mixup, alpha=0.1)
    one = trial(network, TRAIN, augment=augmentation.crop_flip, mix=mixup)
    same = {"seed": 4, "loss": losses.brier, "mix": functools.partial(mixing.mixup, alpha=1.0)}
    assert trial(network, TRAIN, **same).shape == one.shape
    for changes in ({"batch_size": 16}, {"mix": None}, {"optimizer": "adamw"}, {"lr": 0.2}):
        assert trial(network, TRAIN, **same | changes).shape != one.shape
    for changes in ({"gradients": True}, {"watch": {"test": TEST}}):
        assert trial(network, TRAIN, **same, **changes).shape != one.shape
    assert trial(network, TRAIN[:50], **same).shape != one.shape
    halves = (prioritization.RandomPart(0.5, warmup=epochs) for epochs in (1, 3))
    assert len({trial(network, TRAIN, select=half).shape for half in halves}) == 2
