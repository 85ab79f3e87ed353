"""Every pixel of a map is a sample, but for those without a label."""

import numpy as np
import pytest
import torch

from calibkit import metrics


def problem(shape=(6, 5), maps=3, classes=4, dtype=torch.float32):
    torch.manual_seed(0)
    logits = 2 * torch.randn(maps, classes, *shape, dtype=dtype)
    labels = torch.randint(classes, (maps, *shape))
    labels[torch.rand(labels.shape) < 0.2] = 255
    return logits, labels


def rows(logits, labels):
    """The labelled pixels as rows, by a plain loop."""
    found = []
    for one, of in zip(logits, labels, strict=True):
        for place in np.ndindex(*of.shape):
            if of[place] != 255:
                found.append((one[(slice(None), *place)], int(of[place])))
    return torch.stack([row for row, _ in found]), torch.tensor([label for _, label in found])


@pytest.mark.parametrize("shape", [(6, 5), (4,), (2, 3, 2)])
@pytest.mark.parametrize("kind", ["logits", "probs"])
def test_pixels_are_rows(shape, kind):
    logits, labels = problem(shape, dtype=torch.float16 if shape == (4,) else torch.float32)
    given = logits if kind == "logits" else logits.double().softmax(1)
    top = metrics.pixels(given, labels, kind=kind, ignore_index=255)
    flat, target = rows(logits, labels)
    expected = metrics.TopLabel.of(flat.double().softmax(1), target)
    assert torch.allclose(top.confidence.double(), expected.confidence)
    assert torch.equal(top.correct, expected.correct)
    error = metrics.ece(expected)
    assert metrics.ece(top) == pytest.approx(error, abs=1e-6)
