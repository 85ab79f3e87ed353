"""The trial run that says how long an epoch takes."""

import pytest
import torch
from torch import nn

from calibkit import data, models, training
from calibkit.selection import MaxEntropy
from calibkit.training import probe

CPU = torch.device("cpu")
TRAIN, _, TEST = data.noisy_digits(400, seed=0, test=300, calibration=10)


def trial(**options):
    return training.trial(lambda: models.mlp(64, 10, width=16), TRAIN, **options)


def test_a_few_steps_stand_for_the_whole_epoch(monkeypatch):
    times = iter([9.0, 2.0, 3.0])  # the first is the warm-up
    monkeypatch.setattr(probe, "_timed", lambda *_: next(times))
    one = trial(batch_size=50, epochs=5)  # 4 steps of 50 out of 400 samples
    assert probe.seconds_per_epoch([one], CPU) == pytest.approx(4.0, abs=0.1)


def test_it_leaves_random_state_and_the_trial_alone():
    target = models.mlp(64, 10, width=16)
    one = trial(epochs=5, recipe=training.Recipe(select=MaxEntropy(0.5, target=target)))
    before = [p.clone() for p in target.parameters()]
    state = torch.get_rng_state()
    probe.seconds_per_epoch([one], CPU)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(before, target.parameters(), strict=True))
    assert one.recipe.select.target is target


def test_a_small_selection_still_fills_its_batches():
    select = MaxEntropy(share=0.01)  # one of the first 128 samples: too few for batch norm
    network = lambda: models.mlp(64, 10, width=16, norm="batch")  # noqa: E731
    one = training.trial(network, TRAIN, epochs=2, batch_size=32, select=select)
    assert probe._enough([one]) == len(TRAIN)
    assert probe.seconds_per_epoch([one], CPU) > 0


def test_what_is_watched_counts_once_a_run(monkeypatch):
    monkeypatch.setattr(probe, "_timed", lambda *_: 0.0)
    monkeypatch.setattr(probe, "_watching", lambda *_: 2.0)
    watching = [trial(watch={"test": TEST}, seed=seed) for seed in range(3)]
    assert probe.seconds_per_epoch(watching, CPU) == 6.0


def test_every_watched_dataset_is_scored_once(monkeypatch):
    seen = []
    score = probe.scored
    monkeypatch.setattr(probe, "scored", lambda m, d: seen.append(len(d)) or score(m, d))
    model = models.mlp(64, 10, width=16)
    probe._watching(trial(watch={"test": TEST, "train": TRAIN}), model, CPU)
    assert seen == [300, 400]


def test_a_loss_that_would_run_away_does_not_stop_it():
    runaway = lambda logits, target: nn.functional.cross_entropy(logits, target) ** 3  # noqa: E731
    assert probe.seconds_per_epoch([trial(loss=runaway, lr=1e4, epochs=2)], CPU) > 0
    with pytest.raises(RuntimeError, match="the loss became"):
        training.fit(models.mlp(64, 10), TRAIN, loss=runaway, lr=1e4, device="cpu", progress=False)
