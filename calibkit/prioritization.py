"""Sample prioritization: which samples are worth an epoch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from calibkit import torch_defaults, validate
from calibkit.validate import Array


@dataclass(frozen=True)
class Selection:
    """After `warmup` epochs on everything, each epoch takes a part of the samples.

    share: the part of the samples that an epoch takes, in (0, 1]; at least one sample.
    warmup: epochs on all samples first.

    Which samples are taken is said by the kinds of it: `MaxEntropy`, `MaxLoss`, `RandomPart`.
    Raises ValueError or TypeError naming the argument.
    """

    share: float = 0.1
    warmup: int = 0

    def __post_init__(self) -> None:
        validate.number("share", self.share, 0, 1, open_low=True)
        validate.integer("warmup", self.warmup, 0)

    def due(self, epoch: int) -> bool:
        """Whether an epoch, counted from 0, trains on a selection."""
        return self.share < 1 and epoch >= self.warmup

    def count(self, n: int) -> int:
        """How many of n samples a selection takes."""
        return max(1, round(self.share * n))

    def trained_on(self, n: int, epochs: int) -> int:
        """Samples that so many epochs train on, each counted as often as it is met.

        >>> MaxEntropy(share=0.1, warmup=2).trained_on(1000, epochs=12)  # 2 x 1000 + 10 x 100
        3000
        """
        return sum(self.count(n) if self.due(epoch) else n for epoch in range(epochs))

    @torch_defaults.entry
    def choose(
        self,
        logits: Array,
        labels: Array | None = None,
        generator: int | torch.Generator | None = None,
    ) -> Tensor:
        """Indices, ascending, of the samples that the next epoch takes.

        logits (n, K) of the model that judges; labels (n,) where they have a say; generator where
        chance has. Equal values are taken in the order of the samples.
        generator None draws from torch's default generator, which `torch.manual_seed` seeds.
        """
        logits = validate.logits(logits)
        if labels is not None:
            n, classes = logits.shape
            labels = validate.labels(labels, n=n, classes=classes, device=logits.device)
        worth = self._worth(logits, labels, generator)
        best = worth.argsort(descending=True, stable=True)[: self.count(len(logits))]
        return best.sort().values.to(logits.device)

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        """(n,) numbers, the largest for what is taken first."""
        raise NotImplementedError("use a kind of it: MaxEntropy, MaxLoss or RandomPart")


@dataclass(frozen=True)
class MaxEntropy(Selection):
    """Takes the samples of highest entropy.

    target: who judges. None stands for the model that is being trained; a module for another one
        that stays as it is; logits (epochs, n, K) for one whose training was kept: epoch e takes
        what stands in row e, later ones what stands in the last.

    Source: Coleman et al. 2020, max-entropy selection, as used in "Can Calibration Improve Sample
    Prioritization?" (Tata et al. 2022).

    >>> import torch
    >>> chosen = MaxEntropy(share=0.5).choose(torch.tensor([[9.0, 0.0], [0.1, 0.0]]))
    >>> chosen.tolist()  # the second row is nearer to a coin toss
    [1]
    """

    target: nn.Module | Tensor | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.target, Tensor):
            validate.floating("target", self.target, ndim=3)
        elif not (self.target is None or isinstance(self.target, nn.Module)):
            name = type(self.target).__name__
            raise TypeError(f"target must be a module, or logits (epochs, n, K), got {name}")

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        log_probs = logits.log_softmax(dim=1)
        return -(log_probs.exp() * log_probs).sum(dim=1)


@dataclass(frozen=True)
class MaxLoss(Selection):
    """Takes the samples of highest cross-entropy, so the label has a say.

    Source: Loshchilov and Hutter 2016, online batch selection (there by rank and chance).

    >>> import torch
    >>> logits, labels = torch.tensor([[2.0, 0.0], [0.1, 0.0]]), torch.tensor([1, 0])
    >>> MaxLoss(share=0.5).choose(logits, labels).tolist()  # sure, and wrong
    [0]
    """

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        if labels is None:
            raise TypeError("labels must be given to choose by the loss")
        return nn.functional.cross_entropy(logits, labels, reduction="none")


@dataclass(frozen=True)
class RandomPart(Selection):
    """Takes samples by chance, anew for each epoch: the control of every other selection.

    >>> import torch
    >>> generator = torch.Generator().manual_seed(0)
    >>> len(RandomPart(share=0.3).choose(torch.zeros(10, 2), generator=generator))
    3
    """

    def _worth(self, logits: Tensor, labels, generator) -> Tensor:
        return torch.rand(len(logits), generator=validate.generator(generator))
