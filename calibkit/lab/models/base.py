"""What all models share: features, then a linear head."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn

from calibkit import validate

Norm = Literal["batch"] | None
Activation = Callable[[], nn.Module]


class Classifier(nn.Module):
    """A feature extractor `body` followed by the linear layer `head`.

    logits = head(features(x)), with features (n, head.in_features) the penultimate activations.
    `sides` are the least and the most pixels a side that an image network can take; None for
    networks that take other things.
    """

    def __init__(
        self,
        body: nn.Module,
        features: int,
        classes: int,
        *,
        sides: tuple[int, float] | None = None,
    ):
        super().__init__()
        self.sides = sides
        self.body = body
        self.head = nn.Linear(features, validate.integer("classes", classes, 2))

    def features(self, x: Tensor) -> Tensor:
        """Penultimate activations (n, head.in_features)."""
        low, high = self.sides or (0, math.inf)
        if self.sides and not (x.ndim == 4 and low <= min(x.shape[2:]) <= max(x.shape[2:]) <= high):
            wanted = f"exactly {low}" if low == high else f"at least {low}"
            raise ValueError(
                f"x must be images (n, channels, height, width) of {wanted} px a side, "
                f"got shape {tuple(x.shape)}; resize them or build a network for their size"
            )
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, classes)."""
        return self.head(self.features(x))


class GlobalAverage(nn.Module):
    """Mean over height and width: (n, c, h, w) -> (n, c)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(dim=(2, 3))
