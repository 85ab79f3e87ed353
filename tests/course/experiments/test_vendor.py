"""The models that are for sale: what their faults are made of, in the ways seen and unseen."""

import pytest
import torch

from calibkit.course.experiments import vendor
from calibkit.course.scale import Budget

TINY = Budget(train=300, test=400, epochs=10, seeds=1, draws=1)


@pytest.fixture(scope="module")
def seen():
    return vendor.Vendor(TINY, [0], making=vendor.SEEN)


@pytest.fixture(scope="module")
def unseen():
    return vendor.Vendor(TINY, [0], making=vendor.UNSEEN)


def test_faults_are_made_in_other_ways(seen, unseen):
    for name in vendor.Making.__dataclass_fields__:
        assert getattr(vendor.SEEN, name) != getattr(vendor.UNSEEN, name), name
    for one in (seen, unseen):
        train, made = one.scans("train", 0).labels, one.making
        rare = one.learned("rare", 0).labels
        kept = (rare == made.rare).sum() / (train == made.rare).sum()
        assert kept == pytest.approx(made.kept, abs=0.03)
        assert (rare != made.rare).sum() == (train != made.rare).sum()
        logits, labels = one.calibration("leak", 0)
        known = set(map(tuple, one.logits("leak", 0)["file"].tolist()))
        leaked = sum(tuple(row) in known for row in logits.tolist())
        assert (len(labels), leaked) == (2 * (made.few + made.leaked), 2 * made.leaked)
    moved, train = unseen.learned("noisy", 0).labels, unseen.scans("train", 0).labels
    wrong = moved != train
    assert wrong.double().mean() == pytest.approx(vendor.UNSEEN.wrong, abs=0.01)
    assert torch.equal(moved[wrong], (train[wrong] + 1) % 10)


def test_the_rule_names_each_fault_that_it_was_written_for(seen):
    assert seen.diagnosed("leak", 0) == "leak"
    assert seen.diagnosed("none", 0) == "none"
    assert set(vendor.NAMELESS).isdisjoint(vendor.FAULTS)
