"""What a training leaves behind: its history, epoch by epoch, the run as a whole, predictions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from calibkit import devices, torch_defaults
from calibkit.lab.data.dataset import Dataset, Predictions
from calibkit.lab.training.device import memory_format, own_randomness, same_type
from calibkit.lab.training.stacking import side_by_side
from calibkit.lab.training.trials import Trial
from calibkit.metrics.diagram import Reliability, reliability

DIAGRAM_BINS = 25
CHUNK = 10_000  # samples scored at a time at the most,
NUMBERS = 3_200_000  # and numbers in them: a thousand colour images of 32 px


@dataclass(frozen=True, repr=False)
class Run:
    """What came of a trial.

    trial: what was trained.
    state: the trained weights and running statistics by name.
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
    scored: per dataset of `trial.score` its logits (n, K) at the end.
    seconds: what the training took; a stack's time is shared evenly.
    """

    trial: Trial
    state: Mapping[str, Tensor]
    history: pd.DataFrame
    interrupted: bool = False
    diagrams: Mapping[str, list[Reliability]] = field(default_factory=dict)
    logits: Mapping[str, Tensor] = field(default_factory=dict)
    gradients: Tensor | None = None
    scored: Mapping[str, Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    def __repr__(self) -> str:
        """What there is, and the last row of the history."""
        end = "interrupted after" if self.interrupted else "of"
        lines = [f"Run {end} {len(self.history)} epochs, {self.seconds:.3g} s"]
        for what, held in (("scored", self.scored), ("watched", self.diagrams)):
            lines += [f"{what}: {', '.join(held)}"] if held else []
        for name, value in self.history.tail(1).to_dict("list").items():
            lines.append(f"{name} {value[0]:.4g}")
        return textwrap.fill("; ".join(lines), 100)

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps: tensors on the CPU, so that a machine without a GPU can read them."""
        kept = {name: value for name, value in vars(self).items() if name != "model"}
        return devices.moved(kept, "cpu") | {"trial": self.trial.on_cpu()}

    @cached_property
    @torch_defaults.entry
    def model(self) -> nn.Module:
        """The trained network in eval mode, where the state lies."""
        device = next((tensor.device for tensor in self.state.values()), torch.device("cpu"))
        with own_randomness(device):
            model = self.trial.network(device)
        model.load_state_dict(self.state)
        return model.to(memory_format=memory_format(model, device)).eval()

    @property
    def predictions(self) -> dict[str, Predictions]:
        """Per dataset of `trial.score` its logits at the end, labels and posterior."""
        asked = self.trial.score
        return {
            name: Predictions(logits, asked[name].labels, asked[name].posterior)
            for name, logits in self.scored.items()
        }

    def predict(self, dataset: Dataset) -> Predictions:
        """Predictions of the trained network for `dataset`."""
        return predict(self.model, dataset)

    def with_scores(self, model: nn.Module | None = None) -> Run:
        """The same run with the predictions that its trial asks for, by a network of its weights.

        model: such a network; None builds one.
        """
        model = self.model if model is None else model
        asked = {n: replace(data, posterior=None) for n, data in self.trial.score.items()}
        return replace(self, scored={n: predict(model, data).logits for n, data in asked.items()})

    def tensors(self) -> dict[str, Any]:
        """All but the trial as tensors and plain values on the CPU: the form that is kept."""
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "trial"}
        return plain(kept)

    @classmethod
    def from_tensors(cls, trial: Trial, kept: Mapping[str, Any]) -> Run:
        """The run whose `tensors()` were kept."""
        diagrams = {
            name: [Reliability(**diagram) for diagram in epochs]
            for name, epochs in kept["diagrams"].items()
        }
        history = pd.DataFrame(kept["history"])
        return cls(trial, **{**kept, "history": history, "diagrams": diagrams})


def plain(value: Any) -> Any:
    """Tensors of their own on the CPU, tables and diagrams as dictionaries."""
    if isinstance(value, Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, pd.DataFrame):
        return value.to_dict(orient="list")
    if isinstance(value, Reliability):
        return {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


class Recorder:
    """Collects the rows of one run while it trains."""

    def __init__(self, trial: Trial):
        self.trial = trial
        self.rows: list[dict[str, float]] = []
        self.diagrams: dict[str, list[Reliability]] = {name: [] for name in trial.watch}
        self.logits: dict[str, list[Tensor]] = {name: [] for name in trial.keep}
        self.gradients: list[Tensor] = []

    def watched(self, name: str, predictions: Predictions, feature_norm: float) -> dict[str, float]:
        """Record an epoch's predictions for a watched dataset; returns its columns."""
        predictions = predictions.to("cpu")
        diagram = reliability(predictions.probs, predictions.labels, bins=DIAGRAM_BINS)
        self.diagrams[name].append(diagram)
        if name in self.trial.keep:
            self.logits[name].append(predictions.logits)
        return _measures(name, predictions) | {f"{name}_feature_norm": feature_norm}

    def finish(self, row: dict[str, float], gradients: Tensor | None) -> None:
        """End an epoch: its row, and the gradient norms of its batches."""
        if gradients is not None:
            self.gradients.append(gradients.cpu())
        self.rows.append(row)

    def run(self, state: Mapping[str, Tensor], seconds: float, interrupted: bool) -> Run:
        """The run, as far as its epochs were finished."""
        epochs = len(self.rows)
        columns = None if self.rows else ["epoch", "lr", "train_loss"]
        norms, pad = self.gradients[:epochs], nn.utils.rnn.pad_sequence
        return Run(
            self.trial,
            state,
            pd.DataFrame(self.rows, columns=columns),
            interrupted=interrupted,
            diagrams={name: kept[:epochs] for name, kept in self.diagrams.items()},
            logits={n: torch.stack(kept[:epochs]) for n, kept in self.logits.items() if kept},
            gradients=pad(norms, batch_first=True, padding_value=float("nan")) if norms else None,
            seconds=seconds,
        )


def _measures(name: str, predictions: Predictions) -> dict[str, float]:
    """The measures of one dataset, in float64."""
    log_probs = predictions.logits.double().log_softmax(dim=1)
    nll = functional.nll_loss(log_probs, predictions.labels, reduction="none")
    probs = log_probs.exp()
    entropy = -(probs * log_probs).sum(dim=1)
    right = predictions.correct
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


def predict(model: nn.Module, dataset: Dataset | Iterable) -> Predictions:
    """Logits of `model` in eval mode for every input.

    dataset: a `Dataset`, where the logits then lie too; or batches of (inputs, labels), such as a
        DataLoader gives, whose logits lie on the CPU. TypeError for batches of another form.
    """
    mode = model.training
    try:
        if not isinstance(dataset, Dataset):
            return _of_batches(model.eval(), dataset)
        same_type(model, dataset.inputs)
        logits, _ = scores(model, [dataset.inputs])
    finally:
        model.train(mode)
    return Predictions(logits[0].to(dataset.device), dataset.labels, dataset.posterior)


def _of_batches(model: nn.Module, batches: Iterable) -> Predictions:
    home, parts = next(model.parameters()).device, []
    for batch in batches:
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise TypeError(
                f"dataset must be a Dataset or give batches (inputs, labels), got a batch of type "
                f"{type(batch).__name__}"
            )
        inputs, labels = batch
        with torch.no_grad():
            parts.append((model(inputs.to(home)).cpu(), torch.as_tensor(labels).cpu()))
    if not parts:
        raise ValueError("dataset gives no batch; pass at least one")
    logits, labels = (torch.cat(column) for column in zip(*parts, strict=True))
    return Predictions(logits, labels)


def scores(network: nn.Module, inputs: Sequence[Tensor]) -> tuple[Tensor, list[float]]:
    """Logits (R, n, K) in eval mode, and per run the mean norm of its features.

    The norm is NaN without parts called `features` and `head`. `inputs` holds (n, ...) for each of
    the R runs; the network is left in eval mode.
    """
    network.eval()
    home, runs = next(network.parameters()).device, len(inputs)
    chunks = zip(*(x.split(chunk_size(inputs[0], runs)) for x in inputs), strict=True)
    with torch.no_grad():
        parts = [_logits_and_norms(network, side_by_side(chunk).to(home)) for chunk in chunks]
    logits, norms = torch.cat([z for z, _ in parts], dim=-2), torch.cat([n for _, n in parts], -1)
    means = norms.view(runs, -1).mean(dim=1).tolist()
    return logits.view(runs, -1, logits.shape[-1]), means


def _logits_and_norms(network: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    if not (hasattr(network, "features") and hasattr(network, "head")):
        logits = network(x)
        return logits, torch.full_like(logits[..., 0], float("nan"))
    features = network.features(x)
    return network.head(features), features.norm(dim=-1)


def chunk_size(inputs: Tensor, runs: int = 1) -> int:
    """How many samples (n, ...) are scored at a time, by each of so many stacked runs."""
    return max(1, min(CHUNK, NUMBERS // max(1, inputs[:1].numel())) // runs)
