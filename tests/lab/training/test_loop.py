"""fit and predict: determinism, the schedule, the history, interruption and bad input."""

import pytest
import torch
from torch import nn

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


def test_one_step_equals_sgd_by_hand():
    train = SPLITS.train[:8]
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    twin = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    twin.load_state_dict(model.state_dict())
    settings = {"batch_size": 8, "lr": 0.5, "weight_decay": 0.1, "momentum": 0.9}
    run = training.fit(model, train, epochs=1, device="cpu", progress=False, **settings)
    nn.functional.cross_entropy(twin(train.inputs), train.labels).backward()
    for ours, theirs in zip(run.model.parameters(), twin.parameters(), strict=True):
        expected = theirs - 0.5 * (theirs.grad + 0.1 * theirs)
        assert torch.allclose(ours, expected, atol=1e-6)


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


def test_the_rate_falls_by_ten_at_the_milestones():
    run = fit(epochs=8, lr=1e-3, milestones=(0.5, 0.75))
    assert run.history.lr.tolist() == pytest.approx([1e-3] * 4 + [1e-4] * 2 + [1e-5] * 2)


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
    assert not run.model.training
    assert len(run.predict(SPLITS.test)) == 300


def test_batches_cover_every_sample_once_and_leave_none_alone():
    feed = Feed(SPLITS.train[:9], training.Recipe(batch_size=4), seed=0)
    parts, again = feed.epoch(), feed.epoch()
    assert [len(part) for part in parts] == [4, 5]  # batch norm cannot train on a single sample
    assert sorted(torch.cat(parts).tolist()) == list(range(9))
    assert torch.cat(again).tolist() != torch.cat(parts).tolist()


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
    fit(lr=0.0) -> ValueError: lr
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
