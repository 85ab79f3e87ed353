"""Train one model on a dataset that lives on the device as tensors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from calibkit import validate
from calibkit.data import Dataset
from calibkit.training import device as place
from calibkit.training.recipe import Recipe
from calibkit.training.records import Recorder, Run, head_norm, last_layer
from calibkit.training.scoring import predict, scored


def fit(
    model: nn.Module | Callable[[], nn.Module],
    train: Dataset,
    recipe: Recipe | None = None,
    *,
    seed: int = 0,
    device: str | torch.device | None = None,
    watch: Mapping[str, Dataset] | None = None,
    keep: Sequence[str] = (),
    gradients: bool = False,
    progress: bool = True,
    **settings,
) -> Run:
    """Train with SGD by a `Recipe`; `settings` are changes to it: `fit(model, train, epochs=5)`.

    model: a module, trained in place, or a function without arguments that builds one; the
        latter is called under `seed`, so that the initial weights belong to the seed too.
    watch: datasets to score after every epoch, by the name their history columns start with.
    keep: names of watched datasets whose logits are kept, epoch by epoch.
    gradients: keep the norm of the last layer's weight gradient, batch by batch.

    Equal seeds give equal results on one machine. Ctrl-C returns what was learned so far.
    Raises ValueError or TypeError for settings out of range, RuntimeError when the loss stops
    being finite.

    >>> from calibkit import data, models
    >>> train, _, test = data.noisy_digits(300, seed=0)
    >>> run = fit(lambda: models.mlp(64, 10), train, epochs=2, device="cpu", progress=False)
    >>> run.history.epoch.tolist(), len(run.predict(test))
    ([1, 2], 10000)
    """
    recipe = replace(recipe or Recipe(), **settings)
    seed = validate.integer("seed", seed, 0)
    device = place.as_device(device)
    train = resident(train, device)
    watch = {name: resident(dataset, device) for name, dataset in (watch or {}).items()}
    recorder = Recorder(watch, kept(keep, watch), gradients)
    interrupted = False
    with (
        place.seeded(seed, device),
        tqdm(total=recipe.epochs, disable=not progress, unit="epoch") as bar,
    ):
        trainer = Trainer(built(model).to(device), train, recipe, seed)
        try:
            with place.prepared(trainer.model, device):
                for epoch in range(recipe.epochs):
                    row = trainer.epoch(epoch, recorder.gradients)
                    recorder.finish(row, {n: scored(trainer.model, d) for n, d in watch.items()})
                    bar.update()
                    bar.set_postfix(loss=f"{row['train_loss']:.3f}")
        except KeyboardInterrupt:
            interrupted = True
    return recorder.run(trainer.model, interrupted)


def batches(n: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
    """Index tensors of one shuffled pass over `n` samples; the last may be short.

    A last batch of a single sample joins the one before it: batch norm cannot train on one.
    """
    order = torch.randperm(n, generator=generator)
    parts = list(order.split(size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    yield from parts


class Feed:
    """Batches of one run: shuffled, augmented, mixed, each draw belonging to the seed."""

    def __init__(self, train: Dataset, recipe: Recipe, seed: int):
        self.train, self.recipe = train, recipe
        self.order = validate.generator(seed)
        self.changes = validate.generator(seed, train.device)  # augmentation and mixing

    def epoch(self, chosen: Tensor | None = None) -> list[Tensor]:
        """Index tensors of one pass over all samples, or over the `chosen` ones."""
        n = len(self.train) if chosen is None else len(chosen)
        parts = batches(n, self.recipe.batch_size, self.order)
        if chosen is None:
            return [part.to(self.train.device) for part in parts]
        return [chosen[part.to(self.train.device)] for part in parts]

    def batch(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs and targets as the model meets them, and the labels as they stand."""
        inputs, labels = self.train.inputs[index], self.train.labels[index]
        if self.recipe.augment is not None:
            inputs = self.recipe.augment(inputs, generator=self.changes)
        if self.recipe.mix is None:
            return inputs, labels, labels
        mixed = self.recipe.mix(
            inputs, labels, classes=self.train.num_classes, generator=self.changes
        )
        return *mixed, labels


class Trainer:
    """One model with its optimiser and its feed."""

    def __init__(self, model: nn.Module, train: Dataset, recipe: Recipe, seed: int):
        self.layout = place.memory_format(model, train.device)
        self.model = model.to(memory_format=self.layout)
        self.forward = torch.compile(model) if recipe.compile else model
        self.train, self.recipe = train, recipe
        self.feed = Feed(train, recipe, seed)
        select = recipe.select
        target = None if select is None else copy.deepcopy(select.target)  # ours to move
        self.judge = model if target is None else target.to(train.device)
        self.optimizer = torch.optim.SGD(
            model.parameters(),
            lr=recipe.lr,
            momentum=recipe.momentum,
            weight_decay=recipe.weight_decay,
        )

    def epoch(self, epoch: int, gradients: list | None = None) -> dict[str, float]:
        """Train for one epoch, counted from 0, and return its row of the history."""
        loss, norms = self.recipe.loss_at(epoch), []
        parts = self.feed.epoch(self._chosen(epoch))
        total = torch.zeros((), device=self.train.device)
        hits = torch.zeros((), device=self.train.device)
        self.model.train()
        for step, index in enumerate(parts):
            rate = self.recipe.rate(epoch + (step + 1) / len(parts) if self._moving else epoch)
            self.optimizer.param_groups[0]["lr"] = rate
            value, correct = self._step(loss, index)
            total += value * len(index)
            hits += correct
            if gradients is not None:
                norms.append(last_layer(self.model).weight.grad.norm())
        if gradients is not None:
            gradients.append(norms)
        seen = sum(map(len, parts))
        mean = finite_loss(total.item() / seen, epoch)
        accuracy = hits.item() / seen
        row = {"epoch": epoch + 1, "lr": rate, "train_loss": mean, "train_accuracy": accuracy}
        return row | {"head_norm": head_norm(self.model)}

    @property
    def _moving(self) -> bool:
        return moves_within_epoch(self.recipe)

    def _chosen(self, epoch: int) -> Tensor | None:
        select = self.recipe.select
        if select is None or not select.due(epoch):
            return None
        return select.choose(predict(self.judge, self.train).logits)

    def _step(self, loss, index: Tensor) -> tuple[Tensor, Tensor]:
        inputs, target, labels = self.feed.batch(index)
        if inputs.ndim == 4:
            inputs = inputs.contiguous(memory_format=self.layout)
        kind = inputs.device.type
        with torch.autocast(kind, torch.bfloat16, enabled=self.recipe.autocast):
            logits = self.forward(inputs)
        if self.recipe.autocast:
            logits = logits.float()
        value = loss(logits, target)
        self.optimizer.zero_grad()
        value.backward()
        self.optimizer.step()
        return value.detach(), (logits.detach().argmax(dim=1) == labels).sum()


def moves_within_epoch(recipe: Recipe) -> bool:
    """Whether the rate changes from step to step and not only from epoch to epoch."""
    return recipe.schedule == "cosine" or recipe.warmup > 0


def finite_loss(mean: float, epoch: int) -> float:
    """`mean` itself, unless it is NaN or infinite."""
    if not abs(mean) < float("inf"):
        raise RuntimeError(
            f"the loss became {mean} in epoch {epoch + 1}; lower lr or check the inputs"
        )
    return mean


def resident(dataset: Dataset, device: torch.device) -> Dataset:
    """Inputs and labels on the device; the float64 posterior stays, as Apple GPUs lack float64."""
    return replace(dataset, posterior=None).to(device)


def built(model: nn.Module | Callable[[], nn.Module]) -> nn.Module:
    """The module itself, or a copy of what the function builds: it may return one network twice."""
    if not (isinstance(model, nn.Module) or callable(model)):
        raise TypeError(
            f"model must be a module or a function that builds one, got {type(model).__name__}"
        )
    return model if isinstance(model, nn.Module) else copy.deepcopy(model())


def kept(keep: Sequence[str], watch: Mapping[str, Dataset]) -> tuple[str, ...]:
    """`keep` as a tuple of names that are all watched."""
    for name in keep:
        validate.choice("keep", name, tuple(watch))
    return tuple(keep)
