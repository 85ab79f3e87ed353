"""The training loop: trials of one shape in, runs out."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from calibkit.data import Dataset, Predictions
from calibkit.training import process
from calibkit.training.criterion import Criterion
from calibkit.training.device import as_device, memory_format
from calibkit.training.feed import Feed
from calibkit.training.optimizers import optimizer
from calibkit.training.recipe import Recipe
from calibkit.training.records import Recorder, Run
from calibkit.training.scoring import predict, scores
from calibkit.training.stacking import Joint, shape_of, side_by_side
from calibkit.training.trial import Trial, trial

JOINT = 2**28  # bytes of training inputs that may be held a second time to gather faster


def fit(
    model: nn.Module | Callable[[], nn.Module],
    train: Dataset,
    recipe: Recipe | None = None,
    *,
    device: str | torch.device | None = None,
    progress: bool = True,
    **options,
) -> Run:
    """Train one model by a `Recipe`: `fit(model, train, epochs=5)`.

    model: a function without arguments that builds one, called under the seed, or a module, of
        which a copy is trained.
    options: seed, score, watch, keep, gradients as in `Trial`, or changes to the recipe.

    Equal seeds give equal results on one machine with one number of threads. Ctrl-C returns what
    was learned so far. Raises ValueError or TypeError for settings out of range, RuntimeError when
    the loss stops being finite.

    >>> from calibkit import data, models
    >>> train, _, test = data.noisy_digits(300, seed=0)
    >>> run = fit(lambda: models.mlp(64, 10), train, epochs=2, device="cpu", progress=False)
    >>> run.history.epoch.tolist(), len(run.predict(test))
    ([1, 2], 10000)
    """
    build = (lambda: model) if isinstance(model, nn.Module) else model
    one = trial(build, train, recipe=recipe, **options)
    return train_trials([one], device=device, progress=progress)[0]


def train_trials(
    trials: Sequence[Trial],
    *,
    device: str | torch.device | None = None,
    progress: bool = True,
) -> list[Run]:
    """Train trials of one shape together, as one stacked model where there are several.

    Every run keeps its own seed, order, data, loss and rates, so changing one moves only that one.
    In a stack as with another number of threads, sums are taken in another order. In float64 the
    runs then agree to 1e-12; in float32 small dense networks agree to rounding, while the rounding
    of deep networks with batch norm grows along the training: of 2,000 predictions of a ResNet-8
    after 8 epochs, up to 213 differed in a stack (9 trainings). Ctrl-C returns what was learned so
    far.

    Raises ValueError when the trials differ in shape or a model has layers that cannot be stacked
    (dropout, attention), RuntimeError when a loss stops being finite.
    """
    device, epochs = as_device(device), trials[0].recipe.epochs
    interrupted, start = False, time.perf_counter()
    with (
        process.own_randomness(device),
        tqdm(total=epochs, disable=not progress, unit="epoch") as bar,
    ):
        loop = Loop(trials, device)
        try:
            with process.prepared(loop.first, device, runs=len(trials)):
                for epoch in range(epochs):
                    loss = loop.epoch(epoch)
                    bar.update()
                    bar.set_postfix(loss=f"{loss:.3f}")
        except KeyboardInterrupt:
            interrupted = True
    seconds = (time.perf_counter() - start) / len(trials)
    finished = zip(loop.recorders, loop.joint.states(), strict=True)
    return [r.run(state, seconds, interrupted).with_scores() for r, state in finished]


class Loop:
    """The joint model of some trials, its optimiser and, per run, a feed and a recorder."""

    def __init__(self, trials: Sequence[Trial], device: torch.device):
        self.trials, self.device = trials, device
        self.recipes = [one.recipe for one in trials]
        networks = _networks(trials, device)
        self.first, self.joint = networks[0], Joint(networks)
        self.optimizer = optimizer(self.joint.parameters(), self.recipes)
        self.recorders = [Recorder(one) for one in trials]
        resident = _resident(trials, device)
        trains = [resident[id(one.train)] for one in trials]
        self.watch = {
            name: [resident[id(one.watch[name])] for one in trials] for name in trials[0].watch
        }
        self.feeds = [Feed(t, one.recipe, one.seed) for t, one in zip(trains, trials, strict=True)]
        self.gathered = _gathered(trials, trains)
        self.losses: list[Callable] = []
        select = self.recipes[0].select  # of a single run: what selects is not stacked
        target = None if select is None else copy.deepcopy(select.target)
        self.judge = self.joint.net if target is None else target.to(device)

    def epoch(self, epoch: int) -> float:
        """Train for one epoch, counted from 0, record it and return the mean loss."""
        self._set_losses(epoch)
        chosen = self._chosen(epoch)
        steps = list(zip(*(feed.epoch(chosen) for feed in self.feeds), strict=True))
        total = torch.zeros(len(self.feeds), device=self.device)
        hits, norms = torch.zeros_like(total), []
        self.joint.train()
        for step, indices in enumerate(steps):
            rates = [recipe.rate_of_step(epoch, step, len(steps)) for recipe in self.recipes]
            values, correct = self._step(indices, rates, norms)
            total += values * len(indices[0])
            hits += correct
        seen = sum(len(indices[0]) for indices in steps)
        means = [_finite(value / seen, epoch) for value in total.tolist()]
        self._record(epoch, rates, means, [hit / seen for hit in hits.tolist()], norms)
        return sum(means) / len(means)

    def _set_losses(self, epoch: int) -> None:
        losses = [recipe.loss_at(epoch) for recipe in self.recipes]
        if losses != self.losses:
            self.losses, self.criterion = losses, Criterion(losses)

    def _chosen(self, epoch: int) -> Tensor | None:
        """Indices of the samples that the epoch takes; None for all."""
        select = self.recipes[0].select
        if select is None or not select.due(epoch):
            return None
        return select.choose(predict(self.judge, self.feeds[0].train).logits)

    def _step(self, indices, rates, norms: list[Tensor]) -> tuple[Tensor, Tensor]:
        """Losses (R,) and hits (R,) of one step; the head's gradient norms go to `norms`."""
        inputs, targets, labels = self._batch(indices)
        lower = self.recipes[0].autocast
        with torch.autocast(self.device.type, torch.bfloat16, enabled=lower):
            logits = self.joint(inputs)
        values = self.criterion(logits.float() if lower else logits, targets)
        self.optimizer.zero_grad()
        values.backward(torch.ones_like(values))
        if self.trials[0].gradients:
            norms.append(self.joint.head_norms(gradient=True))
        self.optimizer.step(rates)  # changes the gradients
        correct = (logits.detach().argmax(dim=2) == labels).sum(dim=1)
        return values.detach(), correct

    def _batch(self, indices) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (R, B, ...), targets and labels of one step of every run."""
        if self.gathered is None:
            fed = [feed.batch(index) for feed, index in zip(self.feeds, indices, strict=True)]
            return tuple(side_by_side(part) for part in zip(*fed, strict=True))
        inputs, labels, starts = self.gathered
        index = torch.stack(indices)
        flat = (index + starts).flatten()
        labels = labels[flat].view_as(index)
        return inputs.index_select(0, flat).unflatten(0, index.shape), labels, labels

    def _record(self, epoch: int, rates, means, accuracies, norms: list[Tensor]) -> None:
        heads = self.joint.head_norms().tolist()
        gradients = torch.stack(norms, dim=1) if norms else [None] * len(heads)
        watched = {
            name: (datasets, *scores(self.joint, [dataset.inputs for dataset in datasets]))
            for name, datasets in self.watch.items()
        }
        for run, recorder in enumerate(self.recorders):
            row = {
                "epoch": epoch + 1,
                "lr": rates[run],
                "train_loss": means[run],
                "train_accuracy": accuracies[run],
                "head_norm": heads[run],
            }
            for name, (datasets, logits, features) in watched.items():
                predictions = Predictions(logits[run], datasets[run].labels)
                row |= recorder.watched(name, predictions, features[run])
            recorder.finish(row, gradients[run])


def _networks(trials: Sequence[Trial], device: torch.device) -> list[nn.Module]:
    """The untrained network of each trial; several must share one shape."""
    networks = [one.network(device) for one in trials]
    if len(trials) == 1:  # the random state goes on from here, for dropout
        return [networks[0].to(memory_format=memory_format(networks[0], device))]
    shapes = {shape_of(one, n) for one, n in zip(trials, networks, strict=True)}
    if len(shapes) != 1 or None in shapes:
        raise ValueError(
            f"trials must share one shape of model, data and epochs, got {len(shapes)} shapes"
            f"{' and layers that cannot be stacked' if None in shapes else ''}; "
            "train them one by one"
        )
    return networks


def _resident(trials: Sequence[Trial], device: torch.device) -> dict[int, Dataset]:
    """Each dataset that is trained on or watched, once on the device, however many runs use it.

    The float64 posterior stays behind, as Apple GPUs lack float64.
    """
    used = [dataset for one in trials for dataset in (one.train, *one.watch.values())]
    unique: Mapping[int, Dataset] = {id(dataset): dataset for dataset in used}
    return {key: replace(dataset, posterior=None).to(device) for key, dataset in unique.items()}


def _gathered(
    trials: Sequence[Trial], trains: Sequence[Dataset]
) -> tuple[Tensor, Tensor, Tensor] | None:
    """All inputs, all labels, and the row (R, 1) at which each run's begin.

    None where batches are not mere rows of the data, or too many to be held side by side.
    """
    changed = any(one.recipe.augment or one.recipe.mix for one in trials)
    large = sum(train.inputs.nbytes for train in trains) > JOINT
    if len(trains) == 1 or changed or large:
        return None
    starts = torch.arange(len(trains), device=trains[0].device) * len(trains[0])
    inputs = torch.cat([train.inputs for train in trains])
    return inputs, torch.cat([train.labels for train in trains]), starts[:, None]


def _finite(mean: float, epoch: int) -> float:
    """`mean` itself, unless it is NaN or infinite."""
    if not abs(mean) < float("inf"):
        raise RuntimeError(
            f"the loss became {mean} in epoch {epoch + 1}; lower lr or check the inputs"
        )
    return mean
