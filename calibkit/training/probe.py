"""How long an epoch takes, from a few steps of throwaway copies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from calibkit.training.device import as_device
from calibkit.training.single import fit
from calibkit.training.stacked import fit_stacked
from calibkit.training.trial import Trial

STEPS = 4


def seconds_per_epoch(trials: Sequence[Trial], device: torch.device) -> float:
    """Wall seconds that one epoch of these trials takes: alone if it is one, else as a stack.

    Trains a few steps on a few samples, once to warm up and then for the better of two.
    """
    batch = trials[0].recipe.batch_size
    few = min(STEPS * batch, len(trials[0].train))
    short = [_shortened(trial, few) for trial in trials]
    spent = [_timed(short, as_device(device)) for _ in range(3)]
    return min(spent[1:]) * len(trials[0].train) / few


def _shortened(trial: Trial, few: int) -> Trial:
    recipe = replace(trial.recipe, epochs=1, warmup=0.0)
    return replace(trial, train=trial.train[:few], recipe=recipe, watch={}, keep=())


def _timed(trials: list[Trial], device: torch.device) -> float:
    start = time.perf_counter()
    if len(trials) > 1:
        fit_stacked(trials, device=device, progress=False)
    else:
        t = trials[0]
        fit(t.model, t.train, t.recipe, seed=t.seed, device=device, progress=False)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start
