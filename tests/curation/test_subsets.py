"""Subsets: exact sizes, class shares, nesting."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calibkit.curation import subset
from tests.curation.labels import balanced, ragged, strictly_ascending


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize(
    ("size", "count"), [(0.1, 100), (1.0, 1000), (1, 1), (1000, 1000), (0.0405, 40), (333, 333)]
)
def test_subset_has_the_exact_size(size, count, stratified):
    indices = subset(balanced(), size, seed=3, stratified=stratified)
    assert len(indices) == count
    assert indices.dtype == torch.int64
    assert strictly_ascending(indices)
    assert indices[0] >= 0
    assert indices[-1] < 1000


@given(seed=st.integers(0, 1000), share=st.floats(0.05, 1))
@settings(deadline=None, max_examples=40)
def test_stratified_subset_keeps_the_class_shares(seed, share):
    labels = ragged(seed=seed)
    size = labels.bincount(minlength=5)
    counts = labels[subset(labels, share, seed=seed)].bincount(minlength=5)
    exact = size * counts.sum() / size.sum()
    assert bool(((counts - exact).abs() <= 1.5).all())


@pytest.mark.parametrize("stratified", [True, False])
def test_smaller_subsets_lie_within_larger_ones(stratified):
    labels = ragged()
    kept = [
        set(subset(labels, m, seed=5, stratified=stratified).tolist()) for m in range(1, 997, 3)
    ]
    assert all(small < large for small, large in itertools.pairwise(kept))


@pytest.mark.parametrize("stratified", [True, False])
def test_every_sample_is_equally_likely_to_be_kept(stratified):
    labels = torch.tensor([0, 1] * 10)
    seen = torch.zeros(20)
    for seed in range(500):
        seen[subset(labels, 5, seed=seed, stratified=stratified)] += 1
    assert bool(((seen - 125).abs() < 6 * math.sqrt(500 * 0.25 * 0.75)).all())


def test_stratified_subset_of_many_is_exact():
    labels = torch.tensor([0, 1]).repeat(50_000)
    indices = subset(labels, 99_998, seed=0)
    assert labels[indices].bincount().tolist() == [49_999, 49_999]


def test_the_first_samples_of_a_subset_come_from_the_largest_classes():
    labels = torch.tensor([0] * 53 + [1] * 24 + [2] * 23)
    taken = [labels[subset(labels, m, seed=0)].bincount(minlength=3).tolist() for m in (1, 2, 3)]
    assert taken == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]  # 1/106 < 1/48 < 1/46 < 3/106
    assert len(subset(labels[:4], 0.25, seed=0)) == 1
