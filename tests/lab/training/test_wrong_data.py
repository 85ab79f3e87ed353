"""Data and networks that do not fit each other are told in words, before anything is trained."""

import pytest
import torch
from torch import nn

from calibkit.lab import data, training

INPUTS, LABELS = torch.randn(12, 8), torch.arange(12) % 3
TRAIN = data.Dataset(INPUTS, LABELS, tuple("abc"))
BRIEF = {"epochs": 1, "progress": False, "device": "cpu"}


@pytest.mark.parametrize(("network", "train", "words"), [
    (nn.Linear(8, 3).double(), TRAIN, r"weights of torch.float64 .* model.to\(torch.float32\)"),
    (nn.Linear(8, 3), data.Dataset(INPUTS.double(), LABELS, tuple("abc")), "float64"),
    (nn.Linear(8, 2), TRAIN, "a logit for each of the 3 classes, got 2"),
    (nn.Linear(8, 3), (INPUTS, LABELS), "train must be a Dataset, got tuple"),
    (nn.Linear(8, 3), None, "train must be a Dataset, got NoneType"),
])  # fmt: skip
def test_a_training_refuses(network, train, words):
    with pytest.raises((TypeError, ValueError), match=words):
        training.fit(network, train, **BRIEF)


def test_a_prediction_refuses_another_type():
    with pytest.raises(TypeError, match=r"inputs are torch\.float32"):
        training.predict(nn.Linear(8, 3).double(), TRAIN)


def test_classes_are_names():
    with pytest.raises(TypeError, match="classes must be the class names, got 3"):
        data.Dataset(INPUTS, LABELS, 3)
