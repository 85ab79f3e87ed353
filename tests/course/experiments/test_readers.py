"""Readers whose truth is known: what they say, how they are tested, which number is right."""

import numpy as np
import pytest
import torch

from calibkit import metrics
from calibkit.course.experiments import readers
from calibkit.course.scale import budget

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
