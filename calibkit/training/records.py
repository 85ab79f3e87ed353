"""What a training leaves behind: its history, epoch by epoch, and the run as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit import metrics
from calibkit.data import Dataset, Predictions
from calibkit.metrics import Reliability
from calibkit.training.scoring import predict

DIAGRAM_BINS = 25


@dataclass(frozen=True)
class Run:
    """A trained model, how it got there, and whether it was stopped early.

    model: the network in eval mode.
    history: one row per finished epoch. Columns: epoch, lr (at its end), train_loss and
        train_accuracy (means over the epoch's batches, as they were met; under `mix` the accuracy
        is that of blends against the label of their first part, and says little), head_norm
        (Euclidean norm of the last layer's weights) and, per watched dataset NAME at the end of
        the epoch, NAME_accuracy, NAME_nll, NAME_confidence, NAME_entropy, the NLL and the entropy
        of its right and of its wrong predictions apart (NAME_nll_correct, NAME_nll_wrong,
        NAME_entropy_correct, NAME_entropy_wrong; NaN where there are none) and NAME_feature_norm
        (mean norm of what the last layer sees). Nats.
    interrupted: True when Ctrl-C ended the training before the last epoch.
    diagrams: per watched dataset the reliability on 25 equal bins, one per epoch.
    logits: per dataset that was kept, (epochs, n, K).
    gradients: (epochs, batches) norm of the last layer's weight gradient, if it was asked for; rows
        shorter than the longest end in NaN.
    """

    model: nn.Module
    history: pd.DataFrame
    interrupted: bool = False
    diagrams: Mapping[str, list[Reliability]] = field(default_factory=dict)
    logits: Mapping[str, Tensor] = field(default_factory=dict)
    gradients: Tensor | None = None

    def predict(self, dataset: Dataset) -> Predictions:
        """What the model says of `dataset`."""
        return predict(self.model, dataset)


class Recorder:
    """Collects the rows of one run while it trains."""

    def __init__(self, watch: Mapping[str, Dataset], keep: tuple[str, ...], gradients: bool):
        self.watch, self.keep = watch, keep
        self.rows: list[dict[str, float]] = []
        self.diagrams: dict[str, list[Reliability]] = {name: [] for name in watch}
        self.logits: dict[str, list[Tensor]] = {name: [] for name in keep}
        self.gradients: list[list[Tensor]] | None = [] if gradients else None

    def finish(self, row: dict[str, float], watched: Mapping[str, tuple]) -> None:
        """End an epoch: its row, and per watched dataset its predictions and feature norm."""
        for name, (said, feature_norm) in watched.items():
            said = said.to("cpu")
            row |= _score(name, said) | {f"{name}_feature_norm": feature_norm}
            counted = metrics.reliability(said.probs, said.labels, bins=DIAGRAM_BINS)
            self.diagrams[name].append(counted)
            if name in self.keep:
                self.logits[name].append(said.logits)
        self.rows.append(row)

    def run(self, model: nn.Module, interrupted: bool) -> Run:
        columns = list(self.rows[0]) if self.rows else ["epoch", "lr", "train_loss"]
        epochs = len(self.rows)
        return Run(
            model.eval(),
            pd.DataFrame(self.rows, columns=columns),
            interrupted,
            {name: found[:epochs] for name, found in self.diagrams.items()},
            {n: torch.stack(found[:epochs]) for n, found in self.logits.items() if found},
            None if not self.gradients else _padded(self.gradients[:epochs]),
        )


def head_norm(model: nn.Module) -> float:
    """Euclidean norm of the last linear layer's weights; NaN where there is none."""
    head = last_layer(model)
    return float("nan") if head is None else head.weight.detach().norm().item()


def last_layer(model: nn.Module) -> nn.Module | None:
    """The linear layer that makes the logits, of one model or of a stack."""
    likes = [(module, getattr(module, "like", [module])[0]) for module in model.modules()]
    linear = [module for module, like in likes if isinstance(like, nn.Linear)]
    return getattr(model, "head", linear[-1] if linear else None)


def _score(name: str, said: Predictions) -> dict[str, float]:
    """The measures of one dataset, in float64."""
    logits = said.logits.double()
    log_probs = logits.log_softmax(dim=1)
    nll = functional.nll_loss(log_probs, said.labels, reduction="none")
    probs = log_probs.exp()
    entropy = -(probs * log_probs).sum(dim=1)
    right = said.correct
    values = {
        "accuracy": right.double(),
        "nll": nll,
        "confidence": probs.amax(dim=1),
        "entropy": entropy,
        "nll_correct": nll[right],
        "nll_wrong": nll[~right],
        "entropy_correct": entropy[right],
        "entropy_wrong": entropy[~right],
    }
    return {f"{name}_{what}": value.mean().item() for what, value in values.items()}


def _padded(epochs: list[list[Tensor]]) -> Tensor | None:
    if not epochs:
        return None
    rows = [torch.stack(batches).cpu() for batches in epochs]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=float("nan"))
