"""Four architectures at settings of their own, on digits whose pixels may be exchanged."""

import functools
from dataclasses import replace

import pandas as pd
import pytest
import torch

from calibkit import metrics, recalibration
from calibkit.course.experiments import architectures
from calibkit.course.scale import budget
from calibkit.lab import sweep

SIZE = budget("smoke")
SETTING = {"width": 8, "place": "few", "pixels": "in place", "rate": 0.01, "decay": 0.1, "seed": 0}


@pytest.mark.parametrize("place", architectures.PLACES)
def test_steps_are_equal(place):
    size = budget("laptop")
    n = architectures.images(size)[place]
    made = architectures.epochs(size, n) * -(-n // architectures.BATCH)
    assert made == architectures.steps(size)


def test_a_dense_network_cannot_tell_the_exchange():
    """Exchange the columns of its first weights in the same way: nothing changes."""
    part = architectures.digits(SIZE, 0).test[:20]
    net = architectures.network("dense", 8)().eval()
    before = net(part.inputs)
    order = architectures.exchanged(
        replace(part[:1], inputs=torch.arange(64.0).view(1, 1, 8, 8))
    ).inputs.flatten()
    first = next(module for module in net.modules() if isinstance(module, torch.nn.Linear))
    with torch.no_grad():
        first.weight.copy_(first.weight[:, order.long()])
    assert torch.allclose(net(architectures.exchanged(part).inputs), before, atol=1e-5)


def test_a_trial_is_scored_on_what_it_was_trained_for():
    plain = architectures.trial(SIZE, "dense", **SETTING)
    moved = architectures.trial(SIZE, "dense", **SETTING | {"pixels": "exchanged"}, shifted=True)
    assert [*plain.score] == ["train", "cal", "test"]
    assert [*moved.score] == ["train", "cal", "test", "noise 0.5", "noise 0.6", "noise 0.7"]
    assert len(plain.train) == architectures.images(SIZE)["few"]
    assert torch.equal(moved.train.inputs, architectures.exchanged(plain.train).inputs)
    for name, part in plain.score.items():
        assert torch.equal(moved.score[name].inputs, architectures.exchanged(part).inputs)


def test_rows_say_what_is_measured():
    trial = functools.partial(architectures.trial, SIZE)
    (one,) = sweep.run(
        trial, [{"kind": "dense", **SETTING}], device="cpu", cache=False, progress=False
    ).outcomes
    plain, cooled = architectures.judged(one)
    test, cal = one.predictions["test"], one.predictions["cal"]
    scaler = recalibration.TemperatureScaler().fit(cal.logits, cal.labels)
    assert plain["T"] == cooled["T"] == scaler.temperature
    assert plain["ECE"] == pytest.approx(metrics.ece(test.probs, test.labels), abs=1e-6)
    assert cooled["NLL"] == pytest.approx(metrics.nll(scaler.probs(test.logits), test.labels))
    assert plain["accuracy"] == cooled["accuracy"]
    train = one.predictions["train"]
    lost = metrics.accuracy(train.probs, train.labels) - plain["accuracy"]
    assert plain["lost"] == cooled["lost"] == pytest.approx(lost)
    assert plain["claimed"] == pytest.approx(plain["gap"], abs=1e-6)


def test_a_contest_gets_its_least_mean():
    table = architectures.stored()
    best = architectures.chosen(table, "after T")
    assert len(best) == len(architectures.contests())
    for row in best.itertuples():
        contest = pd.Series({name: getattr(row, name) for name in architectures.CONTEST})
        same = (table[list(architectures.CONTEST)] == contest).all(axis=1)
        means = table[same].groupby(["strength", "decay"]).scaled_nll.mean()
        assert means.idxmin() == (row.rate, row.decay)
