"""Sweeps: the table, the cache, equal results however they are trained, and survival of a kill."""

import functools
import itertools
import multiprocessing
import os
import signal
import sys
from multiprocessing import forkserver

import joblib
import pytest
import torch
from torch import nn

from calibkit import curation, metrics
from calibkit.lab import data, models, sweep, training
from calibkit.lab.sweep import tasks
from calibkit.lab.sweep.store import Store
from calibkit.lab.training import loop
from tests import refusals

NOISE, SEEDS = (0.0, 0.2, 0.4), (0, 1)


@functools.cache
def splits(seed):
    return data.noisy_digits(150, noise=0.3, seed=seed, test=200, calibration=50)


def recipe(noise, seed, epochs=3, loss=nn.functional.cross_entropy):
    train, _, test = splits(seed)
    labels = curation.symmetric_noise(train.labels, noise, classes=10, seed=seed).labels
    return training.trial(
        lambda: models.mlp(64, 10, width=16),
        train.with_labels(labels),
        {"test": test},
        epochs=epochs,
        loss=loss,
        seed=seed,
        watch={"test": test[:50]},
        keep=("test",),
        gradients=True,
    )


def run(cache=False, made=recipe, grid=None, **options):
    grid = grid or {"noise": NOISE, "seed": SEEDS}
    return sweep.run(made, grid, cache=cache, device="cpu", progress=False, **options)


@pytest.fixture(scope="module")
def swept():
    return run()


@pytest.fixture(scope="module")
def fresh():
    """Starts processes in which no other test has left anything: forks of one new interpreter."""
    context = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
    if sys.platform == "linux":  # imports once what every process needs
        context.set_forkserver_preload([__name__])
        forkserver.ensure_running()
    return context


def logits(swept):
    return torch.stack([outcome.predictions["test"].logits for outcome in swept.outcomes])


def trainings(monkeypatch):
    """Counts the units of work that are trained from now on, all of them in this process."""
    done = []
    monkeypatch.setattr(tasks, "WORTH", float("inf"))  # however slow the machine is
    inner = loop.train_unit

    def counted(trials, device):
        done.extend(trials)
        return inner(trials, device)

    monkeypatch.setattr(loop, "train_unit", counted)
    return done


# --- the table ---------------------------------------------------------------------------------


def test_the_table_is_tidy_and_right(swept):
    assert list(swept.table[["noise", "seed"]].itertuples(index=False, name=None)) == [
        (noise, seed) for noise in NOISE for seed in SEEDS
    ]
    predictions = swept.one(noise=0.2, seed=1).predictions["test"]
    row = swept.table[(swept.table.noise == 0.2) & (swept.table.seed == 1)].iloc[0]
    losses = swept.one(noise=0.2, seed=1).history.train_loss
    assert losses.iloc[0] != row.train_loss == losses.iloc[-1]
    assert row.test_ece == pytest.approx(metrics.ece(predictions.probs, predictions.labels))
    assert row.test_gap == pytest.approx(metrics.signed_gap(predictions.probs, predictions.labels))
    assert row.test_nll == pytest.approx(metrics.nll(predictions.probs, predictions.labels))
    assert row.test_confidence == pytest.approx(predictions.confidence.mean().item())
    assert row.test_accuracy == pytest.approx(predictions.correct.double().mean().item())
    assert predictions.posterior is not None


def test_pairs_are_matched_by_seed(swept):
    column = swept.table.set_index(["noise", "seed"]).test_ece
    expected = [column[0.4, seed] - column[0.0, seed] for seed in SEEDS]
    differences = swept.difference("test_ece", {"noise": 0.4}, {"noise": 0.0})
    assert differences.tolist() == pytest.approx(expected)


def test_some_runs_are_pooled_in_the_order_of_the_grid(swept):
    pooled, parts = swept.pooled("test", noise=0.2), swept.where(noise=0.2)
    for name in ("logits", "labels", "posterior"):
        each = [getattr(one.predictions["test"], name) for one in parts]
        assert torch.equal(getattr(pooled, name), torch.cat(each))
    assert swept.values("test_ece", noise=0.2).tolist() == swept.table.test_ece[2:4].tolist()


@refusals.each("""
    swept.where(noise=0.3) -> ValueError: no run has
    swept.where(nois=0.2) -> ValueError: ...nois
    swept.one(noise=0.2) -> ValueError: ...seed
    swept.values("ece") -> ValueError: ...column
    run(grid=UNEVEN).difference("test_ece", {"noise": 0.2}, {"noise": 0.0}) -> ValueError: ...pair
    run(grid={"noise": [], "seed": [0]}) -> ValueError: grid
    run(made=lambda noise, seed: models.mlp(64, 10)) -> TypeError: ...training.trial
    run(how="fast") -> ValueError: how
    run(made=dropping, grid={"seed": [0, 1]}, how="stacked") -> ValueError: ...do not stack
""")
def test_what_is_wrong_is_named(call, refused, swept):
    refusals.check(call, refused, {**globals(), "swept": swept})


UNEVEN = [{"noise": 0.0, "seed": 0}, {"noise": 0.2, "seed": 1}]


def dropping(seed):
    train, _, test = splits(seed)
    network = lambda: nn.Sequential(  # noqa: E731
        nn.Flatten(), nn.Linear(64, 32), nn.Dropout(0.5), nn.Linear(32, 10)
    )
    return training.trial(network, train, {"test": test}, seed=seed, epochs=5)


# --- equal results, however they are trained -----------------------------------------------------


def test_sequential_and_stacked_agree(swept):
    assert torch.allclose(logits(run(how="single")), logits(swept), atol=1e-4)
    assert torch.allclose(logits(run(how="stacked")), logits(swept), atol=1e-4)


def test_two_processes_give_the_same_numbers(swept):
    assert torch.allclose(logits(run(how="stacked", jobs=2)), logits(swept), atol=1e-4)


VALUE = 1.0


def constant(logits, labels):
    return logits.sum() * 0 + VALUE


def test_workers_train_only_what_they_would_train_as_it_is_here(monkeypatch):
    """A worker imports this module anew: what was changed in it here, it does not have."""
    lines = itertools.count()

    def untold(logits, labels):
        return constant(logits, labels) + 0 * next(lines)

    monkeypatch.setattr(sys.modules[__name__], "VALUE", 5.0)
    grid = {"loss": [constant, untold], "seed": SEEDS, "noise": [0.0], "epochs": [1]}
    with joblib.parallel_config(n_jobs=2), pytest.warns(UserWarning, match="this process") as said:
        swept = run(grid=grid, how="single")
    assert swept.table.train_loss.tolist() == [5.0] * 4
    assert {one.filename for one in said} == {__file__}


# --- the cache -----------------------------------------------------------------------------------


def test_a_second_call_trains_nothing_and_gives_the_same(tmp_path, monkeypatch):
    first = run(tmp_path)
    done = trainings(monkeypatch)
    second = run(tmp_path)
    assert done == []
    assert torch.equal(logits(first), logits(second))
    assert first.table.equals(second.table)
    assert second.one(noise=0.2, seed=1).predictions["test"].posterior is not None


def test_only_what_changed_is_trained_again(tmp_path, monkeypatch):
    run(tmp_path)
    done = trainings(monkeypatch)
    run(tmp_path, grid={"noise": (0.0, 0.1), "seed": SEEDS})
    assert len(done) == 2  # the two seeds at noise .1
    run(tmp_path, made=functools.partial(recipe, epochs=2))
    assert len(done) == 8


# --- interruptions -------------------------------------------------------------------------------

GRID = {"noise": [0.0, 0.1, 0.2, 0.3], "seed": [0, 1]}


def endless(noise, seed):
    """Like `recipe`, but for the fourth run and those after it, which never end."""
    return recipe(noise, seed, epochs=3 if (noise, seed) < (0.1, 1) else 10**9)


def sweep_there(folder, made, reply):
    os.setsid()  # to be killed with all that it starts
    reply.send(run(folder, made=made, grid=GRID, how="single").table.test_ece.sum())


def start(fresh, folder, made):
    """A sweep in a process of its own, and where its answer arrives: a sum."""
    answer, reply = fresh.Pipe(duplex=False)
    process = fresh.Process(target=sweep_there, args=(folder, made, reply), daemon=True)
    process.start()
    reply.close()
    return process, answer


def answers(*started):
    found = [answer.recv() for _, answer in started]
    for process, _ in started:
        process.join()
    return found


def finished(folder):
    return list(folder.glob("*/*.run"))


def in_the_fourth_run(fresh, folder):
    """A process that has finished three runs and is at the next; however long it takes."""
    process, answer = start(fresh, folder, endless)
    while len(finished(folder)) < 3:
        process.join(0.02)
        assert process.is_alive()
    return process, answer


@pytest.mark.slow
def test_kill_9_loses_only_the_run_in_flight(tmp_path, fresh):
    process, _ = in_the_fourth_run(fresh, tmp_path / "killed")
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    before = {path: path.stat().st_mtime_ns for path in finished(tmp_path / "killed")}
    assert len(before) == 3
    resumed, whole = answers(*(start(fresh, tmp_path / name, recipe) for name in ("killed", "new")))
    assert resumed == whole > 0
    assert len(finished(tmp_path / "killed")) == 8
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.slow
def test_two_processes_may_share_a_cache(tmp_path, fresh):
    one, other = answers(*(start(fresh, tmp_path, recipe) for _ in range(2)))
    assert one == other > 0
    assert len(finished(tmp_path)) == 8
    assert all(Store(tmp_path).get(path.stem) for path in finished(tmp_path))
