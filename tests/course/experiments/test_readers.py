"""Readers whose truth is known: what they say, how they are tested, which number is right."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.course.experiments import pharmacy, readers, shifted
from calibkit.course.scale import budget
from calibkit.lab.data import Predictions

SIZE = budget("smoke")
POSTERIOR = readers.population(SIZE, 0).posterior
COARSE = readers.coarse(POSTERIOR)


def test_the_parts_add_up_to_the_expected_brier_score():
    for probs, known in ((readers.tempered(POSTERIOR, 1.5), POSTERIOR), (COARSE, COARSE)):
        expected = ((probs - POSTERIOR).square() + POSTERIOR * (1 - POSTERIOR)).sum(dim=1).mean()
        assert sum(readers.parts(probs, known)) == pytest.approx(expected.item(), rel=1e-9)


def test_labels_are_drawn_from_the_posterior_and_again_for_another_seed():
    chosen, labels = readers.test_set(POSTERIOR, 20_000, 3)
    again, same = readers.test_set(POSTERIOR, 20_000, 3)
    assert torch.equal(chosen, again)
    assert torch.equal(labels, same)
    hits = (labels == POSTERIOR[chosen].argmax(dim=1)).double().mean().item()
    assert hits == pytest.approx(POSTERIOR.amax(dim=1).mean().item(), abs=0.015)
    assert not torch.equal(labels, readers.test_set(POSTERIOR, 20_000, 4)[1])


def test_a_bold_reader_is_rejected_by_every_test_and_the_posterior_seldom():
    assert (readers.rejected(readers.tempered(POSTERIOR, 0.4), POSTERIOR, 500, 10) == 1).all()
    assert (readers.rejected(POSTERIOR, POSTERIOR, 500, 20) <= 0.3).all()


def test_squares_and_their_interval_are_those_of_the_package():
    chosen, labels = readers.test_set(POSTERIOR, 500, 0)
    scores = readers.squares(COARSE[chosen], labels)
    assert scores.mean().item() == pytest.approx(metrics.brier(COARSE[chosen], labels))
    low, high = readers.middle(scores)
    deviation = scores.std().item() / 500**0.5
    assert (high - low) / 2 == pytest.approx(1.645 * deviation)


def test_the_ece_names_the_coarse_reader_and_the_brier_score_the_better_one():
    shares = readers.named(readers.tempered(POSTERIOR, 1.3), COARSE, POSTERIOR, 1000, 10)
    assert shares.tolist() == pytest.approx([0, 1, 1, shares[3]])
    assert np.isin(readers.named(COARSE, COARSE, POSTERIOR, 50, 3), 0).all()


def test_the_exact_reader_of_noise_is_bayes_rule_over_the_clean_digits():
    (images, labels), (digits, owner) = shifted.draw(6, 3, 0.7), shifted.clean()
    far = (images[:, None] - digits).double().square().sum(dim=(2, 3, 4))
    law = (-far / (2 * 0.7**2)).softmax(dim=1)
    rows = torch.stack([law[:, owner == k].sum(dim=1) for k in range(10)], dim=1)
    torch.testing.assert_close(shifted.exact(images, 0.7), rows, atol=1e-4, rtol=1e-3)
    still, same = shifted.draw(6, 3, 0.0)
    assert torch.equal(labels, same)
    place = (still[:, None] == digits).flatten(2).all(dim=2).int().argmax(dim=1)
    assert torch.equal(digits[place], still)
    assert torch.equal(owner[place], labels)
    pattern = (images - still) / 0.7
    torch.testing.assert_close(pattern, (shifted.draw(6, 3)[0] - still) / 0.4)
    assert pattern.std() == pytest.approx(1, abs=0.15)
    assert shifted.familiar(300, 0).labels.unique().tolist() == list(range(8))


Z = torch.randn(400, 10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
LABELS = (2 * Z).softmax(dim=1).multinomial(1, generator=torch.Generator().manual_seed(1))[:, 0]


def test_the_four_models_and_their_costs():
    parts = {"cal": Z, "test": Z.flip(0)}
    whole, half = (
        SimpleNamespace(predictions={k: Predictions(T * z, LABELS) for k, z in parts.items()})
        for T in (3.0, 0.5)
    )
    found = pharmacy.four(whole, half)
    B = 0.5 * Z.flip(0) / pharmacy.scaler(half).temperature
    for name, logits in {"A": 3 * Z.flip(0), "B": B, "D": 3 * Z.flip(0) / 8}.items():
        yes = logits.softmax(dim=1)[:, 8:].sum(dim=1)
        torch.testing.assert_close(found[name], torch.stack([1 - yes, yes], dim=1))
    assert found["C"][:, 1].unique().item() == pytest.approx((LABELS >= 8).double().mean().item())
    known = torch.tensor([[0.9, 0.1], [0.6, 0.4]], dtype=torch.float64)
    rows = torch.tensor([[0.95, 0.05], [0.95, 0.05]])  # lets both pass; a check costs 1, a miss 5
    assert pharmacy.cost(rows, known, 5) == pytest.approx(100 * (0.5 + 2) / 2)
    assert pharmacy.regret(rows, known, 5) == pytest.approx(100 * (2 - 0.6) / 2)
    assert pharmacy.event_ece(rows, torch.tensor([9, 3])) == pytest.approx(0.45)
