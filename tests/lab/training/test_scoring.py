"""Scoring in chunks, and what counts as features."""

import pytest
import torch
from torch import nn

from calibkit.lab import data, models
from calibkit.lab.training import records


@pytest.mark.parametrize(("shape", "runs", "size"), [
    ((1, 8, 8), 1, 10_000),
    ((1, 8, 8), 25, 400),
    ((3, 32, 32), 1, 1_041),  # a tenth of what digits get: activations grow with the image
    ((3, 224, 224), 1, 21),
    ((3, 224, 224), 100, 1),
])  # fmt: skip
def test_chunks_shrink_with_the_sample_and_the_stack(shape, runs, size):
    assert records.chunk_size(torch.empty(2, *shape), runs) == size


def test_chunks_change_nothing(monkeypatch):
    test = data.noisy_digits(50, test=300, seed=0).test
    model = models.mlp(64, 10)
    whole, norm = records.scores(model, [test.inputs])
    monkeypatch.setattr(records, "NUMBERS", 64 * 7)
    parts, again = records.scores(model, [test.inputs])
    torch.testing.assert_close(parts, whole)
    assert again == pytest.approx(norm)


def test_a_loader_gives_what_its_dataset_gives():
    test = data.noisy_digits(50, test=300, seed=0).test
    model = models.mlp(64, 10, norm="batch").train()
    pairs = torch.utils.data.TensorDataset(test.inputs, test.labels)
    for batches in (torch.utils.data.DataLoader(pairs, batch_size=64), [pairs[:300]]):
        said, whole = records.predict(model, batches), records.predict(model, test)
        torch.testing.assert_close(said.logits, whole.logits)
        assert torch.equal(said.labels, test.labels)
        assert model.training


@pytest.mark.parametrize(("batches", "error", "words"), [
    ([{"x": 1}], TypeError, "batches \\(inputs, labels\\), got a batch of type dict"),
    ([torch.ones(2, 64)], TypeError, "got a batch of type Tensor"),
    ([], ValueError, "dataset gives no batch"),
])  # fmt: skip
def test_batches_of_another_form_are_refused(batches, error, words):
    with pytest.raises(error, match=words):
        records.predict(models.mlp(64, 10), batches)


def test_features_without_a_head_are_not_ours():
    class Theirs(nn.Module):  # as torchvision's VGG: `features`, but the last layer elsewhere
        def __init__(self):
            super().__init__()
            self.features, self.classifier = nn.Flatten(), nn.Linear(64, 10)

        def forward(self, x):
            return self.classifier(self.features(x))

    test = data.noisy_digits(50, test=30, seed=0).test
    logits, (norm,) = records.scores(Theirs(), [test.inputs])
    assert logits.shape == (1, 30, 10)
    assert norm != norm
