"""What a model said about a dataset, beside what was true."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from calibkit import devices, torch_defaults, validate


@dataclass(frozen=True)
class Predictions:
    """Logits of a model with the true labels and, where known, the true posterior.

    logits: (n, K) finite floats.
    labels: (n,) int64 in [0, K).
    posterior: (n, K) exact p(class | input), or None.

    >>> two = Predictions(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    >>> two.predicted.tolist(), two.correct.tolist()
    ([0, 1], [True, False])
    """

    logits: Tensor
    labels: Tensor
    posterior: Tensor | None = None

    def __post_init__(self) -> None:
        logits, labels = validate.scores(self.logits, self.labels)
        object.__setattr__(self, "logits", logits)
        object.__setattr__(self, "labels", labels)
        if self.posterior is not None:
            posterior = validate.probs(self.posterior, "posterior")
            validate.same_length("posterior", len(posterior), len(logits))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    @torch_defaults.entry
    def probs(self) -> Tensor:
        """(n, K) softmax of the logits."""
        return self.logits.softmax(dim=1)

    @cached_property
    def confidence(self) -> Tensor:
        """(n,) probability of the predicted class."""
        return self.probs.amax(dim=1)

    @cached_property
    def predicted(self) -> Tensor:
        """(n,) class with the largest logit, the lowest index on ties."""
        return self.logits.argmax(dim=1)

    @cached_property
    def correct(self) -> Tensor:
        """(n,) whether the predicted class is the true one."""
        return self.predicted == self.labels

    def to(self, device: str | torch.device) -> Predictions:
        """The same predictions on another device."""
        return Predictions(*devices.moved([self.logits, self.labels, self.posterior], device))
