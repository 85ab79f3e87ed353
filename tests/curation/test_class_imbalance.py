"""Class imbalance and resampling: sizes by hand, nesting, a seeded order of classes."""

import numpy as np
import pytest
import torch

from calibkit.curation import imbalance, resample
from tests.curation.labels import balanced, strictly_ascending

# --- imbalance ---


def test_exponential_imbalance_by_hand():
    kept = imbalance(balanced(each=1000, classes=5), 100, seed=0)
    shares = [100 ** (-i / 4) for i in range(5)]
    assert kept.counts[kept.order].tolist() == [round(1000 * s) for s in shares]
    assert sorted(kept.order.tolist()) == [0, 1, 2, 3, 4]
    labels = balanced(each=1000, classes=5)[kept.indices]
    assert labels.bincount(minlength=5).tolist() == kept.counts.tolist()
    assert strictly_ascending(kept.indices)
    more = imbalance(balanced(each=1000, classes=5), 10, seed=0)
    assert set(kept.indices.tolist()) < set(more.indices.tolist())


@pytest.mark.parametrize(("classes", "rare"), [(2, 1), (5, 2), (10, 5)])
def test_step_imbalance_divides_half_of_the_classes(classes, rare):
    kept = imbalance(balanced(each=200, classes=classes), 10, seed=1, kind="step")
    assert kept.counts[kept.order].tolist() == [200] * (classes - rare) + [20] * rare


@pytest.mark.parametrize("kind", ["exponential", "step"])
def test_imbalance_keeps_one_sample_at_least_and_takes_shares_of_each_class(kind):
    labels = torch.tensor([0] * 7 + [1] * 3 + [2] * 5)
    kept = imbalance(labels, 1e6, seed=0, kind=kind)
    assert kept.counts.min() == 1
    kept = imbalance(labels, 2, seed=0, kind="step")
    size = labels.bincount()
    rare = kept.order[-1]
    assert kept.counts[rare] == round(size[rare].item() / 2)
    assert kept.counts[kept.order[0]] == size[kept.order[0]]


def test_absent_classes_stay_absent():
    kept = imbalance([0] * 50 + [2] * 50, 10, seed=0, classes=4)
    assert len(kept.order) == len(kept.counts) == 4
    assert kept.counts[1] == kept.counts[3] == 0
    assert len(kept.indices) == kept.counts.sum()


def test_class_order_is_seeded_and_random():
    orders = [tuple(imbalance(balanced(), 10, seed=s).order.tolist()) for s in range(300)]
    assert orders[0] == tuple(imbalance(balanced(each=7), 3, seed=0, kind="step").order.tolist())
    first = np.bincount([o[0] for o in orders], minlength=10)
    assert first.min() > 10  # every class is the commonest about 30 times
    assert first.max() < 55


def test_kept_samples_are_random():
    seen = torch.zeros(40)
    for seed in range(300):
        seen[imbalance([0] * 20 + [1] * 20, 2, seed=seed).indices] += 1
    assert bool(((seen - 225).abs() < 45).all())


def test_oversampling_repeats_every_sample_nearly_equally():
    labels = torch.tensor([0] * 10 + [1] * 4 + [3] * 3)
    indices = resample(labels, strategy="oversample", seed=0)
    assert labels[indices].bincount().tolist() == [10, 10, 0, 10]
    times = indices.bincount(minlength=17)
    assert times[:10].tolist() == [1] * 10
    assert sorted(times[10:14].tolist()) == [2, 2, 3, 3]
    assert sorted(times[14:].tolist()) == [3, 3, 4]
    assert bool((indices[1:] >= indices[:-1]).all())


def test_undersampling_keeps_distinct_samples():
    labels = torch.tensor([0] * 10 + [1] * 4 + [3] * 3)
    indices = resample(labels, strategy="undersample", seed=0)
    assert labels[indices].bincount().tolist() == [3, 3, 0, 3]
    assert strictly_ascending(indices)


def test_a_class_of_one_sample_sets_and_meets_the_size():
    labels = torch.tensor([0] * 4 + [1])
    assert resample(labels, strategy="oversample", seed=0).tolist() == [0, 1, 2, 3] + [4] * 4
    assert labels[resample(labels, strategy="undersample", seed=0)].tolist() == [0, 1]


def test_given_counts_are_met():
    labels = torch.tensor([0] * 10 + [1] * 4)
    indices = resample(labels, counts=[0, 9], seed=0)
    assert labels[indices].bincount(minlength=2).tolist() == [0, 9]
    assert len(resample(labels, counts=[5, 0, 0], seed=0)) == 5
    assert len(resample(labels, counts=np.array([5, 1]), seed=0)) == 6


def test_extra_samples_are_random():
    picks = {tuple(resample(balanced(9, 3), counts=[3, 3, 3], seed=s).tolist()) for s in range(9)}
    assert len(picks) == 9
