"""Dataset and Predictions: what they hold, and what they refuse."""

import pytest
import torch

from calibkit.lab.data import Dataset, Predictions

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


def test_a_dataset_keeps_its_device_and_moves_as_a_whole():
    moved = Dataset(INPUTS, LABELS, CLASSES, EVEN).to("cpu")
    assert moved.device == moved.labels.device == moved.posterior.device == torch.device("cpu")
    assert moved.num_classes == 2


@pytest.mark.parametrize(
    ("fields", "error", "names"),
    [
        ({"inputs": torch.zeros(0, 1, 2, 2)}, ValueError, "inputs"),
        ({"inputs": "cat.png"}, TypeError, "inputs"),
        ({"labels": LABELS[:3]}, ValueError, "labels"),
        ({"labels": LABELS.float()}, TypeError, "labels"),
        ({"labels": LABELS + 1}, ValueError, "labels"),
        ({"labels": LABELS.to("meta")}, ValueError, "labels"),
        ({"posterior": EVEN[:3]}, ValueError, "posterior"),
        ({"posterior": EVEN * 2}, ValueError, "posterior"),
        ({"posterior": EVEN / 2}, ValueError, "posterior"),
        ({"posterior": EVEN * float("nan")}, ValueError, "posterior"),
    ],
)
def test_wrong_fields_are_refused_by_name(fields, error, names):
    good = {"inputs": INPUTS, "labels": LABELS, "classes": CLASSES, "posterior": EVEN}
    with pytest.raises(error, match=names):
        Dataset(**(good | fields))


def test_a_single_index_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"index.*2"):
        Dataset(INPUTS, LABELS, CLASSES)[2]


def test_predictions_by_hand():
    said = Predictions(torch.tensor([[0.0, 0.0], [1.0, 3.0]]), torch.tensor([0, 0]))
    assert said.predicted.tolist() == [0, 1]  # a tie goes to the lowest class
    assert said.correct.tolist() == [True, False]
    assert said.confidence.tolist() == pytest.approx([0.5, 1 / (1 + torch.e**-2)])
    assert len(said.to("cpu")) == 2


@pytest.mark.parametrize(
    ("logits", "labels", "posterior", "names"),
    [
        (torch.tensor([[1.0, float("inf")]]), torch.tensor([0]), None, "logits"),
        (torch.tensor([[1, 2]]), torch.tensor([0]), None, "logits"),
        (torch.zeros(1, 1), torch.tensor([0]), None, "logits"),
        (torch.zeros(0, 2), torch.tensor([], dtype=torch.long), None, "logits"),
        (torch.zeros(2, 2), torch.tensor([0]), None, "labels"),
        (torch.zeros(1, 2), torch.tensor([2]), None, "labels"),
        (torch.zeros(1, 2), torch.tensor([0]), EVEN, "posterior"),
    ],
)
def test_wrong_predictions_are_refused_by_name(logits, labels, posterior, names):
    with pytest.raises((ValueError, TypeError), match=names):
        Predictions(logits, labels, posterior)
