"""Sample prioritization: which samples are worth an epoch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from calibkit import validate


@dataclass(frozen=True)
class MaxEntropy:
    """After `warmup` epochs on everything, each epoch takes the samples of highest entropy.

    share: the part of the samples that an epoch takes, in (0, 1]; at least one sample.
    warmup: epochs on all samples first.
    target: the model whose entropies rank the samples; None stands for the one being trained.

    Raises ValueError or TypeError naming the argument.
    Source: Coleman et al. 2020, max-entropy selection, as used in "Can Calibration Improve Sample
    Prioritization?" (Tata et al. 2022).

    >>> import torch
    >>> chosen = MaxEntropy(share=0.5).choose(torch.tensor([[9.0, 0.0], [0.1, 0.0]]))
    >>> chosen.tolist()  # the second row is nearer to a coin toss
    [1]
    """

    share: float = 0.1
    warmup: int = 0
    target: nn.Module | None = None

    def __post_init__(self) -> None:
        validate.number("share", self.share, 0, 1, open_low=True)
        validate.integer("warmup", self.warmup, 0)
        if not (self.target is None or isinstance(self.target, nn.Module)):
            raise TypeError(f"target must be a module, got {type(self.target).__name__}")

    def due(self, epoch: int) -> bool:
        """Whether an epoch, counted from 0, trains on a selection."""
        return self.share < 1 and epoch >= self.warmup

    def choose(self, logits: Tensor) -> Tensor:
        """Indices of the samples with the highest entropy, ties to the lowest index; sorted."""
        logits = validate.logits(logits)
        log_probs = logits.log_softmax(dim=1)
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        count = max(1, round(self.share * len(logits)))
        return entropy.argsort(descending=True, stable=True)[:count].sort().values
