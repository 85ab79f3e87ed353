"""What the models of lesson 19 see, their refinement, and the ways to train them."""

import pytest
import torch
from study import tablets

from calibkit.course.experiments import pharmacy
from calibkit.course.scale import budget

SIZE = budget("smoke")


def rows(seed=0, n=500, steep=2.0):
    generator = torch.Generator().manual_seed(seed)
    known = 1.5 * torch.randn(n, 10, generator=generator, dtype=torch.float64)
    said = steep * (known + torch.randn(n, 10, generator=generator))
    return said.softmax(dim=1), known.softmax(dim=1)


def test_the_half_image_is_blank_on_its_right_and_keeps_truth_and_labels():
    test = pharmacy.splits(SIZE, 0).test
    seen = pharmacy.left_half(test)
    assert torch.equal(seen.inputs[..., :4], test.inputs[..., :4])
    assert not seen.inputs[..., 4:].any()
    assert test.inputs[..., 4:].any()
    assert torch.equal(seen.posterior, test.posterior)
    assert torch.equal(seen.labels, test.labels)


def test_the_refinement_of_the_posterior_is_its_own_variance_and_that_of_a_constant_the_largest():
    _, known = (pharmacy.event(part) for part in rows(n=5000))
    own = float((known[:, 1] * known[:, 0]).mean())
    assert tablets.refinement(known, known) == pytest.approx(own, abs=2e-3)
    base = float(known[:, 1].mean())
    constant = known.mean(dim=0).expand_as(known)
    assert tablets.refinement(constant, known, 5000) == pytest.approx(base * (1 - base))


@pytest.mark.parametrize("name", [*tablets.WAYS, *tablets.MEMBERS])
def test_each_way_is_a_trial_of_its_own(name):
    made, plain = tablets.way(SIZE, name, 0), tablets.way(SIZE, "03 as trained", 0)
    assert len(made.train) == len(plain.train) == SIZE.train
    changed = (
        made.seed != plain.seed
        or str(made.recipe) != str(plain.recipe)
        or not torch.equal(made.train.labels, plain.train.labels)
        or not torch.equal(made.train.inputs, plain.train.inputs)
    )
    assert changed == (name != "03 as trained")
    assert torch.equal(made.score["test"].posterior, plain.score["test"].posterior)
