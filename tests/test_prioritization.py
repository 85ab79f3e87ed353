"""Max-entropy selection: what it takes, when, and what a training does with it."""

import pytest
import torch
from torch import nn

from calibkit import data, models, training
from calibkit.prioritization import MaxEntropy

TRAIN = data.noisy_digits(100, noise=0.3, seed=0, test=10, calibration=10).train


def test_the_least_sure_are_taken_in_the_order_of_the_data():
    sure = torch.tensor([5.0, 0.0, 1.0, 3.0])
    logits = torch.stack([sure, torch.zeros(4)], dim=1)
    assert MaxEntropy(share=0.5).choose(logits).tolist() == [1, 2]
    assert MaxEntropy(share=0.25).choose(logits).tolist() == [1]
    assert MaxEntropy(share=0.01).choose(logits).tolist() == [1]


def test_ties_go_to_the_lowest_index():
    assert MaxEntropy(share=0.5).choose(torch.zeros(6, 3)).tolist() == [0, 1, 2]


def test_saturated_logits_have_no_entropy_and_no_nan():
    logits = torch.tensor([[1e4, 0.0], [0.0, 0.0], [-1e4, 1e4]])
    assert MaxEntropy(share=0.3).choose(logits).tolist() == [1]


def test_it_is_due_after_the_warmup():
    assert [MaxEntropy(0.5, warmup=2).due(epoch) for epoch in range(4)] == [
        False,
        False,
        True,
        True,
    ]
    assert not MaxEntropy(1.0).due(5)


class Counting:
    """Cross-entropy that remembers how many samples each call saw."""

    def __init__(self):
        self.sizes = []

    def __call__(self, logits, labels):
        self.sizes.append(len(labels))
        return nn.functional.cross_entropy(logits, labels)


def fit(**settings):
    options = {"epochs": 4, "batch_size": 100, "device": "cpu", "progress": False}
    return training.fit(lambda: models.mlp(64, 10, width=16), TRAIN, **(options | settings))


def test_a_training_takes_all_and_then_the_share():
    loss = Counting()
    run = fit(loss=loss, select=MaxEntropy(0.2, warmup=2))
    assert loss.sizes == [100, 100, 20, 20]
    assert run.history.epoch.tolist() == [1, 2, 3, 4]


def test_a_target_model_may_choose_and_is_not_changed():
    target = fit().model
    before = [p.clone() for p in target.parameters()]
    seen = []

    def loss(logits, labels):
        seen.append(sorted(labels.tolist()))
        return nn.functional.cross_entropy(logits, labels)

    fit(loss=loss, select=MaxEntropy(0.3, target=target))
    chosen = MaxEntropy(0.3).choose(training.predict(target, TRAIN).logits)
    assert seen == [sorted(TRAIN.labels[chosen].tolist())] * 4  # the target never changes its mind
    assert all(torch.equal(a, b) for a, b in zip(before, target.parameters(), strict=True))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"share": 0.0}, ValueError),
        ({"share": 1.5}, ValueError),
        ({"warmup": -1}, ValueError),
        ({"target": "resnet"}, TypeError),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, error):
    with pytest.raises(error, match=next(iter(settings))):
        MaxEntropy(**settings)


@pytest.mark.parametrize("logits", [torch.tensor([[float("nan"), 0.0]]), torch.zeros(0, 2)])
def test_wrong_logits_are_refused(logits):
    with pytest.raises(ValueError, match="logits"):
        MaxEntropy().choose(logits)
