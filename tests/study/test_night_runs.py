"""The list of runs on photographs, on made-up ones: what is trained, stored and gone on with."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from study import night_runs
from study.night_runs import SETTING, Run

from calibkit import metrics, recalibration
from calibkit.course.experiments import photograph_runs
from calibkit.lab.data import prepared

TINY = replace(
    SETTING,
    recipe=replace(SETTING.recipe, epochs=2, batch_size=20, autocast=False),
    train=80,
    calibration=40,
    test=40,
)
LIST = [Run("LeNet-5", "cross-entropy", decay, 0) for decay in (0.0, 5e-4)]
LIST += [Run("ConvNet-24", "focal, gamma 3", 5e-3, 1)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Photographs whose class is a colour, in noise."""
    root = tmp_path_factory.mktemp("data")
    folder = root / "cifar10" / "prepared"
    folder.mkdir(parents=True)
    drawn = torch.Generator().manual_seed(0)
    labels = torch.arange(10).repeat(20)
    colours = torch.randint(0, 256, (10, 3, 1, 1), generator=drawn)[labels]
    noise = torch.randint(-60, 60, (200, 3, 32, 32), generator=drawn)
    images = (colours + noise).clamp(0, 255).to(torch.uint8)
    splits = [("train", {"inputs": images, "labels": labels})]
    prepared.write(folder, splits, [f"colour {place}" for place in range(10)], {})
    return root


@pytest.fixture
def listed(monkeypatch):
    monkeypatch.setattr(night_runs, "runs", lambda seeds: LIST)


def finish(root, folder, **options) -> int:
    return night_runs.run_all(setting=TINY, root=root, device="cpu", folder=folder, **options)


def test_the_list_begins_with_what_lessons_show_and_names_nothing_twice():
    every = night_runs.runs(3)
    assert len(set(every)) == len(every)
    assert {run.loss for run in every[:27]} == {"cross-entropy", "focal, gamma 3", "FLSD-53"}
    assert [run.seed for run in every[27:45]] == [0] * 6 + [1] * 6 + [2] * 6
    assert {run.network for run in every[27:45]} == {"ResNet-8", "LeNet-5"}
    assert set(night_runs.runs(1)) == {run for run in every if run.seed == 0}


def test_each_run_is_stored_as_the_row_that_its_logits_give(root, tmp_path, listed):
    assert finish(root, tmp_path) == 0
    table = night_runs.table(None, tmp_path)
    assert list(table) == night_runs.COLUMNS
    keys = table[night_runs.KEY].itertuples(index=False, name=None)
    assert set(keys) == set(LIST)
    assert set(night_runs.table(folder=tmp_path).network) == {"ConvNet-24"}
    for one in table.itertuples():
        where = (one.loss, one.seed, one.decay, one.network, tmp_path)
        kept, history = photograph_runs.logits(*where), photograph_runs.epochs(*where)
        probs, labels = kept["test"].softmax(dim=1), kept["test_labels"]
        scaler = recalibration.TemperatureScaler().fit(kept["cal"], kept["cal_labels"])
        assert metrics.accuracy(probs, labels) == pytest.approx(one.test_accuracy, abs=0.026)
        assert metrics.nll(probs, labels) == pytest.approx(one.test_nll, abs=5e-3)
        assert metrics.brier(probs, labels) == pytest.approx(one.test_brier, abs=5e-3)
        assert metrics.nll(scaler.probs(kept["test"]), labels) == pytest.approx(
            one.scaled_nll, abs=5e-3
        )
        assert history.test_accuracy.iloc[-1] == pytest.approx(one.test_accuracy, abs=1e-5)
        assert history.epoch.tolist() == [1, 2]


def test_ctrl_c_loses_nothing_that_is_finished(root, tmp_path, listed, monkeypatch, capsys):
    really = night_runs.trained

    def pressed(run, *setting, **options):
        if run == LIST[1]:
            raise KeyboardInterrupt
        return really(run, *setting, **options)

    monkeypatch.setattr(night_runs, "trained", pressed)
    with pytest.raises(KeyboardInterrupt):
        finish(root, tmp_path)
    assert night_runs.left(1, None, tmp_path) == LIST[1:]
    assert "2 runs are left" not in capsys.readouterr().out
    monkeypatch.setattr(night_runs, "trained", really)
    finish(root, tmp_path)
    assert "2 runs are left" in capsys.readouterr().out
    assert night_runs.left(1, None, tmp_path) == []
    finish(root, tmp_path)
    assert capsys.readouterr().out == "Every run of the list is stored.\n"


def test_a_loss_that_stops_being_finite_is_told_and_passed_over(
    root, tmp_path, listed, monkeypatch, capsys
):
    really = night_runs.trained

    def diverging(run, *setting, **options):
        if run == LIST[0]:
            raise RuntimeError("the loss is nan")
        return really(run, *setting, **options)

    monkeypatch.setattr(night_runs, "trained", diverging)
    assert finish(root, tmp_path) == 1
    assert "LeNet-5, cross-entropy, weight decay 0, seed 0: failed: the loss is nan" in (
        capsys.readouterr().out
    )
    assert night_runs.left(1, None, tmp_path) == LIST[:1]


def test_a_write_that_breaks_leaves_the_old_file_and_no_part(root, tmp_path, listed, monkeypatch):
    finish(root, tmp_path, network="ConvNet-24")
    home = tmp_path / photograph_runs.FOLDER
    before = {path.name: path.read_bytes() for path in home.iterdir()}

    def broken(file, **arrays):
        file.write(b"half of it")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(OSError, match="No space"):
        finish(root, tmp_path)
    assert {path.name: path.read_bytes() for path in home.iterdir()} == before
