"""Train many models of one shape as a single batched model: the same numbers, in less time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from tqdm.auto import tqdm

from calibkit import losses
from calibkit.data import Dataset, Predictions
from calibkit.training import device as place
from calibkit.training.layers import stack, stackable, unstack
from calibkit.training.records import Recorder, Run, last_layer
from calibkit.training.scoring import chunk_size, forward
from calibkit.training.single import Feed, built, finite_loss, kept, moves_within_epoch, resident
from calibkit.training.trial import Trial

# losses whose mean over a batch is the mean of one value a sample: they can be taken over all runs
PER_SAMPLE = (
    functional.cross_entropy,
    losses.cross_entropy,
    losses.label_smoothing,
    losses.confidence_penalty,
    losses.brier,
    losses.focal,
    losses.flsd,
    losses.dual_focal,
)

JOINT = 2**28  # bytes of training inputs that may be held a second time to gather faster


def shape_of(trial: Trial, model: nn.Module) -> tuple | None:
    """What trials must share to be trained as one stack; None for one that cannot be.

    Rates, momentum, weight decay, loss, augmentation, seeds and data may differ, and how a run
    mixes; but mixed runs have soft labels, so that all mix or none does.
    """
    recipe = trial.recipe
    if recipe.select or recipe.autocast or recipe.compile or not stackable(model):
        return None
    return (
        str(model),
        tuple((name, tensor.shape, tensor.dtype) for name, tensor in model.state_dict().items()),
        tuple(trial.train.inputs.shape),
        trial.train.num_classes,
        recipe.epochs,
        recipe.batch_size,
        recipe.mix is None,
        tuple((name, len(dataset)) for name, dataset in trial.watch.items()),
        trial.keep,
        trial.gradients,
    )


def fit_stacked(
    trials: Sequence[Trial],
    *,
    device: str | torch.device | None = None,
    progress: bool = True,
    after_epoch: Callable[[int], None] | None = None,
) -> list[Run]:
    """Train trials of one shape together; each `Run` is what `fit` gives, to rounding.

    Every run keeps its own seed, order, data, loss and rates, so changing one moves only that one.
    Ctrl-C returns what was learned so far.

    Raises ValueError when the trials differ in shape or a model has layers that cannot be stacked
    (dropout, attention), RuntimeError when a loss stops being finite.
    """
    device = place.as_device(device)
    models = initial(trials, device)
    shapes = {shape_of(t, m) for t, m in zip(trials, models, strict=True)}
    if len(shapes) != 1 or None in shapes:
        raise ValueError(
            f"trials must share one shape of model, data and epochs, got {len(shapes)} shapes"
            f"{' and layers that cannot be stacked' if None in shapes else ''}; use training.fit"
        )
    stacker = Stack(trials, models, device)
    interrupted, epochs = False, trials[0].recipe.epochs
    with tqdm(total=epochs, disable=not progress, unit="epoch") as bar:
        try:
            with place.prepared(models[0], device, runs=len(models)):
                for epoch in range(epochs):
                    stacker.epoch(epoch)
                    bar.update()
                    if after_epoch is not None:
                        after_epoch(epoch)
        except KeyboardInterrupt:
            interrupted = True
    unstack(stacker.model, models)
    return [r.run(m, interrupted) for r, m in zip(stacker.recorders, models, strict=True)]


def _plain(trials: Sequence[Trial], trains: list[Dataset]) -> bool:
    """Whether batches are mere rows of the data, few enough to be held side by side."""
    changed = any(trial.recipe.augment or trial.recipe.mix for trial in trials)
    return not changed and sum(train.inputs.nbytes for train in trains) <= JOINT


def _joint(trains: list[Dataset]) -> tuple[Tensor, Tensor, Tensor]:
    """All inputs, all labels, and the row (R, 1) at which each run's begin."""
    starts = torch.arange(len(trains), device=trains[0].device) * len(trains[0])
    inputs = torch.cat([train.inputs for train in trains])
    return inputs, torch.cat([train.labels for train in trains]), starts[:, None]


def initial(trials: Sequence[Trial], device: torch.device) -> list[nn.Module]:
    """The untrained model of each trial, made under its seed."""
    models = []
    for trial in trials:
        with place.seeded(trial.seed, device):
            models.append(built(trial.model).to(device))
    return models


class Stack:
    """The joint model, its momentum buffers, and per run a feed, a loss and a recorder."""

    def __init__(self, trials: Sequence[Trial], models: list[nn.Module], device: torch.device):
        self.trials, self.device = trials, device
        self.model = stack(models)
        self.shared = _shared(trials, device)
        trains = [resident(trial.train, device) for trial in trials]
        self.feeds = [
            Feed(train, trial.recipe, trial.seed)
            for train, trial in zip(trains, trials, strict=True)
        ]
        self.recorders = [
            Recorder(self._watched(t), kept(t.keep, t.watch), t.gradients) for t in trials
        ]
        self.optimizer = _StackedSGD(self.model.parameters(), [t.recipe for t in trials])
        self.joint = _joint(trains) if _plain(trials, trains) else None

    def _watched(self, trial: Trial) -> dict[str, Dataset]:
        return {name: self.shared[id(dataset)] for name, dataset in trial.watch.items()}

    def epoch(self, epoch: int) -> None:
        """Train for one epoch, counted from 0, and record it."""
        groups = _loss_groups([trial.recipe.loss_at(epoch) for trial in self.trials])
        feeds, recipes = self.feeds, [trial.recipe for trial in self.trials]
        within = [moves_within_epoch(recipe) for recipe in recipes]
        total = torch.zeros(len(feeds), device=self.device)
        hits = torch.zeros(len(feeds), device=self.device)
        norms: list[Tensor | None] = []
        self.model.train()
        parts = list(zip(*(feed.epoch() for feed in feeds), strict=True))
        for step, indices in enumerate(parts):
            done = epoch + (step + 1) / len(parts)
            rates = [r.rate(done if w else epoch) for r, w in zip(recipes, within, strict=True)]
            values, correct, norm = self._step(groups, indices, rates)
            total += values * len(indices[0])
            hits += correct
            norms.append(norm)
        self._record(epoch, rates, total, hits, norms)

    def _step(self, groups, indices, rates) -> tuple[Tensor, Tensor, Tensor | None]:
        """Per run the loss, the hits and, where it is asked for, the head's gradient norm."""
        inputs, targets, labels = self._batch(indices)
        logits = self.model(inputs)
        values = _values(groups, logits, targets)
        self.optimizer.zero_grad()
        values.sum().backward()
        wanted = self.trials[0].gradients
        norm = last_layer(self.model).weight.grad.flatten(1).norm(dim=1) if wanted else None
        self.optimizer.step(rates)  # changes the gradients
        correct = (logits.detach().argmax(dim=2) == labels).sum(dim=1)
        return values.detach(), correct, norm

    def _batch(self, indices) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs (R, B, ...), targets and labels of one step of every run."""
        if self.joint is None:
            fed = [feed.batch(index) for feed, index in zip(self.feeds, indices, strict=True)]
            return tuple(torch.stack(part) for part in zip(*fed, strict=True))
        inputs, labels, starts = self.joint
        index = torch.stack(indices)
        flat = (index + starts).flatten()
        labels = labels[flat].view_as(index)
        return inputs.index_select(0, flat).unflatten(0, index.shape), labels, labels

    def _record(self, epoch: int, rates, total, hits, norms) -> None:
        seen = len(self.feeds[0].train)
        heads = last_layer(self.model).weight.detach().flatten(1).norm(dim=1).tolist()
        watched = {name: self._score(name) for name in self.trials[0].watch}
        for run, recorder in enumerate(self.recorders):
            row = {
                "epoch": epoch + 1,
                "lr": rates[run],
                "train_loss": finite_loss(total[run].item() / seen, epoch),
                "train_accuracy": hits[run].item() / seen,
                "head_norm": heads[run],
            }
            if recorder.gradients is not None:
                recorder.gradients.append([norm[run] for norm in norms])
            recorder.finish(row, {name: scores[run] for name, scores in watched.items()})

    def _score(self, name: str) -> list[tuple[Predictions, float]]:
        """Per run its predictions of a watched dataset, and the mean norm of its features."""
        datasets = [recorder.watch[name] for recorder in self.recorders]
        logits, norms = predict_stacked(self.model, [dataset.inputs for dataset in datasets])
        return [
            (Predictions(logits[run], dataset.labels), norms[run])
            for run, dataset in enumerate(datasets)
        ]


def predict_stacked(model: nn.Module, inputs: list[Tensor]) -> tuple[Tensor, list[float]]:
    """Logits (R, n, K) of a stacked model in eval mode, and per run the mean feature norm."""
    model.eval()
    size = chunk_size(inputs[0], len(inputs))
    with torch.no_grad():
        chunks = zip(*(x.split(size) for x in inputs), strict=True)
        parts = [forward(model, torch.stack(chunk)) for chunk in chunks]
    logits, norms = (torch.cat(part, dim=1) for part in zip(*parts, strict=True))
    return logits, norms.mean(dim=1).tolist()


class _StackedSGD:
    """torch's SGD with momentum, where every run has its own rate, momentum and decay."""

    def __init__(self, parameters, recipes):
        self.parameters = [p for p in parameters if p.requires_grad]
        self.momentum = self._column([recipe.momentum for recipe in recipes])
        self.decay = self._column([recipe.weight_decay for recipe in recipes])
        self.buffers: list[Tensor] | None = None

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rates: list[float]) -> None:
        rate = self._column(rates)
        gradients = [self._decayed(parameter) for parameter in self.parameters]
        if self.buffers is None:
            self.buffers = gradients
        else:
            for buffer, gradient in zip(self.buffers, gradients, strict=True):
                _scale(buffer, self.momentum).add_(gradient)
        for parameter, buffer in zip(self.parameters, self.buffers, strict=True):
            _add(parameter, buffer, rate, -1)

    def _decayed(self, parameter: Tensor) -> Tensor:
        return _add(parameter.grad, parameter, self.decay, 1)

    @staticmethod
    def _column(values: list[float]) -> float | list[float]:
        """One number where the runs agree, which is faster, else one a run."""
        return values[0] if len(set(values)) == 1 else values


def _per_run(values: list[float], like: Tensor) -> Tensor:
    numbers = torch.tensor(values, dtype=like.dtype, device=like.device)
    return numbers.reshape(-1, *[1] * (like.ndim - 1))


def _scale(tensor: Tensor, factor) -> Tensor:
    return tensor.mul_(factor if isinstance(factor, float) else _per_run(factor, tensor))


def _add(tensor: Tensor, other: Tensor, factor, sign: int) -> Tensor:
    if isinstance(factor, (float, int)):
        return tensor.add_(other, alpha=sign * factor) if factor else tensor
    return tensor.addcmul_(other, _per_run(factor, tensor), value=sign)


def _loss_groups(chosen: list) -> list[tuple[Callable, list[int], bool]]:
    """Runs of one loss together: (loss, runs, whether it can be taken over all of them at once)."""
    groups: dict = {}
    for run, loss in enumerate(chosen):
        groups.setdefault(_loss_key(loss), (loss, []))[1].append(run)
    return [(loss, runs, _per_sample(loss)) for loss, runs in groups.values()]


def _loss_key(loss):
    if isinstance(loss, functools.partial) and not loss.args:
        try:
            key = (loss.func, tuple(sorted(loss.keywords.items())))
            hash(key)
            return key
        except TypeError:
            return id(loss)
    return loss if callable(loss) and loss.__hash__ else id(loss)


def _per_sample(loss) -> bool:
    if isinstance(loss, functools.partial):
        plain = not loss.args and not {"class_weights", "weight_", "reduction"} & set(loss.keywords)
        plain = plain and not (loss.func is functional.cross_entropy and loss.keywords)
        return plain and loss.func in PER_SAMPLE
    return loss in PER_SAMPLE


def _values(groups, logits: Tensor, targets: Tensor) -> Tensor:
    """(R,) the loss of each run."""
    values: list[Tensor | None] = [None] * len(logits)
    for loss, runs, at_once in groups:
        if at_once:
            whole = len(runs) == len(logits)
            said, true = (logits, targets) if whole else (logits[runs], targets[runs])
            each = loss(said.flatten(0, 1), true.flatten(0, 1), reduction="none")
            means = each.view(len(runs), -1).mean(dim=1)
            if whole:
                return means
            for run, mean in zip(runs, means, strict=True):
                values[run] = mean
        else:
            for run in runs:
                values[run] = loss(logits[run], targets[run])
    return torch.stack(values)


def _shared(trials: Sequence[Trial], device: torch.device) -> dict[int, Dataset]:
    """Each watched dataset once on the device, however many runs watch it."""
    datasets = {id(dataset): dataset for trial in trials for dataset in trial.watch.values()}
    return {key: resident(dataset, device) for key, dataset in datasets.items()}
