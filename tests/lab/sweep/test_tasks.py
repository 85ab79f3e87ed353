"""What is computed together, in how many processes, and what is kept of it."""

import functools
import itertools

import joblib
import pytest
import torch

from calibkit.lab import data, models, training
from calibkit.lab.sweep import grid, tasks

CPU = torch.device("cpu")
TRAIN = data.noisy_digits(100, seed=0, test=10, calibration=10).train


def trial(seed=0, width=8, **options):
    network = functools.partial(models.mlp, 64, 10, width=width)
    return training.trial(network, TRAIN, seed=seed, epochs=1, **options)


def vit(seed=0):
    network = functools.partial(models.vit, 1, 10, size=8, patch=4, width=16, depth=1, heads=2)
    return training.trial(network, TRAIN, seed=seed, epochs=1)


def test_networks_of_one_shape_are_one_unit_in_the_order_of_the_grid():
    trials = [trial(0), trial(0, width=9), trial(1), vit(), trial(2), trial(1, width=9), vit(1)]
    assert grid.groups(trials) == [[0, 2, 4], [1, 5], [3], [6]]
    assert grid.groups(trials, "single") == [[i] for i in range(7)]


def test_large_networks_are_trained_one_by_one_unless_it_is_asked_for():
    large = [trial(seed, width=256) for seed in range(2)]  # 85,000 parameters
    larger = [trial(seed, width=300) for seed in range(2)]  # 113,000
    assert grid.groups(large) == [[0, 1]]
    assert grid.groups(larger) == [[0], [1]]
    assert grid.groups(larger, "stacked") == [[0, 1]]


@pytest.mark.parametrize("settings", [{"autocast": True}])
def test_what_cannot_be_stacked_is_named_where_stacks_are_insisted_on(settings):
    assert grid.groups([trial(0, **settings), trial(1, **settings)]) == [[0], [1]]
    with pytest.raises(ValueError, match=r"run 1.*auto"):
        grid.groups([trial(), trial(**settings)], "stacked")


def test_stacks_are_split_among_workers_and_none_is_lost():
    assert tasks.split([[0, 1, 2, 3, 4], [5]], 2) == [[0, 1, 2], [3, 4], [5]]
    assert tasks.split([[0]], 4) == [[0]]
    many = tasks.split([list(range(70))], 2)
    assert [len(part) for part in many] == [18, 18, 17, 17]  # even, a multiple of the workers
    assert list(itertools.chain(*many)) == list(range(70))
    assert [len(part) for part in tasks.split([list(range(70))], 1)] == [24, 23, 23]
    exact = tasks.split([list(range(2 * tasks.UNIT))], 1)
    assert [len(part) for part in exact] == [tasks.UNIT] * 2


@pytest.mark.parametrize(("seconds", "runs", "expected"), [
    *((14.9, 9, 1), (15.0, 9, 2), (37.0, 9, 3), (999.0, 9, 4), (999.0, 2, 2), (0, 0, 1)),
])  # fmt: skip
def test_one_more_process_is_taken_per_worthwhile_time(monkeypatch, seconds, runs, expected):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    assert tasks.processes(seconds, runs, CPU) == expected
    assert tasks.processes(seconds, runs, torch.device("cuda")) == 1


class Work:
    """Stands in for the trainings and for joblib, and notes what is asked of them."""

    def __init__(self, monkeypatch, takes=0.0):
        self.here, self.jobs, self.elsewhere, self.clock = [], [], [], 1000.0
        self.takes = takes  # seconds a run
        monkeypatch.setattr(tasks.time, "perf_counter", lambda: self.clock)
        monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
        monkeypatch.setattr(joblib, "Parallel", self.parallel)

    def train(self, trials):
        self.here.append(len(trials))
        self.clock += self.takes * len(trials)
        return [{"seed": trial.seed} for trial in trials]

    def parallel(self, n_jobs, return_as):
        assert return_as == "generator_unordered"
        self.jobs.append(n_jobs)

        def spread(work):
            for function, arguments, _ in reversed(list(work)):  # unordered
                self.elsewhere += [len(arguments[3])] if arguments[3] else []
                yield function(*arguments)

        return spread

    def done(self, trials, how="auto", jobs=None):
        options = {"jobs": jobs, "cache": False, "progress": False}
        keys = [None] * len(trials)
        found = tasks.completed(self.train, trials, grid.groups(trials, how), keys, CPU, **options)
        assert [kept["seed"] for kept in found] == [trial.seed for trial in trials]


def test_the_first_runs_say_how_many_processes_the_rest_is_worth(monkeypatch):
    work = Work(monkeypatch, takes=10.0)
    work.done([trial(seed) for seed in range(5)], how="single")
    assert work.jobs == [3]  # 40 seconds are left
    assert work.elsewhere == [1, 1, 1, 1]
    assert work.here[0] == 1


def test_the_time_of_the_first_stack_is_shared_among_its_runs(monkeypatch):
    work = Work(monkeypatch, takes=1.0)
    work.done([trial(seed) for seed in range(tasks.FIRST + 9)])
    assert work.jobs == []  # 9 seconds are left, which no further process is worth
    assert work.here == [tasks.FIRST, 9]


def test_the_number_of_jobs_that_is_asked_for_is_taken(monkeypatch):
    work = Work(monkeypatch)
    work.done([trial(seed) for seed in range(5)], jobs=2)
    assert work.jobs == [2]
    assert work.elsewhere == [2, 3]
    work = Work(monkeypatch, takes=99.0)
    work.done([trial(seed) for seed in range(5)], jobs=1)
    assert work.jobs == []
    assert work.here == [5]


def test_a_function_that_changes_what_it_holds_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBKIT_CACHE", str(tmp_path))
    calls = []
    with pytest.warns(UserWarning, match="its computation changed what decides it") as said:
        assert tasks.results(lambda n: calls.append(n) or n, [(2,)], jobs=1, progress=False) == [2]
    assert [one.filename for one in said] == [__file__]
    assert list(tmp_path.glob("*/*.run")) == []
