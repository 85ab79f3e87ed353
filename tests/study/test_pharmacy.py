"""The models of lesson 19 and what their decisions cost."""

import pytest
import torch
from study import tablets

from calibkit.course.experiments import pharmacy
from calibkit.course.scale import budget
from calibkit.lab import sweep

SIZE = budget("smoke")


@pytest.fixture(scope="module")
def trained():
    def recipe(sees, seed):
        return pharmacy.trial(SIZE, seed, sees)

    grid = {"sees": ["whole image", "left half"], "seed": [0]}
    return sweep.run(recipe, grid, device="cpu", progress=False).outcomes


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


def test_the_four_models(trained):
    whole, half = trained
    four, known = pharmacy.four(whole, half), pharmacy.truth(whole)
    assert list(four) == list("ABCD")
    assert {rows.shape for rows in four.values()} == {known.shape}
    assert four["C"].unique(dim=0).shape[0] == 1
    logits = whole.predictions["test"].logits.double()
    assert torch.allclose(four["D"], pharmacy.event((logits / 8).softmax(dim=1)))
    for ratio in (1, 20):
        least = pharmacy.cost(known, known, ratio)
        for one in four.values():
            assert pharmacy.cost(one, known, ratio) >= least
            assert pharmacy.regret(one, known, ratio) == pytest.approx(
                pharmacy.cost(one, known, ratio) - least
            )


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
