"""Which cure works, and when? Ways of training on digits and notes, over epochs and weight decays.

    cd notebooks/evidence && python -m study.factorial digits

trains what is missing and stores the rows of a stack of trainings as it ends: stopped anywhere, the
same command goes on. The register says what is trained. For each judged seed, every strength and
decay is trained on selection seeds of its own; the best of each way, as trained and after T, is
then trained on the judged seed.
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import optimize
from torch import Tensor

from calibkit import metrics
from calibkit.course import checkout
from calibkit.course.experiments import notes, strengths
from calibkit.course.experiments.ways import changes
from calibkit.lab import data, models, sweep, training
from calibkit.prioritization import MaxEntropy
from study import night_runs, register

IMAGES, TEST = 1_500, 10_000
REVISION = night_runs.revision()  # of the code as it was loaded
SETTING = ["way", "strength", "decay"]
SMALL_STEPS: dict[str, Any] = {"batch_size": 50, "lr": 0.05, "schedule": "cosine"}
MEASURES = {
    "accuracy": metrics.accuracy,
    "confidence": lambda probs, _: probs.amax(dim=1).mean().item(),
    "gap": metrics.signed_gap,
    "ECE": metrics.ece,
    "OE": metrics.overconfidence_error,
    "NLL": metrics.nll,
    "Brier": metrics.brier,
}


def seeds(held: Mapping[str, Any]) -> list[int]:
    """The judged seeds of data of the register.

    >>> seeds({"first": 1000, "seeds": 3})
    [1000, 1001, 1002]
    """
    return list(range(held["first"], held["first"] + held["seeds"]))


def selection_seeds(held: Mapping[str, Any], seed: int) -> list[int]:
    """Those on which a judged seed chooses; no other seed chooses on them.

    >>> selection_seeds({"first": 1000, "selection": 2}, 1001)
    [11002, 11003]
    """
    start = 10_000 + held["first"] + held["selection"] * (seed - held["first"])
    return list(range(start, start + held["selection"]))


@functools.cache
def splits(name: str, seed: int, test: int = TEST) -> data.Splits:
    if name == "text":
        return data.notes(IMAGES, seed=seed, test=test)
    return data.noisy_digits(IMAGES, noise=0.4, seed=seed, test=test)


def trial(
    name: str,
    held: Mapping,
    epochs: int,
    way: str,
    strength: float,
    decay: float,
    seed: int,
    judged,
) -> training.Trial:
    """A training, scored on `cal` and, where it is judged, on `test`; held: the register's entry.

    Of "parts" an epoch has a part of the images. "own choice": by the network's own entropy,
    perhaps with a cure; "target's choice": by that of a network four times as wide, trained on the
    same images with mixup, after as many epochs.
    """
    train, cal, test = splits(name, seed, TEST if judged else 1)
    score = {"cal": cal, "test": test} if judged else {"cal": cal}
    options: dict[str, Any] = {"seed": seed, "epochs": epochs, "weight_decay": decay}
    network = functools.partial(models.mlp, 64, 10, width=64)
    if name == "parts":
        choice, _, cure = way.partition(", ")
        options |= {**SMALL_STEPS, **changes(cure or "cross-entropy", strength)}
        if choice != "all images":
            about = {"share": held["share"], "warmup": round(held["warmup"] * epochs)}
            guide = target(epochs, seed) if choice == "target's choice" else None
            options["select"] = MaxEntropy(**about, target=guide)
        return training.trial(network, train, score, **options)
    called = {"mixup": "mixup of words"}.get(way, way) if name == "text" else way
    options |= changes("focal" if called.startswith("focal") else called, strength)
    if name == "text":
        network = notes.READERS["CNN"]
        options |= {"optimizer": "adamw", "lr": 0.01, "schedule": "cosine", "batch_size": 64}
        options["warmup"] = 0.2 * epochs
    return training.trial(network, train, score, **options)


@functools.cache
def target(epochs: int, seed: int) -> Tensor:
    """Logits (epochs, n, K) of the target on its training images after each epoch."""
    own = splits("parts", seed, 1).train
    options = {"seed": seed, "epochs": epochs, "weight_decay": 5e-4, **SMALL_STEPS}
    options |= {"watch": {"own": own}, "keep": ("own",), **changes("mixup", 0.2)}
    one = training.trial(functools.partial(models.mlp, 64, 10, width=256), own, {}, **options)
    return training.train_trials([one], device="cpu", progress=False)[0].logits["own"]


def judged(one: sweep.Outcome) -> list[dict[str, Any]]:
    """A row as trained and one after the T fitted on `cal`: every measure on `test`.

    KL: mean of KL(posterior || probs), the NLL above that of the exact posterior (nats);
    refinement: what is left of it at the temperature that makes it least.
    """
    test = one.predictions["test"]
    T = strengths.temperature(one)
    refinement = least_excess(test.logits, test.posterior)
    rows = []
    for state, t in (("as trained", 1.0), ("after T", T.temperature)):
        probs = (test.logits.double() / t).softmax(dim=1)
        row = {"state": state, "T": T.temperature}
        row |= {name: measure(probs, test.labels) for name, measure in MEASURES.items()}
        row["true error"] = metrics.true_calibration_error(probs, test.posterior)
        row["KL"] = excess(test.logits, test.posterior, t)
        rows.append(row | {"refinement": refinement})
    return rows


def excess(logits: Tensor, posterior: Tensor, temperature: float) -> float:
    """Mean of KL(posterior || softmax(logits / temperature)), in nats."""
    log_probs = (logits.double() / temperature).log_softmax(dim=1)
    exact = posterior.double()
    return (torch.special.xlogy(exact, exact) - exact * log_probs).sum(dim=1).mean().item()


def least_excess(logits: Tensor, posterior: Tensor) -> float:
    """The least `excess` over temperatures from 1/100 to 100."""
    found = optimize.minimize_scalar(
        lambda log: excess(logits, posterior, np.exp(log)), bounds=(-4.6, 4.6), method="bounded"
    )
    return float(found.fun)


# --- what is stored -------------------------------------------------------------------------------


def path(name: str, part: str) -> Path:
    return checkout.results() / "factorial" / f"{name}-{part}.csv"


def stored(name: str, part: str) -> pd.DataFrame:
    """The rows of "selection" or "judged"; none where nothing was trained yet."""
    here = path(name, part)
    key = ["epochs", *SETTING, "seed", "nll", "scaled_nll", "state"]
    return pd.read_csv(here) if here.exists() else pd.DataFrame(columns=key)


def keep(name: str, part: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows; whatever ends the process, the file holds all of them or none."""
    here = path(name, part)
    here.parent.mkdir(parents=True, exist_ok=True)
    before = here.read_bytes() if here.exists() else b""
    table = pd.DataFrame(rows).round(6)
    after = table.to_csv(index=False, header=not before, lineterminator="\n").encode()
    night_runs.in_place(here, lambda file: file.write(before + after))


def best(selection: pd.DataFrame, ways: Sequence[str], by: str) -> dict[str, Any]:
    """Way, strength and decay of the least mean `by` among the rows of these ways.

    selection: the rows of one judged seed and number of epochs. Raises ValueError without a row.
    """
    rows = selection[selection.way.isin(ways)]
    if rows.empty:
        raise ValueError(f"ways must have been trained, got {list(ways)}")
    return rows.loc[rows[by].idxmin(), SETTING].to_dict()


# --- the runs -------------------------------------------------------------------------------------


def run(name: str, listed: register.Register) -> None:
    """Train what is missing for the data called `name`, in the order of its value."""
    held = listed.data[name]
    order = [held["epochs"], *(e for e in held["shown"] if e != held["epochs"])]
    for epochs, seed in itertools.product(order, seeds(held)):
        start = time.perf_counter()
        for settings in _unselected(name, held, listed, epochs, seed):
            _select(name, held, epochs, seed, settings)
        grid = _unjudged(name, listed, epochs, seed)
        if grid:
            make = functools.partial(trial, name, held, epochs, seed=seed, judged=True)
            done = sweep.run(make, grid, cache=False, jobs=1, device="cpu", progress=False)
            made = [(one.setting, row) for one in done.outcomes for row in judged(one)]
            about = {"revision": REVISION, "torch": torch.__version__}
            rows = [{"epochs": epochs, **s, "seed": seed, **row, **about} for s, row in made]
            keep(name, "judged", rows)
        took = time.perf_counter() - start
        print(
            f"{time.strftime('%H:%M:%S')} {name}, {epochs} epochs, seed {seed}: {took:.0f} s",
            flush=True,
        )
        splits.cache_clear()
        target.cache_clear()


def _unselected(name, held, listed, epochs, seed) -> Iterator[list[dict[str, Any]]]:
    """Per decay the settings of a seed that are not stored."""
    rows = stored(name, "selection")
    rows = rows[(rows.epochs == epochs) & (rows.seed == seed)]
    done = set(rows[SETTING].itertuples(index=False, name=None))
    for decay in held["decays"]:
        every = [(w, s, decay) for w, tried in listed.ways_of(name).items() for s in tried]
        left = [dict(zip(SETTING, one, strict=True)) for one in every if one not in done]
        if left:
            yield left


def _select(name, held, epochs, seed, settings) -> None:
    own = selection_seeds(held, seed)
    grid = [{**one, "seed": other} for one in settings for other in own]
    make = functools.partial(trial, name, held, epochs, judged=False)
    start = time.perf_counter()
    done = sweep.run(make, grid, cache=False, jobs=1, device="cpu", progress=False)
    seconds = (time.perf_counter() - start) / len(grid)
    # settings are chosen by the NLL on `cal`, as trained and after the T fitted there
    rows = [{**one.setting, **strengths.nll(one.predictions["cal"])} for one in done.outcomes]
    runs = pd.DataFrame(rows).groupby(SETTING, sort=False)
    means = runs[["nll", "scaled_nll"]].mean().reset_index()
    about = {"seconds": round(seconds, 2), "revision": REVISION, "torch": torch.__version__}
    means.insert(0, "epochs", epochs)
    means.insert(4, "seed", seed)
    keep(name, "selection", means.assign(**about).to_dict("records"))


def _unjudged(name, listed, epochs, seed) -> list[dict[str, Any]]:
    """The best settings of a seed, each way as trained and after T, that are not stored."""
    rows = stored(name, "selection")
    rows = rows[(rows.epochs == epochs) & (rows.seed == seed)]
    found = [
        tuple(best(rows, [way], by).values())
        for way in listed.ways_of(name)
        for by in listed.criterion.values()
    ]
    there = stored(name, "judged")
    there = there[(there.epochs == epochs) & (there.seed == seed)]
    done = set(there[SETTING].itertuples(index=False, name=None))
    return [dict(zip(SETTING, one, strict=True)) for one in dict.fromkeys(found) if one not in done]


def main(names: Sequence[str]) -> None:
    listed = register.read()
    for name in names:
        run(name, listed)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
