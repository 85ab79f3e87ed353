"""The models that are for sale: what their faults are made of, seen and unseen; wrong labels."""

from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from calibkit.course.experiments import label_cleaning, vendor
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


FOUND = {  # warnings; of the scanners gaps and flags; p of the ECE, mean gap, flag of a class
    "leak": ("duplicates between the files", (0.1, -0.1), ("off", "off"), 0.001, 0.1, "off"),
    "two scanners": ("duplicates within one", (0.1, -0.1), ("off", "off"), 0.001, 0.1, "off"),
    "too sure": ("", (0.1, 0.2), ("off", "off"), 0.01, 0.1, "off"),
    "noisy labels": ("", (-0.1, 0.2), ("off", ""), 0.001, -0.1, "off"),
    "rare class": ("", (-0.2, -0.1), ("off", "off"), 0.02, 0.1, "off"),
    "none": ("", (-0.1, 0.1), ("", "off"), 0.02, 0.1, ""),
}


@pytest.mark.parametrize("fault", FOUND)
def test_the_rule_reads_an_audit_in_this_order(fault):
    told, gaps, flags, p, gap, flag = FOUND[fault]
    test, measures = SimpleNamespace(p_value=p), {"gap": SimpleNamespace(value=gap)}
    groups, classes = pd.DataFrame({"gap": gaps, "flag": flags}), pd.DataFrame({"flag": ["", flag]})
    audit = {"warnings": [told], "groups": groups, "classes": classes, "measures": measures}
    assert vendor.diagnosis(SimpleNamespace(**audit, test=test)) == fault


def test_what_each_way_of_cleaning_leaves_out():
    made, n = label_cleaning.Cleaning(TINY, [3]), TINY.train
    given, clean = made.given(3).labels, made.digits(3).train.labels
    logits = 20.0 * torch.nn.functional.one_hot(given, 10)
    logits[:40, 0] = 40.0  # so sure of a 0 that any other label is a suspect
    made.out_of_fold = lambda seed: logits
    suspects, wrong = torch.arange(n) < 40 * (given != 0), given != clean
    for way, expected in (("suspects", suspects), ("wrong labels", wrong), ("nothing", wrong < 0)):
        assert torch.equal(made.removed(way, 3), expected.nonzero()[:, 0])
    assert wrong.double().mean().item() == pytest.approx(0.3 * 0.9, abs=0.05)
    chance = set(made.removed("at random", 3).tolist())
    assert len(chance) == suspects.sum() != suspects[[*chance]].sum()
    assert made.fold(3).bincount().tolist() == [60] * 5
