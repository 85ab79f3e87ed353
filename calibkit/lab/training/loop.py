"""The training loop: trials of one shape in, runs out."""

from __future__ import annotations

import copy
import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from calibkit import devices, validate
from calibkit.lab.data.dataset import Dataset, Predictions
from calibkit.lab.training.device import (
    as_device,
    memory_format,
    own_randomness,
    prepared,
    same_type,
)
from calibkit.lab.training.records import Recorder, Run, predict, scores
from calibkit.lab.training.stacking import criterion, head_norms, side_by_side, stacked, states
from calibkit.lab.training.trials import FitOptions, Recipe, Trial, trial

_ALONE = threading.Lock()  # a sweep trains one unit at a time in a process: its random state


def fit(
    model: nn.Module | Callable[[], nn.Module],
    train: Dataset,
    recipe: Recipe | None = None,
    *,
    device: str | torch.device | None = None,
    progress: bool = True,
    **options: Unpack[FitOptions],
) -> Run:
    """Train one model by a `Recipe`: `fit(model, train, epochs=5)`.

    model: a function without arguments that builds one, called under the seed, or a module, of
        which a copy is trained.
    options: seed, score, watch, keep, gradients as in `Trial`, or changes to the recipe.

    Equal seeds give equal results on one machine with one number of threads. Ctrl-C returns what
    was learned so far. Raises ValueError or TypeError for settings out of range, RuntimeError when
    the loss stops being finite.

    >>> from calibkit.lab import data, models
    >>> train, _, test = data.noisy_digits(300, seed=0)
    >>> run = fit(lambda: models.mlp(64, 10), train, epochs=2, device="cpu", progress=False)
    >>> run.history.epoch.tolist(), len(run.predict(test))
    ([1, 2], 10000)
    """
    build = (lambda: model) if isinstance(model, nn.Module) else model
    one = trial(build, train, recipe=recipe, **options)
    return train_trials([one], device=device, progress=progress)[0]


def train_trials(
    trials: Sequence[Trial], *, device: str | torch.device | None = None, progress: bool = True
) -> list[Run]:
    """Train trials of one shape together, as one stacked model where there are several.

    Every run keeps its own seed, order, data and loss, so changing one moves only that one. In a
    stack, as with another number of threads, sums are taken in another order. In float64 the runs
    then agree to 1e-12; in float32 small dense networks agree to rounding, while the rounding of
    deep networks with batch norm grows along the training: of 2,000 predictions of a ResNet-8
    after 8 epochs, up to 213 differed in a stack (9 trainings).

    Ctrl-C returns what was learned so far. Raises ValueError when the trials differ in `shape`,
    RuntimeError when a loss stops being finite.
    """
    device, epochs = as_device(device), trials[0].recipe.epochs
    interrupted, start = False, time.perf_counter()
    with own_randomness(device), tqdm(total=epochs, disable=not progress, unit="epoch") as bar:
        loop = Loop(trials, device)
        try:
            with prepared(loop.net, device, runs=len(trials)):
                for epoch in range(epochs):
                    loss = loop.epoch(epoch)
                    bar.update()
                    bar.set_postfix(loss=f"{loss:.3f}")
        except KeyboardInterrupt:
            interrupted = True
    seconds = (time.perf_counter() - start) / len(trials)
    runs = []
    for recorder, state in zip(loop.recorders, states(loop.net, len(trials)), strict=True):
        loop.single.load_state_dict(state)
        runs.append(recorder.run(state, seconds, interrupted).with_scores(loop.single))
    return runs


def train_unit(trials: Sequence[Trial], device: torch.device) -> list[dict[str, Any]]:
    """`Run.tensors()` of trials that are trained together; KeyboardInterrupt on Ctrl-C."""
    with _ALONE:
        runs = train_trials(trials, device=device, progress=False)
    if any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    return [run.tensors() for run in runs]


class Loop:
    """The network of some trials, its optimiser and, per run, a feed and a recorder.

    Tensors of several runs have the runs in front, those of a single run have not.
    """

    def __init__(self, trials: Sequence[Trial], device: torch.device):
        self.trials, self.device = trials, device
        self.recipe = trials[0].recipe  # for all that the runs share
        self.net, self.single = _networks(trials, device)
        same_type(self.single, trials[0].train.inputs)
        self.optimizer = _optimizer(self.net, self.recipe)
        self.recorders = [Recorder(one) for one in trials]
        here = _resident(trials, device)
        self.feeds = [Feed(here[id(one.train)], one.recipe, one.seed) for one in trials]
        self.watch = {n: [here[id(one.watch[n])] for one in trials] for n in trials[0].watch}
        pairs = zip(trials, self.feeds, strict=True)
        self.targets = [_target(one, feed.train) for one, feed in pairs]
        self.bound: dict[int, tuple] = {}  # what losses are bound to, moved to the device

    def epoch(self, epoch: int) -> float:
        """Train for one epoch, counted from 0, record it and return the mean loss."""
        losses = [one.recipe.loss_at(epoch) for one in self.trials]
        self.loss = criterion(devices.moved(losses, self.device, self.bound), self.device)
        chosen = self._chosen(epoch)
        orders = [feed.epoch(one) for feed, one in zip(self.feeds, chosen, strict=True)]
        steps = list(zip(*orders, strict=True))
        total = torch.zeros(len(self.feeds), device=self.device)
        hits = torch.zeros_like(total)
        norms: list[Tensor] = []
        self.net.train()
        for step, indices in enumerate(steps):
            rate = self.recipe.rate_of_step(epoch, step, len(steps))
            values, correct = self._step(indices, rate, norms)
            total += values * len(indices[0])
            hits += correct
        seen = sum(len(indices[0]) for indices in steps)
        means = [value / seen for value in total.tolist()]
        mean = sum(means) / len(means)
        if not math.isfinite(mean):
            text = f"the loss became {mean} in epoch {epoch + 1}; lower lr or check the inputs"
            raise RuntimeError(text)
        self._record(epoch, rate, means, [hit / seen for hit in hits.tolist()], norms)
        return mean

    def _chosen(self, epoch: int) -> list[Tensor | None]:
        """Per run the indices of the samples that the epoch takes; None for all."""
        select = self.recipe.select  # of all runs alike in when it is due
        if select is None or not select.due(epoch):
            return [None] * len(self.feeds)
        selections: list[Any] = [one.recipe.select for one in self.trials]
        judgements = self._logits_to_select_by(epoch)
        return [
            selection.choose(logits, feed.train.labels, feed.order)
            for selection, logits, feed in zip(selections, judgements, self.feeds, strict=True)
        ]

    def _logits_to_select_by(self, epoch: int) -> list[Tensor]:
        """Per run those (n, K) of its target, or of its network where it has no target."""
        by_network: Any = None
        if any(target is None for target in self.targets):
            by_network, _ = scores(self.net, [feed.train.inputs for feed in self.feeds])
        return [
            by_network[run] if target is None else target[min(epoch, len(target) - 1)]
            for run, target in enumerate(self.targets)
        ]

    def _step(self, indices, rate: float, norms: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Each run's loss and hits in one step; the head's gradient norms go to `norms`."""
        fed = [feed.batch(index) for feed, index in zip(self.feeds, indices, strict=True)]
        inputs, targets, labels = (side_by_side(part) for part in zip(*fed, strict=True))
        lower = self.recipe.autocast
        with torch.autocast(self.device.type, torch.bfloat16, enabled=lower):
            logits = self.net(inputs)
        if logits.shape[-1] < (classes := self.feeds[0].train.num_classes):
            raise ValueError(
                f"model must give a logit for each of the {classes} classes, got {logits.shape[-1]}"
            )
        values = self.loss(logits.float() if lower else logits, targets)
        self.optimizer.zero_grad()
        values.sum().backward()
        if self.trials[0].gradients:
            norms.append(head_norms(self.net, len(self.trials), gradient=True))
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        return values.detach(), (logits.detach().argmax(dim=-1) == labels).sum(dim=-1)

    def _record(self, epoch: int, rate: float, means, accuracies, norms: list[Tensor]) -> None:
        runs = len(self.trials)
        heads = head_norms(self.net, runs).tolist()
        gradients = torch.stack(norms, dim=1) if norms else [None] * runs
        watched = {
            name: scores(self.net, [dataset.inputs for dataset in datasets])
            for name, datasets in self.watch.items()
        }
        for run, recorder in enumerate(self.recorders):
            row = {"epoch": epoch + 1, "lr": rate, "train_loss": means[run]}
            row |= {"train_accuracy": accuracies[run], "head_norm": heads[run]}
            for name, (logits, features) in watched.items():
                predictions = Predictions(logits[run], self.watch[name][run].labels)
                row |= recorder.watched(name, predictions, features[run])
            recorder.finish(row, gradients[run])


def _target(one: Trial, train: Dataset) -> Tensor | None:
    """Logits (epochs, n, K) by which a run selects, if they are not its own."""
    target = getattr(one.recipe.select, "target", None)
    if isinstance(target, nn.Module):
        target = predict(copy.deepcopy(target).to(train.device), train).logits[None]
    if target is None:
        return None
    if target.shape[1] != len(train):
        text = f"target must judge the {len(train)} samples of the training data"
        raise ValueError(f"{text}, got logits of shape {tuple(target.shape)}")
    return target.to(train.device)


def _networks(trials: Sequence[Trial], device: torch.device) -> tuple[nn.Module, nn.Module]:
    """What is trained: the network of a single trial, or one in place of those of several.

    And one in which each run can be scored alone, as it holds its weights.
    """
    if len(trials) == 1:  # the random state goes on from here, for dropout
        network = trials[0].network(device)
        network = network.to(memory_format=memory_format(network, device))
        return network, network
    shapes = {one.shape for one in trials}
    if None in shapes:
        raise ValueError("a trial autocasts or cannot be stacked; train them one by one")
    if len(shapes) > 1:
        raise ValueError(
            "trials must share one shape of model and data and one recipe but for loss, mixing "
            f"and augmentation, got {len(shapes)} shapes; train them one by one"
        )
    networks = [one.network(device) for one in trials]
    return stacked(networks), networks[0].to(memory_format=memory_format(networks[0], device))


def _optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    settings: dict[str, Any] = {"lr": recipe.lr, "weight_decay": recipe.weight_decay}
    if recipe.optimizer == "adamw":
        return torch.optim.AdamW(trained, **settings)
    return torch.optim.SGD(trained, momentum=recipe.momentum, **settings)


def _resident(trials: Sequence[Trial], device: torch.device) -> dict[int, Dataset]:
    """Each dataset that is trained on or watched, once on the device, however many runs use it.

    The float64 posterior stays behind, as Apple GPUs lack float64.
    """
    used = {id(d): d for one in trials for d in (one.train, *one.watch.values())}
    return {key: replace(dataset, posterior=None).to(device) for key, dataset in used.items()}


class Feed:
    """The batches of one run: shuffled, augmented and mixed, each draw belonging to its seed."""

    def __init__(self, train: Dataset, recipe: Recipe, seed: int):
        self.train, self.recipe = train, recipe
        self.order = validate.generator(seed)
        self.changes = validate.generator(seed, train.device)  # augmentation and mixing
        self.augment, self.mix = devices.moved([recipe.augment, recipe.mix], train.device)

    def epoch(self, chosen: Tensor | None = None) -> list[Tensor]:
        """Index tensors of one shuffled pass over all samples, or over the `chosen` ones.

        The last may be short; a single sample joins the batch before it, as batch norm cannot
        train on one.
        """
        n = len(self.train) if chosen is None else len(chosen)
        order = torch.randperm(n, generator=self.order).to(self.train.device)
        parts = list((order if chosen is None else chosen[order]).split(self.recipe.batch_size))
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts[-2:] = [torch.cat(parts[-2:])]
        return parts

    def batch(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs and targets as the model meets them, and the labels as they stand."""
        inputs, labels = (t.index_select(0, index) for t in (self.train.inputs, self.train.labels))
        if self.augment is not None:
            inputs = self.augment(inputs, generator=self.changes)
        if self.mix is None:
            return inputs, labels, labels
        mixed = self.mix(inputs, labels, classes=self.train.num_classes, generator=self.changes)
        return *mixed, labels
