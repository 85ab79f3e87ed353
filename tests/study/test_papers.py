"""The papers' datasets that no test can fetch, from made-up archives to the papers' own recipes.

Each archive is prepared as a download is, and an experiment takes one step on it with every setting
of the paper but the number of images.
"""

from dataclasses import replace

import pytest
from study import engine
from study.photograph_grids import EXPERIMENTS
from study.photographs import SETTINGS

from calibkit.lab import data
from data_scripts import prepare
from tests.data_scripts import builders

SHAPES = {"cifar100": (100, 32), "eurosat": (3, 32), "inaturalist2019": (2, 64)}
SHAPES |= {"tiny-imagenet": (2, 64)}


def one_step(monkeypatch, name, **options):
    """The experiment at the papers' scale, on three images in one epoch."""
    experiment, paper = EXPERIMENTS[name], SETTINGS["paper"]
    own = {**experiment.setting_changes.get("paper", {}), "epochs": 1}
    changed = replace(experiment, setting_changes={**experiment.setting_changes, "paper": own})
    monkeypatch.setitem(EXPERIMENTS, name, changed)
    monkeypatch.setitem(SETTINGS, "paper", replace(paper, train=3, calibration=2))
    quiet = {"device": "cpu", "cache": False, "progress": False, "jobs": 1, "seeds": [0]}
    return engine.run(name, "paper", **quiet, **options)


@pytest.mark.filterwarnings("ignore:the logits separate|the least ECE|the best temperature")
@pytest.mark.parametrize(("dataset", "name", "value", "network"), [
    ("cifar100", "depth", "the deep network", None),
    ("cifar100", "focal", "FLSD-53", "ResNet-110"),
    pytest.param("tiny-imagenet", "focal", "FLSD-53", "ResNet-50", marks=pytest.mark.slow),
    ("eurosat", "noise", 0.4, None),
    ("inaturalist2019", "noise", 0.4, None),
])  # fmt: skip
def test_a_step_of_the_paper_on_its_dataset(dataset, name, value, network, tmp_path, monkeypatch):
    source, files, _ = builders.published(dataset, tmp_path)
    root = prepare.prepare(source, tmp_path / "root", list(files.values())).parents[1]
    chosen = {"dataset": dataset, "root": root, "network": network, "values": [value]}
    done = one_step(monkeypatch, name, **chosen)
    train, (classes, size) = done.outcomes[0].trial.train, SHAPES[dataset]
    assert (train.num_classes, train.inputs.shape[1:]) == (classes, (3, size, size))
    recipe = done.outcomes[0].trial.recipe
    batch = 64 if dataset == "tiny-imagenet" else 128
    assert (recipe.lr, recipe.momentum, recipe.batch_size) == (0.1, 0.9, batch)
    probs = done.outcomes[0].predictions["test"].probs
    assert probs.shape == (len(data.load(dataset, split="test", root=root)), classes)
    assert probs.isfinite().all()
    assert done.table.train_accuracy.between(0, 1).all()
