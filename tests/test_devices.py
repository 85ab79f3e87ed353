"""From data to figures on each device: the same numbers, nothing mixed, nothing waited for."""

import contextlib
import functools
import pickle
from dataclasses import replace

import pytest
import torch
from torch import nn

from calibkit import augmentation, curation, losses, mixing, prioritization
from calibkit.lab import data, models, sweep, training, translation
from calibkit.lab.training.loop import Loop
from calibkit.lab.translation import toy
from tests import pretend_cuda, test_losses
from tests.recalibration import samples
from tests.recalibration.samples import ALL, quick

TRAIN, CAL, TEST = data.noisy_digits(96, noise=0.3, seed=0, test=100, calibration=50)
TRAIN, CAL, TEST = (replace(part, posterior=None, source=None) for part in (TRAIN, CAL, TEST))
NOISE = curation.transition_matrix(0.2, kind="uniform", classes=10).float()
WEIGHTS = torch.linspace(0.5, 1.5, 10)


def shifted(logits, target, shift):
    """A loss of a user's own, with a tensor bound to it."""
    return losses.cross_entropy(logits + shift, target)


LOSSES = test_losses.LOSSES | {
    "forward_corrected": functools.partial(losses.forward_corrected, transition=NOISE),
    "torch's": nn.functional.cross_entropy,
    "weighted": functools.partial(losses.cross_entropy, class_weights=WEIGHTS),
    "a module": nn.CrossEntropyLoss(weight=WEIGHTS),
    "focal, a gamma each": functools.partial(losses.focal, gamma=torch.linspace(0, 3, 32)),
    "scheduled": losses.ScheduledFocal(),
    "prior": functools.partial(shifted, shift=WEIGHTS.log()),
}
MIXES = {
    "mixup": functools.partial(mixing.mixup, alpha=0.2),
    "mixup, each": functools.partial(mixing.mixup, alpha=0.2, per_sample=True),
    "inputs alone": functools.partial(mixing.mixup, alpha=0.2, mix="inputs"),
    "labels alone": functools.partial(mixing.mixup, alpha=0.2, mix="labels"),
    "cutmix": mixing.cutmix,
}
AUGMENTATIONS = {
    "crops and flips": augmentation.crop_flip,
    "crops": functools.partial(augmentation.crop_flip, flip=False),
    "flips": functools.partial(augmentation.crop_flip, padding=0),
}
SELECTIONS = (
    prioritization.MaxEntropy(0.5, 1),
    prioritization.MaxEntropy(0.5, 1, target=models.mlp(64, 10)),
    prioritization.MaxLoss(0.5, 1),
    prioritization.RandomPart(0.5, 1),
)


def network():
    return models.mlp(64, 10, width=16, norm="batch")


def made(seed=0, model=network, train=TRAIN, **settings):
    options = {"epochs": 2, "batch_size": 32, "lr": 0.05} | settings
    return training.trial(model, train, {"test": TEST}, seed=seed, **options)


def trained(trials, device):
    return training.train_trials(trials, device=device, progress=False)


def furthest(ours, theirs):
    pairs = zip(ours.state.values(), theirs.state.values(), strict=True)
    return max((a.cpu().double() - b.cpu().double()).abs().max().item() for a, b in pairs)


# --- training ---


@pytest.mark.device
def test_a_stack_of_all_losses_trains_to_the_same_weights(device):
    trials = [made(seed, loss=loss) for loss in LOSSES.values() for seed in range(2)]
    for ours, theirs in zip(trained(trials, "cpu"), trained(trials, device), strict=True):
        assert furthest(ours, theirs) < 1e-4


@pytest.mark.device
@pytest.mark.parametrize("select", SELECTIONS, ids=lambda one: type(one).__name__)
def test_selections_take_the_same_samples(select, device):
    trials = [made(seed, select=select, epochs=3) for seed in range(2)]
    for ours, theirs in zip(trained(trials, "cpu"), trained(trials, device), strict=True):
        assert furthest(ours, theirs) < 1e-5


@pytest.mark.device
def test_what_is_watched_and_kept_is_the_same(device):
    options = {"watch": {"test": TEST}, "keep": ("test",), "gradients": True}
    (here,), (there,) = (trained([made(**options)], place) for place in ("cpu", device))
    columns = ["test_nll", "test_feature_norm", "head_norm"]
    assert (here.history[columns] - there.history[columns]).abs().max(axis=None) < 1e-4
    assert torch.allclose(here.logits["test"], there.logits["test"], atol=1e-4)
    assert torch.allclose(here.gradients, there.gradients, atol=1e-4)


@pytest.mark.device
def test_data_may_lie_on_the_device_and_predictions_then_do(device):
    there = TRAIN.to(device)
    run = training.fit(network, there, epochs=1, score={"test": TEST.to(device)}, device=device)
    assert run.predictions["test"].logits.device.type == device.type
    assert run.predict(CAL).logits.device.type == "cpu"
    loader = torch.utils.data.DataLoader(list(zip(CAL.inputs, CAL.labels, strict=True)), 25)
    assert torch.allclose(training.predict(run.model, loader).logits, run.predict(CAL).logits)
    assert run.predict(CAL).to(device).correct.device.type == device.type


@pytest.mark.device
def test_a_sweep_keeps_its_runs_by_kind_of_device_and_all_read_them(device, tmp_path):
    def recipe(kind, seed):
        return made(seed, loss=LOSSES[kind])

    grid = {"kind": ["forward_corrected", "weighted"], "seed": [0, 1]}
    options = {"cache": tmp_path, "progress": False, "jobs": 1}
    here = sweep.run(recipe, grid, device="cpu", **options)
    there = sweep.run(recipe, grid, device=device, **options)
    assert len([*tmp_path.rglob("*.run")]) == (4 if device.type == "cpu" else 8)
    for ours, theirs in zip(here.outcomes, there.outcomes, strict=True):
        logits = theirs.predictions["test"].logits
        assert logits.device.type == "cpu"
        assert torch.allclose(logits, ours.predictions["test"].logits, atol=1e-4)


# --- what a step costs ---


@contextlib.contextmanager
def step_of(trials):
    """One step of a training on the stand-in, after a first one, which makes its momentum."""
    with pretend_cuda.pretend_cuda() as name:
        loop = Loop(trials, torch.device(name))
        loop.epoch(0)
        orders = [feed.epoch() for feed in loop.feeds]
        loop.net.train()
        with pretend_cuda.counted() as work:
            loop._step(next(zip(*orders, strict=True)), 0.1, [])
        yield work


def launches(**settings):
    with step_of([made(model=lambda: models.resnet(8, 1, 10, width=4), **settings)]) as work:
        assert (work.waits, work.copies) == (0, 0)
        return work.launches


PLAIN = 86  # of a ResNet-8
COSTS = {"cross_entropy": 50, "forward_corrected": 50, "flsd": 50, "mmce": 80}
STEPS = {
    **{name: ({"loss": LOSSES[name]}, more) for name, more in COSTS.items()},
    **{name: ({"mix": mix}, 35) for name, mix in MIXES.items()},
    **{name: ({"augment": augment}, 20) for name, augment in AUGMENTATIONS.items()},
    **{name: ({"optimizer": name, "gradients": True}, 20) for name in ("sgd", "adamw")},
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_waits_for_nothing(name):
    settings, more = STEPS[name]
    assert 60 < launches(**settings) <= PLAIN + more


def test_a_stack_waits_for_none_of_its_losses():
    mixed = {"augment": augmentation.crop_flip, "mix": MIXES["mixup"]}
    of_one_label = ("forward_corrected", "dual_focal")
    soft = [loss for name, loss in LOSSES.items() if name not in of_one_label]
    for some, options in ((LOSSES.values(), {}), (soft, mixed)):
        with step_of([made(loss=loss, **options) for loss in some]) as work:
            assert (work.waits, work.copies) == (0, 0)


def test_a_wait_and_a_copy_would_be_seen():
    def waiting(logits, target):
        return losses.cross_entropy(logits, target) * (1.0 if logits.sum() > 0 else 2.0)

    def copying(logits, target):
        return losses.cross_entropy(logits, target, class_weights=WEIGHTS.to(logits))

    for loss, found in ((waiting, (1, 0)), (copying, (0, 1))):
        with step_of([made(loss=loss)]) as work:
            assert (work.waits, work.copies) == found


# --- what is fitted, drawn and kept ---


def scored(device="cpu"):
    return [part.to(device) for part in samples.scored(400, 4, dtype=torch.float32)]


@pytest.mark.device
@pytest.mark.parametrize("kind", ALL)
def test_a_map_fitted_on_one_device_serves_on_the_other(kind, device):
    logits, labels = scored()
    new = logits[:50] + 0.1
    here = quick(kind).fit(logits, labels)
    there = quick(kind).fit(*scored(device))
    again = pickle.loads(pickle.dumps(there))
    expected = here.transform(new)
    for fitted in (here, there, again):
        assert torch.allclose(fitted.transform(new), expected, atol=1e-5)
        moved = fitted.transform(new.to(device))
        assert moved.device.type == device.type
        assert torch.allclose(moved.cpu(), expected, atol=1e-5)


def test_a_machine_without_the_device_reads_what_was_fitted_and_trained_on_it():
    with pretend_cuda.pretend_cuda() as device:
        maps = [quick(kind).fit(*scored(device)) for kind in ALL]
        loss = functools.partial(losses.forward_corrected, transition=NOISE.to(device))
        there = TRAIN.to(device)
        one = training.trial(functools.partial(models.mlp, 64, 10), there, epochs=1, loss=loss)
        run = trained([replace(one, score={"test": TEST.to(device)})], device)[0]
        assert run.model is not None
        written = pickle.dumps([maps, run])
        raw = pickle.dumps(run.state)
    maps, run = pickle.loads(written)
    assert maps[0].transform(scored()[0], allow_fitted=True).device.type == "cpu"
    assert run.predict(TEST).logits.device.type == "cpu"
    assert run.predictions["test"].labels.device.type == "cpu"
    with pytest.raises(RuntimeError, match="deserialize"):
        pickle.loads(raw)


# --- translation ---


@pytest.mark.device
def test_a_translator_and_its_pairs_may_lie_on_two_devices(device):
    few = toy.draw(20, seed=0)
    words = len(few.source_words), len(few.target_words)
    torch.manual_seed(0)
    model = translation.Translator(*words, width=16, depth=1, heads=2).eval()
    expected = translation.logits_of(model, few), translation.translate(model, few, width=2)
    there = replace(few, source=few.source.to(device), target=few.target.to(device))
    model = model.to(device)
    for pairs in (few, there):
        logits = translation.logits_of(model, pairs)
        sentences, log_probs = translation.translate(model, pairs, width=2)
        homes = {tensor.device for tensor in (logits, sentences, log_probs)}
        assert homes == {pairs.source.device}
        assert torch.allclose(logits.cpu(), expected[0], atol=1e-4)
        assert torch.equal(sentences.cpu(), expected[1][0])
        assert torch.allclose(log_probs.cpu(), expected[1][1], atol=1e-4)
        assert translation.tokens(logits, pairs).labels.device == pairs.source.device
