"""Selections by entropy, loss and chance: what they take, when, and a training with them."""

import torch
from torch import nn

from calibkit.lab import data, models, training
from calibkit.prioritization import MaxEntropy, MaxLoss, RandomPart, Selection  # noqa: F401
from tests import refusals

TRAIN = data.noisy_digits(100, noise=0.3, seed=0, test=10, calibration=10).train


def test_the_least_sure_are_taken_in_the_order_of_the_data():
    logits = torch.stack([torch.tensor([5.0, 0.0, 1.0, 3.0]), torch.zeros(4)], dim=1)
    assert MaxEntropy(share=0.5).choose(logits).tolist() == [1, 2]
    assert MaxEntropy(share=0.01).choose(logits).tolist() == [1]
    ties = torch.zeros(60, 3)  # so many that an unstable sort moves them
    assert MaxEntropy(share=0.5).choose(ties).tolist() == list(range(30))
    saturated = torch.tensor([[1e4, 0.0], [0.0, 0.0], [-1e4, 1e4]])
    assert MaxEntropy(share=0.3).choose(saturated).tolist() == [1]


class Noting:
    """Cross-entropy that notes the labels of each call, sorted."""

    def __init__(self):
        self.seen = []

    def __call__(self, logits, labels):
        self.seen.append(sorted(labels.tolist()))
        return nn.functional.cross_entropy(logits, labels)


def fit(**settings):
    options = {"epochs": 4, "batch_size": 100, "device": "cpu", "progress": False}
    return training.fit(lambda: models.mlp(64, 10, width=16), TRAIN, **(options | settings))


def test_a_training_takes_all_and_then_the_share():
    loss, select = Noting(), MaxEntropy(0.2, warmup=2)
    run = fit(loss=loss, select=select, batch_size=50, gradients=True)
    assert list(map(len, loss.seen)) == [50, 50, 50, 50, 20, 20]
    assert run.gradients.isnan().tolist() == [[False, False]] * 2 + [[False, True]] * 2
    assert select.trained_on(100, epochs=4) == 240
    assert [select.due(epoch) for epoch in range(4)] == [False, False, True, True]
    assert run.history.epoch.tolist() == [1, 2, 3, 4]
    assert MaxEntropy(1.0).trained_on(100, epochs=4) == 400
    assert not MaxEntropy(1.0).due(5)


def test_a_target_model_may_choose_and_is_not_changed():
    target, loss = fit().model, Noting()
    before = [p.clone() for p in target.parameters()]
    fit(loss=loss, select=MaxEntropy(0.3, target=target))
    chosen = MaxEntropy(0.3).choose(training.predict(target, TRAIN).logits)
    assert loss.seen == [sorted(TRAIN.labels[chosen].tolist())] * 4  # it never changes its mind
    assert all(torch.equal(a, b) for a, b in zip(before, target.parameters(), strict=True))


def test_a_target_of_some_epochs_chooses_by_its_own_epoch_and_then_by_its_last():
    target, loss = torch.randn(3, 100, 10, generator=torch.Generator().manual_seed(0)), Noting()
    fit(loss=loss, select=MaxEntropy(0.3, target=target), epochs=4)
    chosen = [MaxEntropy(0.3).choose(target[min(epoch, 2)]) for epoch in range(4)]
    assert loss.seen == [sorted(TRAIN.labels[one].tolist()) for one in chosen]


def test_the_largest_loss_is_taken_and_needs_the_labels():
    logits = torch.tensor([[3.0, 0.0], [3.0, 0.0], [0.0, 0.0]])
    labels = torch.tensor([0, 1, 1])
    assert MaxLoss(share=0.34).choose(logits, labels).tolist() == [1]
    assert MaxLoss(share=0.67).choose(logits, labels).tolist() == [1, 2]


def test_chance_takes_every_sample_equally_often_and_belongs_to_its_generator():
    logits, generator = torch.zeros(10, 2), torch.Generator().manual_seed(0)
    times = torch.zeros(10)
    for _ in range(500):
        times[RandomPart(share=0.3).choose(logits, generator=generator)] += 1
    assert times.sum() == 1_500
    assert (times / 500 - 0.3).abs().max() < 0.1  # five standard deviations
    one, again, other = (RandomPart(0.3).choose(torch.zeros(99, 2), generator=g) for g in (4, 4, 5))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_a_stack_chooses_for_each_run_as_the_run_alone_would():
    train = data.Dataset(TRAIN.inputs.double(), TRAIN.labels, TRAIN.classes)

    def made(select, seed):
        network = lambda: models.mlp(64, 10, width=16).double()  # noqa: E731
        options = {"epochs": 5, "batch_size": 20, "select": select}
        return training.trial(network, train, {"train": train}, seed=seed, **options)

    judge = training.train_trials([made(None, 9)], device="cpu", progress=False)[0].model
    rules = [MaxEntropy(0.3, 1), MaxLoss(0.3, 1), RandomPart(0.3, 1), MaxEntropy(0.3, 1, judge)]
    trials = [made(rule, seed) for seed, rule in enumerate(rules)]
    assert len({one.shape for one in trials}) == 1
    together = training.train_trials(trials, device="cpu", progress=False)
    for one, run in zip(trials, together, strict=True):
        alone = training.train_trials([one], device="cpu", progress=False)[0]
        assert torch.allclose(alone.scored["train"], run.scored["train"], atol=1e-9)


test_wrong_settings_are_refused_by_name = refusals.table("""
    Selection(0.5).choose(torch.zeros(2, 2)) -> NotImplementedError: ...MaxEntropy
    MaxEntropy(share=0.0) -> ValueError: share
    MaxEntropy(warmup=-1) -> ValueError: warmup
    MaxEntropy(target="resnet") -> TypeError: target
    MaxEntropy(target=torch.zeros(3, 2)) -> ValueError: target
    fit(select=MaxEntropy(0.3, target=torch.zeros(1, 99, 10))) -> ValueError: target
    MaxEntropy().choose(torch.zeros(0, 2)) -> ValueError: logits
    MaxLoss(share=0.5).choose(torch.zeros(2, 2)) -> TypeError: ...labels
""")
