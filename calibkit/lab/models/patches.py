"""Networks on image patches: a vision transformer and an MLP-Mixer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from calibkit import validate
from calibkit.lab.models.base import Classifier


def vit(
    channels: int,
    classes: int,
    *,
    size: int = 32,
    patch: int = 4,
    width: int = 128,
    depth: int = 6,
    heads: int = 4,
    hidden: int | None = None,
) -> Classifier:
    """Small vision transformer: patches, learned positions, `depth` pre-normed blocks, mean.

    x (n, channels, size, size) -> logits (n, classes). Blocks have `heads` attention heads and
    `hidden` units, 4 * `width` by default. The mean over patches takes the place of a class token.
    Raises ValueError if `patch` does not divide `size` or `heads` does not divide `width`.
    Source: Dosovitskiy et al. 2021, section 3.1.

    >>> model = vit(1, 10, size=8, patch=2, width=32, depth=2)
    >>> model(torch.zeros(5, 1, 8, 8)).shape
    torch.Size([5, 10])
    """
    embed, count = _patches(channels, size, patch, width)
    heads = validate.integer("heads", heads, 1)
    if width % heads:
        raise ValueError(f"heads must divide width, got {heads} heads for width {width}")
    hidden = validate.integer("hidden", 4 * width if hidden is None else hidden, 1)
    blocks = [
        nn.TransformerEncoderLayer(
            width, heads, hidden, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        for _ in range(validate.integer("depth", depth, 1))
    ]
    body = nn.Sequential(embed, Positions(count, width), *blocks, nn.LayerNorm(width), TokenMean())
    return Classifier(body, width, classes, sides=(size, size))


def mlp_mixer(
    channels: int,
    classes: int,
    *,
    size: int = 32,
    patch: int = 4,
    width: int = 128,
    depth: int = 6,
    tokens: int | None = None,
    hidden: int | None = None,
) -> Classifier:
    """Small MLP-Mixer: patches, then `depth` blocks that mix along patches and along channels.

    x (n, channels, size, size) -> logits (n, classes). `tokens` and `hidden` are the units of the
    two perceptrons of a block, width / 2 and 4 * width by default. Raises ValueError if `patch`
    does not divide `size`. Source: Tolstikhin et al. 2021, section 2 and table 1.

    >>> model = mlp_mixer(1, 10, size=8, patch=2, width=32, depth=2)
    >>> model(torch.zeros(5, 1, 8, 8)).shape
    torch.Size([5, 10])
    """
    embed, count = _patches(channels, size, patch, width)
    tokens = validate.integer("tokens", max(1, width // 2) if tokens is None else tokens, 1)
    hidden = validate.integer("hidden", 4 * width if hidden is None else hidden, 1)
    blocks = [
        MixerBlock(count, width, tokens, hidden) for _ in range(validate.integer("depth", depth, 1))
    ]
    body = nn.Sequential(embed, *blocks, nn.LayerNorm(width), TokenMean())
    return Classifier(body, width, classes, sides=(size, size))


class Patches(nn.Module):
    """Images (n, channels, h, w) -> tokens (n, h w / patch^2, width), each linear."""

    def __init__(self, channels: int, patch: int, width: int):
        super().__init__()
        self.project = nn.Conv2d(channels, width, patch, patch)

    def forward(self, x: Tensor) -> Tensor:
        return self.project(x).flatten(2).transpose(1, 2)


class Positions(nn.Module):
    """Adds a learned vector to each of `count` tokens."""

    def __init__(self, count: int, width: int):
        super().__init__()
        self.vectors = nn.Parameter(0.02 * torch.randn(1, count, width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.vectors


class TokenMean(nn.Module):
    """Mean over tokens: (n, tokens, width) -> (n, width)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=1)


class MixerBlock(nn.Module):
    """One perceptron along the tokens, one along the channels, each normed and skipped."""

    def __init__(self, count: int, width: int, tokens: int, hidden: int):
        super().__init__()
        self.norm1, self.along_tokens = nn.LayerNorm(width), _perceptron(count, tokens)
        self.norm2, self.along_channels = nn.LayerNorm(width), _perceptron(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.along_tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.along_channels(self.norm2(x))


def _perceptron(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))


def _patches(channels: int, size: int, patch: int, width: int) -> tuple[Patches, int]:
    channels, size, patch, width = (
        validate.integer(name, value, 1)
        for name, value in (
            ("channels", channels), ("size", size), ("patch", patch), ("width", width)
        )
    )  # fmt: skip
    if size % patch:
        raise ValueError(f"patch must divide size, got patches of {patch} px for {size} px")
    return Patches(channels, patch, width), (size // patch) ** 2
