"""How long an epoch takes, from a few steps of throwaway copies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from calibkit.training import device as place
from calibkit.training.single import Trainer, resident
from calibkit.training.stacked import Stack, initial
from calibkit.training.trial import Trial

STEPS = 4  # of one model; a stack takes one, since each of its steps is many


def seconds_per_epoch(trials: Sequence[Trial], device: torch.device) -> float:
    """Wall seconds that one epoch of these trials takes: alone if it is one, else as a stack.

    Trains a few steps on a few samples, once to warm up and then for the better of two.
    """
    steps = STEPS if len(trials) == 1 else 1
    few = min(steps * trials[0].recipe.batch_size, len(trials[0].train))
    short = [_shortened(trial, few) for trial in trials]
    models = initial(short, device)
    with place.seeded(0, device), place.prepared(models[0], device, runs=len(models)):
        if len(trials) == 1:
            train = resident(short[0].train, device)
            work = Trainer(models[0], train, short[0].recipe, short[0].seed)
        else:
            work = Stack(short, models, device)
        spent = [_timed(work, epoch, device) for epoch in range(3)]
    return min(spent[1:]) * len(trials[0].train) / few


def _shortened(trial: Trial, few: int) -> Trial:
    recipe = replace(trial.recipe, epochs=3, warmup=0.0)
    return replace(trial, train=trial.train[:few], recipe=recipe, watch={}, keep=())


def _timed(work: Trainer | Stack, epoch: int, device: torch.device) -> float:
    start = time.perf_counter()
    work.epoch(epoch)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start
