import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from calibkit.metrics import bins as b
from tests.metrics import reference


@pytest.mark.parametrize("bins", [1, 2, 3, 6, 7, 10, 14, 15, 24, 28, 29, 38, 49, 100, 1000])
@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_arithmetic_and_search_agree_on_and_beside_every_edge(bins, closed, dtype):
    edge = b.width_edges(bins).to(dtype)
    values = torch.cat([edge, edge.nextafter(edge + 1), edge.nextafter(edge - 1)]).clamp(0, 1)
    expected = b.bin_index(values, b.width_edges(bins), closed)
    assert torch.equal(b.width_index(values, bins, closed), expected)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30),
    st.integers(1, 60),
    st.sampled_from(["right", "left"]),
)
def test_bins_are_those_of_a_walk_along_the_edges(values, bins, closed):
    edges = [i / bins for i in range(bins + 1)]
    expected = [reference.bin_loop(v, edges, closed) for v in values]
    for dtype in (torch.float32, torch.float64):
        found = b.width_index(torch.tensor(values, dtype=dtype), bins, closed)
        assert found.tolist() == expected


def test_zero_is_in_the_first_bin_and_one_in_the_last():
    ends = torch.tensor([0.0, 1.0])
    for closed in ("right", "left"):
        for bins in (1, 6, 14, 15):
            assert b.width_index(ends, bins, closed).tolist() == [0, bins - 1]
            assert b.bin_index(ends, b.width_edges(bins), closed).tolist() == [0, bins - 1]


def test_edges_are_rounded_once():
    assert b.width_edges(15).tolist() == [i / 15 for i in range(16)]
    assert b.width_edges(15).dtype == torch.float64


@pytest.mark.parametrize(("n", "bins"), [(1, 1), (1, 5), (4, 15), (15, 15), (16, 15), (100, 7)])
def test_equal_mass_runs_differ_by_at_most_one(n, bins):
    torch.manual_seed(n)
    values = torch.rand(n, dtype=torch.float64)
    edges = b.mass_edges(values, bins)
    counts = torch.bincount(b.bin_index(values, edges), minlength=bins)
    assert counts.tolist() == [len(run) for run in np.array_split(np.arange(n), bins)]
    assert edges.tolist() == reference.edges_loop(values.tolist(), bins, "mass")


@pytest.mark.parametrize("closed", ["right", "left"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("bins", [1, 4, 15, 500])
def test_sorted_and_searched_equal_mass_tallies_agree(closed, dtype, bins):
    torch.manual_seed(1)
    values = (torch.rand(300) * 40).round().div(40).to(dtype)  # many ties, 0 and 1 among them
    hits = torch.rand(300) < 0.5
    options = {"bins": bins, "binning": "mass", "closed": closed}
    fast = b.tally(values, hits, **options)
    slow = b.tally(values, hits.double(), **options)
    assert fast.counts.sum() == 300
    assert torch.equal(fast.edges, slow.edges)
    assert torch.equal(fast.counts, slow.counts)
    assert torch.equal(fast.hits, slow.hits.long())
    torch.testing.assert_close(fast.confidence, slow.confidence, rtol=0, atol=1e-12)


def test_negative_zero_sorts_like_zero():
    options = {"bins": 3, "binning": "mass", "closed": "right"}
    values, hits = torch.tensor([0.5, -0.0, 0.25, 1.0]), torch.tensor([True, True, False, True])
    found = b.tally(values, hits, **options)
    assert found.hits.tolist() == [1, 1, 1]
    assert found.confidence.tolist() == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 1001])
def test_counting_by_turns_counts_the_same(n):
    torch.manual_seed(n)
    cell, weights = torch.randint(7, (n,), dtype=torch.int32), torch.rand(n, dtype=torch.float64)
    turned = b.spread(cell.clone(), 7)
    assert torch.equal(b.histogram(turned, 7), torch.bincount(cell, minlength=7))
    torch.testing.assert_close(
        b.histogram(turned, 7, weights), torch.bincount(cell, weights, 7), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("soft", [False, True])
def test_tally_over_several_blocks(monkeypatch, soft):
    torch.manual_seed(2)
    values, hits = torch.rand(1000), torch.rand(1000) < 0.3
    hits = hits.double() if soft else hits
    whole = b.tally(values, hits, bins=9, binning="width", closed="right")
    monkeypatch.setattr(b, "BLOCK", 64)
    pieces = b.tally(values, hits, bins=9, binning="width", closed="right")
    for one, other in zip(whole, pieces, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)
    assert pieces.hits.dtype == (torch.float64 if soft else torch.int64)
    assert pieces.counts.dtype == torch.int64


def test_options_are_checked():
    assert b.check_options(np.int64(3), "mass", "left") == 3
    for options, name in (
        ((0, "width", "right"), "bins"),
        ((15, "size", "right"), "binning"),
        ((15, "width", "both"), "closed"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            b.check_options(*options)
    with pytest.raises(TypeError, match="bins must be an integer"):
        b.check_options(2.5)
