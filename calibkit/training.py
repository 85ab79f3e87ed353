"""Train one model on a dataset that lives on the device as tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm.auto import tqdm

from calibkit import validate
from calibkit.data import Dataset, Predictions

SMALL = 1_000_000  # parameters below which a second CPU thread costs more than it brings
CHUNK = 10_000  # samples scored at a time


@dataclass(frozen=True)
class Run:
    """A trained model, how it got there, and whether it was stopped early.

    model: the network in eval mode.
    history: one row per finished epoch; columns epoch, lr, train_loss, train_accuracy (both are
        means over the epoch's batches, as they were met) and, per watched dataset NAME,
        NAME_accuracy, NAME_nll, NAME_confidence at the end of the epoch.
    interrupted: True when Ctrl-C ended the training before the last epoch.
    """

    model: nn.Module
    history: pd.DataFrame
    interrupted: bool = False

    def predict(self, dataset: Dataset) -> Predictions:
        """What the model says of `dataset`."""
        return predict(self.model, dataset)


def best_device() -> torch.device:
    """CUDA if there is one, else an Apple GPU, else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def as_device(device: str | torch.device | None) -> torch.device:
    """The named device; None or "auto" stands for the best one here."""
    if device is None or device == "auto":
        return best_device()
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device {str(device)!r} is not usable here ({reason}); write 'auto' or 'cpu'"
        ) from None
    return chosen


def fit(
    model: nn.Module | Callable[[], nn.Module],
    train: Dataset,
    *,
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy,
    epochs: int = 60,
    batch_size: int = 128,
    lr: float = 0.1,
    momentum: float = 0.9,
    weight_decay: float = 1e-4,
    milestones: tuple[float, ...] = (0.5, 0.75),
    seed: int = 0,
    device: str | torch.device | None = None,
    watch: Mapping[str, Dataset] | None = None,
    progress: bool = True,
) -> Run:
    """Train with SGD and a step schedule: /10 at each of `milestones` (fractions of the epochs).

    model: a module, trained in place, or a function without arguments that builds one; the
        latter is called under `seed`, so that the initial weights belong to the seed too.
    loss: maps logits (b, K) and labels (b,) to a scalar.
    watch: datasets to score after every epoch, by the name their history columns start with.

    Equal seeds give equal results on one machine. Ctrl-C returns what was learned so far.
    Raises ValueError for settings out of range and RuntimeError when the loss stops being finite.

    >>> from calibkit import data, models
    >>> train, _, test = data.noisy_digits(300, seed=0)
    >>> run = fit(lambda: models.mlp(64, 10), train, epochs=2, device="cpu", progress=False)
    >>> run.history.epoch.tolist(), len(run.predict(test))
    ([1, 2], 10000)
    """
    epochs = validate.integer("epochs", epochs, 1)
    batch_size = validate.integer("batch_size", batch_size, 1)
    validate.number("lr", lr, 0, float("inf"), open_low=True)
    validate.number("momentum", momentum, 0, 1, open_high=True)
    validate.number("weight_decay", weight_decay, 0, float("inf"))
    seed = validate.integer("seed", seed, 0)
    steps = _steps(milestones, epochs)
    device = as_device(device)
    train = _resident(train, device)
    watch = {name: _resident(dataset, device) for name, dataset in (watch or {}).items()}
    order = validate.generator(seed)
    rows, interrupted = [], False
    with _seeded(seed, device), tqdm(total=epochs, disable=not progress, unit="epoch") as bar:
        model = _built(model).to(device)
        optimizer = torch.optim.SGD(
            model.parameters(), lr=lr, momentum=momentum, weight_decay=weight_decay
        )
        schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, steps)
        try:
            with _threads_for(model, device):
                for epoch in range(1, epochs + 1):
                    row = {"epoch": epoch, "lr": optimizer.param_groups[0]["lr"]}
                    row |= _epoch(model, train, loss, optimizer, order, batch_size, epoch)
                    for name, dataset in watch.items():
                        row |= _score(name, predict(model, dataset).to("cpu"))
                    schedule.step()
                    rows.append(row)
                    bar.update()
                    bar.set_postfix(loss=f"{row['train_loss']:.3f}")
        except KeyboardInterrupt:
            interrupted = True
    columns = list(rows[0]) if rows else ["epoch", "lr", "train_loss", "train_accuracy"]
    return Run(model.eval(), pd.DataFrame(rows, columns=columns), interrupted)


def predict(model: nn.Module, dataset: Dataset) -> Predictions:
    """Logits of `model` in eval mode for every input; they lie where the dataset lies."""
    home = next(model.parameters()).device
    mode = model.training
    model.eval()
    try:
        with torch.no_grad():
            logits = torch.cat([model(part.to(home)) for part in dataset.inputs.split(CHUNK)])
    finally:
        model.train(mode)
    return Predictions(logits.to(dataset.device), dataset.labels, dataset.posterior)


def batches(n: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Index tensors of one shuffled pass over `n` samples; the last may be short.

    A last batch of a single sample joins the one before it: batch norm cannot train on one.
    """
    order = torch.randperm(n, generator=generator)
    parts = list(order.split(size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    yield from parts


def _epoch(model, train, loss, optimizer, order, batch_size, epoch) -> dict[str, float]:
    model.train()
    total = torch.zeros((), device=train.device)
    hits = torch.zeros((), device=train.device)
    for index in batches(len(train), batch_size, order):
        index = index.to(train.device)
        labels = train.labels[index]
        logits = model(train.inputs[index])
        value = loss(logits, labels)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        total += value.detach() * len(index)
        hits += (logits.detach().argmax(dim=1) == labels).sum()
    mean = total.item() / len(train)
    if not mean < float("inf"):
        raise RuntimeError(f"the loss became {mean} in epoch {epoch}; lower lr or check the inputs")
    return {"train_loss": mean, "train_accuracy": hits.item() / len(train)}


def _score(name: str, said: Predictions) -> dict[str, float]:
    return {
        f"{name}_accuracy": said.correct.double().mean().item(),
        f"{name}_nll": functional.cross_entropy(said.logits.double(), said.labels).item(),
        f"{name}_confidence": said.confidence.double().mean().item(),
    }


def _resident(dataset: Dataset, device: torch.device) -> Dataset:
    """Inputs and labels on the device; the float64 posterior stays, as Apple GPUs lack float64."""
    return replace(dataset, posterior=None).to(device)


@contextlib.contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Global random state that belongs to the seed (dropout, initial weights), then put back."""
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        torch.manual_seed(seed)
        yield


def _built(model: nn.Module | Callable[[], nn.Module]) -> nn.Module:
    if not (isinstance(model, nn.Module) or callable(model)):
        raise TypeError(
            f"model must be a module or a function that builds one, got {type(model).__name__}"
        )
    return model if isinstance(model, nn.Module) else model()


def _steps(milestones: tuple[float, ...], epochs: int) -> list[int]:
    fractions = [validate.fraction("milestones", milestone) for milestone in milestones]
    return [max(1, int(fraction * epochs)) for fraction in fractions]


@contextlib.contextmanager
def _threads_for(model: nn.Module, device: torch.device) -> Iterator[None]:
    """One CPU thread while a tiny model trains: more would spend their time waiting."""
    before = torch.get_num_threads()
    if device.type == "cpu" and sum(p.numel() for p in model.parameters()) < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
