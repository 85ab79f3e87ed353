"""Residual and densely connected networks in the forms used on small images."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from calibkit import validate
from calibkit.lab.models.base import Classifier, GlobalAverage


def resnet(depth: int, channels: int = 3, classes: int = 10, *, width: int = 16) -> Classifier:
    """ResNet in its CIFAR form: depth = 6m + 2, three stages of m basic blocks.

    x (n, channels, h, w), 4 px a side or more -> logits (n, classes). The stages have `width`,
    2 `width` and 4 `width` channels; shortcuts have no parameters (they skip pixels and pad
    channels with zeros). For ResNet-50 take `resnet50`: `resnet(50)` is a thin network of 0.76
    million parameters. Raises ValueError for another depth.
    Source: He et al. 2016, section 4.2 and table 6.

    >>> sum(p.numel() for p in resnet(20).parameters())  # .27 million in the paper
    269722
    """
    blocks = _blocks_per_stage(depth, (2,))
    width = validate.integer("width", width, 1)
    layers: list[nn.Module] = [
        _conv3x3(validate.integer("channels", channels, 1), width),
        nn.BatchNorm2d(width),
        nn.ReLU(),
    ]
    layers += _stages(BasicBlock, blocks, width, (width, 2 * width, 4 * width))
    body = nn.Sequential(*layers, GlobalAverage())
    return Classifier(body, 4 * width, classes, sides=(4, math.inf))


def wide_resnet(
    depth: int = 26, widen: int = 10, channels: int = 3, classes: int = 10
) -> Classifier:
    """Wide ResNet: three stages of m pre-activated blocks with 16, 32, 64 times `widen` channels.

    x (n, channels, h, w), 4 px a side or more -> logits (n, classes). The paper counts the 1 x 1
    shortcuts, depth = 6m + 4 (28, 40, 16); others count the linear layer instead, 6m + 2 (26). So
    WRN-26-10 and WRN-28-10 name one network of 36.5 million parameters, m = 4. Raises ValueError
    for a depth of neither form.
    Source: Zagoruyko & Komodakis 2016, table 1; WRN-26-10 as in Mukhoti et al. 2020.

    >>> import torch
    >>> with torch.device("meta"):  # counts without allocating
    ...     sum(p.numel() for p in wide_resnet(28, 10).parameters())
    36479194
    """
    blocks = _blocks_per_stage(depth, (2, 4))
    widen = validate.integer("widen", widen, 1)
    stem, last = _conv3x3(validate.integer("channels", channels, 1), 16), 64 * widen
    layers = _stages(PreActivatedBlock, blocks, 16, (16 * widen, 32 * widen, last))
    body = nn.Sequential(stem, *layers, nn.BatchNorm2d(last), nn.ReLU(), GlobalAverage())
    return Classifier(body, last, classes, sides=(4, math.inf))


def resnet18(channels: int = 3, classes: int = 10) -> Classifier:
    """ResNet-18 for small images, with the stem of `resnet50`; arguments and source as there.

    >>> import torch
    >>> with torch.device("meta"):  # counts without allocating
    ...     sum(p.numel() for p in resnet18(3, 10).parameters())
    11173962
    """
    return _small_images("resnet18", channels, classes)


def resnet34(channels: int = 3, classes: int = 10) -> Classifier:
    """ResNet-34 for small images, with the stem of `resnet50`; arguments and source as there.

    On CIFAR in Tata et al. 2022.

    >>> import torch
    >>> with torch.device("meta"):  # counts without allocating
    ...     sum(p.numel() for p in resnet34(3, 10).parameters())
    21282122
    """
    return _small_images("resnet34", channels, classes)


def resnet50(channels: int = 3, classes: int = 10) -> Classifier:
    """ResNet-50 for small images: bottleneck blocks, a 3 x 3 stem of stride 1 and no first pooling.

    x (n, channels, h, w), 8 px a side or more -> logits (n, classes). The rest, its
    initialisation included, is torchvision's.
    Source: He et al. 2016, table 1; as used on CIFAR by Mukhoti et al. 2020.

    >>> import torch
    >>> with torch.device("meta"):  # counts without allocating
    ...     sum(p.numel() for p in resnet50(3, 10).parameters())
    23520842
    """
    return _small_images("resnet50", channels, classes)


def densenet121(channels: int = 3, classes: int = 10) -> Classifier:
    """DenseNet-121 for small images: a 3 x 3 stem of stride 1 and no first pooling.

    x (n, channels, h, w), 8 px a side or more -> logits (n, classes). Growth rate 32; the rest,
    its initialisation included, is torchvision's.
    Source: Huang et al. 2017, table 1; as used on CIFAR by Mukhoti et al. 2020.

    >>> import torch
    >>> with torch.device("meta"):  # counts without allocating
    ...     sum(p.numel() for p in densenet121(3, 10).parameters())
    6956426
    """
    net = _published("densenet121")
    net.get_submodule("features").conv0 = _stem(channels)
    net.get_submodule("features").pool0, net.classifier = nn.Identity(), nn.Identity()
    return Classifier(net, 1024, classes, sides=(8, math.inf))


class Shortcut(nn.Module):
    """Skips pixels and adds channels of zeros: (..., c, h, w) -> (..., c + extra, h', w')."""

    def __init__(self, extra: int, stride: int):
        super().__init__()
        self.extra, self.stride = extra, stride

    def forward(self, x: Tensor) -> Tensor:
        skipped = x[..., :: self.stride, :: self.stride]
        return functional.pad(skipped, (0, 0, 0, 0, 0, self.extra))


class BasicBlock(nn.Module):
    """relu(x + norm(conv(relu(norm(conv(x)))))), with a shortcut free of parameters."""

    def __init__(self, before: int, after: int, *, stride: int):
        super().__init__()
        self.conv1, self.norm1 = _conv3x3(before, after, stride), nn.BatchNorm2d(after)
        self.conv2, self.norm2 = _conv3x3(after, after), nn.BatchNorm2d(after)
        changes = before != after or stride > 1
        self.shortcut = Shortcut(after - before, stride) if changes else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        out = self.norm1(self.conv1(x)).relu()
        return (self.norm2(self.conv2(out)) + self.shortcut(x)).relu()


class PreActivatedBlock(nn.Module):
    """x + conv(relu(norm(conv(relu(norm(x)))))), with a 1 x 1 shortcut where the shape changes."""

    def __init__(self, before: int, after: int, *, stride: int):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(before), _conv3x3(before, after, stride)
        self.norm2, self.conv2 = nn.BatchNorm2d(after), _conv3x3(after, after)
        changes = before != after or stride > 1
        self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False) if changes else None

    def forward(self, x: Tensor) -> Tensor:
        active = self.norm1(x).relu()
        shortcut = x if self.shortcut is None else self.shortcut(active)
        return shortcut + self.conv2(self.norm2(self.conv1(active)).relu())


def _stages(
    kind: type[BasicBlock | PreActivatedBlock], blocks: int, before: int, widths: tuple[int, ...]
) -> list[nn.Module]:
    """So many blocks of each width, of which the first halves the image, but in the first stage."""
    layers: list[nn.Module] = []
    for stage, after in enumerate(widths):
        layers.append(kind(before, after, stride=2 if stage else 1))
        layers += [kind(after, after, stride=1) for _ in range(blocks - 1)]
        before = after
    return layers


def _conv3x3(before: int, after: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(before, after, 3, stride, padding=1, bias=False)


def _published(name: str) -> nn.Module:
    """A network of torchvision, with fresh weights."""
    # slow to import, and of use here alone
    return getattr(validate.extra("torchvision.models", "course", name), name)()


def _small_images(name: str, channels: int, classes: int) -> Classifier:
    net: Any = _published(name)
    features = net.fc.in_features
    net.conv1, net.maxpool, net.fc = _stem(channels), nn.Identity(), nn.Identity()
    return Classifier(net, features, classes, sides=(8, math.inf))


def _stem(channels: int) -> nn.Conv2d:
    """Takes the place of torchvision's 7 x 7 convolution of stride 2."""
    conv = _conv3x3(validate.integer("channels", channels, 1), 64)
    nn.init.kaiming_normal_(conv.weight, mode="fan_out", nonlinearity="relu")
    return conv


def _blocks_per_stage(depth: int, rests: tuple[int, ...]) -> int:
    depth = validate.integer("depth", depth, 1)
    for rest in rests:
        if depth % 6 == rest and depth > rest:
            return (depth - rest) // 6
    rules = " or ".join(f"6m + {rest}" for rest in rests)
    near = [d for d in range(8, depth + 13) if d % 6 in rests]
    closest = sorted(sorted(near, key=lambda d: abs(d - depth))[:2])
    raise ValueError(
        f"depth must be {rules} with m of at least 1, got {depth}; "
        f"the closest are {' and '.join(map(str, closest))}"
    )
