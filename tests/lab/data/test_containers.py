"""Dataset and Predictions: what they hold, and what they refuse."""

import pytest
import torch

from calibkit.lab.data import Dataset, Predictions
from tests import refusals

INPUTS, LABELS, CLASSES = torch.zeros(4, 1, 2, 2), torch.tensor([0, 1, 1, 0]), ("a", "b")
EVEN = torch.full((4, 2), 0.5)


def test_choosing_samples_keeps_inputs_labels_and_posterior_together():
    inputs = torch.arange(4.0).reshape(4, 1, 1, 1)
    posterior = torch.stack([inputs.flatten() / 4, 1 - inputs.flatten() / 4], dim=1)
    part = Dataset(inputs, LABELS, CLASSES, posterior)[torch.tensor([2, 0])]
    assert part.inputs.flatten().tolist() == [2, 0]
    assert part.labels.tolist() == [1, 0]
    assert part.posterior[:, 0].tolist() == [0.5, 0]


def test_other_labels_drop_the_posterior_of_the_old_ones():
    changed = Dataset(INPUTS, LABELS, CLASSES, EVEN).with_labels(1 - LABELS)
    assert changed.labels.tolist() == [1, 0, 0, 1]
    assert changed.posterior is None


def made(**fields):
    good = {"inputs": INPUTS, "labels": LABELS, "classes": CLASSES, "posterior": EVEN}
    return Dataset(**(good | fields))


test_wrong_fields_are_refused_by_name = refusals.table("""
    made(inputs=INPUTS[:0]) -> ValueError: inputs
    made(inputs="cat.png") -> TypeError: inputs
    made(labels=LABELS[:3]) -> ValueError: labels
    made()[2] -> TypeError: index
    made(posterior=EVEN[:3]) -> ValueError: posterior must have one entry per row
    Predictions(EVEN / 0, LABELS) -> ValueError: logits
    Predictions(EVEN[:1], LABELS[:1], EVEN) -> ValueError: posterior
""")


def test_predictions_by_hand():
    said = Predictions([[0.0, 0.0], [1.0, 3.0]], [0, 0])
    assert said.predicted.tolist() == [0, 1]  # a tie goes to the lowest class
    assert said.correct.tolist() == [True, False]
    assert said.confidence.tolist() == pytest.approx([0.5, 1 / (1 + torch.e**-2)])
    assert len(said.to("cpu")) == 2
