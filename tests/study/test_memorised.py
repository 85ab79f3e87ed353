"""How wide a network must be to learn labels by heart: its trainings, and the line through them."""

import math

import pandas as pd
import pytest
import torch
from study import memorised


def test_random_labels_are_drawn_anew_and_the_digits_stay():
    true, random = (memorised.digits(200, labels, 1) for labels in ("true", "random"))
    assert torch.equal(true.inputs, random.inputs)
    assert (true.labels == random.labels).double().mean() < 0.25
    assert len(random.labels.unique()) == 10
    with pytest.raises(ValueError, match="labels must be one of"):
        memorised.digits(200, "wrong", 1)


def test_a_network_has_four_layers_and_no_weight_decay():
    made = memorised.trial(100, 7, "random", 0)
    shapes = [tuple(p.shape) for p in made.network(torch.device("cpu")).parameters() if p.ndim == 2]
    assert shapes == [(7, 64), (7, 7), (7, 7), (10, 7)]
    assert made.recipe.weight_decay == 0
    assert made.score["seen"] is made.train


def test_wider_networks_learn_more():
    table = memorised.trained((60,), (2, 64), (0,), steps=500, cache=False, progress=False)
    assert list(table.columns) == ["labels", "n", "width", "seed", "seen_accuracy"]
    learned = table[table.labels == "random"].set_index("width").seen_accuracy
    assert learned[2] < 0.6 < learned[64]


@pytest.mark.parametrize(
    ("learned", "width"),
    [
        ([0.5, 0.9, 0.99, 1.0], 16),
        ([0.5, 0.98, 1.0, 1.0], 8 * 2**0.5),
        ([0.5, 1.0, 0.5, 1.0], 16 * 2**0.98),  # the last one that does not counts
        ([0.5, 0.6, 0.7, 0.8], math.nan),
        ([1.0, 1.0, 1.0, 1.0], math.nan),
    ],
)
def test_the_least_width_lies_after_the_last_that_does_not(learned, width):
    found = memorised.least_width([4, 8, 16, 32], learned)
    assert found == pytest.approx(width, abs=0.01, nan_ok=True)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_a_known_power_is_found(power):
    rows = [
        ("random", n, width, seed, min(1.0, 0.99 + 0.1 * math.log(width / n**power)))
        for n in (16, 64, 256)
        for width in range(2, 400)
        for seed in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["labels", "n", "width", "seed", "seen_accuracy"])
    found = memorised.exponents(table)
    assert found.exponent.to_numpy() == pytest.approx([power, power], abs=0.01)
    assert found.numbers.tolist() == [3, 3]


def test_the_stored_table_is_whole():
    table = memorised.stored()
    whole = len(memorised.LABELS) * len(memorised.NUMBERS) * len(memorised.WIDTHS)
    assert len(table) == whole * len(memorised.SEEDS)
    assert not table.duplicated(["labels", "n", "width", "seed"]).any()
    assert table.seen_accuracy.between(0, 1).all()
