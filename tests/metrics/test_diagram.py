import dataclasses

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

from calibkit import metrics
from tests.metrics import reference

CASES = reference.cases()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_against_a_loop(name, binning, closed):
    probs, labels = CASES[name]
    confidence, hits = reference.top_loop(probs, labels)
    for bins in (1, 10, 15):
        found = metrics.reliability(probs, labels, bins=bins, binning=binning, closed=closed)
        content = reference.bins_loop(confidence, hits, bins, binning, closed)
        assert found.counts.tolist() == [len(c) for c, _ in content]
        assert found.hits.tolist() == [sum(h) for _, h in content]
        means = [np.mean(c) if c else np.nan for c, _ in content]
        shares = [np.mean(h) if h else np.nan for _, h in content]
        np.testing.assert_allclose(found.confidence, means, atol=1e-12)
        np.testing.assert_allclose(found.accuracy, shares, atol=1e-12)
        np.testing.assert_allclose(found.gap, np.array(means) - shares, atol=1e-12)
        assert found.edges.tolist() == reference.edges_loop(confidence, bins, binning)


def test_shapes_and_types():
    found = metrics.reliability(*CASES["random"])
    assert [len(x) for x in (found.edges, found.counts, found.hits)] == [16, 15, 15]
    assert found.counts.dtype == found.hits.dtype == torch.int64
    assert found.edges.dtype == found.confidence.dtype == found.accuracy.dtype == torch.float64
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.counts = None


@pytest.mark.parametrize("weighted", [(), (1,), (0, 1)], ids=["none", "the second", "both"])
@pytest.mark.parametrize("name", ["random", "tiny", "saturated", "edges"])
def test_batches_add_up_to_the_whole(name, weighted):
    probs, labels = CASES[name]
    weights, cut = torch.ones(len(probs), dtype=torch.float64), len(probs) // 3
    parts = slice(cut), slice(cut, None)
    for k in weighted:
        weights[parts[k]] = torch.linspace(0.2, 3, len(weights[parts[k]])).double()
    added = sum(
        metrics.reliability(probs[s], labels[s], weights=weights[s] if k in weighted else None)
        for k, s in enumerate(parts)
    )
    whole = metrics.reliability(probs, labels, weights=weights if weighted else None)
    for field in ("counts", "hits", "confidence", "accuracy", "gap", "effective"):
        one, other = getattr(added, field), getattr(whole, field)
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12, equal_nan=True)
    assert added.error() == pytest.approx(whole.error(), abs=1e-12)


def test_only_equal_edges_can_be_added():
    probs, labels = CASES["random"]
    one, other = (metrics.reliability(p, labels, binning="mass") for p in (probs, probs.flip(0)))
    assert (one + other).counts.sum() == 2 * len(probs)  # the same sample has the same edges
    with pytest.raises(ValueError, match=r"^edges must be the same .*binning='width'"):
        one + metrics.reliability(probs[:50], labels[:50], binning="mass")
    with pytest.raises(ValueError, match=r"^edges must be the same"):
        one + metrics.reliability(probs, labels, bins=10)
    with pytest.raises(TypeError):
        1 + one


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_wilson_agrees_with_scipy(level):
    for hits, count in ((0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (999, 1000)):
        low, high = metrics.wilson_interval([hits], [count], level=level)
        expected = binomtest(hits, count).proportion_ci(level, method="wilson")
        assert low.item() == pytest.approx(expected.low, abs=1e-12)
        assert high.item() == pytest.approx(expected.high, abs=1e-12)
        assert 0 <= low.item() <= hits / count <= high.item() <= 1
        assert hits > 0 or low.item() == 0
        assert hits < count or high.item() == 1


def test_wilson_takes_any_shape_and_knows_nothing_of_empty_bins():
    low, high = metrics.wilson_interval(torch.tensor([[0, 2]]), np.array([[0, 4]]))
    assert low.shape == high.shape == (1, 2)
    assert torch.isnan(low[0, 0])
    assert torch.isnan(high[0, 0])
    assert low[0, 1] == pytest.approx(1 - high[0, 1].item())
