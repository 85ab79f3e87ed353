import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calibkit import metrics


def rows(confidence):
    """(n, 2) rows whose first class has this confidence, at least one half."""
    first = torch.tensor(confidence, dtype=torch.float64)
    return torch.stack([first, 1 - first], dim=1)


def pooled(means, weights):
    """Isotonic regression by its min-max formula."""
    n = len(means)

    def mean(j, k):
        return np.average(means[j : k + 1], weights=weights[j : k + 1])

    return [max(min(mean(j, k) for k in range(i, n)) for j in range(i + 1)) for i in range(n)]


levels = st.sampled_from([0.5625, 0.625, 0.75, 0.875, 1.0])
samples = st.lists(st.tuples(levels, st.integers(0, 1)), min_size=1, max_size=20)


@settings(deadline=None, max_examples=30)
@given(samples)
def test_the_frequency_is_the_isotonic_regression_of_the_hits(sample):
    confidence, labels = zip(*sample, strict=True)
    found = metrics.corp(rows(confidence), labels)
    assert found.confidence.tolist() == sorted(set(confidence))
    assert found.counts.sum() == len(sample)
    expected = pooled(found.hits / found.counts, found.counts)
    np.testing.assert_allclose(found.frequency, expected, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(samples)
def test_the_parts_add_up_to_the_score_and_are_not_negative(sample):
    confidence, labels = (np.array(part) for part in zip(*sample, strict=True))
    found = metrics.corp(rows(confidence), labels)
    score = np.mean((confidence - (labels == 0)) ** 2)
    total = found.miscalibration - found.discrimination + found.uncertainty
    assert total == pytest.approx(score, abs=1e-12)
    assert found.miscalibration >= -1e-12
    assert found.discrimination >= -1e-12


def test_by_hand():
    found = metrics.corp(rows([0.75, 0.75, 0.75, 0.75, 1.0]), [0, 0, 1, 1, 0])
    assert found.frequency.tolist() == [0.5, 1.0]
    assert found.miscalibration == pytest.approx(4 * 0.0625 / 5)
    assert found.uncertainty == pytest.approx(0.6 * 0.4)


def test_a_calibrated_model_lies_in_its_band_and_a_sharpened_one_does_not():
    generator = torch.Generator().manual_seed(0)
    posterior = (2 * torch.randn(2000, 4, generator=generator, dtype=torch.float64)).softmax(1)
    labels = torch.multinomial(posterior, 1, generator=generator)[:, 0]
    share = []
    for probs in (posterior, (2 * posterior.log()).softmax(1)):
        found = metrics.corp(probs, labels)
        low, high = found.band()
        assert (low <= high).all()
        inner, outer = found.band(level=0.5)
        assert (outer - inner).mean() < 0.6 * (high - low).mean()
        inside = (found.frequency >= low) & (found.frequency <= high)
        share.append(found.counts[inside].sum() / len(labels))
    assert share[0] > 0.75
    assert share[1] < 0.5
    assert np.array_equal(found.band(seed=0), (low, high))
    assert not np.array_equal(found.band(seed=1), (low, high))
