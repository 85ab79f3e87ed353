"""Readers of notes: what is trained, what is chosen, and what is judged."""

import pandas as pd
import pytest
import torch

from calibkit import losses, metrics
from calibkit.course.experiments import notes
from calibkit.course.scale import budget

SIZE = budget("smoke")
LOGITS = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(20) % 4


@pytest.mark.parametrize("way", notes.WAYS)
def test_a_trial_has_the_loss_the_mix_and_the_decay_that_it_names(way):
    made = notes.trial(SIZE, "CNN", 1, way, 0.2, decay=0.3)
    expected = {
        "cross-entropy": losses.cross_entropy(LOGITS, LABELS),
        "mixup": losses.cross_entropy(LOGITS, LABELS),
        "smoothing": losses.label_smoothing(LOGITS, LABELS, alpha=0.2),
        "focal": losses.focal(LOGITS, LABELS, gamma=0.2),
    }
    assert made.recipe.loss(LOGITS, LABELS).item() == pytest.approx(expected[way].item())
    assert (made.recipe.mix is not None) == (way == "mixup")
    assert made.recipe.weight_decay == 0.3


def test_more_notes_get_equal_steps():
    one, three = (notes.trial(SIZE, "CNN", 0, times=times) for times in (1, 3))
    assert len(three.train) == 3 * len(one.train) == 3 * SIZE.train
    steps = [len(made.train) * made.recipe.epochs for made in (one, three)]
    assert steps[1] == pytest.approx(steps[0], rel=0.25)


def test_noise_shuffles_that_share_of_the_training_labels_alone():
    plain, noisy = (notes.trial(SIZE, "CNN", 0, noise=noise) for noise in (0, 0.4))
    changed = (plain.train.labels != noisy.train.labels).double().mean().item()
    assert changed == pytest.approx(0.4 * 3 / 4, abs=0.1)
    assert torch.equal(plain.score["test"].labels, noisy.score["test"].labels)


def test_the_stored_table_has_every_setting_and_the_least_is_chosen():
    table, wanted = notes.stored(), pd.DataFrame(notes.settings())
    columns = list(wanted)
    assert set(map(tuple, wanted[columns].values)) == set(map(tuple, table[columns].values))
    means = table.groupby(["way", "strength", "decay"]).scaled_nll.mean()
    for way, best in notes.chosen(table).items():
        assert means[way].idxmin() == (best["strength"], best["decay"])


def test_the_numbers_of_the_posterior_are_those_of_the_best_reader():
    test = notes.splits(SIZE, 0).test
    found = notes.numbers(test.posterior, test)
    assert found["distance"] == 0
    assert found["accuracy"] == metrics.accuracy(test.posterior, test.labels)
    assert found["gap"] == pytest.approx(found["confidence"] - found["accuracy"])


@pytest.mark.slow
def test_a_stored_row_is_made_again():
    one = {"way": "mixup", "strength": 1.0, "decay": 1.0, "seed": 101}
    (made,) = notes.train(budget("laptop"), [one], device="cpu").to_dict("records")
    table = notes.stored()
    kept = table[(table[list(one)] == pd.Series(one)).all(axis=1)].iloc[0]
    assert made["scaled_nll"] == pytest.approx(kept.scaled_nll, rel=0.02)
