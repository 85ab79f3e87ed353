"""Mixup and its halves: what each blends, the stored table and what is chosen from it."""

import pytest
import torch

from calibkit import mixing
from calibkit.course.experiments import mixed
from calibkit.course.experiments.ways import changes

LABELS = torch.arange(200) % 10
INPUTS = torch.randn(200, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def blended(way, alpha=0.5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    drawn = mixing.draw(len(INPUTS), alpha, generator=torch.Generator().manual_seed(seed))
    return *changes(way, alpha)["mix"](INPUTS, LABELS, classes=10, generator=generator), drawn


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_each_way_blends_what_it_names(seed):
    for way in mixed.WAYS:
        inputs, soft, drawn = blended(way, seed=seed)
        larger = max(float(drawn.lam), 1 - float(drawn.lam))
        assert torch.equal(inputs, INPUTS) == (way == "labels only")
        whole = soft.max(dim=1).values
        other = LABELS[drawn.partner] != LABELS
        if way == "images only":
            assert whole.eq(1).all()
        else:
            assert whole[other].allclose(torch.full_like(whole[other], larger), atol=1e-6)
        if way == "labels only":  # the image's own label keeps the larger share
            assert (soft.argmax(dim=1) == LABELS).all()
