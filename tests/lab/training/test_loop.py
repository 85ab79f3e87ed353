"""fit and predict: determinism, the schedule, the history, interruption and bad input."""

import copy
import functools

import pytest
import torch
from torch import nn

from calibkit import augmentation, mixing
from calibkit.lab import data, models, training
from calibkit.lab.training.device import bfloat16_on_cpu, memory_format, prepared
from calibkit.lab.training.loop import Feed
from calibkit.lab.training.stacking import stacked
from tests import refusals

SPLITS = data.noisy_digits(200, noise=0.3, seed=0, test=300, calibration=50)


def network():
    return models.mlp(64, 10, width=32)


def fit(**options):
    return training.fit(
        network, SPLITS.train, **({"epochs": 3, "device": "cpu", "progress": False} | options)
    )


def weights(run):
    return torch.cat([p.detach().flatten() for p in run.model.parameters()])


def test_equal_seeds_give_equal_weights_and_other_seeds_others():
    torch.manual_seed(5)  # the state around it must not matter
    one = fit(seed=1)
    torch.manual_seed(6)
    assert torch.equal(weights(one), weights(fit(seed=1)))
    assert not torch.equal(weights(one), weights(fit(seed=2)))


@pytest.mark.parametrize(("name", "optimizer", "settings"), [
    ("sgd", torch.optim.SGD, {"momentum": 0.7}),
    ("adamw", torch.optim.AdamW, {}),
])  # fmt: skip
def test_steps_are_those_of_torchs_optimizer_at_the_rates_of_the_schedule(
    name, optimizer, settings
):
    train, settings = SPLITS.train[:8], {"lr": 0.05, "weight_decay": 0.1, **settings}
    model = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(64), nn.Linear(64, 10))
    twin = copy.deepcopy(model)
    options = {"epochs": 4, "batch_size": 8, "optimizer": name, "milestones": (0.5,), **settings}
    options["watch"] = {"same": train}  # after which it is in training mode again
    run = training.fit(model, train, device="cpu", progress=False, **options)
    steps, losses = optimizer(twin.parameters(), **settings), []
    assert run.history.lr.tolist() == pytest.approx([0.05, 0.05, 0.005, 0.005])
    for rate in run.history.lr:
        steps.zero_grad()
        losses.append(nn.functional.cross_entropy(twin(train.inputs), train.labels))
        losses[-1].backward()
        steps.param_groups[0]["lr"] = rate
        steps.step()
    assert run.history.train_loss.tolist() == pytest.approx([one.item() for one in losses])
    for ours, theirs in zip(run.model.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)


def test_a_network_is_never_trained_twice():
    """Neither one that is handed over nor one that a function hands out again and again."""
    shared = network()
    before = [p.clone() for p in shared.parameters()]
    options = {"epochs": 2, "device": "cpu", "progress": False}
    first, second = (
        training.fit(model, SPLITS.train, **options) for model in (shared, lambda: shared)
    )
    assert all(torch.equal(a, b) for a, b in zip(before, shared.parameters(), strict=True))
    assert torch.equal(weights(first), weights(second))


def test_ctrl_c_returns_what_was_learned():
    calls = 0

    def loss(logits, labels):
        nonlocal calls
        calls += 1
        if calls == 5:  # two batches an epoch: in the middle of the third
            raise KeyboardInterrupt
        return nn.functional.cross_entropy(logits, labels)

    run = fit(epochs=10, loss=loss)
    assert run.interrupted
    assert run.history.epoch.tolist() == [1, 2]
    assert repr(run).startswith("Run interrupted after 2 epochs, ")
    assert not run.model.training
    assert len(run.predict(SPLITS.test)) == 300


def test_batches_cover_every_sample_once_and_leave_none_alone():
    feed = Feed(SPLITS.train[:9], training.Recipe(batch_size=4), seed=0)
    parts, again = feed.epoch(), feed.epoch()
    assert [len(part) for part in parts] == [4, 5]  # batch norm cannot train on a single sample
    assert sorted(torch.cat(parts).tolist()) == list(range(9))
    assert torch.cat(again).tolist() != torch.cat(parts).tolist()


def test_a_batch_is_augmented_and_then_mixed_by_draws_of_its_seed():
    train, index, drawn = SPLITS.train, torch.tensor([3, 0, 5]), torch.Generator().manual_seed(3)
    augment = functools.partial(augmentation.crop_flip, padding=1)
    mix = functools.partial(mixing.mixup, alpha=1.0)
    inputs = augment(train.inputs[index], generator=drawn)
    expected = mix(inputs, train.labels[index], classes=10, generator=drawn)  # lam is .04
    found = Feed(train, training.Recipe(augment=augment, mix=mix), seed=3).batch(index)
    assert all(map(torch.equal, found, (*expected, train.labels[index])))


@pytest.mark.parametrize(("model", "runs", "threads"), [
    (models.mlp(64, 10, width=64), 1, 1),  # 9,000 weights: a second thread would wait
    (models.mlp(64, 10, width=64), 25, 2),
    (models.mlp(1_024, 10, width=1_024), 1, 2),
    (models.cnn(1, 10, width=8), 1, 2),
    (models.cnn(1, 10, width=8), 2, 2),
])  # fmt: skip
def test_only_small_dense_networks_are_held_to_one_thread(model, runs, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        many = model if runs == 1 else stacked([model] * runs)
        with prepared(many, torch.device("cpu"), runs):
            assert torch.get_num_threads() == threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_layout_follows_the_device():
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    narrow, wide = models.lenet5(3, 10), models.resnet(8)
    assert memory_format(network(), cpu) == torch.contiguous_format
    assert memory_format(narrow, cpu) == torch.channels_last
    assert memory_format(narrow, cuda) == torch.contiguous_format
    assert memory_format(wide, cuda) == torch.channels_last


test_wrong_settings_are_refused_by_name = refusals.table("""
    fit(epochs=0) -> ValueError: epochs
    fit(batch_size=0) -> ValueError: batch_size
    fit(lr=0.0) -> ValueError: lr
    fit(lr=float("inf")) -> ValueError: lr
    fit(weight_decay=float("inf")) -> ValueError: weight_decay
    fit(momentum=1.0) -> ValueError: momentum
    fit(weight_decay=-1.0) -> ValueError: weight_decay
    fit(augment="flip") -> TypeError: augment
    fit(select=0.5) -> TypeError: select must be a prioritization.Selection
    fit(score={"test": INPUTS}) -> TypeError: score must map names to datasets
    fit(seed=-1) -> ValueError: seed
    fit(milestones=(0.5, 1.5)) -> ValueError: milestones
    fit(schedule="linear") -> ValueError: schedule
    fit(optimizer="adam") -> ValueError: optimizer
    fit(warmup=3) -> ValueError: warmup
    fit(loss="focal") -> TypeError: loss
    fit(device="abacus") -> ValueError: ...device
    training.fit("resnet", SPLITS.train) -> TypeError: model
    fit(watch={}, keep=("cal",)) -> ValueError: keep
    fit(lr=1e6, epochs=5) -> RuntimeError: ...lower lr
    of(nn.Linear(8, 3).double(), TRAIN) -> TypeError: ...weights of torch.float64
    of(nn.Linear(8, 3).double(), TRAIN) -> TypeError: ...model.to(torch.float32)
    of(nn.Linear(8, 3), WIDE) -> TypeError: ...float64
    of(nn.Linear(8, 2), TRAIN) -> ValueError: ...a logit for each of the 3 classes, got 2
    of(nn.Linear(8, 3), (INPUTS, LABELS)) -> TypeError: train must be a Dataset, got tuple
    of(nn.Linear(8, 3), None) -> TypeError: train must be a Dataset, got NoneType
    training.predict(nn.Linear(8, 3).double(), TRAIN) -> TypeError: ...inputs are torch.float32
    data.Dataset(INPUTS, LABELS, 3) -> TypeError: ...classes must be the class names, got 3
""")


INPUTS, LABELS = torch.randn(12, 8), torch.arange(12) % 3
TRAIN, WIDE = (data.Dataset(part, LABELS, tuple("abc")) for part in (INPUTS, INPUTS.double()))


def of(network, train):
    return training.fit(network, train, epochs=1, progress=False, device="cpu")


@pytest.mark.parametrize(("told", "found"), [
    ({"avx512_bf16": True, "avx2": True}, True),
    ({"avx512_bf16": False, "amx_bf16": True}, True),
    ({"avx512_bf16": False, "avx512_fp16": True, "avx2": True}, False),
    ({}, False),
])  # fmt: skip
def test_a_cpu_says_whether_it_computes_in_bfloat16(told, found, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: told, raising=False)
    assert bfloat16_on_cpu() is found
