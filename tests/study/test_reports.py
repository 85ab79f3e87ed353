"""The stored tables are of experiments that there are, and are written as they stand."""

import pandas as pd
import pytest
from study import engine, reports
from study.experiment import Result

from calibkit.course import checkout, experiments
from calibkit.course.experiments import photograph_runs

FOLDER = checkout.root() / "notebooks" / "results"
PARTS = ("epochs", "temperatures")
TABLES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in [*FOLDER.glob("night/*.csv"), *FOLDER.glob("laptop/*.csv")]
    if not path.stem.endswith(PARTS) and not path.stem.startswith("facts")
)
DATASETS = ("mnist", "20newsgroups", "sst2", "trec")
OLDER = [f"laptop/{name}" for name in ("depth", "focal", "mixup", "noise", "size")]  # few columns


@pytest.mark.parametrize("table", TABLES)
def test_a_stored_table_is_told_and_written_again(table, tmp_path):
    scale, stem = table.split("/")
    dataset = next((name for name in DATASETS if stem.endswith(f"-{name}")), None)
    name = stem.removesuffix(f"-{dataset}")
    experiment = engine.named(name, dataset)
    kept = {part: path for part in ("", *(f"-{part}" for part in PARTS))
            if (path := FOLDER / f"{table}{part}.csv").exists()}  # fmt: skip
    tables = {part.removeprefix("-"): pd.read_csv(path) for part, path in kept.items()}
    task = engine.task_of(experiment, scale, device="cpu")
    done = Result(experiment, task, [], tables.pop(""), tables)
    assert set(done.table.value) <= set(experiment.values)
    assert all(
        str(one) in reports.told(done)
        for one in reports.verdicts(name, done.table, dataset=dataset)
    )
    if table not in OLDER:
        assert reports.write(done, tmp_path) == tmp_path / f"{table}.csv"
        for path in kept.values():
            assert (tmp_path / scale / path.name).read_bytes() == path.read_bytes()


def test_no_run_is_stored_twice_and_datasets_and_parts_differ():
    assert {one.removeprefix("night/") for one in TABLES}.isdisjoint(photograph_runs.SERIES)
    for name in photograph_runs.SERIES:
        assert reports.verdicts(name, experiments.stored(name, "night"))
    mnist = experiments.stored("noise", "night", FOLDER, dataset="mnist")
    assert not mnist.equals(experiments.stored("noise", "night", FOLDER))
    assert "test_nll" in experiments.stored("noise", "night", FOLDER, part="epochs")
