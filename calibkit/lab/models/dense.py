"""Fully connected networks."""

from __future__ import annotations

from torch import nn

from calibkit import validate
from calibkit.lab.models.base import Activation, Classifier, Norm


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
