"""What all models share: features, then a linear head."""

from __future__ import annotations

from torch import Tensor, nn


class Classifier(nn.Module):
    """A feature extractor `body` followed by the linear layer `head`.

    logits = head(features(x)), with features (n, head.in_features) the penultimate activations.
    """

    def __init__(self, body: nn.Module, features: int, classes: int):
        super().__init__()
        self.body = body
        self.head = nn.Linear(features, classes)

    def features(self, x: Tensor) -> Tensor:
        return self.body(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))
