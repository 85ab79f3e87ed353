"""Plain networks: fully connected and convolutional ones."""

from __future__ import annotations

import math

from torch import nn

from calibkit import validate
from calibkit.lab.models.base import Activation, Classifier, GlobalAverage, Norm


def mlp(
    inputs: int,
    classes: int,
    *,
    width: int = 256,
    depth: int = 2,
    norm: Norm = None,
    activation: Activation = nn.ReLU,
) -> Classifier:
    """Multilayer perceptron: `depth` hidden layers of `width` units; any input is flattened.

    x (n, ...) with `inputs` numbers a sample -> logits (n, classes). `depth=0` is the linear
    model. `norm="batch"` puts batch normalisation before each activation. Raises ValueError for
    sizes out of range.

    >>> model = mlp(64, 10)  # (64 + 1) * 256 + (256 + 1) * 256 + (256 + 1) * 10
    >>> sum(p.numel() for p in model.parameters())
    85002
    """
    size = validate.integer("inputs", inputs, 1)
    width = validate.integer("width", width, 1)
    validate.choice("norm", norm, (None, "batch"))
    layers: list[nn.Module] = [nn.Flatten()]
    for _ in range(validate.integer("depth", depth, 0)):
        layers.append(nn.Linear(size, width, bias=norm is None))  # the norm has a bias of its own
        layers += [nn.BatchNorm1d(width)] if norm == "batch" else []
        layers.append(activation())
        size = width
    return Classifier(nn.Sequential(*layers), size, classes)


def lenet5(
    channels: int, classes: int, *, size: int = 32, activation: Activation = nn.ReLU
) -> Classifier:
    """LeNet-5: two 5 x 5 convolutions with pooling, then 120, 84 and `classes` units.

    x (n, channels, size, size) -> logits (n, classes). Max pooling and ReLU for the original's
    trained subsampling and tanh. Pad 28-px digits to 32 for the paper's shapes. Raises ValueError
    for `size` under 16. Source: LeCun et al. 1998, section II.B.

    >>> sum(p.numel() for p in lenet5(1, 10).parameters())  # 156 + 2416 + 48120 + 10164 + 850
    61706
    """
    channels = validate.integer("channels", channels, 1)
    side = ((validate.integer("size", size, 16) - 4) // 2 - 4) // 2
    body = nn.Sequential(
        nn.Conv2d(channels, 6, 5),
        activation(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        activation(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * side * side, 120),
        activation(),
        nn.Linear(120, 84),
        activation(),
    )
    return Classifier(body, 84, classes, sides=(size, size))


def cnn(
    channels: int,
    classes: int,
    *,
    width: int = 32,
    depth: int = 3,
    norm: Norm = None,
    activation: Activation = nn.ReLU,
) -> Classifier:
    """Small network of `depth` 3 x 3 convolutions with `width` channels each.

    x (n, channels, h, w), 4 px a side or more -> logits (n, classes). Halves the image after each
    of its first two convolutions and averages over what is left. `norm="batch"` puts batch
    normalisation before each activation. Raises ValueError for sizes under 1.

    >>> model = cnn(1, 10, width=8, depth=2)  # (9 + 1) * 8 + (8 * 9 + 1) * 8 + (8 + 1) * 10
    >>> sum(p.numel() for p in model.parameters())
    754
    """
    before = validate.integer("channels", channels, 1)
    width = validate.integer("width", width, 1)
    validate.choice("norm", norm, (None, "batch"))
    layers: list[nn.Module] = []
    for layer in range(validate.integer("depth", depth, 1)):
        layers += _convolution(before, width, norm, activation, bias=norm is None)
        layers += [nn.MaxPool2d(2)] if layer < 2 else []
        before = width
    return Classifier(nn.Sequential(*layers, GlobalAverage()), width, classes, sides=(4, math.inf))


def convnet(channels: int, classes: int, *, width: int = 24) -> Classifier:
    """Three blocks of two 3 x 3 convolutions, `width`, 2 and 4 times `width` channels wide.

    x (n, channels, h, w), 8 px a side or more -> logits (n, classes). A block is convolution, max
    pooling, batch normalisation, ReLU, convolution, batch normalisation, ReLU: pooling early makes
    it the fastest network here that learns all of CIFAR-10's training images by heart on a CPU.
    Source: the block of cifar10-airbench (Jordan 2024), without its whitening and its GELU.

    >>> sum(p.numel() for p in convnet(3, 10).parameters())
    162994
    """
    before = validate.integer("channels", channels, 1)
    width = validate.integer("width", width, 1)
    layers: list[nn.Module] = []
    for after in (width, 2 * width, 4 * width):
        first, *rest = _convolution(before, after, "batch", nn.ReLU, bias=False)
        layers += [first, nn.MaxPool2d(2), *rest]
        layers += _convolution(after, after, "batch", nn.ReLU, bias=False)
        before = after
    return Classifier(nn.Sequential(*layers, GlobalAverage()), before, classes, sides=(8, math.inf))


def _convolution(
    before: int, after: int, norm: Norm, activation: Activation, *, bias: bool
) -> list[nn.Module]:
    normalise = [nn.BatchNorm2d(after)] if norm == "batch" else []
    return [nn.Conv2d(before, after, 3, padding=1, bias=bias), *normalise, activation()]
