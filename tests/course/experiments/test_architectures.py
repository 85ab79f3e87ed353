"""Four architectures at settings of their own, on digits whose pixels may be exchanged."""

from dataclasses import replace

import pytest
import torch

from calibkit.course.experiments import architectures
from calibkit.course.scale import budget

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
    assert len(plain.score["test"]) == 2 * SIZE.test // 5
    assert (plain.recipe.schedule, plain.recipe.warmup) == ("cosine", 0.3 * plain.recipe.epochs)
    assert torch.equal(moved.train.inputs, architectures.exchanged(plain.train).inputs)
    for name, part in plain.score.items():
        assert torch.equal(moved.score[name].inputs, architectures.exchanged(part).inputs)
