"""The stored tables are told in the words that stand beside them, and written as they are."""

import platform
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
from study import engine, photographs, reports
from study.experiment import Result

from calibkit.course import checkout, experiments
from calibkit.course.experiments import photograph_runs

FOLDER = checkout.root() / "notebooks" / "results"
PAGES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix()
    for path in FOLDER.glob("*/*.md")
    if path.parent.name not in ("plane", "arbiter")  # of other forms: test_networks, test_arbiter
)
TEXTS = {  # training, calibration and test texts
    "20newsgroups": (6_000, 900, 3_999),
    "sst2": (6_920, 872, 1_821),
    "trec": (4_952, 500, 500),
}
OLDER = {f"laptop/{name}" for name in ("depth", "focal", "mixup", "noise", "size")}  # few columns
IN_FLOAT32 = {"night/depth"}  # on a CPU that has no bfloat16


@pytest.fixture
def machine(monkeypatch):
    """The one that made the tables."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "python_version", lambda: "3.11.7")
    monkeypatch.setattr(torch, "__version__", "2.15.0+cu132")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)


def of_a_series(page):
    return page.removeprefix("night/") in photograph_runs.SERIES


def result(page, monkeypatch):
    """The result whose stored tables stand beside a report."""
    scale, stem = page.split("/")
    dataset = next((name for name in ("mnist", *TEXTS) if stem.endswith(f"-{name}")), None)
    name = stem.removesuffix(f"-{dataset}")
    setting = photographs.SETTINGS["night"]
    recipe = replace(setting.recipe, autocast=page not in IN_FLOAT32)
    monkeypatch.setitem(photographs.SETTINGS, "night", replace(setting, recipe=recipe))
    if of_a_series(page):
        tables = {part: experiments.stored(name, scale, part=part) for part in ("", "epochs")}
    else:
        parts = [path.stem.removeprefix(stem) for path in FOLDER.glob(f"{page}*.csv")]
        tables = {
            part.removeprefix("-"): pd.read_csv(FOLDER / f"{page}{part}.csv")
            for part in parts
            if part in ("", "-epochs", "-steps", "-temperatures")
        }
    training, *scored = map(range, TEXTS.get(dataset, (0, 0, 0)))
    score = dict(zip(("calibration", "test"), scored, strict=True))
    outcome = SimpleNamespace(trial=SimpleNamespace(train=training, score=score))
    experiment = engine.named(name, dataset)
    task = engine.task_of(experiment, scale, device="cpu")
    return Result(experiment, task, [outcome], tables.pop(""), tables)


@pytest.mark.parametrize("page", PAGES)
def test_a_stored_table_gives_its_files_again(page, machine, monkeypatch, tmp_path):
    done = result(page, monkeypatch)
    committed = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    if page in OLDER:
        done.table["seconds"] = 0.0
        told = reports.report(done).splitlines()
        lines = [line for line in committed.splitlines() if not line.startswith("Mean")]
        assert [line for line in lines if line not in told] == []
        return
    assert reports.write(done, tmp_path) == tmp_path / f"{page}.md"
    written = {path.name: path for path in (tmp_path / page).parent.iterdir()}
    assert len(written) == 2 + len(done.parts)
    for name, path in written.items():
        if path.suffix == ".csv" and of_a_series(page):  # those runs are stored once, as a series
            continue
        assert path.read_bytes() == (FOLDER / page).with_name(name).read_bytes()


def test_every_stored_table_has_its_report_and_is_read():
    tables = sorted(path.stem for path in FOLDER.glob("night/*.csv") if "epochs" not in path.stem)
    pages = {page.removeprefix("night/") for page in PAGES if page.startswith("night")}
    assert {*tables, *photograph_runs.SERIES} == pages
    assert set(tables).isdisjoint(photograph_runs.SERIES)  # no run is stored twice
    assert len(PAGES) == 30
    mnist = experiments.stored("noise", "night", FOLDER, dataset="mnist")
    assert not mnist.equals(experiments.stored("noise", "night", FOLDER))
    assert "test_nll" in experiments.stored("noise", "night", FOLDER, part="epochs")
