"""A convolutional network for text."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from calibkit import validate
from calibkit.models.base import Classifier


def text_cnn(
    vocabulary: int,
    classes: int,
    *,
    embedding: int = 100,
    width: int = 128,
    depth: int = 3,
    kernel: int = 5,
    dropout: float = 0.0,
) -> Classifier:
    """Text network: word vectors, `depth` convolutions, global max pooling, one hidden layer.

    x (n, length) word numbers in [0, vocabulary), 0 for padding, any length -> logits
    (n, classes). Between convolutions a running maximum of `kernel` words. Put pretrained vectors
    into `model.body.words.weight`. Raises ValueError for sizes out of range, an even kernel, and
    an x that is not (n, length) integers.

    Source: global pooling Lin et al. 2014; as used by Kumar et al. 2018 and Mukhoti et al. 2020.

    >>> model = text_cnn(5000, 20)
    >>> sum(p.numel() for p in model.parameters()) - 5000 * 100  # all but the word vectors
    247316
    """
    vocabulary = validate.integer("vocabulary", vocabulary, 2)
    before = validate.integer("embedding", embedding, 1)
    width = validate.integer("width", width, 1)
    dropout = validate.number("dropout", dropout, 0, 1, open_high=True)
    if validate.integer("kernel", kernel, 1) % 2 == 0:
        raise ValueError(f"kernel must be odd, so that the length is kept, got {kernel}")
    layers: list[nn.Module] = []
    for layer in range(validate.integer("depth", depth, 1)):
        layers += [nn.MaxPool1d(kernel, 1, kernel // 2)] if layer else []
        layers += [nn.Conv1d(before, width, kernel, padding=kernel // 2), nn.ReLU()]
        before = width
    dense = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(dropout))
    return Classifier(WordFeatures(vocabulary, embedding, layers, dense), width, classes)


class WordFeatures(nn.Module):
    """Word vectors, convolutions along the text, the maximum over it, a hidden layer."""

    def __init__(self, vocabulary: int, embedding: int, layers: list[nn.Module], dense: nn.Module):
        super().__init__()
        self.words = nn.Embedding(vocabulary, embedding, padding_idx=0)
        self.convolutions = nn.Sequential(*layers)
        self.dense = dense

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 2 or x.dtype not in (torch.int64, torch.int32) or not x.shape[1]:
            raise ValueError(
                f"x must be word numbers (n, length) of type int64 or int32, "
                f"got shape {tuple(x.shape)} of {x.dtype}"
            )
        return self.dense(self.convolutions(self.words(x).transpose(1, 2)).amax(dim=2))
