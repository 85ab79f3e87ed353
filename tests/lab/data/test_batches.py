"""Datasets from loaders: tuples, dictionaries, and what is neither."""

import functools

import torch
from torch.utils.data import DataLoader, TensorDataset

from calibkit.lab import data, models, training
from tests import refusals


def tensors(n=60):
    torch.manual_seed(0)
    return torch.randn(n, 4), torch.arange(n) % 3


def loader(**options):
    return DataLoader(TensorDataset(*tensors()), batch_size=16, **options)


def test_a_loader_is_a_dataset():
    found = data.from_batches(loader(), classes=3)
    inputs, labels = tensors()
    assert torch.equal(found.inputs, inputs)
    assert torch.equal(found.labels, labels)
    assert found.classes == ("0", "1", "2")


def test_a_training_on_it_is_that_of_the_tensors():
    given = data.Dataset(*tensors(), ("a", "b", "c"))
    options = {"epochs": 2, "device": "cpu", "progress": False}
    runs = [
        training.fit(lambda: models.mlp(4, 3), train, **options)
        for train in (given, data.from_batches(loader(), classes="abc"))
    ]
    one, other = (run.predict(given).logits for run in runs)
    assert torch.equal(one, other)


def test_dictionaries_arrays_and_further_parts():
    inputs, labels = tensors(6)
    rows = [
        {"pixel_values": inputs[:4].numpy(), "label": labels[:4].tolist(), "id": ["a"] * 4},
        {"pixel_values": inputs[4:].numpy(), "label": labels[4:].numpy(), "id": ["b"] * 2},
    ]
    found = data.from_batches(rows, classes=3, inputs="pixel_values", labels="label")
    assert torch.equal(found.inputs, inputs)
    assert torch.equal(found.labels, labels)
    swapped = [(labels[:4], "x", inputs[:4]), (labels[4:], "y", inputs[4:])]
    assert torch.equal(data.from_batches(swapped, classes=3, inputs=2, labels=0).inputs, inputs)


ONE = torch.zeros(2, 1)


@refusals.each("""
    read([]) -> ValueError: batches hold no batch
    read([{"x": [0.0], "y": [0]}]) -> ValueError: inputs must be a key of the batches, x, y
    read([(ONE, [0, 1])], labels="y") -> ValueError: labels must be a place
    read([(ONE,)]) -> ValueError: labels must be a place below 1
    read([ONE]) -> TypeError: batches must be tuples or dictionaries
    read([(ONE, [0, 3])]) -> ValueError: labels must lie in [0, 3)
    read([(ONE, [0, 1])], classes=1) -> ValueError: classes must be at least 2
    read([(ONE, [0, 1]), (torch.zeros(1, 2), [0])]) -> ValueError: inputs must have one shape in all
""")
def test_bad_batches(call, refused):
    read = functools.partial(data.from_batches, classes=3)
    refusals.check(call, refused, {**globals(), "read": read})
