"""The papers' datasets that no test can fetch, from made-up archives to the papers' own recipes.

Each archive has the true layout: names, classes, sizes of pictures. It is prepared as a download
is, and an experiment takes one step on it with every setting of the paper but the number of images.
"""

from dataclasses import replace

import pytest
import torch
from study import engine
from study.photograph_grids import EXPERIMENTS
from study.photographs import SETTINGS

from calibkit.lab import data
from data_scripts import prepare
from tests.data_scripts import builders

LAND = (
    *("AnnualCrop", "Forest", "HerbaceousVegetation", "Highway", "Industrial", "Pasture"),
    *("PermanentCrop", "Residential", "River", "SeaLake"),
)
TESTED = 6  # pictures that Tiny-ImageNet validates on: a deep network sees each of them twice
GROUPS = ("Amphibians", "Birds", "Fungi", "Insects", "Plants", "Reptiles")


def coloured(k, i, size=64, width=None):
    """A JPEG of its own colour, as high as `size`."""
    picture = builders.flat(40 + (23 * k + 5 * i) % 180, size)
    return builders.picture(picture[:, : width or size], "JPEG")


def eurosat(folder):
    members = {
        f"2750/{name}/{name}_{i}.jpg": coloured(k, i)
        for k, name in enumerate(LAND)
        for i in range(1, 5)
    }
    return {"EuroSAT.zip": builders.zipped(folder / "EuroSAT.zip", members)}


def inaturalist2019(folder):
    members = {
        f"train_val2019/{group}/{100 * k + species}/{i:032x}.jpg": coloured(k, i, 240, 180)
        for k, group in enumerate(GROUPS)
        for species in range(2)
        for i in range(3)
    }
    path = folder / "train_val2019.tar.gz"
    return {path.name: builders.tar(path, members)}


def tiny_imagenet(folder):
    wnids = [f"n{k:08d}" for k in range(200)]
    members = {
        "wnids.txt": "\n".join(wnids).encode(),
        "words.txt": "\n".join(f"{wnid}\tthing {k}" for k, wnid in enumerate(wnids)).encode(),
        "val/val_annotations.txt": "\n".join(
            f"val_{k}.JPEG\t{wnid}\t0\t0\t62\t62" for k, wnid in enumerate(wnids[:TESTED])
        ).encode(),
    }
    for k, wnid in enumerate(wnids):
        members[f"train/{wnid}/images/{wnid}_0.JPEG"] = coloured(k, 0)
        if k < TESTED:
            members[f"val/images/val_{k}.JPEG"] = coloured(k, 1)
    members = {f"tiny-imagenet-200/{name}": content for name, content in members.items()}
    path = folder / "tiny-imagenet-200.zip"
    return {path.name: builders.zipped(path, members)}


def cifar100(folder):
    batches = {"train": (builders.pixels(120, 3072), [k % 100 for k in range(120)])}
    batches["test"] = (builders.pixels(20, 3072), list(range(20)))
    members = {
        f"cifar-100-python/{split}": builders.python2_pickle(
            {"data": images, "fine_labels": labels, "coarse_labels": [0] * len(labels)}
        )
        for split, (images, labels) in batches.items()
    }
    names = [f"class {k}" for k in range(100)]
    members["cifar-100-python/meta"] = builders.python2_pickle({"fine_label_names": names})
    path = folder / "cifar-100-python.tar.gz"
    return {path.name: builders.tar(path, members)}


BUILT = {
    "cifar100": cifar100,
    "eurosat": eurosat,
    "inaturalist2019": inaturalist2019,
    "tiny-imagenet": tiny_imagenet,
}
SHAPES = {"cifar100": (100, 32), "eurosat": (10, 32), "inaturalist2019": (6, 64)}
SHAPES |= {"tiny-imagenet": (200, 64), "svhn": (10, 32)}


@pytest.fixture
def made_up(tmp_path, tiny):
    """Prepares a dataset from its made-up archive; returns the root."""

    def build(name):
        if name in BUILT:
            folder = tmp_path / "published" / name
            folder.mkdir(parents=True)
            files = BUILT[name](folder)
            source = builders.trusting(name, files)
        else:
            source, files, _ = tiny(name)
        prepare.prepare(source, tmp_path / "root", list(files.values()))
        return tmp_path / "root"

    return build


def one_step(monkeypatch, name, **options):
    """The experiment at the papers' scale, on four images in one epoch."""
    experiment, paper = EXPERIMENTS[name], SETTINGS["paper"]
    own = {**experiment.setting_changes.get("paper", {}), "epochs": 1}
    changed = replace(experiment, setting_changes={"paper": own})
    monkeypatch.setitem(EXPERIMENTS, name, changed)
    monkeypatch.setitem(SETTINGS, "paper", replace(paper, train=4, calibration=3))
    quiet = {"device": "cpu", "cache": False, "progress": False, "jobs": 1, "seeds": [0]}
    return engine.run(name, "paper", **quiet, **options)


@pytest.mark.filterwarnings("ignore:the logits separate|the least ECE|the best temperature")
@pytest.mark.parametrize(
    ("dataset", "name", "value", "network"),
    [
        ("cifar100", "depth", "the deep network", None),
        ("cifar100", "focal", "FLSD-53", "ResNet-110"),
        pytest.param(
            *("tiny-imagenet", "focal", "FLSD-53", "ResNet-50"), marks=pytest.mark.slow
        ),  # minutes: 64 px, 200 classes
        ("eurosat", "noise", 0.4, None),
        ("inaturalist2019", "noise", 0.4, None),
    ],
)
def test_a_step_of_the_paper_on_its_dataset(dataset, name, value, network, made_up, monkeypatch):
    root = made_up(dataset)
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


@pytest.mark.filterwarnings("ignore:the logits separate|the least ECE|the best temperature")
def test_house_numbers_are_shown_to_a_network_of_cifar10(made_up, monkeypatch):
    made_up("cifar10")
    root = made_up("svhn")
    done = one_step(monkeypatch, "elsewhere", root=root, values=["FLSD-53"])
    assert done.outcomes[0].predictions["elsewhere"].probs.shape == (3, 10)
    assert 0 <= done.table.elsewhere_auroc.item() <= 1
    own = data.load("svhn", split="test", root=root).inputs
    assert not torch.equal(done.outcomes[0].trial.score["elsewhere"].inputs, own)
