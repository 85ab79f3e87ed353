"""Networks for text: a bag of words, a convolutional network, an LSTM, a small transformer.

All take word numbers (n, length), 0 for padding at the end, or the blends of `mixing.word_mixup`,
and give the same logits however much padding follows a text. But for the LSTM they are made of
layers that stack, and work along the last two dimensions, words and vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit import validate
from calibkit.lab.models.base import Classifier
from calibkit.lab.text import is_word


def text_bag(
    vocabulary: int,
    classes: int,
    *,
    embedding: int = 32,
    width: int = 64,
    pool: Literal["sum", "mean"] = "sum",
) -> Classifier:
    """Bag of words: the sum of the words' vectors, one hidden layer. Blind to their order.

    x (n, length) word numbers in [0, vocabulary), 0 for padding -> logits (n, classes).
    pool="mean" divides the sum by the number of words. Raises ValueError for sizes out of range.

    >>> model = text_bag(30, 4)
    >>> one, other = model(torch.tensor([[5, 9, 7], [7, 5, 9]]))
    >>> torch.allclose(one, other, atol=1e-6)
    True
    """
    words = _words(vocabulary, embedding)
    validate.choice("pool", pool, ("sum", "mean"))
    width = validate.integer("width", width, 1)
    dense = nn.Sequential(nn.Linear(embedding, width), nn.ReLU())
    return Classifier(BagFeatures(words, dense, pool), width, classes)


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
    words, before = _words(vocabulary, embedding), embedding
    width = validate.integer("width", width, 1)
    dropout = validate.number("dropout", dropout, 0, 1, open_high=True)
    if validate.integer("kernel", kernel, 1) % 2 == 0:
        raise ValueError(f"kernel must be odd, so that the length is kept, got {kernel}")
    layers: list[nn.Module] = []
    for layer in range(validate.integer("depth", depth, 1)):
        layers += [RunningMaximum(kernel)] if layer else []
        layers += [WordConvolution(before, width, kernel), nn.ReLU()]
        before = width
    dense = [nn.Linear(width, width), nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
    body = WordFeatures(words, nn.Sequential(*layers), nn.Sequential(*dense))
    return Classifier(body, width, classes)


def text_lstm(vocabulary: int, classes: int, *, embedding: int = 32, width: int = 32) -> Classifier:
    """An LSTM that reads from left to right; its output at the last word goes to the head.

    x (n, length) word numbers in [0, vocabulary), 0 for padding -> logits (n, classes). Raises
    ValueError for sizes out of range. Source: Hochreiter & Schmidhuber 1997; torch's `nn.LSTM`.

    >>> model = text_lstm(30, 4, embedding=8, width=8)
    >>> sum(p.numel() for p in model.body.lstm.parameters())  # 4 gates x 8 x (8 + 8 + 2)
    576
    """
    words = _words(vocabulary, embedding)
    width = validate.integer("width", width, 1)
    return Classifier(LastState(words, nn.LSTM(embedding, width, batch_first=True)), width, classes)


def text_transformer(
    vocabulary: int,
    classes: int,
    *,
    length: int,
    width: int = 32,
    depth: int = 1,
    heads: int = 2,
    hidden: int | None = None,
) -> Classifier:
    """A small transformer: word vectors, pre-normed blocks, mean over the words.

    x (n, up to `length`) word numbers in [0, vocabulary), 0 for padding, which no word attends to
    -> logits (n, classes). Blocks have `heads` attention heads and `hidden` units, 2 * `width` by
    default. Where a word stands tells a learned number, added to the score of each head, for each
    distance from the word that asks. Raises ValueError for sizes out of range, `heads` that do not
    divide `width`, and longer texts. Source: Vaswani et al. 2017, with the pre-normed blocks of
    Xiong et al. 2020 and the distances of Raffel et al. 2020, section 2.1.

    >>> model = text_transformer(30, 4, length=24)
    >>> model(torch.tensor([[5, 9, 7, 0]])).shape
    torch.Size([1, 4])
    """
    words = _words(vocabulary, width)
    heads = validate.integer("heads", heads, 1)
    if width % heads:
        raise ValueError(f"heads must divide width, got {heads} heads for width {width}")
    hidden = validate.integer("hidden", 2 * width if hidden is None else hidden, 1)
    length = validate.integer("length", length, 1)
    depth = validate.integer("depth", depth, 1)
    blocks = [WordBlock(width, heads, hidden, length) for _ in range(depth)]
    return Classifier(Attending(words, nn.Sequential(*blocks), width), width, classes)


def _words(vocabulary: int, embedding: int) -> WordVectors:
    vocabulary = validate.integer("vocabulary", vocabulary, 2)
    return WordVectors(vocabulary, validate.integer("embedding", embedding, 1), padding_idx=0)


def blended(vectors: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Word vectors (..., length, D) of word numbers, or of blends; zeros where there is padding.

    vectors: from word numbers to vectors.
    """
    if not x.is_floating_point():
        return vectors(x) * is_word(x)[..., None]
    words, partners, lam = x[..., 0].long(), x[..., 1].long(), x[..., 2:]
    return lam * blended(vectors, words) + (1 - lam) * blended(vectors, partners)


class WordVectors(nn.Embedding):
    """Words (n, length), or blends (n, length, 3), -> vectors (n, length, D).

    They start at a tenth of torch's length, so that training moves them far.
    """

    def reset_parameters(self) -> None:
        super().reset_parameters()
        with torch.no_grad():
            self.weight.mul_(0.1)

    def forward(self, x: Tensor) -> Tensor:
        words = x.ndim == 2 and x.dtype in (torch.int64, torch.int32)
        blend = x.ndim == 3 and x.is_floating_point() and x.shape[2] == 3
        if not (words or blend) or not x.shape[1]:
            raise ValueError(
                f"x must be word numbers (n, length) of type int64 or int32, "
                f"got shape {tuple(x.shape)} of {x.dtype}"
            )
        return blended(super().forward, x)


class WordConvolution(nn.Linear):
    """A convolution over words: a linear map of `kernel` neighbouring vectors, zeros outside."""

    def __init__(self, before: int, after: int, kernel: int):
        super().__init__(kernel * before, after)
        self.kernel = kernel

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(neighbours(x, self.kernel))


def neighbours(x: Tensor, kernel: int) -> Tensor:
    """(..., length, D) -> (..., length, D * kernel): each vector with those around it."""
    return functional.pad(x, (0, 0, kernel // 2, kernel // 2)).unfold(-2, kernel, 1).flatten(-2)


class RunningMaximum(nn.Module):
    """The maximum of `kernel` neighbouring vectors: (..., length, D) -> the same."""

    def __init__(self, kernel: int):
        super().__init__()
        self.kernel = kernel

    def extra_repr(self) -> str:
        return str(self.kernel)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -3).transpose(1, 2)
        pooled = functional.max_pool1d(rows, self.kernel, 1, self.kernel // 2)
        return pooled.transpose(1, 2).reshape(x.shape)


class BagFeatures(nn.Module):
    """The sum, or mean, of the word vectors, and a hidden layer."""

    def __init__(self, words: WordVectors, dense: nn.Module, pool: str):
        super().__init__()
        self.words, self.dense, self.pool = words, dense, pool

    def extra_repr(self) -> str:
        return self.pool

    def forward(self, x: Tensor) -> Tensor:
        total = self.words(x).sum(dim=-2)
        if self.pool == "mean":
            total = total / is_word(x).sum(dim=-1, keepdim=True).clamp(min=1)
        return self.dense(total)


class WordFeatures(nn.Module):
    """Word vectors, convolutions along the text, the maximum over it, a hidden layer.

    Padding is set to zero after every layer, so that it never tells what it is next to.
    """

    def __init__(self, words: WordVectors, convolutions: nn.Sequential, dense: nn.Module):
        super().__init__()
        self.words, self.convolutions, self.dense = words, convolutions, dense

    def forward(self, x: Tensor) -> Tensor:
        vectors, mask = self.words(x), is_word(x)[..., None]
        for layer in self.convolutions:
            vectors = layer(vectors) * mask
        return self.dense(vectors.amax(dim=-2))


class LastState(nn.Module):
    """An LSTM's output at the last word of each text."""

    def __init__(self, words: WordVectors, lstm: nn.LSTM):
        super().__init__()
        self.words, self.lstm = words, lstm

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.lstm(self.words(x))
        last = is_word(x).sum(dim=1).clamp(min=1) - 1
        return states[torch.arange(len(x), device=x.device), last]


class Attending(nn.Module):
    """Word vectors, blocks of attention, the mean over the words."""

    def __init__(self, words: WordVectors, blocks: nn.Sequential, width: int):
        super().__init__()
        self.words, self.blocks, self.norm = words, blocks, WordNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        vectors, mask = self.words(x), is_word(x)
        for block in self.blocks:
            vectors = block(vectors, mask)
        total = (self.norm(vectors) * mask[..., None]).sum(dim=-2)
        return total / mask.sum(dim=-1, keepdim=True).clamp(min=1)


class WordNorm(nn.LayerNorm):
    """Layer normalisation of each word's vector."""


class Distances(nn.Module):
    """A learned number for each head and each distance between two words of a text."""

    def __init__(self, heads: int, length: int):
        super().__init__()
        self.numbers = nn.Parameter(torch.randn(heads, 2 * length - 1))

    def forward(self, words: int) -> Tensor:
        """(heads, words, words), by the place that asks and the place that is asked."""
        return self.numbers[..., offsets(words, self.numbers)]


def offsets(words: int, numbers: Tensor) -> Tensor:
    """(words, words): where `numbers` (..., 2 length - 1) holds what belongs to two places."""
    length = (numbers.shape[-1] + 1) // 2
    if words > length:
        raise ValueError(
            f"x must have at most {length} words, got {words}; cut the texts or build the network "
            "for a larger length"
        )
    places = torch.arange(words, device=numbers.device)
    return places[None, :] - places[:, None] + length - 1


class WordBlock(nn.Module):
    """Attention among the words of a text, then a hidden layer for each; both normed and added."""

    def __init__(self, width: int, heads: int, hidden: int, length: int):
        super().__init__()
        self.heads, self.distances = heads, Distances(heads, length)
        self.norm1, self.norm2 = WordNorm(width), WordNorm(width)
        self.asks, self.says = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def extra_repr(self) -> str:
        return f"heads={self.heads}"

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x + self.says(self._attention(self.asks(self.norm1(x)), mask))
        return x + self.dense(self.norm2(x))

    def _attention(self, x: Tensor, mask: Tensor) -> Tensor:
        """Queries, keys and values (..., length, 3 D) -> (..., length, D)."""
        parts = x.unflatten(-1, (3, self.heads, -1)).unbind(-3)  # (..., length, heads, D / heads)
        query, key, value = (part.transpose(-3, -2) for part in parts)
        weights = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = weights + self.distances(x.shape[-2])
        weights = weights.masked_fill(~mask[..., None, None, :], -1e9).softmax(dim=-1)
        return (weights @ value).transpose(-3, -2).flatten(-2)
