"""How long an epoch takes, from a few steps of throwaway copies."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from calibkit.training import device as place
from calibkit.training.records import Recorder
from calibkit.training.scoring import scored
from calibkit.training.single import Trainer, resident
from calibkit.training.stacked import Stack, initial
from calibkit.training.trial import Trial

STEPS = 4  # of one model; a stack takes one, since each of its steps is many


def seconds_per_epoch(trials: Sequence[Trial], device: torch.device) -> float:
    """Wall seconds that one epoch of these trials takes: alone if it is one, else as a stack.

    Trains a few steps on a few samples, once to warm up and then for the better of two, and scores
    the watched datasets of one trial once.
    """
    few = _enough(trials)
    short = [_shortened(trial, few) for trial in trials]
    models = initial(short, device)
    with place.seeded(0, device), place.prepared(models[0], device, runs=len(models)):
        if len(trials) == 1:
            train = resident(short[0].train, device)
            work = Trainer(models[0], train, short[0].recipe, short[0].seed)
        else:
            work = Stack(short, models, device)
        spent = [_timed(work, epoch, device) for epoch in range(3)]
        watching = _watching(trials[0], models[0], device)
    return min(spent[1:]) * len(trials[0].train) / few + watching * len(trials)


def _enough(trials: Sequence[Trial]) -> int:
    """Samples for a few whole batches, also where each epoch selects a share of the samples."""
    recipe = trials[0].recipe
    steps = STEPS if len(trials) == 1 else 1
    share = 1.0 if recipe.select is None else recipe.select.share
    return min(math.ceil(steps * recipe.batch_size / share), len(trials[0].train))


def _shortened(trial: Trial, few: int) -> Trial:
    """The trial on its first samples, at a rate so small that no loss can run away."""
    recipe = replace(trial.recipe, epochs=3, warmup=0.0, lr=1e-6 * trial.recipe.lr)
    return replace(trial, train=trial.train[:few], recipe=recipe, watch={}, keep=())


def _timed(work: Trainer | Stack, epoch: int, device: torch.device) -> float:
    start = time.perf_counter()
    work.epoch(epoch)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start


def _watching(trial: Trial, model: nn.Module, device: torch.device) -> float:
    watch = {name: resident(dataset, device) for name, dataset in trial.watch.items()}
    start = time.perf_counter()
    Recorder(watch, (), False).finish({}, {n: scored(model, d) for n, d in watch.items()})
    return time.perf_counter() - start
