"""The real files, through the same code that a user's download goes through.

They are where CALIBKIT_REAL_DATA points: cifar-10-batches-py and human_labels/cifar10n.npz. Their
archives are rebuilt here, so that the published hashes cannot match: those alone are replaced.
"""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision

from calibkit.lab import data
from data_scripts.images import PEOPLE
from data_scripts.prepare import prepare
from data_scripts.registry import SOURCES
from tests.data_scripts import builders

NAMED = os.environ.get("CALIBKIT_REAL_DATA")
REAL = Path(NAMED or "/nowhere")


def real(place):
    """Runs a test only where this real file is."""
    reason = f"real files: CALIBKIT_REAL_DATA ({NAMED}) holds no {place}"
    return pytest.mark.skipif(not (REAL / place).exists(), reason=reason)


@pytest.fixture(scope="module")
def cifar10(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    path = root / "cifar-10-python.tar.gz"
    with tarfile.open(path, "w") as archive:
        archive.add(REAL / "cifar-10-batches-py", "cifar-10-batches-py")
    sizes = SOURCES["cifar10"].sizes
    prepare(builders.trusting("cifar10", {path.name: path}, sizes=sizes), root, [path])
    return root


@real("cifar-10-batches-py/data_batch_5")
def test_cifar10_is_what_torchvision_reads(cifar10, monkeypatch):
    monkeypatch.setattr(torchvision.datasets.CIFAR10, "_check_integrity", lambda _: True)
    for split in ("train", "test"):
        theirs = torchvision.datasets.CIFAR10(REAL, train=split == "train")
        ours = data.load("cifar10", split=split, root=cifar10, normalise=False)
        assert ours.labels.tolist() == theirs.targets
        levels = (ours.inputs * 255).round().byte().permute(0, 2, 3, 1).numpy()
        assert np.array_equal(levels, theirs.data)
    assert ours.classes[3] == "cat"
    mean, std = data.channel_statistics("cifar10", cifar10)
    assert mean.tolist() == pytest.approx([0.4914, 0.4822, 0.4465], abs=1e-4)
    assert std.tolist() == pytest.approx([0.2470, 0.2435, 0.2616], abs=1e-4)


@real("human_labels/cifar10n.npz")
def test_people_were_wrong_on_the_known_shares(cifar10):
    stored = np.load(REAL / "human_labels" / "cifar10n.npz")
    files = builders.human_labels_zip(cifar10, {k: stored[k].astype(np.int64) for k in stored})
    sizes = SOURCES["cifar10n"].sizes
    prepare(builders.trusting("cifar10n", files, sizes=sizes), cifar10, list(files.values()))
    rows = slice(10)
    clean = data.load("cifar10n", split="clean", root=cifar10, rows=rows)
    assert torch.equal(clean.inputs, data.load("cifar10", root=cifar10, rows=rows).inputs)
    known = {"clean": 0, "aggregate": 0.090, "worst": 0.402}
    known |= {"random1": 0.172, "random2": 0.181, "random3": 0.176}
    labels = {s: data.prepared._columns("cifar10n", s, cifar10)["labels"] for s in PEOPLE}
    wrong = {s: float((labels[s] != labels["clean"]).double().mean()) for s in PEOPLE}
    assert wrong == pytest.approx(known, abs=5e-4)
